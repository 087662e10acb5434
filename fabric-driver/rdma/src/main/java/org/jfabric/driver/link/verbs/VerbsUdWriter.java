package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;

/**
 * Sends the datagrams of one endpoint. Each payload is copied, and completions are reported in the order of posting.
 *
 * <p>A request that fails stops the queue: the requests behind it are flushed, and then the queue is resumed.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdWriter {
    private final SendRing ring;
    /** The channel that gets the completion; null for sends whose completion is not reported. */
    private final VerbsUdChannel[] channels;
    private final long[] operations;
    private final VerbsUdHandle[] handles;
    /** Sends in the ring whose completion is reported. */
    private int reported;
    /** Sends have failed: nothing is posted until the queue is resumed. */
    private boolean isStopped;

    VerbsUdWriter(SendRing ring) {
        this.ring = ring;
        int count = ring.requests().count();
        this.channels = new VerbsUdChannel[count];
        this.operations = new long[count];
        this.handles = new VerbsUdHandle[count];
    }

    /** Whether another message can be taken. */
    boolean hasRoom() {
        return ring.hasRoom(1) && !isStopped;
    }

    /** Whether a completion is still to be reported, so that later messages must not complete before it. */
    boolean isReporting() {
        return reported != 0;
    }

    /** Takes a message; there is room. Its payload may change afterwards. */
    void add(VerbsUdChannel channel, VerbsUdHandle handle, TransmitOperation operation, boolean isReported) {
        int slot = ring.nextSlot();
        ring.begin(slot, operation);
        ring.requests().destination(slot, handle.pointer(), handle.queuePair(channel), handle.key());
        ring.copy(slot, operation);
        handle.sends++;
        handles[slot] = handle;
        operations[slot] = operation.id();
        channels[slot] = isReported ? channel : null;
        if (isReported) {
            reported++;
        }
        ring.add(false);
    }

    /** Posts the requests that were added, if none was posted in this cycle. */
    void postFirst() {
        ring.postFirst();
    }

    /** A request and all before it have succeeded. */
    void completed(int slot) {
        if (ring.isOutstanding(slot)) {
            endTo(ring.behind(slot));
        }
    }

    /**
     * A request has failed; those before it that were not signaled have succeeded.
     *
     * @param errno positive errno that is reported.
     */
    void failed(int slot, int errno) {
        if (!ring.isOutstanding(slot)) {
            return;
        }
        isStopped = true;
        endTo(ring.behind(slot) - 1);
        end(errno);
    }

    private void endTo(long position) {
        while (ring.head() < position) {
            end(0);
        }
    }

    private void end(int errno) {
        // before the report: the handler may send and uses the room
        int slot = ring.remove();
        handles[slot].sends--;
        handles[slot] = null;
        VerbsUdChannel channel = channels[slot];
        if (channel != null) {
            channels[slot] = null;
            reported--;
            if (!channel.isClosed()) {
                channel.handler().onSent(operations[slot], errno);
            }
        }
    }

    /** The errno that the sender gets for a completion's status. */
    static int errno(WorkCompletions completions, int entry) {
        return switch (completions.status(entry)) {
            case VerbsConstants.WC_LOC_LEN_ERR -> FabricErrno.EMSGSIZE;
            // it was behind a failed request and was not sent
            case VerbsConstants.WC_WR_FLUSH_ERR -> FabricErrno.ECANCELED;
            default -> FabricErrno.EIO;
        };
    }

    /** Posts waiting requests; 0 if there was no work. */
    int poll() {
        return isStopped ? 0 : ring.poll();
    }

    /** Whether a poll has work to do. */
    boolean hasWork() {
        return ring.hasWork() && !isStopped && ring.failure() == 0;
    }

    /** Whether a send has failed and all posted requests have completed, so that the queue can be resumed. */
    boolean isResumable() {
        return isStopped && ring.outstanding() == 0;
    }

    /** The queue works again: waiting requests are posted in the next poll. */
    void resumed() {
        isStopped = false;
    }

    /** Why the card did not take a request; a positive errno, 0 if it took all. */
    int failure() {
        return ring.failure();
    }

    /** Requests that are posted and not completed. */
    int outstanding() {
        return ring.outstanding();
    }

    /** The endpoint is lost: all sends complete with an error. */
    void abort(int errno) {
        ring.fail(errno);
        while (ring.head() != ring.tail()) {
            end(errno);
        }
    }

    void release() {
        ring.requests().close();
    }
}
