package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.resource.SharedFile;

/** A completion queue of a client. Owner: conductor; the writer belongs to the progress thread. */
public final class CompletionQueueResource {
    private final long id;
    private final SharedFile file;
    private final CompletionWriter writer;
    private final int capacity;
    private final int clientShare;
    private final int driverShare;
    private final WaitResource waitResource;
    private final WaitSetResource waitSet;
    private int bound;

    /**
     * An open queue.
     *
     * @param id          its number.
     * @param file        its memory.
     * @param writer      the driver's end.
     * @param capacity    entries.
     * @param clientShare slots for the client's operations.
     * @param driverShare slots for entries without an operation.
     * @param waitResource where those are woken who wait for this queue alone, or null.
     * @param waitSet     that it signals, or null.
     */
    public CompletionQueueResource(
        long id,
        SharedFile file,
        CompletionWriter writer,
        int capacity,
        int clientShare,
        int driverShare,
        WaitResource waitResource,
        WaitSetResource waitSet) {
        this.id = id;
        this.file = file;
        this.writer = writer;
        this.capacity = capacity;
        this.clientShare = clientShare;
        this.driverShare = driverShare;
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
     * @return the {@code .cq} file.
     */
    public SharedFile file() {
        return file;
    }

    /**
     * The driver's end.
     *
     * @return the writer.
     */
    public CompletionWriter writer() {
        return writer;
    }

    /**
     * Size of its ring.
     *
     * @return entries, a power of two.
     */
    public int capacity() {
        return capacity;
    }

    /**
     * The client's share.
     *
     * @return slots.
     */
    public int clientShare() {
        return clientShare;
    }

    /**
     * The driver's share.
     *
     * @return slots.
     */
    public int driverShare() {
        return driverShare;
    }

    /**
     * Where those are woken who wait for this queue alone.
     *
     * @return null for a queue without wait object or with a wait set.
     */
    public WaitResource waitResource() {
        return waitResource;
    }

    /**
     * The wait set that it signals.
     *
     * @return null for a queue with another wait object.
     */
    public WaitSetResource waitSet() {
        return waitSet;
    }

    /**
     * Endpoints that use it.
     *
     * @return how many; it cannot be closed while there are any.
     */
    public int bound() {
        return bound;
    }

    /** An endpoint uses it. */
    public void bind() {
        bound++;
    }

    /** An endpoint is gone. */
    public void unbind() {
        bound--;
    }
}
