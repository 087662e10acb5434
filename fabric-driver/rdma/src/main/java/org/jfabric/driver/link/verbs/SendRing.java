package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.Flags;

/**
 * The send queue of one queue pair: a ring of pre-built work requests, each with a slot of registered memory. The first
 * request of a cycle is posted to the card immediately, the others together in the next poll. Every n-th request is
 * signaled, and the last of a batch; a completion stands for all requests before it, because a send queue completes in
 * order.
 *
 * <pre>
 *   head ......... posted ......... tail
 *     with the card      waits for poll
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class SendRing {
    private final VerbsDataPath path;
    private final long queuePair;
    private final SendRequests requests;
    private final long memory;
    private final int memoryKey;
    private final int slotBytes;
    private final int inlineBytes;
    private final int signalEvery;
    private final int mask;
    private long head;
    private long posted;
    private long tail;
    private int sinceSignal;
    private boolean postedInCycle;
    private int failure;

    /**
     * Makes an empty ring.
     *
     * @param requests    their number is a power of two.
     * @param memory      of the first slot.
     * @param inlineBytes longest payload that is inlined in its request.
     */
    SendRing(
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
    }

    SendRequests requests() {
        return requests;
    }

    /** Longest payload that is copied. */
    int slotBytes() {
        return slotBytes;
    }

    /** Whether a number of requests can be added. */
    boolean hasRoom(int count) {
        return requests.count() - (tail - head) >= count && failure == 0;
    }

    // ---- adding ----

    int nextSlot() {
        return (int) tail & mask;
    }

    /** Begins a send in the next slot, with or without immediate data. */
    void begin(int slot, TransmitOperation operation) {
        begin(slot, operation, VerbsConstants.WR_SEND, VerbsConstants.WR_SEND_WITH_IMM);
    }

    /** Begins a write to the peer's memory in the next slot, with or without immediate data. */
    void beginWrite(int slot, TransmitOperation operation) {
        begin(slot, operation, VerbsConstants.WR_RDMA_WRITE, VerbsConstants.WR_RDMA_WRITE_WITH_IMM);
    }

    private void begin(int slot, TransmitOperation operation, int opcode, int opcodeWithData) {
        boolean hasData = (operation.flags & Flags.REMOTE_CQ_DATA) != 0;
        requests.begin(slot, hasData ? opcodeWithData : opcode,
            operation.length <= Math.min(slotBytes, inlineBytes) ? VerbsConstants.SEND_INLINE : 0);
        if (hasData) {
            requests.immediate(slot, (int) operation.data);
        }
    }

    /** Lets the card write the old value of an atomic operation into the slot's memory. */
    void receiveValue(int slot) {
        requests.piece(slot, 0, memory(slot), Long.BYTES, memoryKey);
        requests.pieceCount(slot, 1);
    }

    /** Memory of a slot; a native address. */
    long memory(int slot) {
        return memory + (long) slot * slotBytes;
    }

    /** Copies the payload into the slot's memory. */
    void copy(int slot, TransmitOperation operation) {
        int length = (int) operation.length;
        if (length != 0) {
            long at = memory(slot);
            operation.copyTo(0, at, length);
            requests.piece(slot, 0, at, length, memoryKey);
        }
        requests.pieceCount(slot, length == 0 ? 0 : 1);
    }

    /** Adds the request that was described in the next slot. */
    void add(boolean isSignaled) {
        int slot = nextSlot();
        if (tail != posted) {
            requests.follow((int) (tail - 1) & mask, slot);
        }
        tail++;
        if (isSignaled || ++sinceSignal >= signalEvery) {
            sinceSignal = 0;
            requests.signal(slot);
        }
    }

    /** Posts the requests that were added, if none was posted in this cycle. */
    void postFirst() {
        if (!postedInCycle) {
            post();
        }
    }

    private void post() {
        if (posted == tail || failure != 0) {
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

    /** Posts waiting requests with one call and begins a new cycle; 0 if none waited. */
    int poll() {
        int work = posted == tail ? 0 : 1;
        post();
        postedInCycle = false;
        return work;
    }

    /** Whether a poll has work to do. */
    boolean hasWork() {
        return posted != tail || postedInCycle;
    }

    // ---- removing ----

    /** Whether a slot's request is posted: a completion of any other slot must not move the ring. */
    boolean isOutstanding(int slot) {
        return slot >= 0 && slot <= mask && (slot - (int) head & mask) < posted - head;
    }

    /** Position behind a slot's request, see {@link #head()}. */
    long behind(int slot) {
        return head + (slot - (int) head & mask) + 1;
    }

    /** Position of the oldest request. */
    long head() {
        return head;
    }

    /** Position behind the newest request. */
    long tail() {
        return tail;
    }

    int slot(long position) {
        return (int) position & mask;
    }

    /** Removes the oldest request; its slot. */
    int remove() {
        return (int) head++ & mask;
    }

    /** Requests that are posted and not completed. */
    int outstanding() {
        return (int) (posted - head);
    }

    /** Why the card did not take a request; a positive errno, 0 if it took all. */
    int failure() {
        return failure;
    }

    /** No request is posted any more. Waiting requests count as posted, so that all can be removed. */
    void fail(int errno) {
        failure = failure == 0 ? errno : failure;
        posted = tail;
    }
}
