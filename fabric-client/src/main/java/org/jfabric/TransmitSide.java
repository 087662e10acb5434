package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.TransmitQueue;
import org.jfabric.client.UseLock;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * The transmitting half of an enabled endpoint: takes completion credit and submits, straight into the engine of an
 * embedded driver in INVOKER mode or into the transmit queue.
 *
 * <p>Owner: the one submitting thread of the completion queue; with a lock any thread.
 */
final class TransmitSide {
    private final EndpointPort port;
    private final TransmitQueue queue;
    private final CompletionCredits credits;
    private final UseLock lock;
    private final LocalMemory memory;
    /** What an inject copies here is taken before the call returns. */
    private final MemorySegment injectScratch;
    private final UnsafeBuffer injectBuffer;
    private final long[] onePiece = new long[2];
    private final long maxMsgSize;
    private final int injectSize;
    private final int size;
    /** Whether sends name their destination; with a connection whatever they name is not looked at. */
    private final boolean needsDest;
    /** Why nothing is posted now, a positive errno: closed, or a claim is open; 0 otherwise. */
    private int refusal;
    private int claimOffset;

    /** Exactly one of port and queue is not null. */
    TransmitSide(
        EndpointPort port, TransmitQueue queue, CompletionCredits credits, LocalMemory memory, long maxMsgSize,
        int injectSize, int size, boolean needsDest) {
        this.port = port;
        this.queue = queue;
        this.credits = credits;
        this.lock = credits.lock();
        this.memory = memory;
        this.maxMsgSize = maxMsgSize;
        this.injectSize = injectSize;
        this.size = size;
        this.needsDest = needsDest;
        injectScratch = Arena.ofAuto().allocate(Math.max(1, injectSize), Long.BYTES);
        injectBuffer = new UnsafeBuffer(injectScratch.address(), injectSize);
    }

    int post(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        if (len < 0 || len > maxMsgSize || destAddr == FabricAddress.ADDR_UNSPEC && needsDest) {
            return -FabricErrno.EINVAL;
        }
        if (lock == null) {
            return submit(flags, buf, len, destAddr, tag, data, context);
        }
        lock.enter();
        try {
            return refusal != 0 ? -refusal : submit(flags, buf, len, destAddr, tag, data, context);
        } finally {
            lock.exit();
        }
    }

    private int submit(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        assert credits.guard().enter();
        if (!credits.available()) {
            assert credits.guard().exit();
            return -FabricErrno.EAGAIN;
        }
        int result = port != null ? port.send(flags, buf, len, destAddr, tag, data, context)
            : queue.send(flags, buf, len, destAddr, tag, data, context);
        if (result == 0) {
            credits.take();
        }
        assert credits.guard().exit();
        return result;
    }

    /** Posts a send of two pieces or more, which were looked at. */
    int post(long flags, IoVec iov, long destAddr, long tag, long data, long context) {
        if (iov.lengthBytes() > maxMsgSize || destAddr == FabricAddress.ADDR_UNSPEC && needsDest) {
            return -FabricErrno.EINVAL;
        }
        if (lock == null) {
            return submit(flags, iov, destAddr, tag, data, context);
        }
        lock.enter();
        try {
            return refusal != 0 ? -refusal : submit(flags, iov, destAddr, tag, data, context);
        } finally {
            lock.exit();
        }
    }

    private int submit(long flags, IoVec iov, long destAddr, long tag, long data, long context) {
        assert credits.guard().enter();
        if (!credits.available()) {
            assert credits.guard().exit();
            return -FabricErrno.EAGAIN;
        }
        int result = port != null ? port.sendVector(flags, iov.pieces(), iov.count(), destAddr, tag, data, context)
            : queue.sendVector(flags, iov.pieces(), iov.count(), destAddr, tag, data, context);
        if (result == 0) {
            credits.take();
        }
        assert credits.guard().exit();
        return result;
    }

    /** Posts a send of one piece of registered memory whose bytes are taken before the return. */
    int postCopied(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        if (lock == null) {
            return submitCopied(flags, buf, len, destAddr, tag, data, context);
        }
        lock.enter();
        try {
            return refusal != 0 ? -refusal : submitCopied(flags, buf, len, destAddr, tag, data, context);
        } finally {
            lock.exit();
        }
    }

    private int submitCopied(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        onePiece[0] = buf;
        onePiece[1] = len;
        return submitCopied(flags, onePiece, 1, len, destAddr, tag, data, context);
    }

    /** Posts a send of pieces of registered memory whose bytes are taken before the return. */
    int postCopied(
        long flags, long[] pieces, int count, long len, long destAddr, long tag, long data, long context) {
        if (lock == null) {
            return submitCopied(flags, pieces, count, len, destAddr, tag, data, context);
        }
        lock.enter();
        try {
            return refusal != 0 ? -refusal
                : submitCopied(flags, pieces, count, len, destAddr, tag, data, context);
        } finally {
            lock.exit();
        }
    }

    private int submitCopied(
        long flags, long[] pieces, int count, long len, long destAddr, long tag, long data, long context) {
        if (len < 0 || len > injectSize || destAddr == FabricAddress.ADDR_UNSPEC && needsDest) {
            return -FabricErrno.EINVAL;
        }
        return memory.gather(pieces, count, injectScratch.address())
            ? submitInject(flags, injectBuffer, 0, (int) len, destAddr, tag, data, context) : -FabricErrno.EFAULT;
    }

    int postInject(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long data, long context) {
        if (len < 0 || len > injectSize || destAddr == FabricAddress.ADDR_UNSPEC && needsDest || source == null
            || offset < 0 || offset > source.capacity() - len) {
            return -FabricErrno.EINVAL;
        }
        if (lock == null) {
            return submitInject(flags, source, offset, len, destAddr, tag, data, context);
        }
        lock.enter();
        try {
            return refusal != 0 ? -refusal : submitInject(flags, source, offset, len, destAddr, tag, data, context);
        } finally {
            lock.exit();
        }
    }

    private int submitInject(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long data, long context) {
        assert credits.guard().enter();
        if (!credits.available()) {
            assert credits.guard().exit();
            return -FabricErrno.EAGAIN;
        }
        int result;
        if (port == null) {
            result = queue.inject(flags, source, offset, len, destAddr, tag, data, context);
        } else {
            result = port.inject(flags, nativeAddress(source, offset, len), len, destAddr, tag, data, context);
        }
        // only the address was in use: memory whose last user was this call must not go before
        Reference.reachabilityFence(source);
        if (result == 0) {
            credits.take();
        }
        assert credits.guard().exit();
        return result;
    }

    /** Whether a send without destination is refused. */
    boolean needsDest() {
        return needsDest;
    }

    /** Whether several threads may post, one after the other under the lock. */
    boolean isShared() {
        return lock != null;
    }

    /** Claims room for a payload and shows it; the slot for its entry is taken already here. */
    int claim(int length, UnsafeBuffer buffer) {
        if (length < 0 || length > injectSize) {
            return -FabricErrno.EINVAL;
        }
        enter();
        try {
            return refusal != 0 ? -refusal : submitClaim(length, buffer);
        } finally {
            exit();
        }
    }

    private int submitClaim(int length, UnsafeBuffer buffer) {
        assert credits.guard().enter();
        int offset = -FabricErrno.EAGAIN;
        if (credits.available()) {
            offset = port == null ? queue.claimInject(length) : port.outstandingSends() < size ? 0 : offset;
        }
        if (offset >= 0) {
            credits.take();
            refusal = FabricErrno.EBUSY;
            claimOffset = offset;
            buffer.wrap(port == null ? queue.payloadAddress(offset) : injectScratch.address(), length);
        }
        assert credits.guard().exit();
        return Math.min(0, offset);
    }

    /** Posts what was claimed, with a length that is not greater; the claim ends whatever the answer is. */
    int commitClaim(long flags, int length, long destAddr, long tag, long data, long context) {
        enter();
        try {
            if (refusal != FabricErrno.EBUSY) {
                return -refusal;
            }
            assert credits.guard().enter();
            int result = 0;
            if (port == null) {
                queue.commitInject(claimOffset, flags, length, destAddr, tag, data, context);
            } else {
                result = port.inject(flags, injectScratch.address(), length, destAddr, tag, data, context);
            }
            refusal = 0;
            if (result != 0) {
                credits.giveBack(1);
            }
            assert credits.guard().exit();
            return result;
        } finally {
            exit();
        }
    }

    /** Ends the claim without a message, if it is still open. */
    void abortClaim() {
        enter();
        if (refusal == FabricErrno.EBUSY) {
            refusal = 0;
            credits.giveBack(1);
        }
        exit();
    }

    /**
     * Asks the driver to cancel an operation of the endpoint, for which the receiving half was at that position. It
     * takes no credit, because it makes no entry of its own.
     */
    int cancel(long context, long receivePosition) {
        if (lock == null) {
            return submitCancel(context, receivePosition);
        }
        lock.enter();
        try {
            return refusal != 0 ? -refusal : submitCancel(context, receivePosition);
        } finally {
            lock.exit();
        }
    }

    private int submitCancel(long context, long receivePosition) {
        if (port != null) {
            port.cancel(context);
            return 0;
        }
        assert credits.guard().enter();
        int result = queue.cancel(context, receivePosition);
        assert credits.guard().exit();
        return result;
    }

    /** Sends that may be posted now. */
    long sizeLeft() {
        enter();
        try {
            return left();
        } finally {
            exit();
        }
    }

    private long left() {
        return Math.min(port != null ? size - port.outstandingSends() : queue.sizeLeft(), credits.left());
    }

    /** Sends that have not reached their level. */
    long outstanding() {
        enter();
        try {
            return port != null ? port.outstandingSends() : queue.outstanding();
        } finally {
            exit();
        }
    }

    /** Takes nothing any more: a thread that is on its way here comes before, or is refused. */
    void close() {
        enter();
        if (refusal == FabricErrno.EBUSY) {
            // the slot that the open claim has taken
            credits.giveBack(1);
        }
        refusal = FabricErrno.EOPBADSTATE;
        exit();
    }

    private void enter() {
        if (lock != null) {
            lock.enter();
        }
    }

    private void exit() {
        if (lock != null) {
            lock.exit();
        }
    }

    /** The driver has closed the endpoint: what it did not take out of the queue gives its completion credit back. */
    void onClosedInDriver() {
        if (queue != null) {
            credits.giveBack(queue.untaken());
        }
    }

    /** The engine takes native addresses; what lies in an array is copied to where it finds it. */
    private long nativeAddress(DirectBuffer source, int offset, int len) {
        if (source.byteArray() == null) {
            return source.addressOffset() + offset;
        }
        TransmitQueue.copy(source, offset, injectScratch.address(), len);
        return injectScratch.address();
    }
}
