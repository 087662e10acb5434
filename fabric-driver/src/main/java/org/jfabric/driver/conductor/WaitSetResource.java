package org.jfabric.driver.conductor;

import org.jfabric.driver.resource.SharedFile;

/** A wait set of a client. Owner: conductor. */
final class WaitSetResource {
    private final long id;
    private final SharedFile file;
    private final WaitResource waitResource;
    private int bound;

    /**
     * An open set without queues or counters.
     *
     * @param id           its number.
     * @param file         its memory.
     * @param waitResource wakes the threads that wait for it.
     */
    WaitSetResource(long id, SharedFile file, WaitResource waitResource) {
        this.id = id;
        this.file = file;
        this.waitResource = waitResource;
    }

    /**
     * Its number.
     *
     * @return from 1.
     */
    long id() {
        return id;
    }

    /**
     * Its memory.
     *
     * @return the {@code .wait} file.
     */
    SharedFile file() {
        return file;
    }

    /**
     * The wait resource of threads that wait for it.
     *
     * @return the resource; all its queues and counters use it.
     */
    WaitResource waitResource() {
        return waitResource;
    }

    /**
     * The number of queues and counters that use it.
     *
     * @return a count; it cannot be closed until the count is 0.
     */
    int bound() {
        return bound;
    }

    /** A queue or counter uses it. */
    void bind() {
        bound++;
    }

    /** A queue or counter that used it is closed. */
    void unbind() {
        bound--;
    }
}
