package org.jfabric;

import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.ErrorCellEncoder;
import org.jfabric.layout.CompletionQueueDescriptor;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static org.jfabric.layout.CompletionQueueDescriptor.BODY_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.RECORD_LENGTH;

/** A {@code .cq} file in private memory, written by hand as a driver would. */
final class CompletionQueueImage {
    final int capacity;
    final MemorySegment memory;
    private long next;

    CompletionQueueImage(int capacity) {
        this.capacity = capacity;
        this.memory = Arena.ofAuto().allocate(CompletionQueueDescriptor.fileLength(capacity), 4096);
    }

    /** Entry whose members are the context times 1, 10, 100 and so on. */
    void success(long context) {
        success(context, 0);
    }

    void success(long context, int recordFlags) {
        body(context);
        commit(CompletionQueueDescriptor.KIND_SUCCESS, recordFlags);
    }

    /** Entry of a receive, without data, tag and source. */
    void entry(long context, long flags, long length, long buf, int recordFlags) {
        long body = record() + BODY_OFFSET;
        UnsafeApi.putLong(body, context);
        UnsafeApi.putLong(body + 8, flags);
        UnsafeApi.putLong(body + 16, length);
        UnsafeApi.putLong(body + 24, buf);
        UnsafeApi.putLong(body + 32, 0);
        UnsafeApi.putLong(body + 40, 0);
        UnsafeApi.putLong(record() + CompletionQueueDescriptor.SOURCE_OFFSET, -1L);
        commit(CompletionQueueDescriptor.KIND_SUCCESS, recordFlags);
    }

    void error(long context, int err, int provErrno, byte[] errData) {
        long cell = memory.address() + CompletionQueueDescriptor.errorCellsOffset(capacity)
            + (next & (capacity - 1)) * CompletionQueueDescriptor.ERROR_CELL_LENGTH;
        UnsafeApi.putLong(cell + ErrorCellEncoder.olenEncodingOffset(), context * 7);
        UnsafeApi.putInt(cell + ErrorCellEncoder.errEncodingOffset(), err);
        UnsafeApi.putInt(cell + ErrorCellEncoder.provErrnoEncodingOffset(), provErrno);
        UnsafeApi.putInt(cell + ErrorCellEncoder.errDataSizeEncodingOffset(), errData.length);
        for (int i = 0; i < errData.length; i++) {
            UnsafeApi.putByte(cell + ErrorCellEncoder.errDataEncodingOffset() + i, errData[i]);
        }
        body(context);
        commit(CompletionQueueDescriptor.KIND_ERROR, 0);
    }

    void overrun() {
        UnsafeApi.putIntRelease(
            null, memory.address() + CompletionQueueDescriptor.STATE_OFFSET, CompletionQueueDescriptor.STATE_OVERRUN);
    }

    void retired(long count) {
        UnsafeApi.putLongRelease(null, memory.address() + CompletionQueueDescriptor.RETIRED_OFFSET, count);
    }

    long readPosition() {
        return UnsafeApi.getLongAcquire(null, memory.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET);
    }

    private void body(long context) {
        long body = record() + BODY_OFFSET;
        long value = context;
        for (int i = 0; i < 6; i++) {
            UnsafeApi.putLong(body + i * 8L, value);
            value *= 10;
        }
        UnsafeApi.putLong(record() + CompletionQueueDescriptor.SOURCE_OFFSET, context % 2 == 0 ? -1L : context);
    }

    private void commit(int kind, int recordFlags) {
        UnsafeApi.putLongRelease(null, record(), CompletionQueueDescriptor.word(next, 3, kind, recordFlags));
        next++;
    }

    private long record() {
        return memory.address() + CompletionQueueDescriptor.RECORDS_OFFSET + (next & (capacity - 1)) * RECORD_LENGTH;
    }
}
