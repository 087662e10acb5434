package org.jfabric.driver.conductor;

import java.util.HashSet;
import java.util.Set;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.resource.SharedFile;

/** A counter of a client. Owner: conductor; the writer belongs to the progress thread. */
final class CounterResource {
    private final long id;
    private final SharedFile file;
    private final CounterWriter[] writers;
    private final WaitResource waitResource;
    private final WaitSetResource waitSet;
    private final Set<RegionResource> regions = new HashSet<>();
    private int bound;

    /**
     * An open counter.
     *
     * @param writers      the driver's ends, by number of the progress thread.
     * @param waitResource wakes the threads that wait for this counter alone, or null.
     * @param waitSet      that it signals, or null.
     */
    CounterResource(
        long id, SharedFile file, CounterWriter[] writers, WaitResource waitResource, WaitSetResource waitSet) {
        this.id = id;
        this.file = file;
        this.writers = writers;
        this.waitResource = waitResource;
        this.waitSet = waitSet;
    }

    /** Its number, from 1. */
    long id() {
        return id;
    }

    SharedFile file() {
        return file;
    }

    /** The driver's end. */
    CounterWriter writer(int thread) {
        return writers[thread];
    }

    /**
     * The wait resource of threads that wait for this counter alone. Returns null for a counter without wait object or
     * with a wait set.
     */
    WaitResource waitResource() {
        return waitResource;
    }

    /** The wait set that it signals. Returns null for a counter with another wait object. */
    WaitSetResource waitSet() {
        return waitSet;
    }

    /** The number of endpoint sides that count here. Returns a count; it cannot be closed until the count is 0. */
    int bound() {
        return bound;
    }

    /** Open regions whose accesses are counted here. They do not keep it open. */
    Set<RegionResource> regions() {
        return regions;
    }

    /** A side of an endpoint counts here. */
    void bind() {
        bound++;
    }

    /** A side of an endpoint that counted here is closed. */
    void unbind() {
        bound--;
    }
}
