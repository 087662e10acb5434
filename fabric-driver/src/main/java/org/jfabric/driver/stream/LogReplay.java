package org.jfabric.driver.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.stream.MessageHeaderDecoder;
import org.jfabric.codec.stream.MessageHeaderEncoder;
import org.jfabric.codec.stream.ReplayEncoder;
import org.jfabric.codec.stream.ReplayRecordDecoder;
import org.jfabric.codec.stream.ReplayStartDecoder;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.info.SocketName;
import org.jfabric.layout.GroupRingDescriptor;

/**
 * The log of a group on another host as its driver sends it ({@link ReplayServer}). It is read as fast as the ring of
 * the reading host has room; every byte may be forged.
 *
 * <p>Owner: progress agent, but for {@link #open}.
 */
final class LogReplay {
    static final int GAP = 1 << 8;
    static final int ALL_SENT = 1 << 9;
    static final int LAST = 1 << 10;
    static final int LONGEST_REASON = 1024;
    private static final int CONNECT_MS = 2000;
    private static final int HEADER = MessageHeaderDecoder.ENCODED_LENGTH;
    private static final int START = HEADER + ReplayStartDecoder.BLOCK_LENGTH;
    private static final int RECORD = HEADER + ReplayRecordDecoder.BLOCK_LENGTH;
    private static final int REQUEST_BYTES = 512;
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int RECORDS_PER_POLL = 256;
    private static final long ALIVE_NS = 1_000_000_000;

    private final ByteChannel channel;
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private final ReplayRecordDecoder message = new ReplayRecordDecoder();
    private final ByteBuffer alive = ByteBuffer.allocateDirect(1);
    private ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private UnsafeBuffer buffer = new UnsafeBuffer(bytes);
    /** What was taken of the bytes. */
    private int taken;
    private int maxPayload;
    private boolean isStarted;
    private boolean isStuck;
    private long aliveNs;

    private LogReplay(ByteChannel channel) {
        this.channel = channel;
    }

    /**
     * Asks for a log, from a place on. Resource thread.
     *
     * @param security null for a plain connection.
     * @throws FabricException if the writer's driver is not proved.
     */
    static LogReplay open(SocketName writer, String group, LogPosition from, ReplaySecurity security)
        throws IOException {
        SocketChannel socket = SocketChannel.open();
        ByteChannel channel = socket;
        boolean isGood = false;
        try {
            socket.socket().connect(new InetSocketAddress(writer.inetAddress(), writer.port()), CONNECT_MS);
            socket.configureBlocking(false);
            channel = security == null ? socket : security.secure(socket, true);
            ByteBuffer request = ByteBuffer.allocateDirect(REQUEST_BYTES);
            ReplayEncoder encoder = new ReplayEncoder().wrapAndApplyHeader(
                new UnsafeBuffer(request), 0, new MessageHeaderEncoder());
            encoder.logIdHigh(from.logId().getMostSignificantBits())
                .logIdLow(from.logId().getLeastSignificantBits()).position(from.position()).term(from.term())
                .reserved(0).group(group);
            request.limit(HEADER + encoder.encodedLength());
            while (request.hasRemaining()) {
                // there is room: it is the first that is sent
                channel.write(request);
            }
            isGood = true;
            return new LogReplay(channel);
        } finally {
            if (!isGood) {
                channel.close();
            }
        }
    }

    static int padded(int length) {
        return length + Long.BYTES - 1 & -Long.BYTES;
    }

    /** Whether it waits for room in the ring. */
    boolean isStuck() {
        return isStuck;
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // nothing can be done, and nothing is lost
        }
    }

    /** Says now and then that somebody is there. */
    void step(long nowNs) throws IOException {
        if (nowNs - aliveNs > ALIVE_NS) {
            aliveNs = nowNs;
            alive.clear();
            channel.write(alive);
        }
    }

    /**
     * Takes what has arrived, as far as there is room.
     *
     * @return 0 if there was nothing.
     * @throws IOException     if the connection has ended, or has brought what cannot be.
     * @throws FabricException if the writer's driver does not trust this one.
     */
    int poll(NetworkReader to) throws IOException {
        int read = channel.read(bytes);
        int work = Math.max(0, read);
        isStuck = false;
        for (int i = 0; i < RECORDS_PER_POLL && to.isReplaying(this) && take(to); i++) {
            work++;
        }
        if (taken == bytes.position()) {
            bytes.clear();
            taken = 0;
        } else if (taken > bytes.capacity() / 2 || taken > 0 && !bytes.hasRemaining()) {
            int end = bytes.position();
            bytes.position(taken).limit(end);
            bytes.compact();
            taken = 0;
        }
        if (read < 0 && work == 0 && to.isReplaying(this) && !isStuck) {
            throw new IOException("the connection has ended");
        }
        return work;
    }

    private boolean take(NetworkReader to) throws IOException {
        int available = bytes.position() - taken;
        if (available < (isStarted ? RECORD : START)) {
            return false;
        }
        header.wrap(buffer, taken);
        int template = isStarted ? ReplayRecordDecoder.TEMPLATE_ID : ReplayStartDecoder.TEMPLATE_ID;
        if (header.schemaId() != MessageHeaderDecoder.SCHEMA_ID || header.templateId() != template) {
            throw new IOException("no record of a replay");
        }
        return isStarted ? takeRecord(to, available) : takeStart(to, available);
    }

    private boolean takeStart(NetworkReader to, int available) throws IOException {
        ReplayStartDecoder start = new ReplayStartDecoder();
        start.wrap(buffer, taken + HEADER, ReplayStartDecoder.BLOCK_LENGTH, ReplayStartDecoder.SCHEMA_VERSION);
        int reasonLength = (int) start.reasonLength();
        if (reasonLength < 0 || reasonLength > LONGEST_REASON || start.term() < 1 || start.position() < 0
            || start.errno() == 0 && !GroupRingDescriptor.isValidCapacity(start.ringLength())) {
            throw new IOException("an impossible begin of a replay");
        }
        if (available < START + reasonLength) {
            return false;
        }
        String reason = buffer.getStringWithoutLengthUtf8(taken + START, reasonLength);
        taken += START + reasonLength;
        if (start.errno() != 0) {
            to.replayRefused(start.errno(), reason);
            return true;
        }
        isStarted = true;
        LogPosition place = new LogPosition(
            new UUID(start.logIdHigh(), start.logIdLow()), start.term(), start.position());
        int ringBytes = (int) start.ringLength();
        maxPayload = GroupRingDescriptor.maxPayload(ringBytes);
        if (RECORD + padded(maxPayload) > bytes.capacity()) {
            ByteBuffer longer = ByteBuffer.allocateDirect(BUFFER_BYTES + RECORD + padded(maxPayload));
            longer.put(bytes.flip().position(taken));
            taken = 0;
            bytes = longer;
            buffer = new UnsafeBuffer(longer);
        }
        to.replayBegins(place, ringBytes);
        return true;
    }

    private boolean takeRecord(NetworkReader to, int available) throws IOException {
        message.wrap(buffer, taken + HEADER, ReplayRecordDecoder.BLOCK_LENGTH, ReplayRecordDecoder.SCHEMA_VERSION);
        int flags = (int) message.flags();
        int length = (int) message.length();
        long position = message.position();
        int kind = flags & (GAP | ALL_SENT | LAST);
        if (length < 0 || length > maxPayload || kind != 0 && length != 0) {
            throw new IOException("a message of " + length + " bytes");
        }
        if (available < RECORD + padded(length)) {
            return false;
        }
        if (!to.hasRoom(length)) {
            isStuck = true;
            return false;
        }
        long next = to.next();
        if (kind != ALL_SENT && kind != LAST && position != next || kind == GAP && message.data() < position) {
            throw new IOException("message " + position + " where " + next + " follows");
        }
        taken += RECORD + padded(length);
        switch (kind) {
            case 0 -> to.write(position, flags & (GroupRingDescriptor.TAGGED | GroupRingDescriptor.HAS_DATA),
                message.tag(), message.data(), buffer.addressOffset() + taken - padded(length), length);
            case GAP -> to.gap(position, message.data());
            case ALL_SENT -> to.allSent();
            case LAST -> to.end((int) message.data());
            default -> throw new IOException("a record with flags " + flags);
        }
        return true;
    }
}
