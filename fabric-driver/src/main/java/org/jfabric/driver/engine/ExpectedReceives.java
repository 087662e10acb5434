package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.Words;

/**
 * The plain tagged receives of an endpoint in the order of posting, while messages come in that order: a queue of
 * records of one cache line each, before the matcher.
 *
 * <pre>
 *   closed --- a receive is posted while the matcher holds only plain receives and no message: all move here ---> open
 *   open ----- spill(): all move into the matcher, in order -------------------------------------------------> closed
 * </pre>
 *
 * <p>While the queue is open the matcher is empty, so the head of the queue is the oldest receive, and a message that
 * it accepts belongs to it. If that message takes the general path, because it is announced, too long for the receive
 * or behind another one of its peer, the head alone moves into the matcher, where the message finds it. Every other
 * event first moves all receives there (a spill) and then takes the general path, which has the full semantics: a
 * message that the head does not accept; a tagged receive of another kind, a cancel, a peek, a snapshot, the loss of a
 * peer. After a spill the receives stay in the matcher for as many posts as were moved. After one for a message that
 * the head does not accept that number doubles each time, so that messages in another order than the receives do not
 * cause moves back and forth.
 *
 * <p>A receive leaves the queue without an operation record. If an access to memory fails while its message is copied,
 * a few fields identify the receive, and {@link #recover()} writes its error entry.
 *
 * <p>Owner: progress agent.
 */
final class ExpectedReceives {
    /** Operation flags that a receive here may have, besides its kind. */
    private static final long FLAGS = Flags.TAGGED | Flags.COMPLETION;

    private static final int RECORD_LENGTH = 64;
    private static final int RECORD_SHIFT = 6;
    private static final int TAG = 0;
    private static final int IGNORE = 8;
    private static final int ADDRESS = 16;
    private static final int LENGTH = 24;
    private static final int CONTEXT = 32;
    private static final int BUF = 40;
    private static final int SINCE = 48;
    private static final int RECORD_FLAGS = 56;

    private static final int MIN_POSTS_CLOSED = 16;
    private static final int MAX_POSTS_CLOSED = 1 << 16;
    /** After so many messages in the order of posting {@link #nextPostsClosed} starts again at the minimum. */
    private static final int ORDERLY = 1 << 10;

    private static final int NOTHING = 0;
    private static final int PLACING = 1;
    private static final int REPORTING = 2;
    /** The copy of its message failed, and the receive has left the queue: only its error entry is missing. */
    private static final int INTERRUPTED = 3;

    private final ReceivePool pool;
    private final TagMatcher matcher;
    private final RegionTable regions;
    private final ReceiveEntries entries;
    private final CycleClock clock;
    /** False if all receives of this endpoint take the general path. */
    private boolean enabled;
    private final long mask;
    /** Native memory of the records. */
    private final long memory;
    private final long records;
    /** The region of each record; references do not fit into native memory. */
    private final RegisteredRegion[] regionOf;
    private boolean open;
    private long head;
    private long tail;
    /** Region of the last receive, so that the next one in it needs no lookup; the upper 24 bits of its addresses. */
    private RegisteredRegion region;
    private long regionKey;
    /** Posts until the receives may move back, counted down by each post. */
    private int postsClosed = 1;
    private int nextPostsClosed = MIN_POSTS_CLOSED;
    /** Messages that were delivered here. */
    private long taken;
    /** The same at the last spill. */
    private long takenBefore;
    /** Scans of the matcher's receives that are under way. */
    private int scans;
    /** The step that {@link #take} is in, for {@link #recover()}: NOTHING outside of it. */
    private int inHand = NOTHING;
    /** Number of the receive that the step is about. */
    private long inHandNumber;
    /** {@link ReceiveEntries#ended()} before its entry was begun. */
    private long endedBefore;

    ExpectedReceives(
        boolean enabled, int size, ReceivePool pool, TagMatcher matcher, RegionTable regions, ReceiveEntries entries,
        CycleClock clock) {
        this.enabled = enabled;
        this.pool = pool;
        this.matcher = matcher;
        this.regions = regions;
        this.entries = entries;
        this.clock = clock;
        int capacity = enabled ? Math.max(1, Integer.highestOneBit(Math.max(1, size - 1)) << 1) : 1;
        this.mask = capacity - 1L;
        this.regionOf = new RegisteredRegion[capacity];
        this.memory = enabled ? UnsafeApi.allocateMemory((long) (capacity + 1) * RECORD_LENGTH) : 0;
        this.records = memory + RECORD_LENGTH - 1 & -RECORD_LENGTH;
    }

    /**
     * Appends a receive to the queue. Returns 0 or {@code -FI_EAGAIN}; 1 if the queue does not take it: the caller
     * spills and uses the general path.
     */
    int post(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        if ((flags & ~FLAGS) != 0 || srcAddr != -1 || (flags & Flags.TAGGED) == 0 || !open && !reopen()) {
            return 1;
        }
        RegisteredRegion of = region;
        if (of == null || buf >>> 40 != regionKey || of.isClosed()) {
            of = find(buf, len);
            if (of == null) {
                return 1;
            }
        }
        long offset = MemoryRegionDescriptor.offset(buf);
        if (len <= 0 || len > of.lengthBytes() - offset) {
            return 1;
        }
        if (!pool.takeRoom()) {
            return -FabricErrno.EAGAIN;
        }
        long number = tail;
        int slot = (int) (number & mask);
        long record = records + ((long) slot << RECORD_SHIFT);
        UnsafeApi.putLong(record + TAG, tag);
        UnsafeApi.putLong(record + IGNORE, ignore);
        UnsafeApi.putLong(record + ADDRESS, of.address() + offset);
        UnsafeApi.putLong(record + LENGTH, len);
        UnsafeApi.putLong(record + CONTEXT, context);
        UnsafeApi.putLong(record + BUF, buf);
        UnsafeApi.putLong(record + SINCE, clock.nowNs());
        UnsafeApi.putLong(record + RECORD_FLAGS, flags);
        if (regionOf[slot] != of) {
            // a store of a reference costs the collector's barrier; mostly it is the same one
            regionOf[slot] = of;
        }
        of.retain();
        tail = number + 1;
        return 0;
    }

    private RegisteredRegion find(long buf, long len) {
        RegisteredRegion found = len <= 0 ? null : regions.find(buf, len);
        if (found != null) {
            region = found;
            regionKey = buf >>> 40;
        }
        return found;
    }

    /**
     * Delivers a complete message to the oldest receive. Returns false if that receive does not accept it: the caller
     * uses the general path.
     */
    boolean take(PeerReceives from, long flags, long tag, long address, int length) {
        long number = head;
        if (number == tail || inHand != NOTHING) {
            return false;
        }
        int slot = (int) (number & mask);
        long record = records + ((long) slot << RECORD_SHIFT);
        if (!accepts(record, tag)
            || length > UnsafeApi.getLong(record + LENGTH)
            || flags != Flags.TAGGED
            || !from.entryOrder().isEmpty()
            || entries.isOfUnknownPeer(from)) {
            return false;
        }
        inHandNumber = number;
        inHand = PLACING;
        // before the copy: the message is used up, and its credit the peer's again, also if the copy fails
        from.passed(length);
        long receiveFlags = UnsafeApi.getLong(record + RECORD_FLAGS);
        long context = UnsafeApi.getLong(record + CONTEXT);
        Words.copy(address, UnsafeApi.getLong(record + ADDRESS), length);
        // a fault of the sender's memory is raised here at the latest, before the entry is begun
        FaultPoint.pass();
        head = number + 1;
        regionOf[slot].release();
        pool.giveRoom();
        endedBefore = entries.ended();
        inHand = REPORTING;
        entries.expected(receiveFlags, context, length, tag, from);
        inHand = NOTHING;
        if (++taken - takenBefore == ORDERLY) {
            nextPostsClosed = MIN_POSTS_CLOSED;
        }
        return true;
    }

    /** A message comes by the general path: the receive that it takes is in the matcher then. */
    void makeWay(long flags, long tag) {
        if (!open || (flags & Flags.TAGGED) == 0) {
            return;
        }
        if (inHand == NOTHING && head != tail && accepts(records + ((head & mask) << RECORD_SHIFT), tag)) {
            // as in spill()
            FaultPoint.pass();
            moveHead();
            return;
        }
        boolean isAnyWaiting = head != tail;
        spill();
        if (isAnyWaiting) {
            postsClosed = nextPostsClosed;
            nextPostsClosed = Math.min(nextPostsClosed << 1, MAX_POSTS_CLOSED);
        }
    }

    private static boolean accepts(long record, long tag) {
        return ((UnsafeApi.getLong(record + TAG) ^ tag) & ~UnsafeApi.getLong(record + IGNORE)) == 0;
    }

    /** Moves all receives into the matcher, in their order. The queue stays closed until a later post reopens it. */
    void spill() {
        if (!open) {
            return;
        }
        // a pending fault is raised here, not between the moves; nothing below touches shared memory
        FaultPoint.pass();
        interrupt();
        open = false;
        takenBefore = taken;
        postsClosed = (int) Math.max(1, tail - head);
        while (head != tail) {
            moveHead();
        }
    }

    private void moveHead() {
        int slot = (int) (head & mask);
        long record = records + ((long) slot << RECORD_SHIFT);
        ReceiveOperation operation = pool.takeRecord();
        operation.posted(
            UnsafeApi.getLong(record + RECORD_FLAGS), UnsafeApi.getLong(record + BUF),
            UnsafeApi.getLong(record + LENGTH), UnsafeApi.getLong(record + CONTEXT));
        operation.sinceNs = UnsafeApi.getLong(record + SINCE);
        operation.region = regionOf[slot];
        operation.address = UnsafeApi.getLong(record + ADDRESS);
        operation.accept(
            UnsafeApi.getLong(record + TAG), UnsafeApi.getLong(record + IGNORE), TagMatcher.ANY_SOURCE);
        head++;
        matcher.post(operation);
    }

    /** Spills, and keeps the queue closed until {@link #endScan()}: a scan that takes many steps needs fixed places. */
    void beginScan() {
        spill();
        scans++;
    }

    /** Ends what {@link #beginScan()} began. */
    void endScan() {
        scans--;
    }

    /** Messages that took the oldest receive here, since the start. */
    long taken() {
        return taken;
    }

    /** Closes the queue permanently: all receives take the general path from now on. */
    void disable() {
        enabled = false;
        spill();
    }

    /** Moves the receives of the matcher into the queue if all of them are plain; true if the queue is open now. */
    private boolean reopen() {
        if (!enabled || inHand != NOTHING || --postsClosed > 0 || scans != 0) {
            return false;
        }
        if (matcher.unexpectedCount() != 0 || matcher.postedCount() > mask || !areAllPlain()) {
            postsClosed = Math.max(MIN_POSTS_CLOSED, matcher.postedCount());
            return false;
        }
        FaultPoint.pass();
        for (PostedReceive next = matcher.firstPosted(); next != null; next = matcher.firstPosted()) {
            ReceiveOperation operation = (ReceiveOperation) next;
            matcher.cancel(operation);
            int slot = (int) (tail & mask);
            long record = records + ((long) slot << RECORD_SHIFT);
            UnsafeApi.putLong(record + TAG, operation.tag());
            UnsafeApi.putLong(record + IGNORE, operation.ignore());
            UnsafeApi.putLong(record + ADDRESS, operation.address);
            UnsafeApi.putLong(record + LENGTH, operation.length);
            UnsafeApi.putLong(record + CONTEXT, operation.context);
            UnsafeApi.putLong(record + BUF, operation.buf);
            UnsafeApi.putLong(record + SINCE, operation.sinceNs);
            UnsafeApi.putLong(record + RECORD_FLAGS, operation.flags);
            regionOf[slot] = operation.region;
            tail++;
            pool.giveRecord(operation);
        }
        open = true;
        return true;
    }

    private boolean areAllPlain() {
        for (PostedReceive next = matcher.firstPosted(); next != null; next = matcher.nextPosted(next)) {
            ReceiveOperation operation = (ReceiveOperation) next;
            if ((operation.flags & ~FLAGS) != 0 || operation.region == null || operation.region.isCopied()
                || operation.source() != TagMatcher.ANY_SOURCE) {
                return false;
            }
        }
        return true;
    }

    /** Removes the receive whose copy failed from the queue. */
    private void interrupt() {
        if (inHand == PLACING) {
            // the rest of take() up to its report calls nothing that could raise a fault
            inHand = INTERRUPTED;
            head = inHandNumber + 1;
            regionOf[(int) (inHandNumber & mask)].release();
            pool.giveRoom();
        }
    }

    /** Writes the error entry of the receive whose copy failed; the others stay posted. */
    void recover() {
        interrupt();
        int was = inHand;
        inHand = NOTHING;
        if (was == INTERRUPTED || was == REPORTING && entries.ended() == endedBefore) {
            long record = records + ((inHandNumber & mask) << RECORD_SHIFT);
            entries.expectedFailed(
                UnsafeApi.getLong(record + RECORD_FLAGS), UnsafeApi.getLong(record + CONTEXT), FabricErrno.EIO);
        }
    }

    /** Releases the memory of an endpoint that is closed. Returns the receives that end here without an entry. */
    int close() {
        int left = (int) (tail - head) + (inHand == INTERRUPTED ? 1 : 0);
        // a later recover() must not read the records
        inHand = NOTHING;
        while (head != tail) {
            regionOf[(int) (head & mask)].release();
            head++;
        }
        open = false;
        enabled = false;
        if (memory != 0) {
            UnsafeApi.freeMemory(memory);
        }
        return left;
    }
}
