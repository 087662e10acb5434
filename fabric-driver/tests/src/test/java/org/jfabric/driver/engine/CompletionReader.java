package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.client.WaitLine;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.layout.CompletionQueueDescriptor;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A completion queue in allocated memory with its driver's end, read by the layout alone. */
final class CompletionReader {
    /** One entry; {@code errno} is 0 for a success. */
    record Entry(
        int endpoint, long context, long flags, long length, long buf, long data, long tag, long source, int errno,
        long olen) {
    }

    final CompletionWriter writer;
    private final long memory;
    private final int capacity;
    private final WaitLine line;
    private long position;
    private long errors;
    private long ofDriver;

    CompletionReader(int capacity) {
        this(capacity, capacity / 4);
    }

    CompletionReader(int capacity, int driverShare) {
        this(capacity, driverShare, false);
    }

    /** If embedded the queue has no wait object, and the reader runs the cycles. */
    CompletionReader(int capacity, int driverShare, boolean isEmbedded) {
        this.capacity = capacity;
        long length = CompletionQueueDescriptor.fileLength(capacity);
        memory = UnsafeApi.allocateMemory(length);
        UnsafeApi.setMemory(memory, length, (byte) 0);
        long waitAddress = memory + CompletionQueueDescriptor.WAIT_OFFSET;
        line = new WaitLine(waitAddress, MemorySegment.NULL);
        writer = new CompletionWriter(
            memory, capacity, driverShare, isEmbedded ? null : new WaitPoint(waitAddress), () -> {
            });
        if (isEmbedded) {
            writer.retireAtOnce();
        }
    }

    void free() {
        UnsafeApi.freeMemory(memory);
    }

    /** Takes the next entry; null if there is none. */
    Entry take() {
        long record = record();
        if (record == 0) {
            return null;
        }
        long word = UnsafeApi.getLongAcquire(null, record);
        boolean failed = (int) (word >>> 48 & 0xFF) == CompletionQueueDescriptor.KIND_ERROR;
        long cell = memory + CompletionQueueDescriptor.errorCellsOffset(capacity)
            + (position & capacity - 1) * CompletionQueueDescriptor.ERROR_CELL_LENGTH;
        Entry entry = new Entry(
            (int) (word >>> 32) & 0xFFFF,
            UnsafeApi.getLong(record + 8),
            UnsafeApi.getLong(record + 16),
            UnsafeApi.getLong(record + 24),
            UnsafeApi.getLong(record + 32),
            UnsafeApi.getLong(record + 40),
            UnsafeApi.getLong(record + 48),
            UnsafeApi.getLong(record + CompletionQueueDescriptor.SOURCE_OFFSET),
            failed ? UnsafeApi.getInt(cell + 8) : 0,
            failed ? UnsafeApi.getLong(cell) : 0);
        release();
        return entry;
    }

    List<Entry> takeAll() {
        List<Entry> entries = new ArrayList<>();
        for (Entry entry = take(); entry != null; entry = take()) {
            entries.add(entry);
        }
        return entries;
    }

    /** Drops the next entry without allocation; false if there is none. */
    boolean skip() {
        if (record() == 0) {
            return false;
        }
        release();
        return true;
    }

    /** Entries whose slots were the client's. */
    long taken() {
        return position - ofDriver;
    }

    /** Whether the driver says that messages wait for slots of its share. */
    boolean isHeldBack() {
        return UnsafeApi.getIntAcquire(null, memory + CompletionQueueDescriptor.HELD_BACK_OFFSET) != 0;
    }

    /** Begins to sleep until so many entries were written, as a client's thread does. */
    void sleep(long wakeAt) {
        line.announce(wakeAt);
    }

    /** Whether the driver has woken the sleeper. */
    boolean isAwake() {
        return line.signal() != 0;
    }

    long errors() {
        return errors;
    }

    long retired() {
        writer.flush();
        return UnsafeApi.getLongAcquire(null, memory + CompletionQueueDescriptor.RETIRED_OFFSET);
    }

    private long record() {
        long record = memory + CompletionQueueDescriptor.RECORDS_OFFSET
            + (position & capacity - 1) * CompletionQueueDescriptor.RECORD_LENGTH;
        long word = UnsafeApi.getLongAcquire(null, record);
        return (int) word == (int) position + 1 ? record : 0;
    }

    private void release() {
        long record = record();
        long word = UnsafeApi.getLong(record);
        if ((int) (word >>> 48 & 0xFF) == CompletionQueueDescriptor.KIND_ERROR) {
            errors++;
        }
        ofDriver += word >>> 56 & CompletionQueueDescriptor.FLAG_DRIVER_SHARE;
        position++;
        UnsafeApi.putLongRelease(null, memory + CompletionQueueDescriptor.READ_POSITION_OFFSET, position);
    }
}
