package org.jfabric;

import org.jfabric.client.CompletionCredits;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.ReceiveQueue;
import org.jfabric.client.UseLock;

/**
 * The receiving half of an enabled endpoint: takes completion credit and submits, straight into the engine of an
 * embedded driver in INVOKER mode or into the receive queue.
 *
 * <p>Owner: the one submitting thread of the completion queue; with a lock any thread.
 */
final class ReceiveSide {
    private final EndpointPort port;
    private final ReceiveQueue queue;
    private final CompletionCredits credits;
    private final UseLock lock;
    private final int size;
    private final long[] single = new long[1];
    private boolean closed;

    /** Exactly one of port and queue is not null. */
    ReceiveSide(EndpointPort port, ReceiveQueue queue, CompletionCredits credits, int size) {
        this.port = port;
        this.queue = queue;
        this.credits = credits;
        this.lock = credits.lock();
        this.size = size;
    }

    int post(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        if (len < 0) {
            return -FabricErrno.EINVAL;
        }
        if (lock == null) {
            return submit(flags, buf, len, srcAddr, tag, ignore, context);
        }
        lock.enter();
        try {
            return closed
                ? -FabricErrno.EOPBADSTATE : submit(flags, buf, len, srcAddr, tag, ignore, context);
        } finally {
            lock.exit();
        }
    }

    private int submit(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        assert credits.guard().enter();
        if (!credits.available()) {
            assert credits.guard().exit();
            return -FabricErrno.EAGAIN;
        }
        int result = port != null ? port.receive(flags, buf, len, srcAddr, tag, ignore, context)
            : queue.receive(flags, buf, len, srcAddr, tag, ignore, context);
        if (result == 0) {
            credits.take();
        }
        assert credits.guard().exit();
        return result;
    }

    /** Posts a receive over two pieces or more, which were looked at. */
    int post(long flags, IoVec iov, long srcAddr, long tag, long ignore, long context) {
        if (lock == null) {
            return submit(flags, iov, srcAddr, tag, ignore, context);
        }
        lock.enter();
        try {
            return closed ? -FabricErrno.EOPBADSTATE : submit(flags, iov, srcAddr, tag, ignore, context);
        } finally {
            lock.exit();
        }
    }

    private int submit(long flags, IoVec iov, long srcAddr, long tag, long ignore, long context) {
        assert credits.guard().enter();
        if (!credits.available()) {
            assert credits.guard().exit();
            return -FabricErrno.EAGAIN;
        }
        int result = port != null
            ? port.receiveVector(flags, iov.pieces(), iov.count(), srcAddr, tag, ignore, context)
            : queue.receiveVector(flags, iov.pieces(), iov.count(), srcAddr, tag, ignore, context);
        if (result == 0) {
            credits.take();
        }
        assert credits.guard().exit();
        return result;
    }

    /** Gives cells of the receive slab back; 0, or {@code -FI_EAGAIN} if there is no room in the queue. */
    int giveBack(long[] contexts, int count) {
        if (lock == null) {
            return submitReturn(contexts, count);
        }
        lock.enter();
        try {
            return closed ? -FabricErrno.EOPBADSTATE : submitReturn(contexts, count);
        } finally {
            lock.exit();
        }
    }

    /** Gives one cell of the receive slab back. */
    int giveBack(long context) {
        if (lock == null) {
            single[0] = context;
            return submitReturn(single, 1);
        }
        lock.enter();
        try {
            single[0] = context;
            return closed ? -FabricErrno.EOPBADSTATE : submitReturn(single, 1);
        } finally {
            lock.exit();
        }
    }

    private int submitReturn(long[] contexts, int count) {
        assert credits.guard().enter();
        int result = 0;
        if (port != null) {
            port.giveBack(contexts, count);
        } else {
            result = queue.giveBack(contexts, count);
        }
        assert credits.guard().exit();
        return result;
    }

    /** Asks the driver to cancel a receive of an endpoint that only receives; as {@link TransmitSide#cancel}. */
    int cancel(long context) {
        if (lock == null) {
            return submitCancel(context);
        }
        lock.enter();
        try {
            return closed ? -FabricErrno.EOPBADSTATE : submitCancel(context);
        } finally {
            lock.exit();
        }
    }

    private int submitCancel(long context) {
        if (port != null) {
            port.cancel(context);
            return 0;
        }
        assert credits.guard().enter();
        int result = queue.cancel(context, 0);
        assert credits.guard().exit();
        return result;
    }

    /** How far receives were posted, for a cancel that goes with the sends. */
    long position() {
        return queue == null ? 0 : queue.position();
    }

    /** Receives that may be posted now. */
    long sizeLeft() {
        if (lock == null) {
            return left();
        }
        lock.enter();
        try {
            return left();
        } finally {
            lock.exit();
        }
    }

    private long left() {
        return Math.min(port != null ? size - port.outstandingReceives() : queue.sizeLeft(), credits.left());
    }

    /** Takes nothing any more: a thread that is on its way here comes before, or is refused. */
    void close() {
        if (lock != null) {
            lock.enter();
        }
        closed = true;
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
}
