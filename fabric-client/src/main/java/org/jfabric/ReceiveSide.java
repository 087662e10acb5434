package org.jfabric;

import org.jfabric.client.CompletionCredits;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.ReceiveQueue;

/**
 * The receiving half of an enabled endpoint: takes completion credit and submits, straight into the engine of an
 * embedded driver in INVOKER mode or into the receive queue.
 *
 * <p>Owner: the one submitting thread of the completion queue.
 */
final class ReceiveSide {
    private final EndpointPort port;
    private final ReceiveQueue queue;
    private final CompletionCredits credits;
    private final int size;

    /** Exactly one of port and queue is not null. */
    ReceiveSide(EndpointPort port, ReceiveQueue queue, CompletionCredits credits, int size) {
        this.port = port;
        this.queue = queue;
        this.credits = credits;
        this.size = size;
    }

    int post(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        if (len < 0) {
            return -FabricErrno.EINVAL;
        }
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

    /** Asks the driver to cancel a receive of an endpoint that only receives; as {@link TransmitSide#cancel}. */
    int cancel(long context) {
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
        return Math.min(port != null ? size - port.outstandingReceives() : queue.sizeLeft(), credits.left());
    }

    /** The driver has closed the endpoint: what it did not take out of the queue gives its completion credit back. */
    void onClosedInDriver() {
        if (queue != null) {
            credits.giveBack(queue.untaken());
        }
    }
}
