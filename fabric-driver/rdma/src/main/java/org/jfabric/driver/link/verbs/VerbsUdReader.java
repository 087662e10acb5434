package org.jfabric.driver.link.verbs;

import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.ReceiveRequests;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramSources;
import org.jfabric.info.Flags;

/**
 * The receives of one queue pair: slots of registered memory. All are posted to the card, except those whose datagrams
 * wait for receives of the application. At most three quarters of the slots wait, so that the card always has some. A
 * datagram that arrives when these are full is dropped and counted; libfabric's provider drops it when no receive is
 * posted. The card itself drops datagrams if more arrive between two polls than it has slots; these cannot be counted.
 *
 * <p>A slot begins before a cache line, so that the payload, behind the {@value VerbsUdRoute#BYTES} bytes of the route
 * header, begins at a cache line.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdReader {
    private final VerbsDataPath path;
    private final long queuePair;
    private final ReceiveRequests requests;
    private final long memory;
    private final int slotBytes;
    private final int count;
    private final int waitingLimit;
    private final long messageFlags;
    private long lostCounter;
    private final int[] ready;
    private final int[] lengths;
    private final int[] data;
    private final int[] sourcePairs;
    private final boolean[] hasData;
    private final boolean[] hasRoute;
    private long head;
    private long tail;
    /** Chain of slots to be handed back to the card. */
    private int firstFree = -1;
    private int lastFree;
    private int free;
    private int failure;
    private boolean isFlushed;

    /**
     * Makes receives; none of them is posted.
     *
     * @param memory       of the first one.
     */
    VerbsUdReader(
        VerbsDataPath path, long queuePair, ReceiveRequests requests, int count, long memory, int slotBytes,
        long messageFlags) {
        this.path = path;
        this.queuePair = queuePair;
        this.requests = requests;
        this.count = count;
        this.waitingLimit = count - count / 4;
        this.memory = memory;
        this.slotBytes = slotBytes;
        this.messageFlags = messageFlags;
        this.ready = new int[count];
        this.lengths = new int[count];
        this.data = new int[count];
        this.sourcePairs = new int[count];
        this.hasData = new boolean[count];
        this.hasRoute = new boolean[count];
    }

    /** Posts all slots to the card; 0 or a negative errno. */
    int postAll() {
        for (int i = 0; i < count; i++) {
            give(i);
        }
        post();
        return -failure;
    }

    /** Sets the counter of lost datagrams; before the first poll. */
    void countLost(long counterAddress) {
        lostCounter = counterAddress;
    }

    /** A datagram has arrived. */
    void completed(WorkCompletions completions, int entry) {
        int slot = (int) completions.id(entry);
        int length = completions.length(entry) - VerbsUdRoute.BYTES;
        if (length < 0 || tail - head >= waitingLimit) {
            UnsafeApi.putLongRelease(null, lostCounter, UnsafeApi.getLong(lostCounter) + 1);
            give(slot);
            return;
        }
        lengths[slot] = length;
        hasData[slot] = completions.hasImmediate(entry);
        data[slot] = hasData[slot] ? completions.immediate(entry) : 0;
        hasRoute[slot] = completions.hasRoute(entry);
        sourcePairs[slot] = completions.sourceQueuePair(entry);
        ready[(int) (tail++ % count)] = slot;
    }

    /** A receive was flushed: the queue pair is in the error state. */
    void flushed() {
        isFlushed = true;
    }

    /**
     * Delivers datagrams.
     *
     * @param limit          datagrams at most.
     */
    int drain(DatagramSources sources, DatagramChannel unknownSenders, int limit) {
        int drained = 0;
        while (drained < limit && head != tail) {
            int slot = ready[(int) (head++ % count)];
            long at = memory + (long) slot * slotBytes;
            DatagramChannel source = hasRoute[slot] ? source(sources, at, sourcePairs[slot]) : null;
            (source == null ? unknownSenders : source).handler().onMessage(
                hasData[slot] ? messageFlags | Flags.REMOTE_CQ_DATA : messageFlags, 0, data[slot] & 0xffff_ffffL,
                at + VerbsUdRoute.BYTES, lengths[slot]);
            give(slot);
            drained++;
        }
        return drained;
    }

    private static DatagramChannel source(DatagramSources sources, long at, int queuePair) {
        boolean isIn4 = VerbsUdRoute.isIn4(at);
        return sources.find(
            VerbsUdRoute.sourceHigh(at, isIn4), VerbsUdRoute.sourceLow(at, isIn4), queuePair);
    }

    private void give(int slot) {
        requests.follow(slot, -1);
        if (firstFree < 0) {
            firstFree = slot;
        } else {
            requests.follow(lastFree, slot);
        }
        lastFree = slot;
        free++;
    }

    /** Posts slots again, many with one call; 0 if there was no work. */
    int poll(boolean isQuiet) {
        // in batches, unless the cycle is quiet or the card runs out of receives
        if (free == 0 || !isQuiet && free < count / 8) {
            return 0;
        }
        post();
        return 1;
    }

    private void post() {
        if (firstFree >= 0 && failure == 0) {
            failure = -path.postReceive(queuePair, requests.address(firstFree));
            firstFree = -1;
            free = 0;
        }
    }

    boolean isEmpty() {
        return head == tail;
    }

    /** Whether slots wait to be posted again. */
    boolean hasFree() {
        return free != 0;
    }

    /** Whether receives were flushed or cannot be posted any more: no datagram will arrive. */
    boolean hasFailed() {
        return isFlushed || failure != 0;
    }

    void release() {
        requests.close();
    }
}
