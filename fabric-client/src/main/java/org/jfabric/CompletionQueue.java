package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.UseGuard;
import org.jfabric.client.UseLock;
import org.jfabric.client.WaitLine;
import org.jfabric.layout.CompletionQueueDescriptor;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;

/**
 * Reports the end of operations: the driver writes entries into shared memory, this object reads them there.
 *
 * <p>Reading calls return a positive count or a negative fabric errno; they never throw or allocate, and only
 * {@link #sread} and {@link #sreadFrom} block:
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
 * Only in a domain opened with {@link ResourceManagement#DISABLED} nothing is taken: posting asks for no slot, and an
 * entry that finds none overruns the queue for good. The other queues of the domain go on (REF-014).
 *
 * <p>With an embedded driver in INVOKER mode each reading call runs one duty cycle before it reads, and a blocking one
 * runs cycles until it returns.
 *
 * <p>Three ways to read: {@link #read} and {@link #readFrom} copy entries in the queue's format, {@link #poll} shows
 * them to a handler, {@link #readInPlace} lends them until the next reading call.
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
    private final WaitObject waitObject;
    private final CompletionWait wait;
    private final List<Endpoint> endpoints = new ArrayList<>();
    /** Volatile, because a control call of another thread must end what a waiting reader does. */
    private volatile int state;
    private long drainBegin;

    /**
     * A fresh queue over its mapped file; domain may be null in tests of the reading side.
     *
     * @param attr as opened: the format is concrete, the size is the client's share.
     */
    CompletionQueue(
        Domain domain,
        long id,
        long context,
        CompletionQueueAttr attr,
        MemorySegment memory,
        int capacity,
        DriverState driver,
        Invoker invoker,
        long waitSpinNs,
        long waitSliceNs) {
        this.domain = domain;
        this.id = id;
        this.context = context;
        this.format = attr.format().resolved();
        this.size = (int) attr.size();
        this.invoker = invoker;
        boolean locks = domain != null && domain.locks();
        // where locks keep threads apart, the engine, its submitters and the readers each have their own one
        boolean oneUser = invoker != null && !locks;
        UseGuard submitters = oneUser ? invoker.guard() : new UseGuard("submission to completion queue " + id);
        UseLock submission = !locks ? null : invoker != null ? invoker.lock() : new UseLock();
        long share = domain != null && domain.mayOverrun() ? CompletionCredits.UNLIMITED : size;
        this.credits = new CompletionCredits(
            share, memory.address() + CompletionQueueDescriptor.RETIRED_OFFSET, submitters, submission);
        this.lock = locks ? new UseLock() : null;
        this.reader = new CompletionReader(memory, capacity, this.format, credits, driver);
        this.readers = oneUser ? invoker.guard() : new UseGuard("completion queue " + id);
        this.waitObject = attr.waitObject();
        this.wait = !blocks(waitObject) ? null : new CompletionWait(
            reader, new WaitLine(memory.address() + CompletionQueueDescriptor.WAIT_OFFSET, memory), attr, driver,
            invoker, waitSpinNs, waitSliceNs);
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
     * As {@link #read}, but on an empty queue waits for an entry, an error or the time (CQ-076 to CQ-083). Also
     * returns, with {@code -FI_EAGAIN} if nothing can be read, after {@link #signal()} and when the thread is
     * interrupted, whose flag stays set (AMB-27); with {@code -FI_EOPBADSTATE} when the queue is closed meanwhile; with
     * {@code -FI_ENODEV} when the driver dies. The time is right to about 10 ms where nothing wakes the reader.
     *
     * <p>A virtual thread keeps its carrier while it sleeps here.
     *
     * @param buffer    receives the entries.
     * @param offset    of the first one, in bytes.
     * @param count     most entries; those that are there are returned at once, however many.
     * @param cond      on a queue opened with {@link WaitCondition#THRESHOLD} the entries to wait for, at most
     *                  {@code count}; 0 is 1; fewer are returned when the time is over. Ignored on others (AMB-04).
     * @param timeoutMs milliseconds; negative for no limit, 0 does not wait.
     * @return as {@link #read}; {@code -FI_ENOSYS} on a queue opened with {@link WaitObject#NONE} or
     *     {@link WaitObject#SET} (CQ-084, AMB-08).
     */
    public int sread(MutableDirectBuffer buffer, int offset, int count, long cond, int timeoutMs) {
        return takeWaiting(buffer, offset, count, null, 0, cond, timeoutMs);
    }

    /**
     * As {@link #sread}, and stores the source of each received message (CQ-085).
     *
     * @param buffer    receives the entries.
     * @param offset    of the first one, in bytes.
     * @param count     most entries.
     * @param srcAddrs  as for {@link #readFrom(MutableDirectBuffer, int, int, long[])}.
     * @param cond      as for {@link #sread}.
     * @param timeoutMs as for {@link #sread}.
     * @return as {@link #sread}.
     */
    public int sreadFrom(
        MutableDirectBuffer buffer, int offset, int count, long[] srcAddrs, long cond, int timeoutMs) {
        if (count > srcAddrs.length) {
            return -FabricErrno.EINVAL;
        }
        return takeWaiting(buffer, offset, count, srcAddrs, LONG_ARRAY_BASE, cond, timeoutMs);
    }

    /**
     * As {@link #sread}, and stores the source of each received message (CQ-085).
     *
     * @param buffer        receives the entries.
     * @param offset        of the first one, in bytes.
     * @param count         most entries.
     * @param sources       receives 8 bytes for each entry.
     * @param sourcesOffset of the first source, in bytes.
     * @param cond          as for {@link #sread}.
     * @param timeoutMs     as for {@link #sread}.
     * @return as {@link #sread}.
     */
    public int sreadFrom(
        MutableDirectBuffer buffer, int offset, int count, MutableDirectBuffer sources, int sourcesOffset, long cond,
        int timeoutMs) {
        if (sourcesOffset < 0 || sourcesOffset + (long) count * CompletionReader.SOURCE_LENGTH > sources.capacity()) {
            return -FabricErrno.EINVAL;
        }
        return takeWaiting(
            buffer, offset, count, sources.byteArray(), sources.addressOffset() + sourcesOffset, cond, timeoutMs);
    }

    /**
     * Releases all threads that are blocked in {@link #sread} or {@link #sreadFrom} with {@code -FI_EAGAIN}; if there
     * are none, the next one that finds the queue empty returns at once (CQ-107 to CQ-110, AMB-06, AMB-07). Adds no
     * entry. Any thread.
     *
     * @return 0; {@code -FI_ENOSYS} on a queue without a wait object, {@code -FI_EOPBADSTATE} on a closed one.
     */
    public int signal() {
        if (state == CLOSED) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (wait == null) {
            return -FabricErrno.ENOSYS;
        }
        wait.signal();
        return 0;
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
     * Lends entries where they are, without a copy: they keep their slots until {@link CompletionBatch#release()} or
     * the next reading call of this queue, and go with one update of the shared position. For the
     * driver, what is held is not read: hold it for long, and posting answers {@code -FI_EAGAIN}.
     *
     * @param batch is filled, or left empty if the result is not positive; it must not hold entries of another queue.
     * @param limit most entries; 0 as count 0 of {@link #read}.
     * @return entries held, or a negative errno of this class; {@code -FI_EINVAL} for a batch that holds entries of
     *     another queue, {@code -FI_EOPNOTSUPP} in a domain that keeps threads apart, where the next reading call,
     *     which gives the entries back, could be another thread's.
     */
    public int readInPlace(CompletionBatch batch, int limit) {
        if (lock != null) {
            return -FabricErrno.EOPNOTSUPP;
        }
        assert readers.enter();
        try {
            int entered = enter(limit);
            if (entered < 0) {
                return entered;
            }
            // entries of this queue were given back just now
            return batch.isHolding() ? -FabricErrno.EINVAL : reader.hold(this, batch, limit);
        } finally {
            assert readers.exit();
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
     * What the queue was opened with (CQ-023).
     *
     * @return the wait object.
     */
    public WaitObject waitObject() {
        return waitObject;
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
        if (wait != null) {
            wait.close();
        }
    }

    /** Gives back what a batch holds. */
    void release() {
        assert readers.enter();
        reader.releaseHeld();
        assert readers.exit();
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

    private int takeWaiting(
        MutableDirectBuffer buffer, int offset, int count, Object sources, long sourcesAddress, long cond,
        int timeoutMs) {
        if (wait == null) {
            return state == CLOSED ? -FabricErrno.EOPBADSTATE : -FabricErrno.ENOSYS;
        }
        // where locks keep readers apart they are not held over a wait
        assert lock != null || readers.enter();
        try {
            int found = take(null, 0, 0, null, 0);
            if (found == -FabricErrno.EOPBADSTATE) {
                return found;
            }
            if (count < 0 || !reader.fits(buffer, offset, count)) {
                return -FabricErrno.EINVAL;
            }
            long startNs = System.nanoTime();
            boolean over;
            do {
                over = wait.await(cond, count, startNs, timeoutMs);
                found = take(buffer, offset, count, sources, sourcesAddress);
                // another thread was faster, or is reading
            } while (found == -FabricErrno.EAGAIN && !over);
            return found;
        } finally {
            assert lock != null || readers.exit();
            Reference.reachabilityFence(this);
        }
    }

    /** With these objects a reader may block in a call of the queue itself. */
    private static boolean blocks(WaitObject waitObject) {
        return switch (waitObject) {
            case UNSPEC, FD, MUTEX_COND, YIELD -> true;
            default -> false;
        };
    }

    private int enter(int count) {
        if (state != READABLE || reader.isHandling()) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (count < 0) {
            return -FabricErrno.EINVAL;
        }
        // before the cycle, so that the driver finds the slots
        reader.releaseHeld();
        if (invoker != null) {
            invoker.cycle();
        }
        return 0;
    }
}
