package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.layout.CompletionQueueDescriptor;

import java.util.ArrayList;
import java.util.List;

/**
 * The driver's quota of slots in one completion queue, for entries that no submission has reserved a slot for: messages
 * in multi-receive buffers and in the slab of buffered receives, and reports of remote memory access.
 *
 * <p>A slot is taken before the message is, so its entry always finds space. The slot is free again when the client's
 * read position has passed the entry. The numbers of unread entries are kept here, so nothing is read back from the
 * queue. A receive mode that finds no slot leaves its message unexpected and is called again once entries were read.
 *
 * <p>Owner: progress agent; {@link #open} allocates, nothing else does.
 */
final class DriverQuota {
    private final CompletionWriter writer;
    private final long waitingAddress;
    private final int slots;
    private final List<QuotaMember> members = new ArrayList<>();
    /** Numbers of entries that were written and not yet read, the oldest first. */
    private long[] unread;
    private int mask;
    private int first;
    private int end;
    /** Slots taken for entries that are still to be written. */
    private int taken;
    private int waiting;
    private boolean retryRequested;
    private int turn;

    DriverQuota(CompletionWriter writer, long fileAddress, int slots) {
        this.writer = writer;
        this.waitingAddress = fileAddress + CompletionQueueDescriptor.HELD_BACK_OFFSET;
        this.slots = slots;
    }

    /**
     * Lets a receive mode take slots.
     *
     * @param member receives {@link QuotaMember#retry} after it had to wait.
     */
    void open(QuotaMember member) {
        if (unread == null) {
            int length = Integer.highestOneBit(Math.max(1, slots * 2 - 1));
            unread = new long[length];
            mask = length - 1;
        }
        members.add(member);
    }

    /**
     * Removes a member that {@link #open} has added.
     *
     * @param leftOver slots that it took and will not use.
     */
    void close(QuotaMember member, int leftOver, boolean waits) {
        members.remove(member);
        taken -= leftOver;
        if (waits) {
            waitsNoMore();
        }
    }

    /** Returns whether {@link #take()} would find a slot. */
    boolean hasFree() {
        return taken + (end - first) < slots || forgetRead();
    }

    /** Takes a slot for one entry. Returns false if there is none. */
    boolean take() {
        if (!hasFree()) {
            return false;
        }
        taken++;
        return true;
    }

    /** Returns slots whose entries will not be written. */
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

    /**
     * Registers one waiting member. A flag in the queue's file asks the client to wake the driver when it has read
     * entries.
     */
    void waits() {
        // the member is called again in each cycle from now on
        writer.changed();
        if (waiting++ == 0 && !writer.isOverrun()) {
            UnsafeApi.putIntRelease(null, waitingAddress, 1);
            // a reader that waits for more entries than the quota allows would wait forever
            writer.wakeReaders();
        }
    }

    /**
     * Requests a retry at the end of this cycle. The member does not wait for slots, so the client is not asked to wake
     * the driver.
     */
    void askAgain() {
        retryRequested = true;
        writer.changed();
    }

    /** Ends one registration by {@link #waits()}. */
    void waitsNoMore() {
        if (--waiting == 0 && !writer.isOverrun()) {
            UnsafeApi.putIntRelease(null, waitingAddress, 0);
        }
    }

    /** The number of slots that are taken, or whose entries were not read yet. */
    int inUse() {
        forgetRead();
        return taken + (end - first);
    }

    /** Returns whether {@link #retry()} must run in the next cycle. */
    boolean isWaitedFor() {
        return waiting != 0 || retryRequested;
    }

    /** Retries all waiting members. Each call begins with another member, so that none starves. */
    int retry() {
        if (waiting == 0 && !retryRequested) {
            return 0;
        }
        // reset before the retries, which may request one for the next cycle
        retryRequested = false;
        int work = 0;
        int size = members.size();
        int begin = turn++;
        for (int i = 0; i < size; i++) {
            work += members.get(Math.floorMod(begin + i, size)).retry();
        }
        return work;
    }

    /**
     * Frees the slots of entries that the client has read; returns true if there is a free slot now. In a queue that
     * has overrun all slots are free.
     */
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
