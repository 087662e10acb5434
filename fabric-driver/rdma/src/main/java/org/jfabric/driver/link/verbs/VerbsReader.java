package org.jfabric.driver.link.verbs;

import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.support.MessageChannelHandler;
import org.jfabric.info.Flags;

/**
 * The messages of one connection that have arrived and are delivered to the engine in order. A message that the engine
 * has no room for stays in its slot, and so do those behind it, except the ones that a protocol above takes early. If
 * the slots belong to the connection alone and all of them are occupied, the card answers the peer with "receiver not
 * ready", and the peer's card tries again.
 *
 * <p>Owner: progress agent.
 */
final class VerbsReader {
    /** All messages were delivered. */
    static final int EMPTY = 0;
    /** The message at the head waits for the engine. */
    static final int PAUSED = 1;
    /** The limit was reached; messages are left. */
    static final int MORE = 2;
    /** The engine refuses a message: it breaks the protocol. */
    static final int REFUSED = 3;

    private final ReceiveSlots slots;
    private final boolean isShared;
    private final Placement placement = new Placement();
    /** Chain of slots whose messages wait. */
    private int first = ReceiveSlots.NONE;
    private int last;
    private int held;
    /** The last slot behind the head that was offered to the protocol above; none if only the head was. */
    private int asked = ReceiveSlots.NONE;
    private boolean isPaused;
    private boolean isStopped;

    /**
     * Makes a queue without messages.
     *
     * @param isShared whether they are shared by all connections of the device, which then posts them.
     */
    VerbsReader(ReceiveSlots slots, boolean isShared) {
        this.slots = slots;
        this.isShared = isShared;
    }

    /** A message has arrived. */
    void completed(int slot, int length, boolean withData, int immediate) {
        slots.filled(slot, length, withData, immediate);
        arrived(slot);
    }

    /** The peer has written registered memory with data. Its entry takes a receive, in the order of the messages. */
    void written(int slot, int length, int immediate) {
        slots.written(slot, length, immediate);
        arrived(slot);
    }

    private void arrived(int slot) {
        if (isStopped) {
            slots.give(slot);
            return;
        }
        if (first == ReceiveSlots.NONE) {
            first = slot;
        } else {
            slots.follow(last, slot);
        }
        last = slot;
        held++;
    }

    void flushed(int slot) {
        slots.flushed();
        if (isShared) {
            slots.give(slot);
        }
    }

    /** Delivers messages. Returns {@link #EMPTY}, {@link #PAUSED}, {@link #MORE} or {@link #REFUSED}. */
    int drain(VerbsChannel channel, int limit) {
        for (int i = 0; i < limit; i++) {
            // the handler may close the channel
            if (first == ReceiveSlots.NONE) {
                return EMPTY;
            }
            int slot = first;
            Placement.Action action = hand(channel, slot);
            if (action == Placement.Action.PAUSE) {
                lookAhead(channel);
                return PAUSED;
            }
            if (action == Placement.Action.REFUSE) {
                return REFUSED;
            }
            if (!isStopped) {
                removeAfter(ReceiveSlots.NONE, slot);
            }
        }
        return first == ReceiveSlots.NONE ? EMPTY : MORE;
    }

    private Placement.Action hand(VerbsChannel channel, int slot) {
        int length = slots.length(slot);
        long flags = slots.hasData(slot) ? Flags.MSG | Flags.REMOTE_CQ_DATA : Flags.MSG;
        long cqData = slots.data(slot) & 0xffff_ffffL;
        long at = slots.address(slot);
        if (slots.isWritten(slot)) {
            if (channel.protocol() != null) {
                return channel.protocol().onWritten(length, cqData)
                    ? Placement.Action.STORE : Placement.Action.PAUSE;
            }
            flags = ChannelHandler.WRITTEN;
            cqData |= (long) length << Integer.SIZE;
            length = 0;
        }
        if (!isPaused) {
            if (channel.streams().canStore(length)) {
                channel.handler().onMessage(flags, 0, cqData, at, length);
                return Placement.Action.STORE;
            }
            if (asked == ReceiveSlots.NONE && channel.protocol() != null
                && channel.protocol().takesEarly(at, length)) {
                return Placement.Action.STORE;
            }
        }
        // the engine recognises a message that it paused before by its placement
        channel.streams().place(flags, 0, cqData, length, placement);
        isPaused = placement.action() == Placement.Action.PAUSE;
        if (placement.action() == Placement.Action.DIRECT || placement.action() == Placement.Action.STORE) {
            placement.copyFrom(0, at, Math.min(length, placement.lengthBytes()));
            channel.streams().onPlaced(placement);
        }
        return placement.action();
    }

    /** Offers the messages behind a waiting one to the protocol above. */
    private void lookAhead(VerbsChannel channel) {
        MessageChannelHandler protocol = channel.protocol();
        if (protocol == null) {
            return;
        }
        int before = asked == ReceiveSlots.NONE ? first : asked;
        while (!isStopped && slots.next(before) != ReceiveSlots.NONE) {
            int slot = slots.next(before);
            boolean isTaken = !slots.isWritten(slot)
                && protocol.takesEarly(slots.address(slot), slots.length(slot));
            if (isStopped) {
                return;
            }
            if (isTaken) {
                removeAfter(before, slot);
            } else {
                asked = slot;
                before = slot;
            }
        }
    }

    private void removeAfter(int before, int slot) {
        int follower = slots.next(slot);
        if (before == ReceiveSlots.NONE) {
            first = follower;
        } else {
            slots.follow(before, follower);
        }
        if (last == slot) {
            last = before;
        }
        if (asked == slot) {
            asked = ReceiveSlots.NONE;
        }
        held--;
        slots.give(slot);
    }

    /** Posts slots again, many with one call; 0 if there was no work. */
    int poll(VerbsChannel channel, boolean isQuiet) {
        int posted = isShared || isStopped ? 0 : slots.poll(isQuiet);
        if (posted != 0 && slots.failure() == 0 && channel.protocol() != null) {
            channel.protocol().onReposted(posted);
        }
        return posted == 0 ? 0 : 1;
    }

    boolean isEmpty() {
        return first == ReceiveSlots.NONE;
    }

    /** Slots whose messages wait. */
    int held() {
        return held;
    }

    /** Whether this connection has slots to post again. */
    boolean hasFree() {
        return !isShared && slots.hasFree();
    }

    /** Receives of this connection alone that are posted. */
    int outstanding() {
        return isShared ? 0 : slots.withCard();
    }

    /** Why the card did not take a receive; a positive errno, 0 if it took all. */
    int failure() {
        return slots.failure();
    }

    /** The connection has ended: aborts the message at the head if it waits. */
    void abort(VerbsChannel channel, int errno) {
        if (isPaused) {
            isPaused = false;
            channel.streams().onAborted(placement, errno);
        }
        stop();
    }

    /** The handler is not called any more; shared slots are free for others. */
    void stop() {
        isStopped = true;
        for (int slot = first; slot != ReceiveSlots.NONE; ) {
            int follower = slots.next(slot);
            slots.give(slot);
            slot = follower;
        }
        first = ReceiveSlots.NONE;
        held = 0;
    }
}
