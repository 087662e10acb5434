package org.jfabric.driver.link.verbs;

import org.jfabric.Flags;
import org.jfabric.driver.ffi.ReceiveRequests;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Placement;

/**
 * The receive queue of one connection: slots of registered memory, all of them with the card but those whose messages
 * wait for the engine. A message that the engine has no place for stays in its slot, and those behind it too; when all
 * slots are taken so, the peer's card is told that no receive is posted, and tries again.
 *
 * <p>Owner: progress agent.
 */
final class ReceiveQueue {
    /** Drained: nothing is left. */
    static final int EMPTY = 0;
    /** The message at the head waits for the engine. */
    static final int PAUSED = 1;
    /** As many as were asked for have been handed over. */
    static final int MORE = 2;
    /** The engine refuses a message: it breaks the protocol. */
    static final int REFUSED = 3;

    private final VerbsDataPath path;
    private final long queuePair;
    private final ReceiveRequests requests;
    private final long memory;
    private final int slotBytes;
    private final int count;
    private final int[] ready;
    private final int[] lengths;
    private final int[] data;
    private final boolean[] hasData;
    private final Placement placement = new Placement();
    private long head;
    private long tail;
    private boolean isPaused;
    private boolean isStopped;
    /** Chain of slots to be handed back to the card. */
    private int firstFree = -1;
    private int lastFree;
    private int free;
    private int withCard;
    private int failure;

    ReceiveQueue(
        VerbsDataPath path, long queuePair, ReceiveRequests requests, int count, long memory, int slotBytes) {
        this.path = path;
        this.queuePair = queuePair;
        this.requests = requests;
        this.count = count;
        this.memory = memory;
        this.slotBytes = slotBytes;
        this.ready = new int[count];
        this.lengths = new int[count];
        this.data = new int[count];
        this.hasData = new boolean[count];
    }

    /** Hands all slots to the card; 0 or a negative errno. */
    int postAll() {
        for (int i = 0; i < count; i++) {
            give(i);
        }
        post();
        return -failure;
    }

    /** A message has come. */
    void completed(int slot, int length, boolean withData, int immediate) {
        withCard--;
        lengths[slot] = length;
        hasData[slot] = withData;
        data[slot] = immediate;
        ready[(int) (tail++ % count)] = slot;
    }

    /** A receive came back without a message. */
    void flushed() {
        withCard--;
    }

    /**
     * Hands messages over.
     *
     * @return {@link #EMPTY}, {@link #PAUSED}, {@link #MORE} or {@link #REFUSED}.
     */
    int drain(ChannelHandler handler, int limit) {
        for (int i = 0; i < limit; i++) {
            // the handler may close the channel in the middle
            if (head == tail || isStopped) {
                return EMPTY;
            }
            int slot = ready[(int) (head % count)];
            Placement.Action action = hand(handler, slot);
            if (action == Placement.Action.PAUSE) {
                return PAUSED;
            }
            if (action == Placement.Action.REFUSE) {
                return REFUSED;
            }
            if (!isStopped) {
                head++;
                give(slot);
            }
        }
        return head == tail ? EMPTY : MORE;
    }

    private Placement.Action hand(ChannelHandler handler, int slot) {
        int length = lengths[slot];
        long flags = hasData[slot] ? Flags.MSG | Flags.REMOTE_CQ_DATA : Flags.MSG;
        long cqData = data[slot] & 0xffff_ffffL;
        long at = memory + (long) slot * slotBytes;
        if (!isPaused && handler.canStore(length)) {
            handler.onMessage(flags, 0, cqData, at, length);
            return Placement.Action.STORE;
        }
        // one that was asked about before is known to the engine by its placement
        handler.place(flags, 0, cqData, length, placement);
        isPaused = placement.action() == Placement.Action.PAUSE;
        if (placement.action() == Placement.Action.DIRECT || placement.action() == Placement.Action.STORE) {
            placement.copyFrom(0, at, Math.min(length, placement.lengthBytes()));
            handler.onPlaced(placement);
        }
        return placement.action();
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

    /** Hands slots back to the card, many with one call; 0 if there was nothing to do. */
    int poll(boolean isQuiet) {
        // a batch, unless nothing else is to be done or the card runs out of receives
        if (free == 0 || !isQuiet && free < count / 4) {
            return 0;
        }
        post();
        return 1;
    }

    private void post() {
        if (firstFree >= 0 && failure == 0 && !isStopped) {
            int result = path.postReceive(queuePair, requests.address(firstFree));
            withCard += free;
            failure = -result;
            firstFree = -1;
            free = 0;
        }
    }

    boolean isEmpty() {
        return head == tail;
    }

    /** Whether slots wait to be handed back. */
    boolean hasFree() {
        return free != 0;
    }

    /** Receives that the card has. */
    int outstanding() {
        return withCard;
    }

    /** Why the card did not take a receive; a positive errno, 0 if it took all. */
    int failure() {
        return failure;
    }

    /** The connection is over: the message at the head will not be taken. */
    void abort(ChannelHandler handler, int errno) {
        if (isPaused) {
            isPaused = false;
            handler.onAborted(placement, errno);
        }
        stop();
    }

    /** The handler is not called any more. */
    void stop() {
        isStopped = true;
        head = tail;
    }

    void release() {
        requests.close();
    }
}
