package org.jfabric.driver.stream.net;

import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.stream.AcceptEncoder;
import org.jfabric.codec.stream.ByeEncoder;
import org.jfabric.codec.stream.CookieEncoder;
import org.jfabric.codec.stream.EchoEncoder;
import org.jfabric.codec.stream.GoneEncoder;
import org.jfabric.codec.stream.HeartbeatEncoder;
import org.jfabric.codec.stream.JoinEncoder;
import org.jfabric.codec.stream.LeaveEncoder;
import org.jfabric.codec.stream.LostEncoder;
import org.jfabric.codec.stream.MessageHeaderEncoder;
import org.jfabric.codec.stream.NakEncoder;
import org.jfabric.codec.stream.RefuseEncoder;
import org.jfabric.codec.stream.StatusEncoder;
import org.jfabric.info.LogPosition;

/**
 * Sends the datagrams that have no messages. One that the socket does not take now is not sent: the timer that has sent
 * it, or the peer's, does so again. Owner: progress agent.
 */
final class ControlSender {
    /** Length of the shortest Join. Longer than its answer, so that a forged one gets less than it was. */
    static final int JOIN_BYTES = 128;
    private static final int HEADER = MessageHeaderEncoder.ENCODED_LENGTH;
    private static final byte[] NO_NAME = {};
    private static final int NAK_HEADER =
        HEADER + NakEncoder.BLOCK_LENGTH + NakEncoder.RangesEncoder.HEADER_SIZE;

    private final StreamSocket port;
    private final int datagramBytes;
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final HeartbeatEncoder heartbeat = new HeartbeatEncoder();
    private final LostEncoder lost = new LostEncoder();
    private final ByeEncoder bye = new ByeEncoder();
    private final EchoEncoder echo = new EchoEncoder();
    private final GoneEncoder gone = new GoneEncoder();
    private final StatusEncoder status = new StatusEncoder();
    private final NakEncoder nak = new NakEncoder();
    private final LeaveEncoder leave = new LeaveEncoder();
    private final JoinEncoder join = new JoinEncoder();
    private final CookieEncoder cookie = new CookieEncoder();
    private final AcceptEncoder accept = new AcceptEncoder();
    private final RefuseEncoder refuse = new RefuseEncoder();

    ControlSender(StreamSocket port) {
        this.port = port;
        datagramBytes = port.maxDatagramBytes();
    }

    /** Wraps the next datagram; false if it cannot be sent. */
    private boolean begin() {
        long memory = port.claim();
        if (memory == 0) {
            return false;
        }
        buffer.wrap(memory, datagramBytes);
        return true;
    }

    private void send(int blockLength, PeerAddress to) {
        port.send(HEADER + blockLength, to.name(), to.length());
    }

    // ---- of a writer ----

    void heartbeat(PeerAddress to, long stream, long next, long oldest) {
        if (begin()) {
            heartbeat.wrapAndApplyHeader(buffer, 0, header).stream(stream).next(next).oldest(oldest);
            send(HeartbeatEncoder.BLOCK_LENGTH, to);
        }
    }

    void lost(PeerAddress to, long stream, long first, long last, boolean isRecorded) {
        if (begin()) {
            lost.wrapAndApplyHeader(buffer, 0, header)
                .stream(stream).first(first).last(last).isRecorded(isRecorded ? 1 : 0).reserved(0);
            send(LostEncoder.BLOCK_LENGTH, to);
        }
    }

    /** The stream has ended, for one member, or with member 0 for all. */
    void bye(PeerAddress to, long stream, long member, long end, int errno) {
        if (begin()) {
            bye.wrapAndApplyHeader(buffer, 0, header).stream(stream).member(member).end(end).errno(errno).reserved(0);
            send(ByeEncoder.BLOCK_LENGTH, to);
        }
    }

    void echo(PeerAddress to, long stream, long timeNs) {
        if (begin()) {
            echo.wrapAndApplyHeader(buffer, 0, header).stream(stream).timeNs(timeNs);
            send(EchoEncoder.BLOCK_LENGTH, to);
        }
    }

    void gone(long name, int nameLength, long member) {
        if (begin()) {
            gone.wrapAndApplyHeader(buffer, 0, header).member(member).reserved(0);
            port.send(HEADER + GoneEncoder.BLOCK_LENGTH, name, nameLength);
        }
    }

    void cookie(long name, int nameLength, long reader, long value, long timeNs) {
        if (begin()) {
            cookie.wrapAndApplyHeader(buffer, 0, header).reader(reader).cookie(value).timeNs(timeNs);
            port.send(HEADER + CookieEncoder.BLOCK_LENGTH, name, nameLength);
        }
    }

    /** Accepts a reader, whose first message is at a position. */
    void accept(PeerAddress to, RemoteReader reader, long timeNs, long start) {
        if (begin()) {
            StreamWriter writer = reader.writer();
            LogPosition first = writer.first();
            accept.wrapAndApplyHeader(buffer, 0, header)
                .reader(reader.id()).timeNs(timeNs).stream(writer.stream()).member(reader.member())
                .logIdHigh(first.logId().getMostSignificantBits()).logIdLow(first.logId().getLeastSignificantBits())
                .start(start).next(writer.next()).term(first.term()).ringLength(writer.ringBytes())
                .fragmentLength(writer.fragmentBytes()).flags(writer.flags()).reserved(0);
            send(AcceptEncoder.BLOCK_LENGTH, to);
        }
    }

    /**
     * Refuses a reader.
     *
     * @param writer that it would have read; null if there is none.
     */
    void refuse(long name, int nameLength, long reader, long timeNs, StreamWriter writer, int errno) {
        if (begin()) {
            LogPosition first = writer == null ? null : writer.first();
            refuse.wrapAndApplyHeader(buffer, 0, header).reader(reader).timeNs(timeNs)
                .logIdHigh(first == null ? 0 : first.logId().getMostSignificantBits())
                .logIdLow(first == null ? 0 : first.logId().getLeastSignificantBits())
                .oldest(first == null ? 0 : writer.oldest()).next(first == null ? 0 : writer.next())
                .term(first == null ? 0 : first.term()).errno(errno)
                .flags(first == null ? 0 : writer.flags()).reserved(0);
            port.send(HEADER + RefuseEncoder.BLOCK_LENGTH, name, nameLength);
        }
    }

    // ---- of a reader ----

    /** Asks to join. */
    void join(PeerAddress to, StreamReader reader, long cookieValue, long timeNs) {
        if (begin()) {
            LogPosition from = reader.from();
            join.wrapAndApplyHeader(buffer, 0, header)
                .reader(reader.id()).cookie(cookieValue).timeNs(timeNs)
                .logIdHigh(from == null ? 0 : from.logId().getMostSignificantBits())
                .logIdLow(from == null ? 0 : from.logId().getLeastSignificantBits())
                .position(from == null ? -1 : from.position()).term(from == null ? 0 : from.term())
                .datagramLength(datagramBytes).member(reader.member());
            sendJoin(to, reader.group(), reader.name());
        }
    }

    /** Asks who else sends a stream to a multicast group; the answer is a Cookie. */
    void probe(PeerAddress to, long number, byte[] group, long timeNs) {
        if (begin()) {
            join.wrapAndApplyHeader(buffer, 0, header).reader(number).cookie(0).timeNs(timeNs).logIdHigh(0).logIdLow(0)
                .position(-1).term(0).datagramLength(datagramBytes).member(0);
            sendJoin(to, group, NO_NAME);
        }
    }

    private void sendJoin(PeerAddress to, byte[] group, byte[] name) {
        join.putGroup(group, 0, group.length).putName(name, 0, name.length);
        int length = HEADER + join.encodedLength();
        if (length < JOIN_BYTES) {
            buffer.setMemory(length, JOIN_BYTES - length, (byte) 0);
            length = JOIN_BYTES;
        }
        port.send(length, to.name(), to.length());
    }

    void status(PeerAddress to, StreamReader reader, long consumed, long window, long timeNs, RoundTrip trip) {
        if (begin()) {
            status.wrapAndApplyHeader(buffer, 0, header)
                .member(reader.member()).received(reader.next()).consumed(consumed)
                .timeNs(timeNs).window(window)
                .roundTripNs(Math.min(trip.smoothedNs(), Integer.MAX_VALUE))
                .timeoutNs(Math.min(trip.timeoutNs(), Integer.MAX_VALUE)).arrivedBytes(reader.arrivedBytes());
            send(StatusEncoder.BLOCK_LENGTH, to);
        }
    }

    /** Gaps that one Nak can name. */
    int mostRanges() {
        return Math.min((datagramBytes - NAK_HEADER) / NakEncoder.RangesEncoder.sbeBlockLength(), 1 << 10);
    }

    /**
     * Asks for gaps.
     *
     * @param indices of the gaps.
     * @param count   at least 1, at most {@link #mostRanges()}.
     */
    boolean nak(PeerAddress to, StreamReader reader, Gaps gaps, int[] indices, int count) {
        if (!begin()) {
            return false;
        }
        NakEncoder.RangesEncoder ranges = nak.wrapAndApplyHeader(buffer, 0, header).member(reader.member())
            .timeNs(reader.nowNs()).arrivedBytes(reader.arrivedBytes()).reserved(0).rangesCount(count);
        for (int i = 0; i < count; i++) {
            int gap = indices[i];
            ranges.next().first(gaps.first(gap)).end(gaps.end(gap))
                .firstByte(gaps.firstByte(gap)).endByte(gaps.endByte(gap));
        }
        port.send(HEADER + nak.encodedLength(), to.name(), to.length());
        return true;
    }

    void leave(PeerAddress to, long member, long received) {
        if (begin()) {
            leave.wrapAndApplyHeader(buffer, 0, header).member(member).received(received);
            send(LeaveEncoder.BLOCK_LENGTH, to);
        }
    }

    static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
