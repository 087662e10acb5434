package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.ReceiveRequests;

/**
 * Receives in registered memory, of one connection or shared by all connections of a device, with the completion of
 * each. A slot is posted to the card, or in the chain of the connection whose message it has, or in the chain of slots
 * to be posted again.
 *
 * <p>Owner: progress agent, after the resource thread has posted all of them once.
 */
abstract class ReceiveSlots {
    /** End of a chain. */
    static final int NONE = -1;

    private final ReceiveRequests requests;
    private final long memory;
    private final int slotBytes;
    private final int count;
    private final int[] lengths;
    private final int[] data;
    private final boolean[] hasData;
    private final boolean[] isWritten;
    private final int[] next;
    private int firstFree = NONE;
    private int lastFree;
    private int free;
    private int withCard;
    private int failure;

    /**
     * Makes slots; none of them is posted.
     *
     * @param memory    of the first one.
     */
    ReceiveSlots(ReceiveRequests requests, int count, long memory, int slotBytes) {
        this.requests = requests;
        this.count = count;
        this.memory = memory;
        this.slotBytes = slotBytes;
        this.lengths = new int[count];
        this.data = new int[count];
        this.hasData = new boolean[count];
        this.isWritten = new boolean[count];
        this.next = new int[count];
    }

    /** Posts a chain of requests to the card; 0 or a negative errno. */
    abstract int post(long request);

    /** Posts all slots to the card; 0 or a negative errno. */
    final int postAll() {
        for (int i = 0; i < count; i++) {
            give(i);
        }
        post();
        return -failure;
    }

    /** A message has arrived in a slot. */
    final void filled(int slot, int length, boolean withData, int immediate) {
        withCard--;
        lengths[slot] = length;
        hasData[slot] = withData;
        isWritten[slot] = false;
        data[slot] = immediate;
        next[slot] = NONE;
    }

    /** The peer has written so many bytes of registered memory, with immediate data that took a slot. */
    final void written(int slot, int length, int immediate) {
        filled(slot, length, true, immediate);
        isWritten[slot] = true;
    }

    final void flushed() {
        withCard--;
    }

    final int length(int slot) {
        return lengths[slot];
    }

    /** Whether the slot's length is that of a write to registered memory; the slot itself has no bytes then. */
    final boolean isWritten(int slot) {
        return isWritten[slot];
    }

    final boolean hasData(int slot) {
        return hasData[slot];
    }

    final int data(int slot) {
        return data[slot];
    }

    final long address(int slot) {
        return memory + (long) slot * slotBytes;
    }

    final int next(int slot) {
        return next[slot];
    }

    final void follow(int slot, int follower) {
        next[slot] = follower;
    }

    /** Adds a slot to those to be posted again. */
    final void give(int slot) {
        requests.follow(slot, -1);
        if (firstFree < 0) {
            firstFree = slot;
        } else {
            requests.follow(lastFree, slot);
        }
        lastFree = slot;
        free++;
    }

    /** Posts slots again, many with one call; their number. */
    final int poll(boolean isQuiet) {
        // in batches, unless the cycle is quiet or the card runs out of receives
        return free == 0 || !isQuiet && free < count / 4 ? 0 : post();
    }

    private int post() {
        if (firstFree < 0 || failure != 0) {
            return 0;
        }
        int posted = free;
        failure = -post(requests.address(firstFree));
        withCard += posted;
        firstFree = NONE;
        free = 0;
        return posted;
    }

    final int count() {
        return count;
    }

    /** Whether slots wait to be posted. */
    final boolean hasFree() {
        return free != 0;
    }

    final int withCard() {
        return withCard;
    }

    /** Why the card did not take a slot; a positive errno, 0 if it took all. */
    final int failure() {
        return failure;
    }

    /** Frees the requests; the memory belongs to the caller. */
    final void close() {
        requests.close();
    }
}
