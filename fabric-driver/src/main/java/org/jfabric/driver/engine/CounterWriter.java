package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.driver.resource.AccessCounter;

import static org.jfabric.layout.CounterDescriptor.COUNTED_ERRORS_OFFSET;
import static org.jfabric.layout.CounterDescriptor.COUNTED_OFFSET;

/**
 * The driver's end of one counter. An operation costs an increment of a private field; the file is written once for
 * each batch, after the entries of the same operations.
 *
 * <p>Owner: progress agent.
 */
public final class CounterWriter extends BatchWriter implements AccessCounter {
    private final long fileAddress;
    private final WaitPoint waitPoint;
    private long successes;
    private long errors;
    private long publishedSuccesses;
    private long publishedErrors;
    private boolean abandoned;

    /**
     * A writer of a fresh counter.
     *
     * @param fileAddress native address of the {@code .cntr} file.
     * @param waitPoint   woken when something was counted, or null if the counter was opened without a wait object.
     */
    public CounterWriter(long fileAddress, WaitPoint waitPoint) {
        this.fileAddress = fileAddress;
        this.waitPoint = waitPoint;
    }

    /** An operation has reached its completion level. */
    @Override
    public void success() {
        successes++;
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
        if (failed) {
            // errors first: a reader that sees the successes of this batch then sees its errors too
            UnsafeApi.putLongRelease(null, fileAddress + COUNTED_ERRORS_OFFSET, errors);
        }
        UnsafeApi.putLongRelease(null, fileAddress + COUNTED_OFFSET, successes);
        if (waitPoint != null) {
            waitPoint.onWritten(successes, failed);
        }
        // last: if a late fault of another client's memory is raised in here, the next flush wakes the waiters
        publishedSuccesses = successes;
        publishedErrors = errors;
    }

    @Override
    int publish() {
        flush();
        return 0;
    }

    @Override
    boolean staysListed() {
        return false;
    }

    /** Stops writing, because the file's memory is not accessible any more. */
    public void abandon() {
        abandoned = true;
    }
}
