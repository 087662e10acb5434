package org.jfabric.driver.stream.net;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.stream.AcceptDecoder;
import org.jfabric.codec.stream.ByeDecoder;
import org.jfabric.codec.stream.CookieDecoder;
import org.jfabric.codec.stream.DataDecoder;
import org.jfabric.codec.stream.EchoDecoder;
import org.jfabric.codec.stream.FragmentDecoder;
import org.jfabric.codec.stream.GoneDecoder;
import org.jfabric.codec.stream.HeartbeatDecoder;
import org.jfabric.codec.stream.JoinDecoder;
import org.jfabric.codec.stream.LeaveDecoder;
import org.jfabric.codec.stream.LostDecoder;
import org.jfabric.codec.stream.MessageHeaderDecoder;
import org.jfabric.codec.stream.NakDecoder;
import org.jfabric.codec.stream.RefuseDecoder;
import org.jfabric.codec.stream.StatusDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.LogPosition;

/**
 * A socket with the streams that use it: takes datagrams apart and passes them on. Every byte may be forged. An unknown
 * peer makes no state here, and gets no more bytes than it has sent.
 *
 * <p>Owner: progress agent.
 */
public final class StreamNode {
    private static final int DATAGRAMS_PER_POLL = 256;
    /** A socket that brings reports only is left alone for that long after one look that found nothing. */
    private static final long REST_NS = 5_000;
    private static final int HEADER = MessageHeaderDecoder.ENCODED_LENGTH;
    private static final int NAK_RANGE = NakDecoder.RangesDecoder.sbeBlockLength();
    private static final int NAK_GROUP = NakDecoder.RangesDecoder.sbeHeaderSize();
    private static final int TEXT_LENGTH = 4;
    private static final int LONGEST_TEXT = 256;
    /** Readers that have left last, a power of two: more do not leave while a datagram is late. */
    private static final int LEFT = 1 << 10;

    /** A stream that is sent by this socket. */
    private record Sent(byte[] group, StreamWriter writer, int path) {
    }

    private final StreamNet net;
    private final StreamSocket port;
    private final ControlSender sender;
    private final Cookies cookies;
    private final List<Sent> sent = new ArrayList<>();
    /** Their numbers: a cookie is good for a while, so a late Join would bring one back. Null before the first. */
    private long[] left;
    private int leftCount;
    /** By the numbers that name a reader: its own, until it has joined, and the stream's. */
    private final Long2ObjectHashMap<ReaderPath> paths = new Long2ObjectHashMap<>();
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private final DataDecoder data = new DataDecoder();
    private final FragmentDecoder fragment = new FragmentDecoder();
    private final HeartbeatDecoder heartbeat = new HeartbeatDecoder();
    private final LostDecoder lost = new LostDecoder();
    private final ByeDecoder bye = new ByeDecoder();
    private final EchoDecoder echo = new EchoDecoder();
    private final GoneDecoder gone = new GoneDecoder();
    private final StatusDecoder status = new StatusDecoder();
    private final NakDecoder nak = new NakDecoder();
    private final LeaveDecoder leave = new LeaveDecoder();
    private final JoinDecoder join = new JoinDecoder();
    private final CookieDecoder cookie = new CookieDecoder();
    private final AcceptDecoder accept = new AcceptDecoder();
    private final RefuseDecoder refuse = new RefuseDecoder();
    /** Time of the last step that found nothing. */
    private long emptyNs;
    private long malformed;
    /** No stream begins here any more: it is closed when all readers have left. */
    private boolean isClosing;

    StreamNode(StreamNet net, StreamSocket port) {
        this.net = net;
        this.port = port;
        emptyNs = net.nowNs() - REST_NS;
        sender = new ControlSender(port);
        cookies = new Cookies(net.numbers(), net.nowNs());
    }

    /** Datagrams that were none of this protocol's. */
    public long malformed() {
        return malformed;
    }

    /** Whether it is the one of a socket. */
    public boolean uses(StreamSocket socket) {
        return port == socket;
    }

    StreamSocket port() {
        return port;
    }

    ControlSender sender() {
        return sender;
    }

    boolean has(String group) {
        byte[] text = ControlSender.text(group);
        return sent.stream().anyMatch(each -> Arrays.equals(each.group, text));
    }

    void add(String group, StreamWriter writer, int path) {
        sent.add(new Sent(ControlSender.text(group), writer, path));
    }

    void remove(StreamWriter writer) {
        sent.removeIf(each -> each.writer == writer);
    }

    /** A reader of a writer has left, or was removed. */
    void left(long reader) {
        left = left == null ? new long[LEFT] : left;
        left[leftCount++ & LEFT - 1] = reader;
    }

    boolean hasLeft(long reader) {
        for (int i = 0; left != null && i < LEFT; i++) {
            if (left[i] == reader) {
                return true;
            }
        }
        return false;
    }

    /** A path of a reader gets the datagrams with a number. */
    void add(long number, ReaderPath path) {
        paths.put(number, path);
    }

    /** Whether another reader has come since, which takes the place of one that leaves at the writer, too. */
    boolean hasSuccessor(StreamReader leaving) {
        for (ReaderPath each : paths.values()) {
            if (each.reader() != leaving && !each.reader().isOver()) {
                return true;
            }
        }
        return false;
    }

    /** Closes it as soon as no reader is left. Returns whether that is now. */
    boolean close() {
        isClosing = true;
        return paths.isEmpty();
    }

    boolean isClosing() {
        return isClosing;
    }

    /** Whether a number is that of another reader, which has not left. */
    boolean isTaken(long number, ReaderPath path) {
        ReaderPath other = paths.get(number);
        return other != null && other != path && !other.reader().isOver();
    }

    void remove(long number, ReaderPath path) {
        if (paths.get(number) == path) {
            paths.remove(number);
        }
    }

    /** Takes what has arrived; the number of datagrams. */
    int poll() {
        long nowNs = net.nowNs();
        // looking is a system call, which would delay what readers are about to get
        if (paths.isEmpty() && nowNs - emptyNs < REST_NS) {
            return 0;
        }
        cookies.step(nowNs);
        int count = 0;
        while (count < DATAGRAMS_PER_POLL) {
            int length = port.receive();
            if (length < 0) {
                break;
            }
            count++;
            if (length < HEADER || !PeerAddress.isAddress(port.nameLength())) {
                malformed++;
                continue;
            }
            buffer.wrap(port.address(), length);
            header.wrap(buffer, 0);
            if (header.schemaId() != MessageHeaderDecoder.SCHEMA_ID
                || header.version() != MessageHeaderDecoder.SCHEMA_VERSION || !take(header.templateId(), length)) {
                malformed++;
            }
        }
        emptyNs = count == 0 ? nowNs : nowNs - REST_NS;
        return count;
    }

    /** Takes a datagram; false if it is none that can be. */
    private boolean take(int template, int length) {
        return switch (template) {
            case DataDecoder.TEMPLATE_ID -> isWhole(DataDecoder.BLOCK_LENGTH, length) && takeData(length);
            case FragmentDecoder.TEMPLATE_ID -> isWhole(FragmentDecoder.BLOCK_LENGTH, length) && takeFragment(length);
            case HeartbeatDecoder.TEMPLATE_ID -> isWhole(HeartbeatDecoder.BLOCK_LENGTH, length) && takeHeartbeat();
            case LostDecoder.TEMPLATE_ID -> isWhole(LostDecoder.BLOCK_LENGTH, length) && takeLost();
            case ByeDecoder.TEMPLATE_ID -> isWhole(ByeDecoder.BLOCK_LENGTH, length) && takeBye();
            case EchoDecoder.TEMPLATE_ID -> isWhole(EchoDecoder.BLOCK_LENGTH, length) && takeEcho();
            case GoneDecoder.TEMPLATE_ID -> isWhole(GoneDecoder.BLOCK_LENGTH, length) && takeGone();
            case StatusDecoder.TEMPLATE_ID -> isWhole(StatusDecoder.BLOCK_LENGTH, length) && takeStatus();
            case NakDecoder.TEMPLATE_ID -> isWhole(NakDecoder.BLOCK_LENGTH, length) && takeNak(length);
            case LeaveDecoder.TEMPLATE_ID -> isWhole(LeaveDecoder.BLOCK_LENGTH, length) && takeLeave();
            case JoinDecoder.TEMPLATE_ID -> isWhole(JoinDecoder.BLOCK_LENGTH, length) && takeJoin(length);
            case CookieDecoder.TEMPLATE_ID -> isWhole(CookieDecoder.BLOCK_LENGTH, length) && takeCookie();
            case AcceptDecoder.TEMPLATE_ID -> isWhole(AcceptDecoder.BLOCK_LENGTH, length) && takeAccept();
            case RefuseDecoder.TEMPLATE_ID -> isWhole(RefuseDecoder.BLOCK_LENGTH, length) && takeRefuse();
            default -> false;
        };
    }

    private boolean isWhole(int blockLength, int length) {
        return header.blockLength() == blockLength && length >= HEADER + blockLength;
    }

    // ---- to a reader ----

    /** The path that has a number and comes from the writer that it was joined at; else null. */
    private ReaderPath joined(long stream) {
        ReaderPath path = paths.get(stream);
        return path != null && path.isFrom(port.name(), port.nameLength()) ? path : null;
    }

    private boolean takeData(int length) {
        data.wrap(buffer, HEADER, DataDecoder.BLOCK_LENGTH, DataDecoder.SCHEMA_VERSION);
        ReaderPath path = joined(data.stream());
        return path == null || path.reader().onData(path, data, buffer, length);
    }

    private boolean takeFragment(int length) {
        fragment.wrap(buffer, HEADER, FragmentDecoder.BLOCK_LENGTH, FragmentDecoder.SCHEMA_VERSION);
        ReaderPath path = joined(fragment.stream());
        return path == null || path.reader().onFragment(path, fragment, buffer, length);
    }

    private boolean takeHeartbeat() {
        heartbeat.wrap(buffer, HEADER, HeartbeatDecoder.BLOCK_LENGTH, HeartbeatDecoder.SCHEMA_VERSION);
        ReaderPath path = joined(heartbeat.stream());
        return path == null || path.reader().onHeartbeat(path, heartbeat.next());
    }

    private boolean takeLost() {
        lost.wrap(buffer, HEADER, LostDecoder.BLOCK_LENGTH, LostDecoder.SCHEMA_VERSION);
        ReaderPath path = joined(lost.stream());
        return path == null || path.reader().onLost(path, lost.first(), lost.last(), lost.isRecorded() != 0);
    }

    private boolean takeBye() {
        bye.wrap(buffer, HEADER, ByeDecoder.BLOCK_LENGTH, ByeDecoder.SCHEMA_VERSION);
        ReaderPath path = joined(bye.stream());
        return path == null || path.reader().onBye(path, bye.member(), bye.end(), bye.errno());
    }

    private boolean takeEcho() {
        echo.wrap(buffer, HEADER, EchoDecoder.BLOCK_LENGTH, EchoDecoder.SCHEMA_VERSION);
        ReaderPath path = joined(echo.stream());
        if (path != null) {
            path.onEcho(echo.timeNs());
        }
        return true;
    }

    private boolean takeGone() {
        gone.wrap(buffer, HEADER, GoneDecoder.BLOCK_LENGTH, GoneDecoder.SCHEMA_VERSION);
        ReaderPath path = joined(gone.member());
        if (path != null) {
            path.reader().onGone(path);
        }
        return true;
    }

    /** The path of a reader that has drawn a number; else null. */
    private ReaderPath asking(long reader) {
        ReaderPath path = paths.get(reader);
        return path != null && path.reader().id() == reader ? path : null;
    }

    private boolean takeCookie() {
        cookie.wrap(buffer, HEADER, CookieDecoder.BLOCK_LENGTH, CookieDecoder.SCHEMA_VERSION);
        ReaderPath path = asking(cookie.reader());
        if (path != null) {
            port.admit();
            path.onCookie(cookie.cookie(), cookie.timeNs(), port.name(), port.nameLength());
        }
        for (int i = 0; i < sent.size(); i++) {
            if (sent.get(i).writer.stream() == cookie.reader()) {
                sent.get(i).writer.onOther(port.name(), port.nameLength());
            }
        }
        return true;
    }

    private boolean takeAccept() {
        accept.wrap(buffer, HEADER, AcceptDecoder.BLOCK_LENGTH, AcceptDecoder.SCHEMA_VERSION);
        ReaderPath path = asking(accept.reader());
        return path == null || !path.isFrom(port.name(), port.nameLength()) || path.reader().onAccept(path, accept);
    }

    private boolean takeRefuse() {
        refuse.wrap(buffer, HEADER, RefuseDecoder.BLOCK_LENGTH, RefuseDecoder.SCHEMA_VERSION);
        ReaderPath path = asking(refuse.reader());
        if (path != null && path.isFrom(port.name(), port.nameLength())) {
            path.reader().onRefuse(path, refuse);
        }
        return true;
    }

    // ---- to a writer ----

    /** The reader with a number, if the datagram is from the address that it has joined from; else null. */
    private RemoteReader member(long number) {
        RemoteReader reader = net.member(number);
        if (reader == null) {
            sender.gone(port.name(), port.nameLength(), number);
        }
        return reader != null && path(reader) >= 0 ? reader : null;
    }

    /** The path of the reader that has the sender's address; negative if none has. */
    private int path(RemoteReader reader) {
        StreamWriter writer = reader.writer();
        for (int i = 0; i < writer.pathCount(); i++) {
            if (writer.node(i) == this && reader.address(i).is(port.name(), port.nameLength())) {
                return i;
            }
        }
        return -1;
    }

    private boolean takeStatus() {
        status.wrap(buffer, HEADER, StatusDecoder.BLOCK_LENGTH, StatusDecoder.SCHEMA_VERSION);
        RemoteReader reader = member(status.member());
        if (reader != null) {
            reader.writer().onStatus(reader, path(reader), status);
        }
        return true;
    }

    private boolean takeNak(int length) {
        nak.wrap(buffer, HEADER, NakDecoder.BLOCK_LENGTH, NakDecoder.SCHEMA_VERSION);
        int ranges = length - HEADER - NakDecoder.BLOCK_LENGTH - NAK_GROUP;
        if (ranges < NAK_RANGE) {
            return false;
        }
        NakDecoder.RangesDecoder each = nak.ranges();
        if (each.actingBlockLength() != NAK_RANGE || each.count() > ranges / NAK_RANGE) {
            return false;
        }
        RemoteReader reader = member(nak.member());
        if (reader == null) {
            return true;
        }
        int path = path(reader);
        reader.writer().onNak(reader, nak.timeNs(), nak.arrivedBytes());
        while (each.hasNext()) {
            each.next();
            reader.writer().onAsked(
                reader, path, each.first(), (int) each.firstByte(), each.end(), (int) each.endByte());
        }
        return true;
    }

    private boolean takeLeave() {
        leave.wrap(buffer, HEADER, LeaveDecoder.BLOCK_LENGTH, LeaveDecoder.SCHEMA_VERSION);
        RemoteReader reader = member(leave.member());
        if (reader != null) {
            reader.writer().onLeave(reader);
            sender.gone(port.name(), port.nameLength(), leave.member());
        }
        return true;
    }

    private boolean takeJoin(int length) {
        if (length < ControlSender.JOIN_BYTES) {
            return false;
        }
        join.wrap(buffer, HEADER, JoinDecoder.BLOCK_LENGTH, JoinDecoder.SCHEMA_VERSION);
        long reader = join.reader();
        if (!cookies.isGood(join.cookie(), reader, port.name(), port.nameLength())) {
            if (mayAnswer(length)) {
                sender.cookie(port.name(), port.nameLength(), reader,
                    cookies.cookie(reader, port.name(), port.nameLength()), join.timeNs());
            }
            return true;
        }
        port.admit();
        return takeKnownJoin(length);
    }

    /** Whether a Join without a cookie is for this socket: what a multicast group gets is for the writer it names. */
    private boolean mayAnswer(int length) {
        int at = HEADER + JoinDecoder.BLOCK_LENGTH;
        int groupLength = textLength(at, length);
        for (int i = 0; i < sent.size(); i++) {
            Sent each = sent.get(i);
            // its own question comes back, too
            if (each.writer.groups() == null
                || join.reader() != each.writer.stream() && isText(each.group, at + TEXT_LENGTH, groupLength)) {
                return true;
            }
        }
        return false;
    }

    /** Asks a multicast group for other writers of a stream. */
    void probe(StreamWriter writer, PeerAddress group) {
        for (int i = 0; i < sent.size(); i++) {
            if (sent.get(i).writer == writer) {
                sender.probe(group, writer.stream(), sent.get(i).group, net.nowNs());
            }
        }
    }

    /** A Join with a good cookie: its sender receives where it says. */
    private boolean takeKnownJoin(int length) {
        int at = HEADER + JoinDecoder.BLOCK_LENGTH;
        int groupLength = textLength(at, length);
        int nameAt = at + TEXT_LENGTH + groupLength;
        int nameLength = groupLength < 0 ? -1 : textLength(nameAt, length);
        if (nameLength < 0 || join.position() < -1 || join.position() >= 0 && join.term() < 1) {
            return false;
        }
        int errno = FabricErrno.ECONNREFUSED;
        StreamWriter refusing = null;
        for (int i = 0; i < sent.size(); i++) {
            Sent each = sent.get(i);
            if (!isText(each.group, at + TEXT_LENGTH, groupLength)) {
                continue;
            }
            if (join.datagramLength() >= port.maxDatagramBytes()) {
                LogPosition from = join.position() < 0 ? null : new LogPosition(
                    new UUID(join.logIdHigh(), join.logIdLow()), join.term(), join.position());
                each.writer.onJoin(each.path, port, join, from,
                    buffer.getStringWithoutLengthUtf8(nameAt + TEXT_LENGTH, nameLength));
                return true;
            }
            errno = FabricErrno.EMSGSIZE;
            refusing = each.writer;
        }
        sender.refuse(port.name(), port.nameLength(), join.reader(), join.timeNs(), refusing, errno);
        return true;
    }

    /** Length of the text at a place of the datagram, negative if it cannot be one. */
    private int textLength(int at, int length) {
        if (at + TEXT_LENGTH > length) {
            return -1;
        }
        long textLength = buffer.getInt(at, ByteOrder.LITTLE_ENDIAN) & 0xffff_ffffL;
        return textLength > LONGEST_TEXT || at + TEXT_LENGTH + textLength > length ? -1 : (int) textLength;
    }

    private boolean isText(byte[] text, int at, int length) {
        boolean isSame = text.length == length;
        for (int i = 0; isSame && i < length; i++) {
            isSame = buffer.getByte(at + i) == text[i];
        }
        return isSame;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        sent.forEach(each -> text.append(new String(each.group, StandardCharsets.UTF_8)).append(' '));
        return "sends " + text + "and has " + paths.size() + " numbers of readers, " + malformed + " malformed";
    }
}
