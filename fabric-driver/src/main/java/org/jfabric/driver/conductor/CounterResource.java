package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.resource.SharedFile;

/** A counter of a client. Owner: conductor; the writer belongs to the progress thread. */
public final class CounterResource {
    private final long id;
    private final SharedFile file;
    private final CounterWriter writer;
    private final WaitResource waitResource;
    private final WaitSetResource waitSet;
    private int bound;

    /**
     * An open counter.
     *
     * @param id           its number.
     * @param file         its memory.
     * @param writer       the driver's end.
     * @param waitResource where those are woken who wait for this counter alone, or null.
     * @param waitSet      that it signals, or null.
     */
    public CounterResource(
        long id, SharedFile file, CounterWriter writer, WaitResource waitResource, WaitSetResource waitSet) {
        this.id = id;
        this.file = file;
        this.writer = writer;
        this.waitResource = waitResource;
        this.waitSet = waitSet;
    }

    /**
     * Its number.
     *
     * @return from 1.
     */
    public long id() {
        return id;
    }

    /**
     * Its memory.
     *
     * @return the {@code .cntr} file.
     */
    public SharedFile file() {
        return file;
    }

    /**
     * The driver's end.
     *
     * @return the writer.
     */
    public CounterWriter writer() {
        return writer;
    }

    /**
     * Where those are woken who wait for this counter alone.
     *
     * @return null for a counter without wait object or with a wait set.
     */
    public WaitResource waitResource() {
        return waitResource;
    }

    /**
     * The wait set that it signals.
     *
     * @return null for a counter with another wait object.
     */
    public WaitSetResource waitSet() {
        return waitSet;
    }

    /**
     * Sides of endpoints that count here.
     *
     * @return how many; it cannot be closed while there are any.
     */
    public int bound() {
        return bound;
    }

    /** A side of an endpoint counts here. */
    public void bind() {
        bound++;
    }

    /** A side of an endpoint is gone. */
    public void unbind() {
        bound--;
    }
}
