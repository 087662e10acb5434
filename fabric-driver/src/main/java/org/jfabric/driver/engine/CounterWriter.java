package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.driver.resource.AccessCounter;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.WaitPoint;

import static org.jfabric.layout.CounterDescriptor.ADDED_ERRORS_OFFSET;
import static org.jfabric.layout.CounterDescriptor.ADDED_OFFSET;
import static org.jfabric.layout.CounterDescriptor.AWAITED_OFFSET;
import static org.jfabric.layout.CounterDescriptor.COUNTED_ERRORS_OFFSET;
import static org.jfabric.layout.CounterDescriptor.COUNTED_OFFSET;

/**
 * The driver's end of one counter. An operation costs an increment of a private field; the file is written once for
 * each batch, after the entries of the same operations.
 *
 * <p>Owner: progress agent.
 */
public final class CounterWriter extends BatchWriter implements AccessCounter {
    /** A client that changes the counter all the time does not keep its driver here. */
    private static final int MAX_CHANGES = 8;

    private final long fileAddress;
    private final WaitPoint waitPoint;
    /** Whether bytes are counted (FI_CNTR_EVENTS_BYTES) and not operations. */
    private final boolean countsBytes;
    private long successes;
    private long errors;
    private long publishedSuccesses;
    private long publishedErrors;
    private boolean abandoned;
    /** Whether other progress threads count in the same file. */
    private boolean isShared;
    /** Null until work waits for the counter for the first time. */
    private WorkQueue work;
    /** Whether the word awaited in the file is 1. */
    private boolean isAwaited;
    /** The client's words as far as work has been started for them, see {@link #takeChanges()}. */
    private long clientAdded;
    private long clientAddedErrors;
    private Runnable takePosted = () -> { };
    /** Work that is queued now starts behind the call, when it is known which value counts for it. */
    private boolean isTaking;

    /**
     * A writer of a fresh counter.
     *
     * @param fileAddress native address of the {@code .cntr} file.
     * @param waitPoint   woken when something was counted, or null if the counter was opened without a wait object.
     * @param countsBytes whether the bytes of operations are counted and not the operations; errors count as one each.
     */
    public CounterWriter(long fileAddress, WaitPoint waitPoint, boolean countsBytes) {
        this.fileAddress = fileAddress;
        this.waitPoint = waitPoint;
        this.countsBytes = countsBytes;
    }

    /**
     * An operation has reached its completion level.
     *
     * @param lengthBytes bytes that it has transferred, without CQ data.
     */
    @Override
    public void success(long lengthBytes) {
        successes += countsBytes ? lengthBytes : 1;
        changed();
    }

    /** An operation has failed. */
    public void error() {
        errors++;
        changed();
    }

    /** Publishes what was counted; once for each batch. */
    public void flush() {
        if (successes == publishedSuccesses && errors == publishedErrors || abandoned) {
            return;
        }
        boolean failed = errors != publishedErrors;
        long counted = successes;
        if (isShared) {
            counted = addCounted();
        } else {
            if (failed) {
                // errors first: a reader that sees the successes of this batch then sees its errors too
                UnsafeApi.putLongRelease(null, fileAddress + COUNTED_ERRORS_OFFSET, errors);
            }
            UnsafeApi.putLongRelease(null, fileAddress + COUNTED_OFFSET, successes);
        }
        if (waitPoint != null) {
            waitPoint.onWritten(counted, failed);
        }
        // last: if a late fault of another client's memory is raised in here, the next flush wakes the waiters
        publishedSuccesses = successes;
        publishedErrors = errors;
    }

    /**
     * The progress threads of the driver have a writer each for the same counter: counts are added to those of the
     * others.
     */
    public void shareCount() {
        isShared = true;
    }

    /** Adds what was counted since the last call, errors first; returns the sum of all threads. */
    private long addCounted() {
        if (errors != publishedErrors) {
            UnsafeApi.getAndAddLong(null, fileAddress + COUNTED_ERRORS_OFFSET, errors - publishedErrors);
        }
        long added = successes - publishedSuccesses;
        return UnsafeApi.getAndAddLong(null, fileAddress + COUNTED_OFFSET, added) + added;
    }

    /** Adds to the value, as deferred work requests. */
    void add(long value) {
        successes += value;
        changed();
    }

    /** Sets the value, as deferred work requests; what the client adds at the same time is added to it. */
    void set(long value) {
        if (isShared) {
            // the next flush adds the difference
            successes = publishedSuccesses + value - added(ADDED_OFFSET) - added(COUNTED_OFFSET);
        } else {
            successes = value - added(ADDED_OFFSET);
        }
        changed();
    }

    /** The value that decides which work is due. */
    long value() {
        long counted = isShared ? successes - publishedSuccesses + added(COUNTED_OFFSET) : successes;
        return counted + clientAdded & Long.MAX_VALUE;
    }

    /** As {@link #value()}, for the error value. */
    long errorValue() {
        long counted = isShared ? errors - publishedErrors + added(COUNTED_ERRORS_OFFSET) : errors;
        return counted + clientAddedErrors & Long.MAX_VALUE;
    }

    /**
     * Names what executes the client's posted requests.
     *
     * @param newTakePosted called in {@link #publish()} before a change of the client takes effect.
     */
    public void takePosted(Runnable newTakePosted) {
        takePosted = newTakePosted;
    }

    /**
     * Takes over what the client has added. Work that it posted before has its place by threshold among the work that
     * this starts, but its record may still be in a queue: the words are read, then the queues are emptied. If the
     * words have changed meanwhile, records that came may have been posted behind that change, so it is taken over too.
     */
    private void takeChanges() {
        for (int i = 0; i < MAX_CHANGES; i++) {
            long added = added(ADDED_OFFSET);
            long addedErrors = added(ADDED_ERRORS_OFFSET);
            // a fault in reading the client's words is raised here, where nothing has changed
            FaultPoint.pass();
            if (added == clientAdded && addedErrors == clientAddedErrors) {
                return;
            }
            isTaking = true;
            try {
                takePosted.run();
            } finally {
                isTaking = false;
            }
            clientAdded = added;
            clientAddedErrors = addedErrors;
        }
    }

    private long added(int offset) {
        return abandoned ? 0 : UnsafeApi.getLongAcquire(null, fileAddress + offset);
    }

    /** Lets work wait for the counter, and starts what is due. */
    void queue(WaitingWork waiting) {
        if (work == null) {
            work = new WorkQueue(this);
        }
        work.add(waiting);
        changed();
        if (!isAwaited && !abandoned) {
            isAwaited = true;
            UnsafeApi.putIntRelease(null, fileAddress + AWAITED_OFFSET, 1);
            // a client that does not see the word has changed the counter before it is read below
            UnsafeApi.fullFence();
        }
        // else the next publish() starts it, in its place among what the change starts
        if (!isTaking && added(ADDED_OFFSET) == clientAdded && added(ADDED_ERRORS_OFFSET) == clientAddedErrors) {
            startDue();
        }
    }

    /** Takes work out that has not started. */
    void forget(WaitingWork waiting) {
        work.remove(waiting);
    }

    private int startDue() {
        if (abandoned) {
            return 0;
        }
        // published first: what has started is not seen before the value that has started it
        flush();
        int started = work.startDue();
        // what has started may have ended and counted here, which lists a writer that is being published no more
        flush();
        if (isAwaited && work.isEmpty()) {
            isAwaited = false;
            UnsafeApi.putIntRelease(null, fileAddress + AWAITED_OFFSET, 0);
        }
        return started;
    }

    @Override
    int publish() {
        flush();
        if (work == null) {
            return 0;
        }
        takeChanges();
        return startDue();
    }

    @Override
    boolean staysListed() {
        // the client changes its words without a message
        return work != null && !work.isEmpty();
    }

    /** Stops writing, because the file's memory is not accessible any more. */
    public void abandon() {
        abandoned = true;
    }
}
