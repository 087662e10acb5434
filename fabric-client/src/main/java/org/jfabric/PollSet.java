package org.jfabric;

import java.util.Arrays;
import org.jfabric.client.Invoker;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;

/**
 * Finds out which of several completion queues may have something to read, and which of several counters have changed
 * since they were last read (fi_poll_open).
 *
 * <pre>{@code
 * set.add(queue, 0);
 * int ready = set.poll(contexts, 16);
 * }</pre>
 *
 * <p>{@link #poll} allocates nothing and never blocks; one thread at a time polls. Adding and removing are control
 * calls. Source: fi_poll(3), section fi_poll_open.
 */
public final class PollSet implements Fid {
    private final Domain domain;
    private final Invoker invoker;
    /** Replaced as a whole under the fabric's lock. */
    private volatile Member[] members = new Member[0];
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
        Codes.required(queue, "queue");
        add(new Member(queue, queue.events()), queue.domain(), flags);
    }

    /**
     * Adds a counter (fi_poll_add).
     *
     * @param counter of the same domain, with any wait object; it cannot be closed before it is removed.
     * @param flags   0, reserved.
     * @throws FabricException as {@link #add(CompletionQueue, long)}.
     */
    public void add(Counter counter, long flags) {
        Codes.required(counter, "counter");
        add(new Member(counter, counter.events()), counter.domain(), flags);
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
        remove(Codes.required(queue, "queue"), flags);
    }

    /**
     * Removes a counter (fi_poll_del).
     *
     * @param counter added before.
     * @param flags   0, reserved.
     * @throws FabricException as {@link #del(CompletionQueue, long)}.
     */
    public void del(Counter counter, long flags) {
        remove(Codes.required(counter, "counter"), flags);
    }

    /**
     * Checks which queues may have something to read: an entry, an error, the overrun state, or the driver's end; and
     * which counters have another value than {@link Counter#read} or {@link Counter#await} saw last, or another error
     * value than {@link Counter#readErr} saw last. With an embedded driver in INVOKER mode it moves messages
     * first. If there are more than fit, the next call begins behind them.
     *
     * @param contexts receives {@link Fid#context()} of each.
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
            invoker.poll(0);
        }
        Member[] seen = members;
        int index = first < seen.length ? first : 0;
        int stored = 0;
        for (int i = 0; i < seen.length && stored < count; i++) {
            Member member = seen[index];
            index = index + 1 == seen.length ? 0 : index + 1;
            if (member.events.isReady()) {
                contexts[stored++] = member.fid.context();
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
     * Closes the set. Has no effect if it is already closed. Control path.
     *
     * @throws FabricException with {@link FabricErrno#EBUSY} while something is in it.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    void requireEmpty() {
        if (members.length != 0) {
            throw new FabricException(FabricErrno.EBUSY, "objects are in the poll set: " + Arrays.toString(members),
                "Remove them first.");
        }
    }

    @Override
    public String toString() {
        return "PollSet{members=" + members.length + (closed ? ", closed" : "") + '}';
    }

    boolean contains(Fid object) {
        for (Member member : members) {
            if (member.fid == object) {
                return true;
            }
        }
        return false;
    }

    void markClosed() {
        closed = true;
        members = new Member[0];
    }

    private void add(Member member, Domain of, long flags) {
        synchronized (domain.lock()) {
            check(flags);
            Fid added = member.fid;
            if (of != domain || !added.isOpen()) {
                throw new FabricException(FabricErrno.EINVAL, added + (added.isOpen()
                    ? " belongs to another domain" : " is closed"), "Add open objects of the set's own domain.");
            }
            if (contains(added)) {
                throw new FabricException(FabricErrno.EALREADY, added + " is in the poll set already");
            }
            Member[] next = Arrays.copyOf(members, members.length + 1);
            next[members.length] = member;
            members = next;
        }
    }

    private void remove(Fid object, long flags) {
        synchronized (domain.lock()) {
            check(flags);
            if (!contains(object)) {
                throw new FabricException(FabricErrno.EINVAL, object + " is not in the poll set");
            }
            members = Arrays.stream(members).filter(each -> each.fid != object).toArray(Member[]::new);
        }
    }

    private void check(long flags) {
        if (closed) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the poll set is closed", "Open another one.");
        }
        if (flags != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "flags are 0x" + Long.toHexString(flags) + ", they are reserved", "Use 0.");
        }
    }

    /** Something in the set, and how it is checked. */
    private record Member(Fid fid, Waitable events) {
        @Override
        public String toString() {
            return fid.toString();
        }
    }
}
