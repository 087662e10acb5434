package org.jfabric.driver.stream;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.stream.record.LogWriter;
import org.jfabric.ffi.Affinity;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.stream.LogOptions.Visibility;

/**
 * Records a group: a further reader of its ring, which appends each message to a log. The writer overwrites nothing
 * that is not in the page cache.
 *
 * <pre>
 *   ring   ──── recorded ──────── cursor ──────── end of the records ──▶
 *               may be            appended,
 *               overwritten       not flushed
 * </pre>
 *
 * <p>It runs on a thread of its own, so that no disk delays a message, in mode INVOKER too; a driver without threads
 * has its progress agent make the steps. The two threads share the words below, each with one writer: the recorder
 * publishes how far it is, the progress agent what it wants. The recorder reads records that the ring's tail has
 * released, and nothing is overwritten before {@link #recorded} has passed it.
 */
final class GroupRecorder {
    private static final long CLOSE_NS = 5_000_000_000L;
    private static final long SHORT_PARK_NS = 100_000;
    private static final long FULL_PARK_NS = 1_000_000;
    /** Until it is woken; a writer that makes no cycle for a while wakes nobody. */
    private static final long LONG_PARK_NS = 10_000_000;
    /** Short rests before a long one: 50 ms. */
    private static final int SHORT_PARKS = 500;
    private static final long CLOCK_NS = 1_000_000_000L;

    private final LinkServices services;
    private final Environment environment;
    private final String address;
    private final GroupRing ring;
    private final LogWriter log;
    private final Visibility visibility;
    private final int maxPayload;
    private final long key;
    private final UnsafeBuffer message = new UnsafeBuffer(0, 0);
    private Thread thread;

    // ---- the recorder thread's own
    private long cursor;
    /** Where the last message began. */
    private long last;
    private long position;
    private long clockNs;
    private long epochNs;
    private boolean isFull;
    private boolean wasInGap;
    private int rests;

    // ---- written by the recorder thread, read by the progress agent
    /** Records before this offset may be overwritten. */
    private volatile long recorded;
    /** Messages before this offset may be seen by readers. */
    private volatile long visible;
    /** Offset of the newest message before that one, and position of the next one. */
    private volatile long visibleLast;
    private volatile long visiblePosition;
    /** Odd while the three words above change. */
    private volatile int visibleVersion;
    private volatile long writtenPosition;
    private volatile long syncedPosition;
    /** For the meters. */
    private volatile long diskBytes;
    private volatile long droppedMessages;
    private volatile boolean isDiskFull;
    private volatile FabricException failure;
    /** For the error log. */
    private volatile FabricException notice;
    private volatile boolean isEnded;
    private volatile boolean isResting;

    // ---- written by the progress agent
    private volatile boolean isAwaited;
    /** Messages before this position are to be on stable storage. */
    private volatile long syncUntil;
    private volatile boolean isClosing;
    private volatile long closedNs;

    GroupRecorder(
        LinkServices services, String address, GroupRing ring, LogWriter log, Visibility visibility) {
        this.services = services;
        this.environment = services.environment();
        this.address = address;
        this.ring = ring.retain();
        this.log = log;
        this.visibility = visibility;
        this.maxPayload = GroupRingDescriptor.maxPayload(ring.capacity());
        this.key = ring.key();
        this.position = log.position();
        this.visiblePosition = position;
        publish();
        readClock();
        if (environment.hasThreads()) {
            thread = new Thread(this::run, "jfabric-recorder");
            thread.setDaemon(true);
            thread.start();
        }
    }

    // ---- progress agent ----

    /** Where the writer releases the end of the records: readers see the tail of the ring at once, or later. */
    long tailAddress() {
        return ring.header() + (visibility == Visibility.RING ? GroupRingDescriptor.TAIL_OFFSET
            : GroupRingDescriptor.ACCEPTED_OFFSET);
    }

    /** Whether readers see messages only after {@link #visible()} has passed them. */
    boolean isDelaying() {
        return visibility != Visibility.RING;
    }

    long recorded() {
        return recorded;
    }

    long visible() {
        return visible;
    }

    /** Reads offset, last message and position of what readers may see; false if they are changing now. */
    boolean visible(long[] words) {
        int version = visibleVersion;
        words[0] = visible;
        words[1] = visibleLast;
        words[2] = visiblePosition;
        return (version & 1) == 0 && version == visibleVersion;
    }

    /** Position behind the last message in the page cache. */
    long writtenPosition() {
        return writtenPosition;
    }

    /** Position behind the last message on stable storage. */
    long syncedPosition() {
        return syncedPosition;
    }

    /** Bytes that the log has on the disk. */
    long diskBytes() {
        return diskBytes;
    }

    /** Messages that are not in the log because the disk had no room for them. */
    long droppedMessages() {
        return droppedMessages;
    }

    /** Whether the disk has no room for the next message: it waits, or is left out. */
    boolean isDiskFull() {
        return isDiskFull;
    }

    /** Why it has stopped, or null. */
    FabricException failure() {
        return failure;
    }

    /** What the error log has to say of it, once; null if there is nothing. */
    FabricException takeNotice() {
        FabricException taken = notice;
        if (taken != null) {
            notice = null;
        }
        return taken;
    }

    /** Messages were written. */
    void written() {
        // the recorder marks that it rests and then reads the tail once more
        UnsafeApi.fullFence();
        if (isResting) {
            LockSupport.unpark(thread);
        }
    }

    /** Makes a step in a driver without threads; 0 if there was nothing to do. */
    int poll() {
        return thread != null || isEnded ? 0 : step();
    }

    /** The progress agent is about to sleep: it is woken when the recorder gets further. */
    void await() {
        isAwaited = true;
    }

    /** Messages before a position are to be on stable storage soon: many at once. */
    void sync(long untilPosition) {
        syncUntil = untilPosition;
    }

    /** No message follows: the rest is recorded, then the log is closed. */
    void close() {
        closedNs = environment.nanoTime();
        isClosing = true;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /** Whether the log is closed, and the ring is not read any more. */
    boolean isEnded() {
        return isEnded;
    }

    /** Waits for the end, after {@link #close}; false if it does not come in time. */
    boolean awaitEnd() {
        if (thread == null) {
            while (!isEnded) {
                if (step() == 0 && !isEnded) {
                    closeLog();
                }
            }
            return true;
        }
        try {
            thread.join(TimeUnit.NANOSECONDS.toMillis(2 * CLOSE_NS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return isEnded;
    }

    /** After the end: the ring is not mapped for it any more. */
    void release() {
        ring.release();
    }

    // ---- recorder thread ----

    private void run() {
        // the progress agent may be bound to a processor on which it spins
        Affinity.bind(environment.processors());
        while (!isEnded) {
            if (step() != 0) {
                rests = 0;
            } else if (!isEnded) {
                rest();
            }
        }
    }

    private void rest() {
        if (isFull) {
            LockSupport.parkNanos(FULL_PARK_NS);
        } else if (rests < SHORT_PARKS && !isDelaying()) {
            rests++;
            LockSupport.parkNanos(SHORT_PARK_NS);
        } else {
            isResting = true;
            if (end() == cursor && !isClosing) {
                LockSupport.parkNanos(LONG_PARK_NS);
            }
            isResting = false;
        }
    }

    private long end() {
        return UnsafeApi.getLongVolatile(null, tailAddress());
    }

    /** Records what there is; 0 if there is nothing. */
    private int step() {
        boolean isLast = isClosing;
        int work = 0;
        try {
            work = record();
        } catch (InternalError e) {
            fail(FabricErrno.EIO, "its ring " + (ring.isCut() ? "was truncated while it was mapped here"
                : "could not be read: " + e), "The group has ended.");
        } catch (RuntimeException e) {
            fail(FabricErrno.EIO, "the recorder has failed: " + e, "The group has ended.");
        }
        if (failure != null) {
            end(failure);
        } else if (isLast && (work == 0 && end() == cursor && recorded == cursor || isLate())) {
            closeLog();
        }
        return work;
    }

    private boolean isLate() {
        return environment.nanoTime() - closedNs > CLOSE_NS;
    }

    private int record() {
        long end = end();
        long stop = Math.min(end, cursor + ring.capacity() / GroupRingDescriptor.RECORDS_PER_RING);
        if (end == cursor && recorded == cursor && (visible == cursor || !isDelaying()) && !isToSync()
            && log.written() == position) {
            return 0;
        }
        long before = cursor;
        long writtenBefore = log.written();
        long syncedBefore = log.synced();
        readClock();
        int taken = 0;
        while (taken == 0 && stop - cursor > 0) {
            taken = take(end - cursor);
        }
        if (failure != null) {
            return 1;
        }
        int result = log.flush();
        if (result == 0) {
            recorded = cursor;
        }
        if (result == 0 && isToSync()) {
            result = log.sync();
        }
        // what was appended may be written while the next message has no room
        onResult(result < 0 ? result : taken);
        publish();
        if (result == 0) {
            show(cursor);
        }
        if (isAwaited && (result == 0 || failure != null)) {
            isAwaited = false;
            services.submit(new Wake());
        }
        return cursor != before || log.written() != writtenBefore || log.synced() != syncedBefore ? 1 : 0;
    }

    private void publish() {
        writtenPosition = log.written();
        syncedPosition = log.synced();
        // seldom another value, and a store costs more than a load
        if (diskBytes != log.diskBytes()) {
            diskBytes = log.diskBytes();
        }
        if (droppedMessages != log.dropped()) {
            droppedMessages = log.dropped();
        }
        if (isDiskFull != (isFull || log.isInGap())) {
            isDiskFull = isFull || log.isInGap();
        }
    }

    private void show(long offset) {
        int version = visibleVersion;
        visibleVersion = version + 1;
        visible = offset;
        visibleLast = last;
        visiblePosition = position;
        visibleVersion = version + 2;
    }

    private boolean isToSync() {
        return log.synced() != log.written() && (visibility == Visibility.SYNCED || log.synced() < syncUntil);
    }

    /** Appends the record at the cursor. Returns 0, or a negative errno. */
    private int take(long available) {
        long record = ring.record(cursor);
        int length = UnsafeApi.getInt(record + GroupRingDescriptor.LENGTH);
        int flags = UnsafeApi.getInt(record + GroupRingDescriptor.FLAGS);
        boolean hasData = (flags & GroupRingDescriptor.HAS_DATA) != 0;
        boolean isPadding = (flags & GroupRingDescriptor.PADDING) != 0;
        int before = hasData ? GroupRingDescriptor.RECORD_HEADER_WITH_DATA : GroupRingDescriptor.RECORD_HEADER;
        // another process of this user can write to the file
        if (length < before || length > Math.min(available, ring.toEnd(cursor))
            || !isPadding && (length - before > maxPayload
                || UnsafeApi.getLong(record + GroupRingDescriptor.MARK) != GroupRingDescriptor.mark(position, key))) {
            fail(FabricErrno.EIO, "the record of message " + position + " was changed by another process",
                "The group has ended; messages before that one are in the log.");
            return -FabricErrno.EIO;
        }
        if (!isPadding) {
            message.wrap(record + before, length - before);
            int result = log.append(position, epochNs,
                ((flags & GroupRingDescriptor.TAGGED) != 0 ? Flags.TAGGED : Flags.MSG)
                    | (hasData ? Flags.REMOTE_CQ_DATA : 0),
                UnsafeApi.getLong(record + GroupRingDescriptor.TAG),
                hasData ? UnsafeApi.getLong(record + GroupRingDescriptor.DATA) : 0, message, 0, length - before);
            if (result < 0) {
                failUnlessFull(result);
                return result;
            }
            position++;
            last = cursor;
        }
        cursor += GroupRingDescriptor.alignedLength(length);
        return 0;
    }

    private void onResult(int result) {
        boolean wasFull = isFull;
        isFull = result == -FabricErrno.ENOSPC;
        if (isFull && !wasFull) {
            notice = new FabricException(FabricErrno.ENOSPC,
                "the disk has no room for message " + position + " of group " + address + ", which waits for it",
                "Make room; the group goes on by itself.");
        } else if (log.isInGap() && !wasInGap) {
            notice = new FabricException(FabricErrno.ENOSPC,
                "the disk has no room for message " + log.written() + " of group " + address
                    + ", which is left out of the log, as are those behind it",
                "Make room; then a gap stands for them, and the group is recorded again.");
        }
        wasInGap = log.isInGap();
        failUnlessFull(result);
    }

    private void failUnlessFull(int result) {
        if (result < 0 && result != -FabricErrno.ENOSPC) {
            fail(-result, "the log could not be written from position " + log.written() + " on",
                "Check the disk. The log opens at its last whole record, in a new term.");
        }
    }

    /** The clock is read once for many messages. */
    private void readClock() {
        long nowNs = environment.nanoTime();
        if (epochNs == 0 || nowNs - clockNs > CLOCK_NS) {
            epochNs = Math.max(epochNs, TimeUnit.MILLISECONDS.toNanos(environment.currentTimeMillis()));
        } else {
            epochNs += nowNs - clockNs;
        }
        clockNs = nowNs;
    }

    private void fail(int errno, String what, String remedy) {
        if (failure == null) {
            failure = new FabricException(errno, "group " + address + " is not recorded any more: " + what, remedy);
        }
    }

    private void closeLog() {
        if (end() == cursor) {
            end(null);
            return;
        }
        // readers may have seen the rest: its positions are not to come again in this term
        log.release();
        end(new FabricException(FabricErrno.ENOSPC, "group " + address + " was closed at message " + position
            + ", which is not recorded, nor are those behind it", "Make room on the disk."));
    }

    private void end(FabricException cause) {
        try {
            log.close();
        } catch (FabricException e) {
            fail(e.errno(), e.getMessage(), "See there.");
        } catch (RuntimeException e) {
            // the group must end all the same
            fail(FabricErrno.EIO, "its log could not be closed: " + e, "Check the disk.");
        }
        if (cause != null && failure == null) {
            failure = cause;
        }
        // what was not recorded is not shown to those who see only what is
        recorded = end();
        isEnded = true;
        services.submit(new Wake());
    }

    /** The progress agent makes a cycle. */
    private static final class Wake extends ResourceTask {
        @Override
        protected void execute() {
            // the cycle in which the result arrives is all that is wanted
        }

        @Override
        protected void onDone() {
            // the next step of the group sees how far the recorder is
        }

        @Override
        protected void onFailed(Throwable cause) {
            // nothing can fail
        }
    }
}
