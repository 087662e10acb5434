package org.jfabric.driver.link.verbsud;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.TransmitOperation;

/**
 * The send queue of one endpoint: a ring of pre-built work requests, each with a slot of registered memory that its
 * payload is copied to. The first request of a cycle is handed to the card at once, the others together with the next
 * poll. Every n-th asks for a completion, and the last of a batch; it stands for all before it, because a send queue
 * completes in order, and so are they told.
 *
 * <pre>
 *   head ......... posted ......... tail
 *     with the card      waits for poll
 * </pre>
 *
 * <p>A request that fails stops the queue: those behind it come back, and when all have it is resumed.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdSender {
    private final VerbsDataPath path;
    private final long queuePair;
    private final SendRequests requests;
    private final long memory;
    private final int memoryKey;
    private final int slotBytes;
    private final int inlineBytes;
    private final int signalEvery;
    private final int mask;
    /** Whom the end is told; null for those that nobody waits for. */
    private final VerbsUdChannel[] channels;
    private final long[] operations;
    private final VerbsUdHandle[] handles;
    private long head;
    private long posted;
    private long tail;
    /** Of those in the ring whose end is told. */
    private int told;
    private int sinceSignal;
    private boolean postedInCycle;
    /** Sends have failed: nothing is posted until the queue is resumed. */
    private boolean isStopped;
    private int failure;

    VerbsUdSender(
        VerbsDataPath path, long queuePair, SendRequests requests, long memory, int memoryKey, int slotBytes,
        int inlineBytes, int signalEvery) {
        this.path = path;
        this.queuePair = queuePair;
        this.requests = requests;
        this.memory = memory;
        this.memoryKey = memoryKey;
        this.slotBytes = slotBytes;
        this.inlineBytes = inlineBytes;
        this.signalEvery = signalEvery;
        this.mask = requests.count() - 1;
        this.channels = new VerbsUdChannel[requests.count()];
        this.operations = new long[requests.count()];
        this.handles = new VerbsUdHandle[requests.count()];
    }

    /** Whether another message can be taken. */
    boolean hasRoom() {
        return tail - head <= mask && !isStopped && failure == 0;
    }

    /** Whether some message's end is still to be told, so that those behind it must not end before. */
    boolean isTelling() {
        return told != 0;
    }

    /**
     * Takes a message; there is room. Its payload may change afterwards.
     *
     * @param isTold whether its end is told.
     */
    void add(VerbsUdChannel channel, VerbsUdHandle handle, TransmitOperation operation, boolean isTold) {
        int slot = (int) tail & mask;
        int length = (int) operation.length;
        boolean hasData = (operation.flags & Flags.REMOTE_CQ_DATA) != 0;
        requests.begin(slot, hasData ? VerbsConstants.WR_SEND_WITH_IMM : VerbsConstants.WR_SEND,
            length <= inlineBytes ? VerbsConstants.SEND_INLINE : 0);
        if (hasData) {
            requests.immediate(slot, (int) operation.data);
        }
        requests.destination(slot, handle.pointer(), handle.queuePair(channel), handle.key());
        if (length != 0) {
            long at = memory + (long) slot * slotBytes;
            operation.copyTo(0, at, length);
            requests.piece(slot, 0, at, length, memoryKey);
        }
        requests.pieceCount(slot, length == 0 ? 0 : 1);
        handle.sends++;
        handles[slot] = handle;
        operations[slot] = operation.id();
        channels[slot] = isTold ? channel : null;
        if (isTold) {
            told++;
        }
        if (tail != posted) {
            requests.follow((int) (tail - 1) & mask, slot);
        }
        tail++;
        if (++sinceSignal >= signalEvery) {
            sinceSignal = 0;
            requests.signal(slot);
        }
    }

    /** Hands over what has been added, if it is the first of the cycle. */
    void postFirst() {
        if (!postedInCycle) {
            post();
        }
    }

    private void post() {
        if (posted == tail || failure != 0 || isStopped) {
            return;
        }
        requests.signal((int) (tail - 1) & mask);
        sinceSignal = 0;
        int result = path.postSend(queuePair, requests.address((int) posted & mask));
        postedInCycle = true;
        if (result < 0) {
            failure = -result;
        } else {
            posted = tail;
        }
    }

    /** A request has succeeded, and so all before it. */
    void completed(int slot) {
        if (isOutstanding(slot)) {
            endThrough(slot, 0);
        }
    }

    /**
     * A request has failed; those before it that asked for no completion have succeeded.
     *
     * @param errno what its sender is told.
     */
    void failed(int slot, int errno) {
        if (!isOutstanding(slot)) {
            return;
        }
        isStopped = true;
        while (((int) head & mask) != slot) {
            end(0);
        }
        end(errno);
    }

    /** What a card says of requests that it does not have must not move the queue. */
    private boolean isOutstanding(int slot) {
        return slot >= 0 && slot <= mask && (slot - (int) head & mask) < posted - head;
    }

    private void endThrough(int slot, int errno) {
        long end = head + (slot - (int) head & mask) + 1;
        while (head < end) {
            end(errno);
        }
    }

    private void end(int errno) {
        int slot = (int) head & mask;
        // before it is told: whoever is told may send, and finds room by it
        head++;
        handles[slot].sends--;
        handles[slot] = null;
        VerbsUdChannel channel = channels[slot];
        if (channel != null) {
            channels[slot] = null;
            told--;
            if (!channel.isClosed()) {
                channel.handler().onSent(operations[slot], errno);
            }
        }
    }

    /** What a completion's status is to whoever sent. */
    static int errno(WorkCompletions completions, int entry) {
        return switch (completions.status(entry)) {
            case VerbsConstants.WC_LOC_LEN_ERR -> FabricErrno.EMSGSIZE;
            // it was behind one that failed, and has not been sent
            case VerbsConstants.WC_WR_FLUSH_ERR -> FabricErrno.ECANCELED;
            default -> FabricErrno.EIO;
        };
    }

    /** Hands over what waits; 0 if there was nothing to do. */
    int poll() {
        int work = posted == tail || isStopped ? 0 : 1;
        post();
        postedInCycle = false;
        return work;
    }

    /** Whether a poll could do something. */
    boolean hasWork() {
        return (posted != tail || postedInCycle) && !isStopped && failure == 0;
    }

    /** Whether sends have failed and all that the card had are back, so that the queue can be resumed. */
    boolean isResumable() {
        return isStopped && head == posted;
    }

    /** The queue works again: what was not posted yet is. */
    void resumed() {
        isStopped = false;
    }

    /** Why the card did not take a request; a positive errno, 0 if it took all. */
    int failure() {
        return failure;
    }

    /** Requests that the card has. */
    int outstanding() {
        return (int) (posted - head);
    }

    /** The endpoint is lost: whoever waits is told. */
    void abort(int errno) {
        failure = failure == 0 ? errno : failure;
        while (head != tail) {
            end(errno);
        }
        posted = tail;
    }

    void release() {
        requests.close();
    }
}
