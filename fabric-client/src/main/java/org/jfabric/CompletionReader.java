package org.jfabric;

import static org.jfabric.layout.CompletionQueueDescriptor.BODY_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.ERROR_CELL_LENGTH;
import static org.jfabric.layout.CompletionQueueDescriptor.KIND_SUCCESS;
import static org.jfabric.layout.CompletionQueueDescriptor.RECORD_LENGTH;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DirectEntry;
import org.jfabric.client.DriverState;
import org.jfabric.client.QueueSignal;
import org.jfabric.codec.queue.CompletionDecoder;
import org.jfabric.codec.queue.ErrorCellDecoder;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;

/**
 * The client's end of a completion queue's file, {@code .cq}: finds the next entries, decodes or copies them, and gives
 * back their slots.
 *
 * <p>Each slot belongs to one of two shares. An operation of the client reserves a slot of the client's share when it
 * is posted. The driver takes slots of its own share for entries that no operation has reserved a slot for, such as
 * those of messages in multi-receive buffers. Messages wait in the driver while its share has no free slot.
 *
 * <p>This class does not check who calls: {@link CompletionQueue} does. Owner: the one reading thread.
 */
class CompletionReader implements Waitable {
    static final int SOURCE_LENGTH = Long.BYTES;

    private static final int CONTEXT = BODY_OFFSET + CompletionDecoder.opContextEncodingOffset();
    private static final int FLAGS = BODY_OFFSET + CompletionDecoder.flagsEncodingOffset();
    private static final int LENGTH_IN_ENTRY = CompletionDecoder.lengthEncodingOffset();
    private static final int CELLS_PER_RECORD = ERROR_CELL_LENGTH / RECORD_LENGTH;
    private static final int KIND_SHIFT = 48;
    private static final int FLAGS_SHIFT = 56;
    /** The queue's state is read in one of 1024 empty polls, and in other cases that {@link #whenEmpty} names. */
    private static final int IDLE_POLLS_MASK = 1023;

    private final Completion completion = new Completion();
    private final UnsafeBuffer errData = new UnsafeBuffer(0, 0);
    private CompletionCredits credits;
    private final DriverState driver;
    private long records;
    private long mask;
    private long readPositionAddress;
    private long stateAddress;
    private long heldBackAddress;
    private long errorCells;
    private long readTimes;
    private final int entryLongs;
    private final boolean mayOverrun;
    private final boolean keepsErrData;
    private MemorySegment memory;
    /** The same addresses for threads that only ask, in one object: they may ask while the reader moves on. */
    private volatile QueueFile file;
    private long position;
    private long emptyPosition;
    private int idlePolls;
    private boolean handling;
    private boolean overrun;
    /** Entries behind the last one are of the next driver. Not volatile, as {@link DriverState#isGone()}. */
    private boolean hasSuccessor;
    private QueueSignal driverSignal;
    private CompletionBatch held;
    private final ReceiveSlabs slabs = new ReceiveSlabs();
    /** Reading calls have handed out messages in cells of receive slabs; the next one may have to give them back. */
    private boolean tookCells;
    private int heldOfClient;

    /**
     * A reader at the start of a fresh file. {@code keepsErrData}: as before version 1.5 of the API, error data never
     * goes into a buffer of the application.
     */
    CompletionReader(
        MemorySegment memory, int capacity, CompletionFormat format, CompletionCredits credits, DriverState driver,
        boolean keepsErrData) {
        this.entryLongs = format.entryLengthBytes() / Long.BYTES;
        this.mayOverrun = credits.isUnlimited();
        this.driver = driver;
        this.keepsErrData = keepsErrData;
        begin(memory, capacity, credits);
    }

    /** Begins at the start of a fresh file. */
    final void begin(MemorySegment memory, int capacity, CompletionCredits credits) {
        this.credits = credits;
        this.position = 0;
        this.emptyPosition = 0;
        readFrom(memory, capacity);
    }

    /** Continues at the same position of a copy of the file, in which no entry follows the ones that are there. */
    final void readCopy() {
        long end = end();
        int capacity = capacity();
        MemorySegment copy = Arena.ofAuto().allocate(CompletionQueueDescriptor.fileLength(capacity), Long.BYTES);
        copy.copyFrom(memory.asSlice(0, copy.byteSize()));
        if (end - position <= mask) {
            // the driver may have written it meanwhile; of a full ring this slot has the entry at the position
            UnsafeApi.putLong(
                copy.address() + CompletionQueueDescriptor.RECORDS_OFFSET + (end & mask) * RECORD_LENGTH, 0);
        }
        readFrom(copy, capacity);
    }

    private void readFrom(MemorySegment memory, int capacity) {
        this.memory = memory;
        this.mask = capacity - 1L;
        this.records = memory.address() + CompletionQueueDescriptor.RECORDS_OFFSET;
        this.readPositionAddress = memory.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET;
        this.stateAddress = memory.address() + CompletionQueueDescriptor.STATE_OFFSET;
        this.heldBackAddress = memory.address() + CompletionQueueDescriptor.HELD_BACK_OFFSET;
        this.errorCells = memory.address() + CompletionQueueDescriptor.errorCellsOffset(capacity);
        completion.cells(records, errorCells);
        this.readTimes = memory.address() + CompletionQueueDescriptor.READ_TIMES_OFFSET;
        this.file = new QueueFile(memory, records, mask, readPositionAddress, stateAddress, heldBackAddress);
    }

    /** The words of one file. */
    private record QueueFile(
        MemorySegment memory, long records, long mask, long readPosition, long state, long heldBack) {
        /** As {@link CompletionReader#kind}. */
        int kind(long number) {
            return CompletionReader.kind(
                UnsafeApi.getLongAcquire(null, records + (number & mask) * RECORD_LENGTH), number);
        }

        boolean isOverrun() {
            return UnsafeApi.getIntAcquire(null, state) == CompletionQueueDescriptor.STATE_OVERRUN;
        }
    }

    /** Whether a handler of the application is being called. It must not read the queue. */
    boolean isHandling() {
        return handling;
    }

    /** Marks that a handler is being called for a message without an entry. */
    void handling(boolean isHandling) {
        handling = isHandling;
    }

    /** Number of the next entry. */
    long position() {
        return position;
    }

    /** Whether the next entry is not written yet. */
    boolean isEmpty() {
        return kind(position) == 0;
    }

    /** Cells of slabs are to be given back by the next reading call. */
    void tookCells() {
        tookCells = true;
    }

    /** Entries that the ring can hold. */
    @Override
    public int capacity() {
        return (int) (mask + 1);
    }

    /** Whether a buffer has room for {@code count} entries of the queue's format. */
    boolean fits(DirectBuffer buffer, int offset, int count) {
        return count == 0 || offset >= 0 && offset + (long) count * entryLongs * Long.BYTES <= buffer.capacity();
    }

    @Override
    public long wakeAt(long needed) {
        // all sleepers share one word; where several threads may wait, each for another number, all entries wake them
        return credits.lock() == null ? position + needed : 0;
    }

    /**
     * Whether a read would find an entry, an error or the overrun state. Any thread may ask: the reading thread's
     * position is taken from the file, where it publishes it.
     */
    @Override
    public boolean isReady() {
        QueueFile seen = file;
        return seen.kind(UnsafeApi.getLongAcquire(null, seen.readPosition)) != 0 || seen.isOverrun();
    }

    /** As {@link #isReady()}, or the driver has ended. */
    boolean mayHaveEvents() {
        return isReady() || driver.isLost();
    }

    /**
     * Whether a blocking read has something to return. It has when one of these is there: {@code needed} entries; an
     * error entry, even if there are fewer; any entry, while messages wait for slots of the driver's share; the overrun
     * state.
     *
     * @param needed     entries, 1 to {@link #capacity()}.
     * @param seenErrors ignored: here an error is an entry.
     */
    @Override
    public boolean isReady(long needed, long seenErrors) {
        QueueFile seen = file;
        long first = position;
        long last = first + needed - 1;
        if (seen.kind(last) != 0) {
            return true;
        }
        int kind;
        for (long number = first; number < last && (kind = seen.kind(number)) != 0; number++) {
            if (kind != KIND_SUCCESS) {
                return true;
            }
        }
        // while messages wait for slots no more entries may come before some are read
        return seen.isOverrun() || UnsafeApi.getIntAcquire(null, seen.heldBack) != 0 && seen.kind(first) != 0;
    }

    /** Shows up to {@code limit} entries to the handler; see {@link CompletionQueue#poll}. */
    int handle(CompletionHandler handler, int limit) {
        long start = position;
        long next = start;
        int ofClient = 0;
        int kind = kind(start);
        if (kind != KIND_SUCCESS) {
            // most polls of a spinning thread take this path
            return whenNothing(limit, kind);
        }
        kind = 0;
        handling = true;
        try {
            for (long end = start + limit; next < end;) {
                long record = records + (next & mask) * RECORD_LENGTH;
                long word = UnsafeApi.getLongAcquire(null, record);
                if ((int) word != (int) (next + 1)) {
                    break;
                }
                kind = (int) (word >>> KIND_SHIFT) & 0xFF;
                if (kind != KIND_SUCCESS) {
                    break;
                }
                if (word < 0 && !takesCell(record, word)) {
                    kind = 0;
                    break;
                }
                ofClient += ofClient(word);
                next++;
                completion.wrap(record);
                handler.onCompletion(completion);
            }
        } finally {
            handling = false;
            completion.unwrap();
            if (next != start) {
                release(next, ofClient);
            }
            Reference.reachabilityFence(this);
        }
        return next != start ? (int) (next - start) : whenNothing(limit, kind);
    }

    /** Shows an entry that has no slot. */
    int handle(DirectEntry entry, CompletionHandler handler) {
        handling = true;
        try {
            completion.wrap(entry.take());
            handler.onCompletion(completion);
        } finally {
            handling = false;
            completion.unwrap();
            credits.release(1);
            Reference.reachabilityFence(entry);
        }
        return 1;
    }

    /** Lends up to {@code limit} entries to a batch, where they are; see {@link CompletionQueue#readInPlace}. */
    int hold(CompletionQueue queue, CompletionBatch batch, int limit) {
        long start = position;
        long next = start;
        int ofClient = 0;
        int kind = 0;
        for (long end = start + limit; next < end;) {
            long record = records + (next & mask) * RECORD_LENGTH;
            long word = UnsafeApi.getLongAcquire(null, record);
            if ((int) word != (int) (next + 1)) {
                break;
            }
            kind = (int) (word >>> KIND_SHIFT) & 0xFF;
            if (kind != KIND_SUCCESS) {
                break;
            }
            if (word < 0 && !takesCell(record, word)) {
                kind = 0;
                break;
            }
            ofClient += ofClient(word);
            next++;
        }
        if (next == start) {
            return whenNothing(limit, kind);
        }
        held = batch;
        heldOfClient = ofClient;
        batch.hold(queue, records, errorCells, mask, start, (int) (next - start));
        Reference.reachabilityFence(this);
        return (int) (next - start);
    }

    /** Whether a batch shows entries that were not given back. */
    boolean isHeld() {
        return held != null;
    }

    /** Gives back the entries of a batch, and the lent cells of receive slabs. Each reading call does so first. */
    void releaseHeld() {
        if (tookCells) {
            tookCells = slabs.giveBackLent();
        }
        CompletionBatch batch = held;
        if (batch != null) {
            held = null;
            release(position + batch.size(), heldOfClient);
            batch.onReleased();
        }
    }

    /** Copies up to {@code count} entries; see {@link CompletionQueue#read} and {@link CompletionQueue#readFrom}. */
    int copy(MutableDirectBuffer buffer, int offset, int count, Object sources, long sourcesAddress) {
        int longs = entryLongs;
        int stride = longs * Long.BYTES;
        if (!fits(buffer, offset, count)) {
            return -FabricErrno.EINVAL;
        }
        byte[] array = count == 0 ? null : buffer.byteArray();
        long to = count == 0 ? 0 : buffer.addressOffset() + offset;
        long next = position;
        int ofClient = 0;
        int kind = 0;
        int taken = 0;
        while (taken < count) {
            long record = records + (next & mask) * RECORD_LENGTH;
            long word = UnsafeApi.getLongAcquire(null, record);
            if ((int) word != (int) (next + 1)) {
                break;
            }
            kind = (int) (word >>> KIND_SHIFT) & 0xFF;
            if (kind != KIND_SUCCESS) {
                break;
            }
            if (word < 0 && !takesCell(record, word)) {
                kind = 0;
                break;
            }
            for (int i = 0; i < longs; i++) {
                UnsafeApi.putLong(array, to + (long) i * Long.BYTES,
                    UnsafeApi.getLong(record + BODY_OFFSET + (long) i * Long.BYTES));
            }
            if (sourcesAddress != 0) {
                UnsafeApi.putLong(sources, sourcesAddress + (long) taken * SOURCE_LENGTH,
                    UnsafeApi.getLong(record + CompletionQueueDescriptor.SOURCE_OFFSET));
            }
            if ((UnsafeApi.getLong(record + FLAGS) & Flags.MULTICAST) != 0) {
                withoutPosition(
                    array, to, sources, sourcesAddress == 0 ? 0 : sourcesAddress + (long) taken * SOURCE_LENGTH);
            }
            to += stride;
            ofClient += ofClient(word);
            next++;
            taken++;
        }
        if (taken == 0) {
            return whenNothing(count, kind);
        }
        release(next, ofClient);
        Reference.reachabilityFence(this);
        return taken;
    }

    /** Takes the halves of the position out of the copy of a group's entry. */
    private void withoutPosition(byte[] array, long to, Object sources, long sourceAddress) {
        if (entryLongs > LENGTH_IN_ENTRY / Long.BYTES) {
            UnsafeApi.putLong(array, to + LENGTH_IN_ENTRY,
                CompletionQueueDescriptor.length(UnsafeApi.getLong(array, to + LENGTH_IN_ENTRY)));
        }
        if (sourceAddress != 0) {
            UnsafeApi.putLong(sources, sourceAddress,
                CompletionQueueDescriptor.source(UnsafeApi.getLong(sources, sourceAddress)));
        }
    }

    /** Takes the next entry if it is an error; see {@link CompletionQueue#readErr}. */
    int readErr(CompletionError error) {
        long record = records + (position & mask) * RECORD_LENGTH;
        long word = UnsafeApi.getLongAcquire(null, record);
        if ((int) word != (int) (position + 1)) {
            int result = whenEmpty();
            if (result == -FabricErrno.EAVAIL) {
                return readLost(error);
            }
            if (result != -FabricErrno.EOVERRUN) {
                return result;
            }
            emptied(error).err(FabricErrno.EOVERRUN).provErrno(FabricErrno.EOVERRUN);
            return 1;
        }
        if (((int) (word >>> KIND_SHIFT) & 0xFF) == KIND_SUCCESS) {
            return -FabricErrno.EAGAIN;
        }
        fill(error, record, errorCells + (position & mask) * ERROR_CELL_LENGTH);
        release(position + 1, ofClient(word));
        Reference.reachabilityFence(this);
        return 1;
    }

    /** Context of an entry that was written. */
    final long contextOf(long number) {
        return UnsafeApi.getLong(records + (number & mask) * RECORD_LENGTH + CONTEXT);
    }

    /** Whether an entry that was written ends a receive. */
    final boolean endsReceive(long number) {
        return (UnsafeApi.getLong(records + (number & mask) * RECORD_LENGTH + FLAGS)
            & (Flags.RECV | Flags.MULTI_RECV)) != 0;
    }

    /** Whether the slot of an entry that was written is of the client's share. */
    final boolean isOfClient(long number) {
        return ofClient(UnsafeApi.getLongAcquire(null, records + (number & mask) * RECORD_LENGTH)) != 0;
    }

    final CompletionCredits credits() {
        return credits;
    }

    /** Where the entries are read. */
    final MemorySegment memory() {
        return memory;
    }

    final DriverState driver() {
        return driver;
    }

    /** Number of the first entry that is not written yet; takes nothing. */
    long end() {
        long number = position;
        while (kind(number) != 0) {
            number++;
        }
        return number;
    }

    /** Counts the error entries of operations other than receives, from an entry's number on; takes nothing. */
    long failedSends(long from) {
        long failed = 0;
        int kind;
        for (long number = from; (kind = kind(number)) != 0; number++) {
            long flags = UnsafeApi.getLong(records + (number & mask) * RECORD_LENGTH + FLAGS);
            failed += kind != KIND_SUCCESS && (flags & (Flags.RECV | Flags.MULTI_RECV)) == 0 ? 1 : 0;
        }
        return failed;
    }

    /** Kind of the entry with that number; 0 if it is not written yet. */
    private int kind(long number) {
        return kind(UnsafeApi.getLongAcquire(null, records + (number & mask) * RECORD_LENGTH), number);
    }

    private static int kind(long word, long number) {
        return (int) word == (int) (number + 1) ? (int) (word >>> KIND_SHIFT) & 0xFF : 0;
    }

    /** Gives back the slots of all entries before {@code next}; {@code ofClient} of them are of the client's share. */
    void release(long next, int ofClient) {
        boolean ofDriver = next - position != ofClient;
        position = next;
        UnsafeApi.putLongRelease(null, readPositionAddress, next);
        credits.release(ofClient);
        if (ofDriver && driverSignal != null) {
            driverSignal.onChange(heldBackAddress);
        }
    }

    /** Receive slabs of the endpoints whose receives complete in this queue. */
    ReceiveSlabs slabs() {
        return slabs;
    }

    /**
     * Takes the cell that an entry with {@code FLAG_BUFFERED} hands out; that flag is the sign bit of its word. It is
     * set too if the driver wants to know when the entry is read.
     */
    private boolean takesCell(long record, long word) {
        int flags = (int) (word >>> FLAGS_SHIFT);
        if ((flags & CompletionQueueDescriptor.FLAG_STAMPED) != 0) {
            int number = flags >> CompletionQueueDescriptor.STAMP_SHIFT & CompletionQueueDescriptor.READ_TIMES - 1;
            UnsafeApi.putLongRelease(null, readTimes + (long) number * Long.BYTES, System.nanoTime());
            if ((flags & CompletionQueueDescriptor.FLAG_WITHOUT_CELL) != 0) {
                return true;
            }
        }
        tookCells = true;
        return slabs.take(
            record, errorCells + CELLS_PER_RECORD * (record - records), UnsafeApi.getLong(record + CONTEXT));
    }

    /** Behind the last entry there may be others; any thread. */
    final void hasSuccessor(boolean isThere) {
        hasSuccessor = isThere;
    }

    /** Sets the signal that wakes the driver if entries of its share are read while messages wait for their slots. */
    void driverSignal(QueueSignal signal) {
        driverSignal = signal;
    }

    private int whenNothing(int limit, int kind) {
        if (kind != 0) {
            return -FabricErrno.EAVAIL;
        }
        return limit == 0 ? whenNotAsked() : whenEmpty();
    }

    private int whenNotAsked() {
        long word = UnsafeApi.getLongAcquire(null, records + (position & mask) * RECORD_LENGTH);
        if ((int) word != (int) (position + 1)) {
            return whenEmpty();
        }
        return ((int) (word >>> KIND_SHIFT) & 0xFF) == KIND_SUCCESS ? 0 : -FabricErrno.EAVAIL;
    }

    /**
     * Called when the next entry is not written yet. The queue's state is on a cache line that the driver writes while
     * it works, so it is read only when it may have changed: after more than half a ring of entries was read without an
     * empty poll, because that comes before an overrun; in one of 1024 empty polls; and when the driver has ended. If
     * the queue may overrun, because the application itself ensures that there is room, it is read in every empty poll.
     */
    private int whenEmpty() {
        if (overrun) {
            return -FabricErrno.EOVERRUN;
        }
        if (mayOverrun || hasSuccessor || driver.isGone() || position - emptyPosition > mask >> 1
            || (++idlePolls & IDLE_POLLS_MASK) == 0) {
            return whenSuspect();
        }
        emptyPosition = position;
        return -FabricErrno.EAGAIN;
    }

    /** The same, with a check of the queue's state. */
    int whenSuspect() {
        boolean lost = UnsafeApi.getIntAcquire(null, stateAddress) == CompletionQueueDescriptor.STATE_OVERRUN;
        boolean gone = driver.isGone();
        // entries written before the end may have become visible after the first check
        UnsafeApi.loadFence();
        long word = UnsafeApi.getLongAcquire(null, records + (position & mask) * RECORD_LENGTH);
        if ((int) word == (int) (position + 1)) {
            return -FabricErrno.EAGAIN;
        }
        emptyPosition = position;
        if (lost) {
            overrun = true;
            return -FabricErrno.EOVERRUN;
        }
        return gone ? -FabricErrno.ENODEV : -FabricErrno.EAGAIN;
    }

    private void fill(CompletionError error, long record, long cell) {
        long body = record + BODY_OFFSET;
        boolean isOfGroup = (UnsafeApi.getLong(record + FLAGS) & Flags.MULTICAST) != 0;
        long len = UnsafeApi.getLong(body + LENGTH_IN_ENTRY);
        long source = UnsafeApi.getLong(body + CompletionDecoder.srcAddrEncodingOffset());
        emptied(error)
            .opContext(UnsafeApi.getLong(record + CONTEXT))
            .flags(UnsafeApi.getLong(record + FLAGS))
            .len(isOfGroup ? CompletionQueueDescriptor.length(len) : len)
            .buf(UnsafeApi.getLong(body + CompletionDecoder.bufEncodingOffset()))
            .data(UnsafeApi.getLong(body + CompletionDecoder.dataEncodingOffset()))
            .tag(UnsafeApi.getLong(body + CompletionDecoder.tagEncodingOffset()))
            .srcAddr(isOfGroup ? CompletionQueueDescriptor.source(source) : source)
            .olen(UnsafeApi.getLong(cell + ErrorCellDecoder.olenEncodingOffset()))
            .err(UnsafeApi.getInt(cell + ErrorCellDecoder.errEncodingOffset()))
            .provErrno(UnsafeApi.getInt(cell + ErrorCellDecoder.provErrnoEncodingOffset()));
        int length = UnsafeApi.getInt(cell + ErrorCellDecoder.errDataSizeEncodingOffset());
        if (length > 0) {
            errData.wrap(
                cell + ErrorCellDecoder.errDataEncodingOffset(), Math.min(length, ErrorCellDecoder.errDataLength()));
            if (keepsErrData) {
                error.errDataToOwn(errData, 0, errData.capacity());
            } else {
                error.errData(errData, 0, errData.capacity());
            }
        }
    }

    /** Fills in the error of an operation that was lost with a driver, after {@code -FI_EAVAIL} without an entry. */
    int readLost(CompletionError error) {
        return -FabricErrno.EAGAIN;
    }

    final CompletionError emptied(CompletionError error) {
        return keepsErrData ? error.resetAllButErrDataSize() : error.reset();
    }

    private static int ofClient(long word) {
        return (int) (word >>> FLAGS_SHIFT) & CompletionQueueDescriptor.FLAG_DRIVER_SHARE ^ 1;
    }
}
