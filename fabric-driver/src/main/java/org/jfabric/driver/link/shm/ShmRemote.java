package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import org.agrona.UnsafeApi;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.wire.PlacedEncoder;
import org.jfabric.codec.wire.RemoteAnnounceEncoder;
import org.jfabric.codec.wire.RemoteAtomicEncoder;
import org.jfabric.codec.wire.RemoteGrantEncoder;
import org.jfabric.codec.wire.RemoteReadEncoder;
import org.jfabric.codec.wire.RemoteReplyEncoder;
import org.jfabric.codec.wire.RemoteWriteEncoder;
import org.jfabric.codec.wire.ShortWriteEncoder;
import org.jfabric.driver.link.AtomicPart;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Writes the frames of remote memory access into the ring of the connection, so that accesses keep their order with
 * messages. The memory of a client is written by its own driver only. The bytes of short accesses go through the ring;
 * those of a long write are copied by the peer's driver from its read-only mapping of the local regions; those of a
 * read are copied here from such a mapping of the peer's region, once the peer has granted it.
 *
 * <p>A grant ends with the peer's region: the region's driver stores that it is closed in the header of its file, which
 * is read before and after the bytes. Until a region is mapped, and while the peer has something to execute that was
 * sent before, reads are requests.
 *
 * <p>Owner: progress agent.
 */
final class ShmRemote extends RemoteChannel {
    /** Flag of a reply: the sender reports each access. */
    static final int REPORTS = 1;
    /** Flag of a read: the sender takes a grant. */
    static final int ASKS_FOR_GRANT = 1;
    static final int SHORT_WRITE_HEADER = ShortWriteEncoder.BLOCK_LENGTH;
    static final int SHORT_OPERATION = ShortWriteEncoder.operationEncodingOffset();
    static final int SHORT_KEY = ShortWriteEncoder.keyEncodingOffset();
    static final int SHORT_ADDRESS = ShortWriteEncoder.addressEncodingOffset();
    static final int PLACED_LENGTH = PlacedEncoder.BLOCK_LENGTH;
    static final int PLACED_COUNT = PlacedEncoder.countEncodingOffset();

    /** Greatest number of grants of a peer that are kept; more than clients have regions in use at a time. */
    static final int MAX_GRANTS = 1024;

    private static final int WRITE_HEADER = WORD_LENGTH + RemoteWriteEncoder.BLOCK_LENGTH;
    private static final int READ_LENGTH = WORD_LENGTH + RemoteReadEncoder.BLOCK_LENGTH;
    private static final int ANNOUNCE_HEADER = WORD_LENGTH + RemoteAnnounceEncoder.BLOCK_LENGTH
        + RemoteAnnounceEncoder.PiecesEncoder.sbeHeaderSize();
    private static final int ANNOUNCED_PIECE = RemoteAnnounceEncoder.PiecesEncoder.sbeBlockLength();
    private static final int GRANT_LENGTH = WORD_LENGTH + RemoteGrantEncoder.BLOCK_LENGTH;
    private static final int ATOMIC_HEADER = WORD_LENGTH + RemoteAtomicEncoder.BLOCK_LENGTH;
    private static final int REPLY_HEADER = WORD_LENGTH + RemoteReplyEncoder.BLOCK_LENGTH;

    private final ShmChannel channel;
    private final ShmConnection connection;
    private final RemoteWriteEncoder write = new RemoteWriteEncoder();
    private final RemoteReadEncoder read = new RemoteReadEncoder();
    private final RemoteAtomicEncoder atomic = new RemoteAtomicEncoder();
    private final RemoteReplyEncoder reply = new RemoteReplyEncoder();
    private final RemoteAnnounceEncoder announce = new RemoteAnnounceEncoder();
    private final RemoteGrantEncoder grants = new RemoteGrantEncoder();
    private final Long2ObjectHashMap<ReadGrant> granted = new Long2ObjectHashMap<>();
    private ReadGrant latest;

    /** A region of the peer that may be read here. */
    private record ReadGrant(long key, long number, long generation, long lengthBytes) {
    }

    ShmRemote(ShmChannel channel, ShmConnection connection) {
        this.channel = channel;
        this.connection = connection;
    }

    @Override
    public long pieceLimitBytes() {
        return channel.limits().segmentLimitBytes();
    }

    @Override
    public boolean carriesCommits() {
        return true;
    }

    @Override
    public int write(TransmitOperation operation, long length, int grant) {
        int recordLength = WRITE_HEADER + (int) length;
        int offset = claim(recordLength);
        if (offset < 0) {
            return offset;
        }
        UnsafeBuffer ring = connection.ring();
        boolean hasData = (operation.flags & Flags.REMOTE_CQ_DATA) != 0;
        operation.copyTo(operation.sent, ring.addressOffset() + offset + WRITE_HEADER, length);
        // bytes that could not be read must not be written into the peer's memory
        FaultPoint.pass();
        // the header is longer than a cache line: its last field is in the second one, as the payload is
        write.wrap(ring, offset + WORD_LENGTH).flags(
            operation.flags & (Flags.REMOTE_CQ_DATA | Flags.COMMIT_COMPLETE));
        UnsafeApi.storeFence();
        write.channel(channel.remoteId).grant(grant & 0xFFFF_FFFFL).operation(operation.id()).key(operation.key)
            .address(operation.remoteAddress).length(operation.length).msgOffset(operation.sent)
            .data(hasData ? operation.data : 0);
        channel.granted(grant);
        connection.commit(offset, recordLength, ShmFrameReader.REMOTE_WRITE);
        return ShmChannel.DONE;
    }

    @Override
    public boolean hasShortWrites() {
        // the answer is a short record too
        return channel.hasShortNumbers();
    }

    @Override
    public int writeShort(TransmitOperation operation, int grant) {
        int recordLength = SHORT_WRITE_HEADER + (int) operation.length;
        int offset = channel.claimShort(recordLength, grant);
        if (offset < 0) {
            return offset;
        }
        long record = connection.ring().addressOffset() + offset;
        ShmChannel.write(operation, record + SHORT_WRITE_HEADER, (int) operation.length, SHORT_WRITE_HEADER);
        // bytes that could not be read must not be written into the peer's memory
        FaultPoint.pass();
        UnsafeApi.putLong(record + SHORT_OPERATION, operation.id());
        UnsafeApi.putLong(record + SHORT_KEY, operation.key);
        UnsafeApi.putLong(record + SHORT_ADDRESS, operation.remoteAddress);
        channel.commitShort(offset, recordLength, ShmFrameReader.SHORT_WRITE, grant);
        return ShmChannel.DONE;
    }

    @Override
    public int placed(long count, int grant) {
        int offset = channel.claimShort(PLACED_LENGTH, grant);
        if (offset < 0) {
            return offset;
        }
        UnsafeApi.putLong(connection.ring().addressOffset() + offset + PLACED_COUNT, count);
        channel.commitShort(offset, PLACED_LENGTH, ShmFrameReader.PLACED, grant);
        return ShmChannel.DONE;
    }

    @Override
    public boolean canAnnounce(TransmitOperation operation) {
        return operation.pieces != null
            ? ShmVectorFrames.isReachable(operation)
            : operation.region != null && operation.region.number() != RemotePayload.NO_REGION;
    }

    @Override
    public int announce(TransmitOperation operation, int grant) {
        PieceList pieces = operation.pieces;
        int count = pieces == null ? 1 : pieces.count();
        int recordLength = ANNOUNCE_HEADER + count * ANNOUNCED_PIECE;
        int offset = claim(recordLength);
        if (offset < 0) {
            return offset;
        }
        long data = operation.flags & Flags.REMOTE_CQ_DATA;
        RemoteAnnounceEncoder.PiecesEncoder group = announce.wrap(connection.ring(), offset + WORD_LENGTH)
            .channel(channel.remoteId).grant(grant & 0xFFFF_FFFFL).operation(operation.id()).key(operation.key)
            .address(operation.remoteAddress).length(operation.length).data(data == 0 ? 0 : operation.data).flags(data)
            .piecesCount(count);
        for (int i = 0; i < count; i++) {
            RegisteredRegion region = pieces == null ? operation.region : pieces.region(i);
            group.next().regionNumber(region.number()).regionGeneration(region.generation())
                .regionOffset((pieces == null ? operation.address : pieces.address(i)) - region.address())
                .length(pieces == null ? operation.length : pieces.length(i));
        }
        connection.commit(offset, recordLength, ShmFrameReader.REMOTE_ANNOUNCE);
        return ShmChannel.DONE;
    }

    @Override
    public int readMapped(TransmitOperation operation) {
        ReadGrant grant = latest;
        if (grant == null || grant.key != operation.key) {
            grant = granted.get(operation.key);
            if (grant == null) {
                return -FabricErrno.EAGAIN;
            }
            latest = grant;
        }
        long offset = operation.remoteAddress;
        long length = operation.length;
        // the peer refuses a range that is not inside the region
        if (offset < 0 || offset > grant.lengthBytes || length > grant.lengthBytes - offset
            || !connection.isDrained()) {
            return -FabricErrno.EAGAIN;
        }
        long bytes = connection.regions().find(grant.number, grant.generation, offset, length);
        if (bytes == 0) {
            if (connection.regions().cannotMap(grant.number)) {
                // the file is gone, and another region may have the key: the next request asks again
                forget(grant);
            }
            return -FabricErrno.EAGAIN;
        }
        try {
            return copy(operation, grant, bytes, length);
        } catch (InternalError e) {
            // later reads are requests, which the peer's driver refuses
            forget(grant);
            connection.regions().dropCut();
            throw e;
        }
    }

    private int copy(TransmitOperation operation, ReadGrant grant, long bytes, long length) {
        long closed = bytes - operation.remoteAddress - MemoryRegionDescriptor.DATA_OFFSET
            + MemoryRegionDescriptor.CLOSED_OFFSET;
        if (UnsafeApi.getLongAcquire(null, closed) != 0) {
            // another region may have the key now
            forget(grant);
            return -FabricErrno.EAGAIN;
        }
        operation.copyFrom(0, bytes, length);
        FaultPoint.pass();
        // the bytes are read before the word is read again
        UnsafeApi.loadFence();
        if (UnsafeApi.getLongAcquire(null, closed) != 0) {
            forget(grant);
            return -FabricErrno.EKEYREJECTED;
        }
        connection.copied(length);
        return ShmChannel.DONE;
    }

    private void forget(ReadGrant grant) {
        latest = null;
        granted.remove(grant.key);
    }

    /** The peer grants a region. */
    void onGrant(long key, long number, long generation, long lengthBytes) {
        if (granted.size() >= MAX_GRANTS) {
            granted.clear();
        }
        latest = null;
        granted.put(key, new ReadGrant(key, number, generation, lengthBytes));
    }

    @Override
    public int grantRead(long key, RegisteredRegion region, int grant) {
        int offset = claim(GRANT_LENGTH);
        if (offset < 0) {
            return offset;
        }
        grants.wrap(connection.ring(), offset + WORD_LENGTH).channel(channel.remoteId).grant(grant & 0xFFFF_FFFFL)
            .key(key).regionNumber(region.number()).regionGeneration(region.generation())
            .length(region.lengthBytes());
        connection.commit(offset, GRANT_LENGTH, ShmFrameReader.REMOTE_GRANT);
        return ShmChannel.DONE;
    }

    @Override
    public int read(TransmitOperation operation, int grant) {
        int offset = claim(READ_LENGTH);
        if (offset < 0) {
            return offset;
        }
        read.wrap(connection.ring(), offset + WORD_LENGTH).channel(channel.remoteId).grant(grant & 0xFFFF_FFFFL)
            .operation(operation.id()).key(operation.key).address(operation.remoteAddress).length(operation.length)
            .flags(granted.containsKey(operation.key) ? 0 : ASKS_FOR_GRANT);
        connection.commit(offset, READ_LENGTH, ShmFrameReader.REMOTE_READ);
        return ShmChannel.DONE;
    }

    @Override
    public int atomic(TransmitOperation operation, int grant) {
        AtomicPart part = operation.atomic;
        long compares = part.compares.lengthBytes();
        int recordLength = ATOMIC_HEADER + (int) (operation.length + compares);
        int offset = claim(recordLength);
        if (offset < 0) {
            return offset;
        }
        UnsafeBuffer ring = connection.ring();
        long operands = ring.addressOffset() + offset + ATOMIC_HEADER;
        operation.copyTo(0, operands, operation.length);
        part.compares.copyTo(0, operands + operation.length, compares);
        // operands that could not be read must not be executed
        FaultPoint.pass();
        UnsafeApi.storeFence();
        atomic.wrap(ring, offset + WORD_LENGTH).channel(channel.remoteId).grant(grant & 0xFFFF_FFFFL)
            .operation(operation.id()).key(operation.key).address(operation.remoteAddress).count(part.count)
            .form((short) part.form).datatype((short) part.datatype).atomicOperation((short) part.operation)
            .reserved8((short) 0).reserved32(0);
        connection.commit(offset, recordLength, ShmFrameReader.REMOTE_ATOMIC);
        return ShmChannel.DONE;
    }

    @Override
    public int reply(
        long operation, int errno, boolean reports, long offset, long address, long length, int grant) {
        int recordLength = REPLY_HEADER + (int) length;
        int at = claim(recordLength);
        if (at < 0) {
            return at;
        }
        UnsafeBuffer ring = connection.ring();
        ShmChannel.copyLastLinesFirst(
            address, ring.addressOffset() + at + REPLY_HEADER, (int) length, REPLY_HEADER);
        FaultPoint.pass();
        reply.wrap(ring, at + WORD_LENGTH).channel(channel.remoteId).grant(grant & 0xFFFF_FFFFL)
            .operation(operation).msgOffset(offset).errno(errno).flags(reports ? REPORTS : 0);
        connection.commit(at, recordLength, ShmFrameReader.REMOTE_REPLY);
        return ShmChannel.DONE;
    }

    private int claim(int length) {
        int offset = connection.claim(length);
        return offset < 0 ? connection.notClaimed(offset) : offset;
    }
}
