package org.jfabric;

import org.jfabric.client.Invoker;

import java.util.Arrays;

/**
 * Tells which of several completion queues may have something to read (fi_poll_open).
 *
 * <p>{@link #poll} allocates nothing and never blocks; one thread at a time polls. Adding and removing are control
 * calls. Source: REF-049.
 */
public final class PollSet implements Fid {
    private final Domain domain;
    private final Invoker invoker;
    /** Replaced as a whole under the fabric's lock. */
    private volatile CompletionQueue[] queues = new CompletionQueue[0];
    private volatile boolean closed;
    private int first;

    PollSet(Domain domain, Invoker invoker) {
        this.domain = domain;
        this.invoker = invoker;
    }

    /**
     * Adds a queue (fi_poll_add).
     *
     * @param queue of the same domain, with any wait object; it cannot be closed before it is removed.
     * @param flags 0, reserved.
     * @throws FabricException {@link FabricErrno#EINVAL} for flags, a queue of another domain or one that is closed;
     *     {@link FabricErrno#EALREADY} if it is there; {@link FabricErrno#EOPBADSTATE} if this set is closed.
     */
    public void add(CompletionQueue queue, long flags) {
        synchronized (domain.lock()) {
            check(queue, flags);
            if (queue.domain() != domain || !queue.isOpen()) {
                throw new FabricException(FabricErrno.EINVAL, queue + (queue.isOpen()
                    ? " belongs to another domain" : " is closed"), "Add open queues of the set's own domain.");
            }
            if (contains(queue)) {
                throw new FabricException(FabricErrno.EALREADY, queue + " is in the poll set already");
            }
            CompletionQueue[] next = Arrays.copyOf(queues, queues.length + 1);
            next[queues.length] = queue;
            queues = next;
        }
    }

    /**
     * Removes a queue (fi_poll_del).
     *
     * @param queue added before.
     * @param flags 0, reserved.
     * @throws FabricException {@link FabricErrno#EINVAL} for flags or if it is not there;
     *     {@link FabricErrno#EOPBADSTATE} if this set is closed.
     */
    public void del(CompletionQueue queue, long flags) {
        synchronized (domain.lock()) {
            check(queue, flags);
            if (!contains(queue)) {
                throw new FabricException(FabricErrno.EINVAL, queue + " is not in the poll set");
            }
            queues = Arrays.stream(queues).filter(each -> each != queue).toArray(CompletionQueue[]::new);
        }
    }

    /**
     * Looks which queues may have something to read: an entry, an error, the overrun state, or the driver's end. With
     * an embedded driver in INVOKER mode it runs one duty cycle first. If there are more than fit, the next call begins
     * behind them.
     *
     * @param contexts receives {@link CompletionQueue#context()} of each.
     * @param count    most contexts, 0 to {@code contexts.length}.
     * @return contexts stored, 0 if there is nothing; {@code -FI_EINVAL} if the count cannot be,
     *     {@code -FI_EOPBADSTATE} if the set is closed.
     */
    public int poll(long[] contexts, int count) {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (count < 0 || count > contexts.length) {
            return -FabricErrno.EINVAL;
        }
        if (invoker != null) {
            invoker.cycle();
        }
        CompletionQueue[] seen = queues;
        int index = first < seen.length ? first : 0;
        int stored = 0;
        for (int i = 0; i < seen.length && stored < count; i++) {
            CompletionQueue queue = seen[index];
            index = index + 1 == seen.length ? 0 : index + 1;
            if (queue.mayHaveEvents()) {
                contexts[stored++] = queue.context();
                first = index;
            }
        }
        return stored;
    }

    @Override
    public FidClass fidClass() {
        return FidClass.POLL;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /**
     * Closes the set. Again does nothing. Control path.
     *
     * @throws FabricException with {@link FabricErrno#EBUSY} while queues are in it.
     */
    @Override
    public void close() {
        synchronized (domain.lock()) {
            if (closed) {
                return;
            }
            if (queues.length != 0) {
                throw new FabricException(FabricErrno.EBUSY, "queues are in the poll set: " + Arrays.toString(queues),
                    "Remove them first.");
            }
            closed = true;
            domain.onClosed(this);
        }
    }

    @Override
    public String toString() {
        return "PollSet{queues=" + queues.length + (closed ? ", closed" : "") + '}';
    }

    boolean contains(CompletionQueue queue) {
        for (CompletionQueue each : queues) {
            if (each == queue) {
                return true;
            }
        }
        return false;
    }

    void markClosed() {
        closed = true;
        queues = new CompletionQueue[0];
    }

    private void check(CompletionQueue queue, long flags) {
        Codes.required(queue, "queue");
        if (closed) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the poll set is closed", "Open another one.");
        }
        if (flags != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "flags are 0x" + Long.toHexString(flags) + ", they are reserved", "Use 0.");
        }
    }
}
