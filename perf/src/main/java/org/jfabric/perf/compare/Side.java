package org.jfabric.perf.compare;

import org.HdrHistogram.Histogram;

/**
 * Objects that one process of a contender has open for one cell. Owner: the process's main thread.
 *
 * <p>Order of the calls: made, {@link #connect} once the other sides are made as well, then any number of {@link #arm}
 * (the answering side) and {@link #run}, at last {@link #close}.
 */
interface Side extends AutoCloseable {
    /** Finds the other side. */
    default void connect() {
    }

    /** Runs a duty cycle of an invoked driver while no pass runs. */
    default void cycle() {
    }

    /** Gets ready for the other side's first message. */
    default void arm(Pass pass) {
    }

    /**
     * Does its part of a pass.
     *
     * @param count messages, or round trips.
     * @return nanoseconds if this side measures; of a verifying pass the messages compared.
     */
    long run(Pass pass, long count);

    /**
     * The distribution found by the last pass that has one. Returns the nanoseconds from intended send to answer, or of
     * first messages; null if there was no such pass.
     */
    default Histogram distribution() {
        return null;
    }

    /**
     * Duty cycles of a daemon during the last pass of cold endpoints. Returns a count, 0 if there was no such pass.
     */
    default long driverCycles() {
        return 0;
    }

    @Override
    void close();
}
