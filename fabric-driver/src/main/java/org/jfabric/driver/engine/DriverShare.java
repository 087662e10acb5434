package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.layout.CompletionQueueDescriptor;

import java.util.ArrayList;
import java.util.List;

/**
 * The slots of one completion queue that the driver takes for entries without a slot of the client's share: messages
 * in multi-receive buffers.
 *
 * <p>A slot is taken before the message is, so its entry always finds room. It is free again when the entry was read,
 * which the client's read position tells; the numbers of the entries that it has yet to pass are kept here, so nothing
 * is read back from the queue. Who finds no slot leaves its message unexpected and is asked again once entries were
 * read.
 *
 * <p>Owner: progress agent; {@link #open} allocates, nothing else does.
 */
final class DriverShare {
    private final CompletionWriter writer;
    private final long heldBackAddress;
    private final int slots;
    private final List<ReceiveMode> members = new ArrayList<>();
    /** Numbers of entries that were written and not yet read, the oldest first. */
    private long[] unread;
    private int mask;
    private int first;
    private int end;
    /** Slots taken for entries that are still to be written. */
    private int taken;
    private int waiting;
    private boolean asked;
    private int turn;

    DriverShare(CompletionWriter writer, long fileAddress, int slots) {
        this.writer = writer;
        this.heldBackAddress = fileAddress + CompletionQueueDescriptor.HELD_BACK_OFFSET;
        this.slots = slots;
    }

    /**
     * Lets somebody take slots.
     *
     * @param member asked again after it had to wait.
     */
    void open(ReceiveMode member) {
        if (unread == null) {
            int length = Integer.highestOneBit(Math.max(1, slots * 2 - 1));
            unread = new long[length];
            mask = length - 1;
        }
        members.add(member);
    }

    /**
     * Ends what {@link #open} began.
     *
     * @param member   takes no slots any more.
     * @param leftOver slots that it took and will not use.
     * @param waits    whether it had to wait.
     */
    void close(ReceiveMode member, int leftOver, boolean waits) {
        members.remove(member);
        taken -= leftOver;
        if (waits) {
            waitsNoMore();
        }
    }

    /**
     * Whether {@link #take()} would find a slot.
     *
     * @return true if there is one.
     */
    boolean hasFree() {
        return taken + (end - first) < slots || forgetRead();
    }

    /**
     * Takes a slot for one entry.
     *
     * @return false if there is none.
     */
    boolean take() {
        if (!hasFree()) {
            return false;
        }
        taken++;
        return true;
    }

    /**
     * Gives back slots whose entries will not be written.
     *
     * @param count how many.
     */
    void giveBack(int count) {
        taken -= count;
    }

    /** The next entry that is written to the queue uses a slot that was taken. */
    void use() {
        taken--;
        if (!writer.isOverrun()) {
            unread[end++ & mask] = writer.written();
        }
    }

    /** Takes a slot for the entry that is written next; only after {@link #hasFree()}. */
    void takeAndUse() {
        if (!writer.isOverrun()) {
            unread[end++ & mask] = writer.written();
        }
    }

    /** One member has to wait; the client is told, so that it wakes the driver when it has read. */
    void waits() {
        // asked again in each cycle from now on
        writer.changed();
        if (waiting++ == 0 && !writer.isOverrun()) {
            UnsafeApi.putIntRelease(null, heldBackAddress, 1);
            // who waits for a number of entries that the share cannot hold would wait for ever
            writer.wakeReaders();
        }
    }

    /** One member wants to be asked at the end of this cycle, without waiting; the client need not know. */
    void askAgain() {
        asked = true;
        writer.changed();
    }

    /** What {@link #waits()} began has ended. */
    void waitsNoMore() {
        if (--waiting == 0 && !writer.isOverrun()) {
            UnsafeApi.putIntRelease(null, heldBackAddress, 0);
        }
    }

    /**
     * Slots that are taken, or whose entries were not read yet.
     *
     * @return a count.
     */
    int inUse() {
        forgetRead();
        return taken + (end - first);
    }

    /** Whether somebody is to be asked in the next cycle. */
    boolean isWaitedFor() {
        return waiting != 0 || asked;
    }

    /** Asks those who wait once more; another one first each time, so that none takes all slots for ever. */
    int retry() {
        if (waiting == 0 && !asked) {
            return 0;
        }
        // before they are asked: they may ask for the next cycle
        asked = false;
        int work = 0;
        int size = members.size();
        int begin = turn++;
        for (int i = 0; i < size; i++) {
            work += members.get(Math.floorMod(begin + i, size)).retry();
        }
        return work;
    }

    /** Looks how far the client has read; true if there is a slot now. In a queue that has overrun all is dropped. */
    private boolean forgetRead() {
        long read = writer.readPosition();
        if (writer.isOverrun()) {
            first = end;
            return true;
        }
        while (first != end && unread[first & mask] < read) {
            first++;
        }
        return taken + (end - first) < slots;
    }
}
