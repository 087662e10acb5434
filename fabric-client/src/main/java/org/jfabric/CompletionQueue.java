package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.UseGuard;
import org.jfabric.codec.queue.ErrorCellDecoder;
import org.jfabric.layout.CompletionQueueDescriptor;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;

import static org.jfabric.layout.CompletionQueueDescriptor.BODY_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.ERROR_CELL_LENGTH;
import static org.jfabric.layout.CompletionQueueDescriptor.KIND_SUCCESS;
import static org.jfabric.layout.CompletionQueueDescriptor.RECORD_LENGTH;

/**
 * Reports the end of operations: the driver writes entries into shared memory, this object reads them there.
 *
 * <p>Reading calls return a positive count or a negative fabric errno; they never throw, block or allocate:
 *
 * <ul>
 * <li>{@code -FI_EAGAIN}: nothing to read;</li>
 * <li>{@code -FI_EAVAIL}: the oldest unread entry is an error, {@link #readErr} takes it; errors never overtake
 *     successes (CQ-060 to CQ-063, AMB-02);</li>
 * <li>{@code -FI_EOPBADSTATE}: closed, or no endpoint that reports here was enabled yet (CQ-142, AMB-09), or called
 *     from inside a {@link CompletionHandler};</li>
 * <li>{@code -FI_EINVAL}: count or buffer cannot be;</li>
 * <li>{@code -FI_EOVERRUN}: entries were lost because more operations were posted than the queue has slots; all that
 *     were written have been read, nothing more will come (CQ-145 to CQ-148, AMB-10);</li>
 * <li>{@code -FI_ENODEV}: the driver is gone, and all that it wrote has been read.</li>
 * </ul>
 *
 * <p>Every operation of an endpoint, injects included, takes one of the queue's slots when it is posted and gives it
 * back when its entry was read, or when it ended without one; so a queue whose entries are read cannot overrun.
 *
 * <p>With an embedded driver in INVOKER mode each reading call runs one duty cycle before it reads. Blocking reads and
 * wait objects are not offered yet: opening with another {@link WaitObject} than {@link WaitObject#NONE} is refused
 * with {@link FabricErrno#ENOSYS}.
 *
 * <p>Owner: one thread at a time reads. The endpoints that report here are submitted to by one thread at a time, which
 * may be another one. {@link #close()} is a control call. Source: section 2 of the requirements.
 */
public final class CompletionQueue implements AutoCloseable {
    private static final int KIND_SHIFT = 48;
    private static final int FLAGS_SHIFT = 56;
    private static final int UNBOUND = 0;
    private static final int READABLE = 1;
    private static final int CLOSED = 2;
    private static final int SOURCE_LENGTH = Long.BYTES;
    private static final long LONG_ARRAY_BASE = UnsafeApi.arrayBaseOffset(long[].class);
    /** So many polls that find nothing pass between two looks at the state, unless a ring full of entries was read. */
    private static final int IDLE_POLLS_MASK = 1023;

    private final Completion completion = new Completion();
    private final UnsafeBuffer errData = new UnsafeBuffer(0, 0);
    private final CompletionCredits credits;
    private final UseGuard readers;
    private final DriverState driver;
    private final Invoker invoker;
    private final long records;
    private final long mask;
    private final long readPositionAddress;
    private final long stateAddress;
    private final long errorCells;
    private final int entryLongs;
    private final MemorySegment memory;
    private final CompletionFormat format;
    private final Domain domain;
    private final long id;
    private final long context;
    private final int size;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private long position;
    private long emptyPosition;
    private int idlePolls;
    private int state;
    private boolean reading;
    private boolean overrun;

    /** A fresh queue over its mapped file; domain may be null in tests of the reading side. */
    CompletionQueue(
        Domain domain,
        long id,
        long context,
        CompletionFormat format,
        MemorySegment memory,
        int capacity,
        int size,
        DriverState driver,
        Invoker invoker) {
        this.domain = domain;
        this.id = id;
        this.context = context;
        this.format = format.resolved();
        this.entryLongs = this.format.entryLengthBytes() / Long.BYTES;
        this.memory = memory;
        this.size = size;
        this.driver = driver;
        this.invoker = invoker;
        this.mask = capacity - 1L;
        this.records = memory.address() + CompletionQueueDescriptor.RECORDS_OFFSET;
        this.readPositionAddress = memory.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET;
        this.stateAddress = memory.address() + CompletionQueueDescriptor.STATE_OFFSET;
        this.errorCells = memory.address() + CompletionQueueDescriptor.errorCellsOffset(capacity);
        UseGuard submitters = invoker != null ? invoker.guard() : new UseGuard("submission to completion queue " + id);
        this.credits = new CompletionCredits(
            size, memory.address() + CompletionQueueDescriptor.RETIRED_OFFSET, submitters);
        this.readers = invoker != null ? invoker.guard() : new UseGuard("completion queue " + id);
    }

    /**
     * Copies entries in the queue's format back to back and gives back their slots (CQ-054 to CQ-063, CQ-015 to
     * CQ-020).
     *
     * @param buffer receives the entries.
     * @param offset of the first one, in bytes.
     * @param count  most entries; 0 only tells what a read would find: 0, {@code -FI_EAVAIL} or {@code -FI_EAGAIN}
     *               (CQ-058, AMB-24).
     * @return entries stored, or a negative errno of this class.
     */
    public int read(MutableDirectBuffer buffer, int offset, int count) {
        return take(buffer, offset, count, null, 0);
    }

    /**
     * As {@link #read}, and stores the source of each received message (CQ-064 to CQ-072).
     *
     * @param buffer   receives the entries.
     * @param offset   of the first one, in bytes.
     * @param count    most entries.
     * @param srcAddrs element i becomes the source of entry i, {@link FabricAddress#ADDR_NOTAVAIL} if there is none; at
     *                 least {@code count} elements.
     * @return entries stored, or a negative errno of this class.
     */
    public int readFrom(MutableDirectBuffer buffer, int offset, int count, long[] srcAddrs) {
        if (count > srcAddrs.length) {
            return -FabricErrno.EINVAL;
        }
        return take(buffer, offset, count, srcAddrs, LONG_ARRAY_BASE);
    }

    /**
     * As {@link #read}, and stores the source of each received message (CQ-064 to CQ-072).
     *
     * @param buffer        receives the entries.
     * @param offset        of the first one, in bytes.
     * @param count         most entries.
     * @param sources       receives 8 bytes for each entry, its source or {@link FabricAddress#ADDR_NOTAVAIL}.
     * @param sourcesOffset of the first source, in bytes.
     * @return entries stored, or a negative errno of this class.
     */
    public int readFrom(
        MutableDirectBuffer buffer, int offset, int count, MutableDirectBuffer sources, int sourcesOffset) {
        if (sourcesOffset < 0 || sourcesOffset + (long) count * SOURCE_LENGTH > sources.capacity()) {
            return -FabricErrno.EINVAL;
        }
        return take(buffer, offset, count, sources.byteArray(), sources.addressOffset() + sourcesOffset);
    }

    /**
     * Shows entries where they are, without a copy, and gives back their slots in the end. An exception of the handler
     * passes through; the entry it was thrown for counts as read.
     *
     * @param handler called for each entry, before this method returns.
     * @param limit   most entries; 0 as count 0 of {@link #read}.
     * @return entries shown, or a negative errno of this class.
     */
    public int poll(CompletionHandler handler, int limit) {
        assert readers.enter();
        try {
            return handle(handler, limit);
        } finally {
            assert readers.exit();
        }
    }

    private int handle(CompletionHandler handler, int limit) {
        int entered = enter(limit);
        if (entered < 0) {
            return entered;
        }
        long start = position;
        long next = start;
        int ofClient = 0;
        int kind = 0;
        reading = true;
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
                ofClient += ofClient(word);
                next++;
                completion.wrap(record);
                handler.onCompletion(completion);
            }
        } finally {
            reading = false;
            completion.unwrap();
            if (next != start) {
                release(next, ofClient);
            }
            Reference.reachabilityFence(this);
        }
        return next != start ? (int) (next - start) : whenNothing(limit, kind);
    }

    /**
     * Takes the oldest unread entry if it is an error (CQ-086 to CQ-103).
     *
     * @param error receives every member, whatever the queue's format (CQ-021); error data goes where
     *              {@link CompletionError#errDataBuffer} says (AMB-15 to AMB-17).
     * @param flags 0; no bits are defined (CQ-096).
     * @return 1, or {@code -FI_EAGAIN} if the oldest entry is no error, {@code -FI_EBADFLAGS} for flags, or another
     *     negative errno of this class. On a queue that overran and was read to its end always 1, with
     *     {@link FabricErrno#EOVERRUN} (AMB-10).
     */
    public int readErr(CompletionError error, long flags) {
        if (flags != 0) {
            return -FabricErrno.EBADFLAGS;
        }
        int entered = enter(1);
        if (entered < 0) {
            return entered;
        }
        long record = records + (position & mask) * RECORD_LENGTH;
        long word = UnsafeApi.getLongAcquire(null, record);
        if ((int) word != (int) (position + 1)) {
            int result = whenEmpty();
            if (result != -FabricErrno.EOVERRUN) {
                return result;
            }
            error.reset().err(FabricErrno.EOVERRUN).provErrno(FabricErrno.EOVERRUN);
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

    /**
     * Says what an error entry's {@code provErrno} means (CQ-104 to CQ-106).
     *
     * @param provErrno of {@link CompletionError#provErrno()}, of either sign (AMB-25).
     * @return text, never empty.
     */
    public String strerror(int provErrno) {
        return strerror(provErrno, null, null, 0, 0);
    }

    /**
     * Says what an error entry's {@code provErrno} and error data mean (CQ-104 to CQ-106).
     *
     * @param provErrno of {@link CompletionError#provErrno()}, of either sign (AMB-25).
     * @param data      of {@link CompletionError#errData()}, or null.
     * @param buffer    receives the text too, cut and ended by a zero byte within {@code len}; or null.
     * @param offset    of the text in the buffer.
     * @param len       bytes that may be used of the buffer.
     * @return text, never empty.
     */
    public String strerror(int provErrno, DirectBuffer data, MutableDirectBuffer buffer, int offset, int len) {
        return ErrorText.of(provErrno, data, buffer, offset, len);
    }

    /**
     * Entries that the queue can hold for operations of this client; at least what was asked for (CQ-008, CQ-009).
     *
     * @return slots, 1 or more.
     */
    public int size() {
        return size;
    }

    /**
     * Format of the entries, never {@link CompletionFormat#UNSPEC} (CQ-014, AMB-20).
     *
     * @return the concrete format.
     */
    public CompletionFormat format() {
        return format;
    }

    /**
     * Context given at open (CQ-004).
     *
     * @return the value.
     */
    public long context() {
        return context;
    }

    /**
     * Whether {@link #close()} has not succeeded yet.
     *
     * @return false once it is closed.
     */
    public boolean isOpen() {
        return state != CLOSED;
    }

    /**
     * Closes the queue; unread entries are lost (CQ-046, CQ-047). Again does nothing. Control path.
     *
     * @throws FabricException with {@link FabricErrno#EBUSY} while an endpoint that reports here is open; the queue
     *     stays as it is (CQ-048, CQ-049).
     */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "CompletionQueue{id=" + id + ", format=" + format + ", size=" + size + ", capacity=" + (mask + 1)
            + ", endpoints=" + endpoints.size() + (state == CLOSED ? ", closed" : "") + '}';
    }

    long id() {
        return id;
    }

    Domain domain() {
        return domain;
    }

    CompletionCredits credits() {
        return credits;
    }

    /** Endpoints bound to this queue; control path, under the fabric's lock. */
    List<Endpoint> endpoints() {
        return endpoints;
    }

    /** An endpoint that reports here is enabled: from now on the queue may be read. */
    void onEndpointEnabled() {
        if (state == UNBOUND) {
            state = READABLE;
        }
    }

    void markClosed() {
        state = CLOSED;
    }

    private int take(MutableDirectBuffer buffer, int offset, int count, Object sources, long sourcesAddress) {
        assert readers.enter();
        try {
            return copy(buffer, offset, count, sources, sourcesAddress);
        } finally {
            assert readers.exit();
        }
    }

    private int copy(MutableDirectBuffer buffer, int offset, int count, Object sources, long sourcesAddress) {
        int entered = enter(count);
        if (entered < 0) {
            return entered;
        }
        int longs = entryLongs;
        int stride = longs * Long.BYTES;
        if (count != 0 && (offset < 0 || offset + (long) count * stride > buffer.capacity())) {
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
            for (int i = 0; i < longs; i++) {
                UnsafeApi.putLong(array, to + (long) i * Long.BYTES,
                    UnsafeApi.getLong(record + BODY_OFFSET + (long) i * Long.BYTES));
            }
            if (sourcesAddress != 0) {
                UnsafeApi.putLong(sources, sourcesAddress + (long) taken * SOURCE_LENGTH,
                    UnsafeApi.getLong(record + CompletionQueueDescriptor.SOURCE_OFFSET));
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

    private int enter(int count) {
        if (state != READABLE || reading) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (count < 0) {
            return -FabricErrno.EINVAL;
        }
        if (invoker != null) {
            invoker.cycle();
        }
        return 0;
    }

    private void release(long next, int ofClient) {
        position = next;
        UnsafeApi.putLongRelease(null, readPositionAddress, next);
        credits.release(ofClient);
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
     * The next entry is not there. The state stands on a line that the driver writes while it works, so it is looked at
     * only if a whole ring of entries was read without a pause, which is how an overrun looks from here, and now and
     * then.
     */
    private int whenEmpty() {
        if (overrun) {
            return -FabricErrno.EOVERRUN;
        }
        if (driver.isGone() || position - emptyPosition > mask >> 1 || (++idlePolls & IDLE_POLLS_MASK) == 0) {
            return whenSuspect();
        }
        emptyPosition = position;
        return -FabricErrno.EAGAIN;
    }

    private int whenSuspect() {
        boolean lost = UnsafeApi.getIntAcquire(null, stateAddress) == CompletionQueueDescriptor.STATE_OVERRUN;
        boolean gone = driver.isGone();
        // what was written before the end may have become visible after the first look
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
        error.reset()
            .opContext(UnsafeApi.getLong(body))
            .flags(UnsafeApi.getLong(body + 8))
            .len(UnsafeApi.getLong(body + 16))
            .buf(UnsafeApi.getLong(body + 24))
            .data(UnsafeApi.getLong(body + 32))
            .tag(UnsafeApi.getLong(body + 40))
            .srcAddr(UnsafeApi.getLong(record + CompletionQueueDescriptor.SOURCE_OFFSET))
            .olen(UnsafeApi.getLong(cell + ErrorCellDecoder.olenEncodingOffset()))
            .err(UnsafeApi.getInt(cell + ErrorCellDecoder.errEncodingOffset()))
            .provErrno(UnsafeApi.getInt(cell + ErrorCellDecoder.provErrnoEncodingOffset()));
        int length = UnsafeApi.getInt(cell + ErrorCellDecoder.errDataSizeEncodingOffset());
        if (length > 0) {
            errData.wrap(
                cell + ErrorCellDecoder.errDataEncodingOffset(), Math.min(length, ErrorCellDecoder.errDataLength()));
            error.errData(errData, 0, errData.capacity());
        }
    }

    private static int ofClient(long word) {
        return (int) (word >>> FLAGS_SHIFT) & CompletionQueueDescriptor.FLAG_DRIVER_SHARE ^ 1;
    }
}
