package org.jfabric.driver.conductor;

import org.jfabric.driver.resource.SharedFile;

/** A wait set of a client. Owner: conductor. */
public final class WaitSetResource {
    private final long id;
    private final SharedFile file;
    private final WaitResource waitResource;
    private int bound;

    /**
     * An open set that nothing uses.
     *
     * @param id           its number.
     * @param file         its memory.
     * @param waitResource where those are woken who wait for it.
     */
    public WaitSetResource(long id, SharedFile file, WaitResource waitResource) {
        this.id = id;
        this.file = file;
        this.waitResource = waitResource;
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
     * @return the {@code .wait} file.
     */
    public SharedFile file() {
        return file;
    }

    /**
     * Where those are woken who wait for it.
     *
     * @return shared by all its queues and counters.
     */
    public WaitResource waitResource() {
        return waitResource;
    }

    /**
     * Queues and counters that use it.
     *
     * @return how many; it cannot be closed while there are any.
     */
    public int bound() {
        return bound;
    }

    /** A queue or counter uses it. */
    public void bind() {
        bound++;
    }

    /** A queue or counter is gone. */
    public void unbind() {
        bound--;
    }
}
