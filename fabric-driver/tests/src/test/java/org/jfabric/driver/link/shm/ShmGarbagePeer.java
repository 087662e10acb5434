package org.jfabric.driver.link.shm;

import java.nio.file.Path;
import java.util.SplittableRandom;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.wire.AnnounceEncoder;
import org.jfabric.codec.wire.EagerDataEncoder;
import org.jfabric.codec.wire.EagerEncoder;
import org.jfabric.codec.wire.EagerToAcknowledgeEncoder;
import org.jfabric.codec.wire.RemoteReadEncoder;
import org.jfabric.codec.wire.RemoteWriteEncoder;
import org.jfabric.driver.kit.Change;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Deadline;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

/**
 * A driver on the same host that writes changed records into the ring that another driver reads: frames with valid ids
 * and some bytes changed, lengths and types that are not true, read positions that cannot be. Whenever the other one
 * ends the connection, it makes the next one.
 */
public final class ShmGarbagePeer implements AutoCloseable {
    private static final int LONGEST = 1024;
    private static final int WORDS = 14;
    private static final int RECORDS_OF_A_CONNECTION = 64;
    private static final long ID = 0x0000_0001_0000_0000L;

    private final RemoteNode node;
    private final String victim;
    private final long key;
    private final SplittableRandom random;
    private final UnsafeBuffer body = new UnsafeBuffer(new byte[LONGEST]);
    private int connections;

    /**
     * A peer without a connection.
     *
     * @param base   folder of both drivers.
     * @param name   of this one.
     * @param victim address of an endpoint of the other one.
     * @param key    of memory that its peers may access.
     */
    public ShmGarbagePeer(Path base, String name, String victim, long key, SplittableRandom random) {
        node = new RemoteNode(base, name);
        this.victim = victim;
        this.key = key;
        this.random = random;
    }

    /** Connects and writes until the connection ends, or long enough; returns how many records the other has read. */
    public int some() {
        if (node.channel == null) {
            connect();
        }
        int read = 0;
        while (node.channel != null && read < RECORDS_OF_A_CONNECTION) {
            write();
            read++;
            node.take();
            node.payloads.clear();
        }
        return read;
    }

    /** Connections that it has made. */
    public int connections() {
        return connections;
    }

    /** Errors of this side, which are no faults. */
    public String errors() {
        return node.services.errors.toString();
    }

    private void connect() {
        node.services.errors.clear();
        node.link.connect(node.endpoint, victim, node.handler);
        Deadline.in(20).until("a connection to " + victim, () -> node.channel != null, () -> {
            node.step();
            if (node.events.contains("down")) {
                // the other one may still be at the end of the connection before
                node.take();
                node.link.connect(node.endpoint, victim, node.handler);
            }
        }, this::errors);
        connections++;
        node.take();
    }

    /** One record, until the other driver has read it, or has ended the connection because of it. */
    private void write() {
        ShmChannel channel = (ShmChannel) node.channel;
        ShmConnection connection = node.link.connection(victim);
        int type = 2 + random.nextInt(ShmFrameReader.MAX_TYPE - 1);
        int bodyLength = body(type, channel);
        boolean isShort = random.nextInt(4) == 0;
        int length = WORD_LENGTH + bodyLength;
        int offset = claim(channel, length);
        if (offset < 0) {
            return;
        }
        connection.ring().putBytes(offset + WORD_LENGTH, body, 0, bodyLength);
        int dice = random.nextInt(40);
        if (dice == 0) {
            lie(connection, offset);
            return;
        }
        if (dice == 1) {
            UnsafeApi.putLongRelease(null, connection.files().ownRing().address()
                + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, random.nextBoolean() ? random.nextLong()
                    : random.nextInt(RemoteNode.RING) & -RecordRingDescriptor.RECORD_ALIGNMENT);
        }
        if (isShort) {
            int info = random.nextInt(8) == 0 ? random.nextInt()
                : channel.remoteShort | random.nextInt(2) << Short.SIZE;
            channel.producer.commitWord(offset, length, RecordRingDescriptor.shortWord(length,
                1 + random.nextInt(random.nextInt(8) == 0 ? 255 : ShmFrameReader.MAX_SHORT_TYPE), info));
        } else {
            channel.producer.commit(offset, length, random.nextInt(16) == 0 ? random.nextInt() : type);
        }
        connection.written();
        awaitTaken(connection, offset + RecordRingDescriptor.alignedLength(length));
    }

    /** A word that is not true about what follows: nothing can be written behind it, so the connection is over. */
    private void lie(ShmConnection connection, int offset) {
        long word = random.nextBoolean() ? random.nextLong()
            : RecordRingDescriptor.word(random.nextInt(RemoteNode.RING), random.nextInt(ShmFrameReader.MAX_TYPE + 2));
        long before = taken(connection);
        connection.ring().putLongRelease(offset, word == 0 ? -1L : word);
        connection.written();
        // it may be believed, and then the other driver has read any number of bytes
        Deadline.in(20).until("the end of a lie at " + offset + ": " + Long.toHexString(word),
            () -> node.channel == null || taken(connection) != before, node::step, this::errors);
        connection.broken("was lied to");
        node.services.errors.clear();
    }

    private int claim(ShmChannel channel, int length) {
        int offset = channel.producer.claim(length);
        Deadline deadline = Deadline.in(20);
        while (offset < 0 && node.channel == channel) {
            deadline.check("room in the ring", this::errors);
            node.step();
            offset = node.channel == channel ? channel.producer.claim(length) : -1;
        }
        return offset;
    }

    /** The other driver publishes behind each batch how far it has read. */
    private void awaitTaken(ShmConnection connection, int end) {
        Deadline.in(20).until("the end of a record at " + end, () -> node.channel == null
            || (taken(connection) - end & RemoteNode.RING - 1) < RemoteNode.RING / 2, node::step, this::errors);
    }

    private static long taken(ShmConnection connection) {
        return UnsafeApi.getLongAcquire(
            null, connection.files().peerRing().address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET);
    }

    /** A body that a frame of that type may have, perhaps with some bytes changed; returns its length. */
    private int body(int type, ShmChannel channel) {
        int length = Integer.BYTES * 2 + Long.BYTES * random.nextInt(WORDS);
        body.setMemory(0, LONGEST, (byte) 0);
        body.putInt(0, channel.remoteId);
        body.putInt(Integer.BYTES, RemoteNode.FIRST_GRANT);
        for (int at = Long.BYTES; at < length; at += Long.BYTES) {
            body.putLong(at, word());
        }
        switch (type) {
            case ShmFrameReader.EAGER_DATA -> body.putLong(
                EagerDataEncoder.flagsEncodingOffset(), random.nextBoolean() ? Flags.TAGGED : Flags.MSG);
            case ShmFrameReader.ANNOUNCE -> {
                body.putLong(AnnounceEncoder.flagsEncodingOffset(), random.nextBoolean() ? Flags.TAGGED : Flags.MSG);
                length = AnnounceEncoder.BLOCK_LENGTH;
            }
            case ShmFrameReader.EAGER_TO_ACKNOWLEDGE -> {
                body.putLong(EagerToAcknowledgeEncoder.flagsEncodingOffset(),
                    Flags.DELIVERY_COMPLETE | (random.nextBoolean() ? Flags.TAGGED : Flags.MSG));
                length = EagerToAcknowledgeEncoder.BLOCK_LENGTH + random.nextInt(200);
            }
            case ShmFrameReader.REMOTE_WRITE -> {
                int payload = 1 + random.nextInt(64);
                body.putLong(RemoteWriteEncoder.keyEncodingOffset(), key);
                body.putLong(RemoteWriteEncoder.lengthEncodingOffset(), payload);
                body.putLong(RemoteWriteEncoder.msgOffsetEncodingOffset(), 0);
                length = RemoteWriteEncoder.BLOCK_LENGTH + payload;
            }
            case ShmFrameReader.REMOTE_READ -> {
                body.putLong(RemoteReadEncoder.keyEncodingOffset(), key);
                body.putLong(RemoteReadEncoder.lengthEncodingOffset(), random.nextInt(2_000));
                length = RemoteReadEncoder.BLOCK_LENGTH;
            }
            default -> length = Math.max(length, random.nextBoolean() ? EagerEncoder.BLOCK_LENGTH : length);
        }
        return random.nextInt(4) == 0 ? length : changed(length);
    }

    private long word() {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextLong();
            case 1 -> ID + random.nextInt(4);
            case 2 -> key;
            case 3 -> Flags.TAGGED | (random.nextBoolean() ? Flags.REMOTE_CQ_DATA : 0);
            default -> random.nextInt(200);
        };
    }

    private int changed(int length) {
        byte[] bytes = new byte[length];
        body.getBytes(0, bytes);
        byte[] changed = Change.some(bytes, random);
        body.putBytes(0, changed, 0, Math.min(LONGEST, changed.length));
        return Math.min(LONGEST, changed.length);
    }

    @Override
    public void close() {
        node.close();
    }
}
