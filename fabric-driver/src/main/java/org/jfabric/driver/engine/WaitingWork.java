package org.jfabric.driver.engine;

/**
 * Something that starts when a counter has reached a threshold: an operation of an endpoint or a change of another
 * counter. While it waits it is in the {@link WorkQueue} of that counter. Records are reused.
 *
 * <p>Owner: progress agent.
 */
abstract class WaitingWork implements Comparable<WaitingWork> {
    CounterWriter trigger;
    long threshold;
    /** Order of submission among the work of the counter. */
    long number;
    /** Names deferred work; 0 for an operation with FI_TRIGGER. */
    long id;

    WaitingWork() {
    }

    /** Whether errors of the counter help to reach the threshold, fi_trigger(3): those of deferred work do. */
    final boolean countsErrors() {
        return id != 0;
    }

    /** Starts it; it is in no queue any more. */
    abstract void start();

    /** Ends it without a start; it is in no queue any more. */
    abstract void cancel();

    /** The number of the domain that it belongs to. */
    abstract long domain();

    @Override
    public final int compareTo(WaitingWork other) {
        int order = Long.compare(threshold, other.threshold);
        return order != 0 ? order : Long.compare(number, other.number);
    }
}
