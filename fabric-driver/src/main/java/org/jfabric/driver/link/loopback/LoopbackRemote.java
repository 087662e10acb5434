package org.jfabric.driver.link.loopback;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.AtomicPart;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;

/**
 * Remote memory access between endpoints of the same driver: each call hands over the bytes where they are, and the
 * other end copies them once.
 *
 * <p>Owner: progress agent.
 */
final class LoopbackRemote extends RemoteChannel {
    private final LoopbackChannel channel;
    private final RemoteAccess access = new RemoteAccess();
    /**
     * Operands and compare values of one operation, because they may be in several pieces; null before the first one.
     */
    private UnsafeBuffer operands;

    LoopbackRemote(LoopbackChannel channel) {
        this.channel = channel;
    }

    /** Enough for any range: an access is one call for each piece of local memory. */
    @Override
    public long pieceLimitBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public boolean carriesCommits() {
        return true;
    }

    @Override
    public int write(TransmitOperation operation, long length, int grant) {
        LoopbackChannel other = channel.twin();
        if (other == null) {
            return -FabricErrno.ECONNRESET;
        }
        other.frameHandler().onGrant(grant);
        fill(operation);
        long id = operation.id();
        if (operation.pieces == null) {
            other.handler().remoteHandler().onWrite(access, operation.sent, operation.address + operation.sent, length);
            return Channel.DONE;
        }
        long offset = operation.sent;
        // the other end may refuse a piece, which ends the operation inside the call
        for (int i = 0, count = operation.pieces.count(); i < count && operation.id() == id; i++) {
            long bytes = operation.pieces.length(i);
            other.handler().remoteHandler().onWrite(access, offset, operation.pieces.address(i), bytes);
            offset += bytes;
        }
        return Channel.DONE;
    }

    @Override
    public int read(TransmitOperation operation, int grant) {
        LoopbackChannel other = channel.twin();
        if (other == null) {
            return -FabricErrno.ECONNRESET;
        }
        other.frameHandler().onGrant(grant);
        fill(operation);
        other.handler().remoteHandler().onRead(access);
        return Channel.DONE;
    }

    @Override
    public int atomic(TransmitOperation operation, int grant) {
        LoopbackChannel other = channel.twin();
        if (other == null) {
            return -FabricErrno.ECONNRESET;
        }
        other.frameHandler().onGrant(grant);
        if (operands == null) {
            operands = new UnsafeBuffer(BufferUtil.allocateDirectAligned(2 * AtomicForm.MAX_BYTES, Long.BYTES));
        }
        AtomicPart part = operation.atomic;
        long compares = part.compares.lengthBytes();
        operation.copyTo(0, operands.addressOffset(), operation.length);
        part.compares.copyTo(0, operands.addressOffset() + operation.length, compares);
        // operands that could not be read must not be executed
        FaultPoint.pass();
        access.atomic(operation.id(), part.form, part.datatype, part.operation)
            .add(operation.key, operation.remoteAddress, part.count);
        other.handler().remoteHandler().onAtomic(access, operands.addressOffset(), operation.length + compares);
        return Channel.DONE;
    }

    @Override
    public int reply(
        long operation, int errno, boolean reports, long offset, long address, long length, int grant) {
        LoopbackChannel other = channel.twin();
        if (other != null) {
            other.frameHandler().onGrant(grant);
            other.handler().remoteHandler().onReply(operation, errno, reports, offset, address, length);
        }
        return Channel.DONE;
    }

    private void fill(TransmitOperation operation) {
        access.set(
            operation.id(), operation.flags & (Flags.REMOTE_CQ_DATA | Flags.COMMIT_COMPLETE), operation.key,
            operation.remoteAddress, operation.length, operation.data);
    }
}
