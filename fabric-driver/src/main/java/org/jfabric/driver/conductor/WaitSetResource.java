package org.jfabric.driver.conductor;

import org.jfabric.driver.resource.SharedFile;

/** A wait set of a client. Owner: conductor. */
final class WaitSetResource {
    private final long id;
    private final SharedFile file;
    private final WaitResource waitResource;
    private int bound;

    /** An open set without queues or counters. */
    WaitSetResource(long id, SharedFile file, WaitResource waitResource) {
        this.id = id;
        this.file = file;
        this.waitResource = waitResource;
    }

    /** Its number, from 1. */
    long id() {
        return id;
    }

    SharedFile file() {
        return file;
    }

    WaitResource waitResource() {
        return waitResource;
    }

    /** The number of queues and counters that use it. Returns a count; it cannot be closed until the count is 0. */
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
