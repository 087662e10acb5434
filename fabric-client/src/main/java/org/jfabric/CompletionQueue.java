package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.UseGuard;
import org.jfabric.client.UseLock;
import org.jfabric.layout.CompletionQueueDescriptor;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

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
 * <p>In a domain that keeps threads apart ({@link Threading#SAFE} and others, see {@link Domain}) any thread reads.
 * Each entry goes to one of them; a thread that comes while another one is reading, its handlers included, is answered
 * {@code -FI_EAGAIN} instead of waiting for it.
 *
 * <p>Owner otherwise: one thread at a time reads. The endpoints that report here are submitted to by one thread at a
 * time, which may be another one. {@link #close()} is a control call. Source: section 2 of the requirements.
 */
public final class CompletionQueue implements AutoCloseable {
    private static final int UNBOUND = 0;
    private static final int READABLE = 1;
    private static final int CLOSED = 2;
    private static final long LONG_ARRAY_BASE = UnsafeApi.arrayBaseOffset(long[].class);
    private static final int MAX_SHOWN_ERR_DATA = 32;

    private final CompletionReader reader;
    private final CompletionCredits credits;
    private final UseGuard readers;
    private final UseLock lock;
    private final Invoker invoker;
    private final CompletionFormat format;
    private final Domain domain;
    private final long id;
    private final long context;
    private final int size;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private int state;
    private long drainBegin;

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
        this.size = size;
        this.invoker = invoker;
        boolean locks = domain != null && domain.locks();
        // where locks keep threads apart, the engine, its submitters and the readers each have their own one
        boolean oneUser = invoker != null && !locks;
        UseGuard submitters = oneUser ? invoker.guard() : new UseGuard("submission to completion queue " + id);
        UseLock submission = !locks ? null : invoker != null ? invoker.lock() : new UseLock();
        this.credits = new CompletionCredits(
            size, memory.address() + CompletionQueueDescriptor.RETIRED_OFFSET, submitters, submission);
        this.lock = locks ? new UseLock() : null;
        this.reader = new CompletionReader(memory, capacity, this.format, credits, driver);
        this.readers = oneUser ? invoker.guard() : new UseGuard("completion queue " + id);
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
        if (sourcesOffset < 0 || sourcesOffset + (long) count * CompletionReader.SOURCE_LENGTH > sources.capacity()) {
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
        if (!begin()) {
            return -FabricErrno.EAGAIN;
        }
        try {
            int entered = enter(limit);
            return entered < 0 ? entered : reader.handle(handler, limit);
        } finally {
            end();
        }
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
        if (!begin()) {
            return -FabricErrno.EAGAIN;
        }
        try {
            int entered = enter(1);
            return entered < 0 ? entered : reader.readErr(error);
        } finally {
            end();
        }
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
        StringBuilder text = new StringBuilder(FabricErrno.name(provErrno)).append(": ")
            .append(FabricErrno.describe(provErrno));
        if (data != null && data.capacity() > 0) {
            text.append(" Data:");
            int shown = Math.min(data.capacity(), MAX_SHOWN_ERR_DATA);
            for (int i = 0; i < shown; i++) {
                text.append(String.format(" %02x", data.getByte(i)));
            }
            text.append(shown < data.capacity() ? " ..." : "");
        }
        String result = text.toString();
        if (buffer != null && len > 0) {
            byte[] bytes = result.getBytes(StandardCharsets.US_ASCII);
            int stored = Math.min(bytes.length, len - 1);
            buffer.putBytes(offset, bytes, 0, stored);
            buffer.putByte(offset + stored, (byte) 0);
        }
        return result;
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
        return "CompletionQueue{id=" + id + ", format=" + format + ", size=" + size + ", capacity=" + reader.capacity()
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

    /** Remembers which entries are there, before the fabric waits for its sends to end. */
    void onDrainBegins() {
        drainBegin = reader.end();
    }

    /** Sends whose error entries came since {@link #onDrainBegins()}; nobody need have read them. */
    long failedSinceDrainBegan() {
        return reader.failedSends(drainBegin);
    }

    void markClosed() {
        state = CLOSED;
    }

    private int take(MutableDirectBuffer buffer, int offset, int count, Object sources, long sourcesAddress) {
        if (!begin()) {
            return -FabricErrno.EAGAIN;
        }
        try {
            int entered = enter(count);
            return entered < 0 ? entered : reader.copy(buffer, offset, count, sources, sourcesAddress);
        } finally {
            end();
        }
    }

    /** False if another thread is reading: nobody waits for a reader, which may be in a handler. */
    private boolean begin() {
        if (lock != null && !lock.tryEnter()) {
            return false;
        }
        assert readers.enter();
        return true;
    }

    private void end() {
        assert readers.exit();
        if (lock != null) {
            lock.exit();
        }
    }

    private int enter(int count) {
        if (state != READABLE || reader.isHandling()) {
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
}
