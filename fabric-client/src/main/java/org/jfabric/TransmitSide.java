package org.jfabric;

import org.agrona.DirectBuffer;
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
    private final MemorySegment injectScratch;
    private final long maxMsgSize;
    private final int injectSize;
    private final int size;
    private boolean closed;

    /** Exactly one of port and queue is not null. */
    TransmitSide(
        EndpointPort port, TransmitQueue queue, CompletionCredits credits, long maxMsgSize, int injectSize, int size) {
        this.port = port;
        this.queue = queue;
        this.credits = credits;
        this.lock = credits.lock();
        this.maxMsgSize = maxMsgSize;
        this.injectSize = injectSize;
        this.size = size;
        injectScratch = port == null ? null : Arena.ofAuto().allocate(Math.max(1, injectSize), Long.BYTES);
    }

    int post(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        if (len < 0 || len > maxMsgSize || destAddr == FabricAddress.ADDR_UNSPEC) {
            return -FabricErrno.EINVAL;
        }
        if (lock == null) {
            return submit(flags, buf, len, destAddr, tag, data, context);
        }
        lock.enter();
        try {
            return closed
                ? -FabricErrno.EOPBADSTATE : submit(flags, buf, len, destAddr, tag, data, context);
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

    int postInject(long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long context) {
        if (len < 0 || len > injectSize || destAddr == FabricAddress.ADDR_UNSPEC || source == null
            || offset < 0 || offset > source.capacity() - len) {
            return -FabricErrno.EINVAL;
        }
        if (lock == null) {
            return submitInject(flags, source, offset, len, destAddr, tag, context);
        }
        lock.enter();
        try {
            return closed
                ? -FabricErrno.EOPBADSTATE : submitInject(flags, source, offset, len, destAddr, tag, context);
        } finally {
            lock.exit();
        }
    }

    private int submitInject(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long context) {
        assert credits.guard().enter();
        if (!credits.available()) {
            assert credits.guard().exit();
            return -FabricErrno.EAGAIN;
        }
        int result;
        if (port == null) {
            result = queue.inject(flags, source, offset, len, destAddr, tag, 0, context);
        } else {
            result = port.inject(flags, nativeAddress(source, offset, len), len, destAddr, tag, 0, context);
        }
        // only the address was in use: memory whose last user was this call must not go before
        Reference.reachabilityFence(source);
        if (result == 0) {
            credits.take();
        }
        assert credits.guard().exit();
        return result;
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
            return closed ? -FabricErrno.EOPBADSTATE : submitCancel(context, receivePosition);
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
        closed = true;
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
