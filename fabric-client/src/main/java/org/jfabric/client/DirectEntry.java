package org.jfabric.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jfabric.layout.CompletionQueueDescriptor;

/**
 * One entry that a cycle leaves for the call that runs it, without a slot of the completion queue: it lies in a line of
 * memory that stays in the processor's nearest cache, and no shared word changes when it is read.
 *
 * <pre>
 *   closed --- open(): a call begins to read ---&gt; open --- put(), by its cycle: closed, with an entry ---+
 *     ^                                            |                                                      |
 *     '------------------- close() ----------------'          take(): it is shown, or queue(): it gets a slot
 * </pre>
 *
 * <p>It is open only for the one call that will show the entry, and only while all entries of the queue were read. The
 * entry gets a slot behind them before a second one is written, before the application is called inside of that call,
 * and before anything else reads the queue: so the order and the number of entries are the same as without it. Owner:
 * the thread that runs the driver's cycles.
 */
public final class DirectEntry {
    private static final long CLOSED = -1;

    private final MemorySegment memory = Arena.ofAuto().allocate(
        CompletionQueueDescriptor.RECORD_LENGTH, CompletionQueueDescriptor.RECORD_LENGTH);
    private final long record = memory.address();
    private long openAt = CLOSED;
    private boolean isPending;
    private Runnable writer;

    /** Without an entry, closed. */
    public DirectEntry() {
    }

    // ---- the reading call ----

    /**
     * Lets the cycle that follows put an entry here.
     *
     * @param position entries that were read; there must be no other ones.
     */
    public void open(long position) {
        openAt = position;
    }

    /** The cycle has ended: nothing more is put here. */
    public void close() {
        openAt = CLOSED;
    }

    /** Whether there is an entry. */
    public boolean isPending() {
        return isPending;
    }

    /** Takes the entry. Returns its address; the next cycle may write there. */
    public long take() {
        isPending = false;
        return record;
    }

    /** Closes, and gives the entry, if there is one, its slot in the queue. */
    public void queue() {
        openAt = CLOSED;
        if (isPending) {
            writer.run();
        }
    }

    // ---- the cycle ----

    /** Sets how the entry gets its slot. */
    public void writer(Runnable newWriter) {
        writer = newWriter;
    }

    /** Whether an entry may be put here now. */
    public boolean isOpen(long written) {
        return openAt == written;
    }

    /**
     * Where the entry is written, in the layout of the queue's records. Returns the native address of a cache line.
     */
    public long record() {
        return record;
    }

    /** The queue is not written any more: an entry that was not taken is lost. */
    public void drop() {
        openAt = CLOSED;
        isPending = false;
    }

    /** The entry is written; only if {@link #isOpen}. */
    public void put() {
        openAt = CLOSED;
        isPending = true;
    }
}
