package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.wire.RemoteAtomicEncoder;
import org.jfabric.codec.wire.RemoteReadEncoder;
import org.jfabric.codec.wire.RemoteReplyEncoder;
import org.jfabric.codec.wire.RemoteWriteEncoder;
import org.jfabric.driver.link.AtomicPart;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Writes the frames of remote memory access into the ring of the connection. All bytes go through the ring, so that
 * they keep their order with messages and the peer's driver alone touches the memory of its clients.
 *
 * <p>Owner: progress agent.
 */
final class ShmRemote extends RemoteChannel {
    /** Flag of a reply: the sender reports each access. */
    static final int REPORTS = 1;

    private static final int WRITE_HEADER = WORD_LENGTH + RemoteWriteEncoder.BLOCK_LENGTH;
    private static final int READ_LENGTH = WORD_LENGTH + RemoteReadEncoder.BLOCK_LENGTH;
    private static final int ATOMIC_HEADER = WORD_LENGTH + RemoteAtomicEncoder.BLOCK_LENGTH;
    private static final int REPLY_HEADER = WORD_LENGTH + RemoteReplyEncoder.BLOCK_LENGTH;

    private final ShmChannel channel;
    private final ShmConnection connection;
    private final RemoteWriteEncoder write = new RemoteWriteEncoder();
    private final RemoteReadEncoder read = new RemoteReadEncoder();
    private final RemoteAtomicEncoder atomic = new RemoteAtomicEncoder();
    private final RemoteReplyEncoder reply = new RemoteReplyEncoder();

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
        return connection.peerCommits();
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
        connection.commit(offset, recordLength, ShmFrameReader.REMOTE_WRITE);
        return ShmChannel.DONE;
    }

    @Override
    public int read(TransmitOperation operation, int grant) {
        int offset = claim(READ_LENGTH);
        if (offset < 0) {
            return offset;
        }
        read.wrap(connection.ring(), offset + WORD_LENGTH).channel(channel.remoteId).grant(grant & 0xFFFF_FFFFL)
            .operation(operation.id()).key(operation.key).address(operation.remoteAddress).length(operation.length);
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
        if (!connection.peerTakesRemoteAccess()) {
            return -FabricErrno.EOPNOTSUPP;
        }
        int offset = connection.claim(length);
        return offset < 0 ? connection.notClaimed(offset) : offset;
    }
}
