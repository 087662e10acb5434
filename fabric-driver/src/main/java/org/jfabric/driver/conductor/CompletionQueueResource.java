package org.jfabric.driver.conductor;

import java.util.function.IntFunction;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.resource.SharedFile;

/** A completion queue of a client. Owner: conductor; the writer belongs to the progress thread. */
final class CompletionQueueResource {
    /** No thread writes the queue, because no endpoint was bound to it yet. */
    static final int UNPLACED = -1;

    private final long id;
    private final SharedFile file;
    private final IntFunction<CompletionWriter> writers;
    private final int capacity;
    private final int clientShare;
    private final int driverShare;
    private final WaitResource waitResource;
    private final WaitSetResource waitSet;
    private int thread = UNPLACED;
    /** Null as long as no thread serves the queue. */
    private CompletionWriter writer;
    private int bound;

    /**
     * An open queue.
     *
     * @param writers      makes the driver's end for a progress thread.
     * @param driverShare slots for entries without an operation.
     * @param waitResource wakes the threads that wait for this queue alone, or null.
     * @param waitSet     that it signals, or null.
     */
    CompletionQueueResource(
        long id,
        SharedFile file,
        IntFunction<CompletionWriter> writers,
        int capacity,
        int clientShare,
        int driverShare,
        WaitResource waitResource,
        WaitSetResource waitSet) {
        this.id = id;
        this.file = file;
        this.writers = writers;
        this.capacity = capacity;
        this.clientShare = clientShare;
        this.driverShare = driverShare;
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

    /** The driver's end. Returns null as long as no thread writes the queue. */
    CompletionWriter writer() {
        return writer;
    }

    /** Size of its ring. Returns the entries, a power of two. */
    int capacity() {
        return capacity;
    }

    /** The client's quota. */
    int clientShare() {
        return clientShare;
    }

    /** The driver's quota. */
    int driverShare() {
        return driverShare;
    }

    /**
     * The wait resource of threads that wait for this queue alone. Returns null for a queue without wait object or with
     * a wait set.
     */
    WaitResource waitResource() {
        return waitResource;
    }

    /** The wait set that it signals. Returns null for a queue with another wait object. */
    WaitSetResource waitSet() {
        return waitSet;
    }

    /** The progress thread that writes the queue. Returns its number, or {@link #UNPLACED}. */
    int thread() {
        return thread;
    }

    /**
     * Gives the queue to a progress thread for the rest of its life.
     *
     * @param newThread its number; it serves the writer from its next step on.
     */
    void place(int newThread) {
        thread = newThread;
        writer = writers.apply(newThread);
    }

    /** The number of endpoints that use it. Returns a count; it cannot be closed until the count is 0. */
    int bound() {
        return bound;
    }

    /** An endpoint uses it. */
    void bind() {
        bound++;
    }

    /** An endpoint that used it is closed. */
    void unbind() {
        bound--;
    }
}
