package org.jfabric;

import org.jfabric.layout.CompletionQueueDescriptor;

/**
 * Entries that {@link CompletionQueue#readInPlace(CompletionBatch, int)} found, where the driver wrote them: nothing is
 * copied, and all of them are given back by one update of the shared position.
 *
 * <pre>{@code
 * int count = queue.readInPlace(batch, 16);
 * long first = count > 0 ? batch.entry(0).opContext() : 0;
 * }</pre>
 *
 * <p>The entries keep their slots, and their operations' completion credit, until {@link #release()} or the next
 * reading call of the same queue, whichever comes first. Keep one batch for each queue and use it again and again.
 *
 * <p>Owner: the one thread that reads the queue. Source: design of the batched read; members as in fi_cq(3), section
 * Completion Fields.
 */
public final class CompletionBatch {
    private final Completion entry = new Completion();
    private CompletionQueue queue;
    private long records;
    private long mask;
    private long first;
    private int size;

    /** An empty batch, which any queue may fill. */
    public CompletionBatch() {
    }

    /**
     * Entries that are held.
     *
     * @return a count, 0 once they are given back.
     */
    public int size() {
        return size;
    }

    /**
     * Shows one of the entries.
     *
     * @param index 0 is the oldest entry, {@link #size()} - 1 the newest.
     * @return the same object each time, moved to that entry. Every member reads 0 for another index, and of an entry
     *     that was given back.
     */
    public Completion entry(int index) {
        if (index >= 0 && index < size) {
            entry.wrap(records + (first + index & mask) * CompletionQueueDescriptor.RECORD_LENGTH);
        } else {
            entry.unwrap();
        }
        return entry;
    }

    /** Gives back all entries, so that their slots can be used again. Does nothing if there are none. */
    public void release() {
        if (queue != null) {
            queue.release();
        }
    }

    @Override
    public String toString() {
        return "CompletionBatch{size=" + size + (queue == null ? "" : ", of " + queue) + '}';
    }

    /** Whether entries are held. */
    boolean isHolding() {
        return queue != null;
    }

    /** Entries from a number on are the caller's to see. */
    void hold(
        CompletionQueue of, long recordsAddress, long cellsAddress, long ringMask, long firstNumber, int count) {
        entry.cells(recordsAddress, cellsAddress);
        queue = of;
        records = recordsAddress;
        mask = ringMask;
        first = firstNumber;
        size = count;
        entry.keep(of);
    }

    /** The entries are not the caller's any more. */
    void onReleased() {
        queue = null;
        size = 0;
        entry.unwrap();
    }
}
