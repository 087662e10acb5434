package org.jfabric.driver.config;

/**
 * The threads that run the driver's duty cycles.
 *
 * <p>Every mode has, besides, one resource thread for slow system work (mapping and reserving files, names,
 * registration). It is started on need and parked otherwise. In all modes one thread owns each piece of state, and the
 * data path is the same code.
 */
public enum ThreadingMode {

    /**
     * A progress thread of its own that spins; the conductor has a second thread that sleeps except for work.
     * Lowest latency; takes one core wholly. The equivalent of libfabric's automatic progress.
     */
    DEDICATED,

    /**
     * No thread spins: one thread runs progress and conductor, parks when it is idle and is woken by the clients'
     * doorbell. At most 1 % of a core when idle. The default of a driver daemon.
     */
    SHARED,

    /**
     * The driver has no duty-cycle thread: the embedding application's calls run one cycle each (every read or wait
     * of a completion queue, event queue, counter or poll set, and every control call). One thread at a time uses the
     * whole domain. The equivalent of libfabric's manual progress; possible only where the driver is embedded.
     */
    INVOKER;

    /**
     * Checks whether an application has to run the cycles itself.
     *
     * @return true for {@link #INVOKER} only.
     */
    public boolean isManualProgress() {
        return this == INVOKER;
    }

    /**
     * Checks whether the progress thread may park, so that clients have to read the {@code parked} word after a commit.
     * The driver publishes it as {@code mayPark} in its {@code cnc} file.
     *
     * @return true for {@link #SHARED} only: a dedicated progress thread always spins, an invoked one never sleeps on
     *     its own account.
     */
    public boolean mayPark() {
        return this == SHARED;
    }
}
