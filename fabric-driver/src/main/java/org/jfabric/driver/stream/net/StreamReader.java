package org.jfabric.driver.stream.net;

import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.codec.stream.AcceptDecoder;
import org.jfabric.codec.stream.DataDecoder;
import org.jfabric.codec.stream.FragmentDecoder;
import org.jfabric.codec.stream.MessageDecoder;
import org.jfabric.codec.stream.RefuseDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.layout.Words;

/**
 * The reading end of a stream: puts its messages into a {@link StreamSink} in order, and asks for those that are
 * missing.
 *
 * <p>A message that is the next one goes from the datagram to the sink. Others are kept until what is before them has
 * arrived. With two paths the first arrival counts; what one of them has lost is asked for when the other has not
 * brought it either. Owner: progress agent.
 */
public final class StreamReader {
    private static final int REPORTS_PER_RING = 8;
    private static final int FLAGS = GroupRingDescriptor.TAGGED | GroupRingDescriptor.HAS_DATA;
    private static final int MULTICAST = 1;
    /** Times 2 each: then the pause between two requests for one gap is the longest. */
    private static final int BACK_OFFS = 3;
    private static final int MOST_FAREWELLS = 8;
    private static final long FAREWELL_NS = 1_000_000_000;

    private final StreamNet net;
    private final StreamSink sink;
    private ReaderPath[] paths;
    private final long id;
    private final byte[] group;
    private final byte[] name;
    private final Gaps gaps = new Gaps();
    private final int[] wanted = new int[1 << 10];
    private final MessageDecoder message = new MessageDecoder();
    /** The first message; from then on, when it is known, the next one. Null while it is to be the newest. */
    private LogPosition from;
    private long stream;
    private long member;
    private int flags;
    private int ringBytes;
    private int fragmentBytes;
    private int maxPayload;
    private KeptMessages kept;
    /** Position of the next message for the sink. */
    private long next;
    private boolean isRecorded;
    private long reportedNext;
    private long reportedWindow;
    private long unreportedBytes;
    private int turn;
    private final long beganNs;
    /** Position behind the last message; negative while the stream has no end. */
    private long end = -1;
    private int endErrno;
    private boolean isOver;
    private long overNs;
    private long farewellNs;
    private int farewells;
    private boolean isGone;
    private long duplicates;
    private long requests;
    private long arrivedBytes;
    private final boolean isTimed;
    private long arrivedNs;

    StreamReader(
        StreamNet net, String group, String name, LogPosition from, StreamSink sink, List<StreamPath> ways,
        boolean isTimed) {
        this.isTimed = isTimed;
        this.net = net;
        this.sink = sink;
        this.from = from;
        this.group = ControlSender.text(group);
        this.name = ControlSender.text(name);
        id = net.random();
        beganNs = net.nowNs();
        paths = new ReaderPath[ways.size()];
        for (int i = 0; i < paths.length; i++) {
            paths[i] = new ReaderPath(this, ways.get(i).node(), ways.get(i).peer(), beganNs);
        }
    }

    /** Position of the next message for the sink. */
    public long next() {
        return next;
    }

    /** With times: when the message arrived that the sink is given, with the last of its datagrams; 0 if not known. */
    public long arrivedNs() {
        return arrivedNs;
    }

    /** Messages that have arrived again. */
    public long duplicates() {
        return duplicates;
    }

    /** Ranges of messages that were asked for, each time. */
    public long requests() {
        return requests;
    }

    /** Round trip of the path that was heard last, smoothed. */
    public long roundTripNs() {
        ReaderPath path = askedPath();
        return path == null ? RoundTrip.UNKNOWN_NS : path.trip().smoothedNs();
    }

    /** Whether a Status alone is to be sent before the next datagram arrives. */
    boolean isSettled() {
        return !isOver && stream != 0 && gaps.count() == 0 && kept.count() == 0 && next == reportedNext;
    }

    /** Reads by another path, too, which leads to the same writer. */
    public void add(StreamPath way) {
        if (!isOver) {
            paths = Arrays.copyOf(paths, paths.length + 1);
            paths[paths.length - 1] = new ReaderPath(this, way.node(), way.peer(), net.nowNs());
        }
    }

    /** Leaves; the sink is not called any more. */
    public void leave() {
        if (!isOver) {
            over();
        }
    }

    // ---- for its paths ----

    boolean isMulticast() {
        return (flags & MULTICAST) != 0;
    }

    long id() {
        return id;
    }

    long stream() {
        return stream;
    }

    long member() {
        return member;
    }

    boolean isOver() {
        return isOver;
    }

    byte[] group() {
        return group;
    }

    byte[] name() {
        return name;
    }

    long nowNs() {
        return net.nowNs();
    }

    /** Where a path joins; null for the newest message. */
    LogPosition from() {
        return stream == 0 ? from : from.at(next);
    }

    void onNotice(FabricException notice) {
        sink.onNotice(notice);
    }

    // ---- joining ----

    /** A path was accepted; false if that is impossible. */
    boolean onAccept(ReaderPath path, AcceptDecoder accept) {
        if (isOver) {
            // it has left before it was accepted
            member = member == 0 ? accept.member() : member;
            path.node().add(member, path);
            farewell(path);
            return true;
        }
        if (stream != 0 && accept.stream() == stream && accept.member() != member) {
            // the writer has removed this reader, which has yet to hear of it
            path.refused();
            return true;
        }
        if (stream != 0 && accept.stream() != stream) {
            refuse(path, accept.logIdHigh(), accept.logIdLow(), accept.term());
            return true;
        }
        if (stream == 0 && !begin(path, accept)) {
            return false;
        }
        path.joined(accept.timeNs(), next);
        path.node().add(stream, path);
        path.node().add(member, path);
        return true;
    }

    private boolean begin(ReaderPath path, AcceptDecoder accept) {
        int newFragmentBytes = (int) accept.fragmentLength();
        if (accept.stream() == 0 || accept.term() < 1 || accept.start() < 0
            || !GroupRingDescriptor.isValidCapacity(accept.ringLength())
            || newFragmentBytes < Long.BYTES || newFragmentBytes % Long.BYTES != 0
            || newFragmentBytes + DataWriter.FRAGMENT_HEADER > path.node().port().maxDatagramBytes()
            || path.node().isTaken(accept.stream(), path)) {
            return false;
        }
        LogPosition start =
            new LogPosition(new UUID(accept.logIdHigh(), accept.logIdLow()), accept.term(), accept.start());
        if (from != null && !from.equals(start)) {
            return false;
        }
        from = start;
        stream = accept.stream();
        member = accept.member();
        flags = (int) accept.flags();
        ringBytes = (int) accept.ringLength();
        fragmentBytes = newFragmentBytes;
        maxPayload = GroupRingDescriptor.maxPayload(ringBytes);
        next = start.position();
        reportedNext = next;
        gaps.begin(next);
        kept = new KeptMessages(ringBytes, maxPayload, isTimed);
        sink.onJoined(start, ringBytes, flags & (StreamSink.LOSSY | StreamSink.RECORDED));
        return true;
    }

    void onRefuse(ReaderPath path, RefuseDecoder refuse) {
        if (isOver || path.isJoined()) {
            return;
        }
        if (stream != 0) {
            if (refuse.errno() == FabricErrno.ECONNRESET && from.term() == refuse.term()
                && from.logId().equals(new UUID(refuse.logIdHigh(), refuse.logIdLow()))) {
                // the writer has removed this reader meanwhile
                finish(FabricErrno.ECONNRESET);
            } else {
                refuse(path, refuse.logIdHigh(), refuse.logIdLow(), refuse.term());
            }
        } else if (from != null && (refuse.flags() & StreamSink.RECORDED) != 0
            && (refuse.errno() == FabricErrno.ENODATA || refuse.errno() == FabricErrno.EINVAL
                && from.logId().equals(new UUID(refuse.logIdHigh(), refuse.logIdLow())))) {
            // of an earlier term, too: the log says whether it can be continued there
            isGone = true;
            behind(from.position());
        } else {
            if (from != null && refuse.errno() == FabricErrno.EINVAL) {
                sink.onNotice(new FabricException(FabricErrno.EINVAL,
                    "joining at " + from + ", but " + path + " has " + refuse.oldest() + " to " + refuse.next()
                        + " of log " + new UUID(refuse.logIdHigh(), refuse.logIdLow()) + " term " + refuse.term(),
                    "The log has another term, or is another one: join without a position."));
            }
            isGone = true;
            finish(refuse.errno());
        }
    }

    /** The second path leads to another stream. */
    private void refuse(ReaderPath path, long logIdHigh, long logIdLow, int term) {
        sink.onNotice(new FabricException(FabricErrno.EINVAL,
            "the stream is read of log " + from.logId() + " term " + from.term() + ", but " + path + " has log "
                + new UUID(logIdHigh, logIdLow) + " term " + term,
            "Two paths are two ways to one writer: correct the address of this one."));
        path.refused();
    }

    // ---- messages ----

    /** Bytes of datagrams with messages that have come, the lower 32 bits. */
    long arrivedBytes() {
        return arrivedBytes & 0xffff_ffffL;
    }

    /** Notes that a path is alive; false if nothing more is to be done. */
    private boolean hears(ReaderPath path) {
        path.heard(net.nowNs());
        return !isOver;
    }

    private long retryNs(ReaderPath path) {
        return net.nowNs() + path.trip().timeoutNs();
    }

    /** Takes the messages of a datagram; false if it is not whole. */
    boolean onData(ReaderPath path, DataDecoder data, DirectBuffer buffer, int length) {
        arrivedBytes += length;
        if (!hears(path)) {
            return true;
        }
        long position = data.position();
        if (position < 0 || data.count() == 0) {
            return false;
        }
        if (isTimed) {
            arrivedNs = path.node().port().timeNs();
        }
        int at = DataWriter.DATA_HEADER;
        for (int i = data.count(); i > 0; i--) {
            if (at + MessageDecoder.BLOCK_LENGTH > length) {
                return false;
            }
            message.wrap(buffer, at, MessageDecoder.BLOCK_LENGTH, MessageDecoder.SCHEMA_VERSION);
            long bytes = message.length();
            int messageFlags = (int) message.flags();
            int head = DataWriter.headBytes(messageFlags);
            if (bytes > maxPayload || at + head + bytes > length || (messageFlags & ~FLAGS) != 0) {
                return false;
            }
            if (!take(path, position, messageFlags, buffer.addressOffset() + at, head, (int) bytes)) {
                break;
            }
            position++;
            at += DataWriter.aligned(head + (int) bytes);
        }
        if (data.isRepair() == 0) {
            path.passed(data.position() + data.count(), 0);
        }
        deliver();
        return true;
    }

    /** Takes one message; false if there is no room for it. */
    private boolean take(ReaderPath path, long position, int messageFlags, long record, int head, int bytes) {
        if (position < next || !gaps.isMissing(position, 0)) {
            duplicates++;
            return true;
        }
        if (position - next >= kept.positions() || kept.find(position) != 0) {
            return false;
        }
        boolean isTagged = (messageFlags & GroupRingDescriptor.TAGGED) != 0;
        long words = record + MessageDecoder.BLOCK_LENGTH;
        long tag = isTagged ? UnsafeApi.getLong(words) : 0;
        long data = (messageFlags & GroupRingDescriptor.HAS_DATA) == 0 ? 0
            : UnsafeApi.getLong(words + (isTagged ? Long.BYTES : 0));
        boolean isDirect = position == next && sink.hasRoom(bytes);
        if (!isDirect) {
            long entry = kept.add(position, bytes, messageFlags, tag, data, position == next);
            if (entry == 0) {
                return false;
            }
            Words.copy(record + head, KeptMessages.payload(entry), bytes);
            if (isTimed) {
                KeptMessages.timeNs(entry, arrivedNs);
            }
        }
        if (!gaps.arrived(position, 0, position + 1, 0, net.nowNs(), retryNs(path))) {
            kept.remove(position);
            return false;
        }
        if (isDirect) {
            sink.write(position, messageFlags, tag, data, record + head, bytes);
            delivered(bytes);
        }
        return true;
    }

    /** Takes a part of a message; false if it is not one. */
    boolean onFragment(ReaderPath path, FragmentDecoder fragment, DirectBuffer buffer, int length) {
        arrivedBytes += length;
        if (!hears(path)) {
            return true;
        }
        long position = fragment.position();
        long total = fragment.length();
        long offset = fragment.firstByte();
        int bytes = length - DataWriter.FRAGMENT_HEADER;
        int messageFlags = (int) fragment.flags();
        if (position < 0 || total > maxPayload || offset >= total || offset % fragmentBytes != 0
            || bytes != Math.min(fragmentBytes, total - offset) || (messageFlags & ~FLAGS) != 0) {
            return false;
        }
        boolean isLast = offset + bytes == total;
        long endPosition = isLast ? position + 1 : position;
        int endByte = isLast ? 0 : (int) offset + bytes;
        if (fragment.isRepair() == 0) {
            path.passed(endPosition, endByte);
        }
        if (position < next || !gaps.isMissing(position, (int) offset)) {
            duplicates++;
            return true;
        }
        if (position - next >= kept.positions()) {
            return true;
        }
        long entry = kept.find(position);
        if (entry == 0) {
            entry = kept.add(
                position, (int) total, messageFlags, fragment.tag(), fragment.data(), position == next);
            if (entry == 0) {
                return true;
            }
        } else if (KeptMessages.payloadLength(entry) != total) {
            return false;
        }
        if (gaps.arrived(position, (int) offset, endPosition, endByte, net.nowNs(), retryNs(path))) {
            Words.copy(
                buffer.addressOffset() + DataWriter.FRAGMENT_HEADER, KeptMessages.payload(entry) + offset, bytes);
            if (isTimed) {
                KeptMessages.timeNs(entry, path.node().port().timeNs());
            }
            deliver();
        }
        return true;
    }

    private void delivered(int payloadLength) {
        next++;
        unreportedBytes += GroupRingDescriptor.alignedLength(
            GroupRingDescriptor.RECORD_HEADER_WITH_DATA + payloadLength);
    }

    /** Gives the sink what is complete, in order; 0 if there is nothing. */
    private int deliver() {
        int work = 0;
        while (!isOver) {
            if (next < gaps.completeUntil()) {
                long entry = kept.find(next);
                if (entry == 0) {
                    throw new IllegalStateException("message " + next + " has arrived and is not there: " + this);
                }
                int bytes = KeptMessages.payloadLength(entry);
                if (!sink.hasRoom(bytes)) {
                    return work;
                }
                if (isTimed) {
                    arrivedNs = KeptMessages.timeNs(entry);
                }
                sink.write(next, KeptMessages.flags(entry), KeptMessages.tag(entry), KeptMessages.data(entry),
                    KeptMessages.payload(entry), bytes);
                kept.remove(next);
                delivered(bytes);
            } else if (gaps.isFirstLost()) {
                skipLost();
            } else {
                break;
            }
            work++;
        }
        if (!isOver && next == end) {
            finish(endErrno);
        }
        return work;
    }

    private void skipLost() {
        if (isRecorded) {
            behind(next);
            return;
        }
        long last = gaps.lostUntil();
        // fragments of the messages at both ends
        kept.remove(next);
        kept.remove(last);
        sink.gap(next, last);
        next = last + 1;
        gaps.discard(next);
    }

    /** Everything before a position was sent on a path; false if that is impossible. */
    boolean onHeartbeat(ReaderPath path, long position) {
        if (hears(path)) {
            if (position < 0) {
                return false;
            }
            path.passed(position, 0);
            gaps.passed(position, 0, net.nowNs());
        }
        return true;
    }

    boolean onLost(ReaderPath path, long first, long last, boolean newIsRecorded) {
        if (hears(path)) {
            if (first < 0 || last < first || last == Long.MAX_VALUE) {
                return false;
            }
            isRecorded = newIsRecorded;
            path.passed(last + 1, 0);
            gaps.passed(last + 1, 0, net.nowNs());
            gaps.lost(Math.max(first, next), last);
            deliver();
        }
        return true;
    }

    // ---- the end ----

    boolean onBye(ReaderPath path, long of, long position, int errno) {
        if (isOver) {
            farewell(path);
            return true;
        }
        if (of != 0 && of != member || position < 0 || errno <= 0) {
            return false;
        }
        path.heard(net.nowNs());
        if (of != 0) {
            finish(errno);
            return true;
        }
        end = position;
        endErrno = errno;
        path.passed(position, 0);
        gaps.passed(position, 0, net.nowNs());
        deliver();
        return true;
    }

    /** The writer does not have this reader any more. */
    void onGone(ReaderPath path) {
        isGone |= isOver;
        if (!isOver && path.isJoined()) {
            finish(FabricErrno.ECONNRESET);
        }
    }

    private void behind(long position) {
        over();
        sink.behind(position);
    }

    private void finish(int errno) {
        over();
        sink.end(errno);
    }

    /** Leaves. Its numbers are kept until the writer has answered, or for a while: it would wait for this reader. */
    private void over() {
        isOver = true;
        isGone |= member == 0 && Arrays.stream(paths).noneMatch(path -> path.writer().isSet());
        overNs = net.nowNs();
        farewellNs = overNs;
        if (member != 0) {
            for (ReaderPath path : paths) {
                path.leave();
            }
        }
    }

    private void farewell(ReaderPath path) {
        if (farewells++ < MOST_FAREWELLS) {
            path.leave();
        }
    }

    private int stepOver() {
        long nowNs = net.nowNs();
        if (isGone || nowNs - overNs >= FAREWELL_NS) {
            gone();
            return 1;
        }
        ReaderPath path = paths[farewells % paths.length];
        if (nowNs - farewellNs < path.trip().timeoutNs() << Math.min(farewells, BACK_OFFS)) {
            return 0;
        }
        farewellNs = nowNs;
        farewell(path);
        return 1;
    }

    /** The socket is about to be closed: no answer is awaited. */
    void lastFarewell() {
        for (ReaderPath path : paths) {
            if (member != 0) {
                farewell(path);
            }
        }
        gone();
    }

    private void gone() {
        for (ReaderPath path : paths) {
            path.close();
        }
        if (kept != null) {
            kept.close();
        }
        net.remove(this);
    }

    // ---- time ----

    int step() {
        if (isOver) {
            return stepOver();
        }
        long nowNs = net.nowNs();
        long heardNs = stream == 0 ? beganNs : Long.MIN_VALUE;
        int work = 0;
        for (ReaderPath path : paths) {
            work += path.step(nowNs);
            heardNs = stream == 0 ? heardNs : Math.max(heardNs, path.heardNs());
        }
        if (nowNs - heardNs >= net.silenceNs()) {
            finish(stream == 0 ? FabricErrno.EHOSTUNREACH : FabricErrno.ECONNRESET);
            return 1;
        }
        if (stream == 0) {
            return work;
        }
        if (kept.count() > 0 || gaps.isFirstLost()) {
            work += deliver();
        }
        if (!isOver) {
            work += gaps.count() == 0 ? 0 : ask(nowNs);
            report(nowNs);
        }
        return work;
    }

    /** Asks for all gaps whose time it is. */
    private int ask(long nowNs) {
        if (!sink.hasRoom(maxPayload)) {
            return 0;
        }
        ReaderPath path = askedPath();
        if (path == null) {
            return 0;
        }
        int count = 0;
        int most = path.node().sender().mostRanges();
        boolean isAgain = false;
        for (int i = gaps.from(); i < gaps.to() && count < most; i++) {
            if (gaps.isLost(i)) {
                continue;
            }
            if (gaps.dueNs(i) == Gaps.LATER && hasPassed(i, nowNs)) {
                gaps.ask(i, nowNs + delayNs(path));
            }
            if (gaps.dueNs(i) != Gaps.LATER && nowNs - gaps.dueNs(i) >= 0) {
                isAgain |= gaps.tries(i) > 0;
                wanted[count++] = i;
            }
        }
        if (count == 0 || !path.node().sender().nak(path.writer(), this, gaps, wanted, count)) {
            return 0;
        }
        for (int i = 0; i < count; i++) {
            int gap = wanted[i];
            gaps.asked(gap, nowNs + (path.trip().timeoutNs() << Math.min(gaps.tries(gap), BACK_OFFS)));
        }
        requests += count;
        turn += isAgain ? 1 : 0;
        return count;
    }

    /** The path to ask by: the one that was heard last, and after requests without success the others in turn. */
    private ReaderPath askedPath() {
        ReaderPath best = null;
        for (int i = 0; i < paths.length; i++) {
            ReaderPath path = paths[(turn + i) % paths.length];
            if (path.isJoined() && (best == null
                || net.nowNs() - best.heardNs() > best.trip().timeoutNs() && path.heardNs() > best.heardNs())) {
                best = path;
            }
        }
        return best;
    }

    /** Whether a gap will not be filled without a request. */
    private boolean hasPassed(int gap, long nowNs) {
        boolean hasPassed = true;
        for (int i = 0; i < paths.length && paths.length > 1; i++) {
            hasPassed &= paths[i].hasPassed(gaps.end(gap), gaps.endByte(gap), gaps.sinceNs(gap), nowNs);
        }
        return hasPassed;
    }

    /** With multicast others may miss the same: who asks first spares them from it. */
    private long delayNs(ReaderPath path) {
        return !isMulticast() ? 0 : Math.floorMod(net.random(), path.trip().smoothedNs() / 2 + 1);
    }

    private void report(long nowNs) {
        long window = sink.window();
        boolean isChanged = next != reportedNext || window != reportedWindow;
        boolean isUrgent = unreportedBytes >= ringBytes / REPORTS_PER_RING
            || reportedWindow < ringBytes / REPORTS_PER_RING && window >= 2 * (ringBytes / REPORTS_PER_RING);
        boolean isSent = false;
        for (ReaderPath path : paths) {
            if (path.isJoined()) {
                isSent |= path.report(nowNs, isUrgent, isChanged, sink.consumed(), window);
            }
        }
        if (isSent) {
            reportedNext = next;
            reportedWindow = window;
            unreportedBytes = 0;
        }
    }

    @Override
    public String toString() {
        return "next " + next + ", frontier " + gaps.frontier() + ", " + gaps.count() + " gaps, "
            + (kept == null ? 0 : kept.count()) + " kept, window " + reportedWindow + (isOver ? ", over, " : ", ")
            + Arrays.toString(paths);
    }
}
