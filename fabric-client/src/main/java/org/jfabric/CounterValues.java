package org.jfabric;

import org.agrona.UnsafeApi;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

import static org.jfabric.layout.CounterDescriptor.ADDED_ERRORS_OFFSET;
import static org.jfabric.layout.CounterDescriptor.ADDED_OFFSET;
import static org.jfabric.layout.CounterDescriptor.COUNTED_ERRORS_OFFSET;
import static org.jfabric.layout.CounterDescriptor.COUNTED_OFFSET;

/**
 * The client's end of a {@code .cntr} file: the two values, each the sum of what the driver counted and what this
 * client added.
 *
 * <p>Any number of threads; the memory orders are said in {@link org.jfabric.layout.CounterDescriptor}.
 */
final class CounterValues implements Waitable {
    private MemorySegment memory;
    private long address;
    private boolean waitedForByMany;
    /** Held by changes where the file may be replaced, else null. */
    private final Object moves;
    /** Other threads may still be reading there. */
    private MemorySegment previous;
    // what was read last; a thread that misses the newest value of another one checks once more than needed
    private long seenValue;
    private long seenErrorValue;

    /**
     * The values in a mapped file.
     *
     * @param memory          of the file.
     * @param waitedForByMany whether several threads may wait at a time, each for a value of its own.
     * @param isMovable       whether {@link #moveTo} may be called.
     */
    CounterValues(MemorySegment memory, boolean waitedForByMany, boolean isMovable) {
        this.moves = isMovable ? new Object() : null;
        this.memory = memory;
        this.address = memory.address();
        this.waitedForByMany = waitedForByMany;
    }

    /** From now on several threads may wait at a time; none does during this call. */
    void waitedForByMany() {
        waitedForByMany = true;
    }

    /** The value, which counts as read. */
    long read() {
        long value = value();
        if (value != seenValue) {
            seenValue = value;
        }
        return value;
    }

    /** The error value, which counts as read. */
    long readErr() {
        long value = errorValue();
        if (value != seenErrorValue) {
            seenErrorValue = value;
        }
        return value;
    }

    /** Continues with these values in a fresh file of the next driver, which counts nothing there yet. */
    void moveTo(MemorySegment file) {
        synchronized (moves) {
            UnsafeApi.putLong(null, file.address() + ADDED_OFFSET, value());
            UnsafeApi.putLong(null, file.address() + ADDED_ERRORS_OFFSET, errorValue());
            previous = memory;
            memory = file;
            // a thread that finds the new address finds the values there
            UnsafeApi.storeFence();
            address = file.address();
        }
    }

    /** Native address of the file. */
    long address() {
        return address;
    }

    long value() {
        return sum(COUNTED_OFFSET, ADDED_OFFSET);
    }

    long errorValue() {
        return sum(COUNTED_ERRORS_OFFSET, ADDED_ERRORS_OFFSET);
    }

    void add(long value) {
        add(ADDED_OFFSET, value);
    }

    void addErr(long value) {
        add(ADDED_ERRORS_OFFSET, value);
    }

    void set(long value) {
        set(COUNTED_OFFSET, ADDED_OFFSET, value);
    }

    void setErr(long value) {
        set(COUNTED_ERRORS_OFFSET, ADDED_ERRORS_OFFSET, value);
    }

    /** Whether one of the values has changed since it was read. */
    @Override
    public boolean isReady() {
        return value() != seenValue || errorValue() != seenErrorValue;
    }

    @Override
    public boolean isReady(long needed, long seenErrors) {
        return value() >= needed || errorValue() != seenErrors;
    }

    @Override
    public long wakeAt(long needed) {
        // there is one word for all sleepers; and where their number is counted from changes with what is added here
        long wanted = waitedForByMany ? 0 : needed - UnsafeApi.getLongAcquire(null, address + ADDED_OFFSET);
        Reference.reachabilityFence(memory);
        return wanted;
    }

    @Override
    public int capacity() {
        return Integer.MAX_VALUE;
    }

    /** Modulo 2^63, so that a value is never mistaken for an errno. */
    private long sum(int countedOffset, int addedOffset) {
        // both of one file, while another thread moves to the next one
        long file = address;
        long sum = UnsafeApi.getLongAcquire(null, file + countedOffset)
            + UnsafeApi.getLongAcquire(null, file + addedOffset);
        Reference.reachabilityFence(memory);
        return sum & Long.MAX_VALUE;
    }

    private void add(int addedOffset, long value) {
        if (moves != null) {
            synchronized (moves) {
                addNow(addedOffset, value);
            }
        } else {
            addNow(addedOffset, value);
        }
    }

    private void addNow(int addedOffset, long value) {
        UnsafeApi.getAndAddLong(null, address + addedOffset, value);
        Reference.reachabilityFence(memory);
    }

    private void set(int countedOffset, int addedOffset, long value) {
        if (moves != null) {
            synchronized (moves) {
                setNow(countedOffset, addedOffset, value);
            }
        } else {
            setNow(countedOffset, addedOffset, value);
        }
    }

    private void setNow(int countedOffset, int addedOffset, long value) {
        long added;
        long counted;
        do {
            added = UnsafeApi.getLongAcquire(null, address + addedOffset);
            counted = UnsafeApi.getLongAcquire(null, address + countedOffset);
        } while (!UnsafeApi.compareAndSetLong(null, address + addedOffset, added, value - counted));
        Reference.reachabilityFence(memory);
    }
}
