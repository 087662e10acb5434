package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.ArrayListUtil;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The counters of one client by their numbers, and the work that waits for them.
 *
 * <p>Owner: progress agent.
 */
public final class SessionWork {
    /** Changes of counters that one client may have queued. */
    private static final int MAX_CHANGES = 4096;

    private final List<EngineEndpoint> endpoints;
    private final Long2ObjectHashMap<CounterWriter> counters = new Long2ObjectHashMap<>();
    private final ArrayList<WaitingChange> changes = new ArrayList<>();
    private final ArrayList<WaitingChange> free = new ArrayList<>();

    /** Without counters; the endpoints are the session's live list. */
    SessionWork(List<EngineEndpoint> endpoints) {
        this.endpoints = endpoints;
    }

    public void add(long counterId, CounterWriter writer) {
        counters.put(counterId, writer);
    }

    /** Forgets a counter that is closed; work that still waits for it or is to change it is cancelled. */
    public void remove(CounterWriter writer) {
        counters.values().remove(writer);
        for (WaitingWork work : waiting()) {
            if (work.trigger == writer || work instanceof WaitingChange change && change.target == writer) {
                cancel(work);
            } else if (work instanceof WaitingOperation operation && operation.completion == writer) {
                operation.completion = null;
            }
        }
    }

    /** The writer of a counter, or null. */
    CounterWriter counter(long counterId) {
        return counters.get(counterId);
    }

    /**
     * Queues a change of a counter, and makes it if the threshold is reached.
     *
     * @param threshold 0 or more.
     * @param value     0 or more.
     * @throws FabricException {@code FI_EINVAL} for a number that cannot be, {@code FI_EAGAIN} if too much is queued.
     */
    public void queue(
        long domain, long workId, long counterId, long threshold, long targetId, long value, boolean isSet) {
        CounterWriter trigger = counters.get(counterId);
        CounterWriter target = counters.get(targetId);
        if (trigger == null || target == null || threshold < 0 || value < 0 || workId == 0) {
            throw new FabricException(FabricErrno.EINVAL, "work " + workId + " for counter " + counterId
                + " with threshold " + threshold + " changes counter " + targetId + " by " + value,
                "Name open counters, and numbers that are not negative.");
        }
        if (changes.size() == MAX_CHANGES) {
            throw new FabricException(FabricErrno.EAGAIN, MAX_CHANGES + " changes of counters are queued",
                "Wait until some were made, or cancel them.");
        }
        WaitingChange change = free.isEmpty() ? new WaitingChange(this) : free.removeLast();
        change.id = workId;
        change.domain = domain;
        change.threshold = threshold;
        change.trigger = trigger;
        change.target = target;
        change.value = value;
        change.isSet = isSet;
        change.index = changes.size();
        changes.add(change);
        trigger.queue(change);
    }

    /** Cancels deferred work. Returns false if it does not wait here. */
    public boolean cancel(long workId) {
        for (WaitingWork work : waiting()) {
            if (work.id == workId && workId != 0) {
                cancel(work);
                return true;
            }
        }
        return false;
    }

    /**
     * Cancels all deferred work of a domain.
     *
     * @param counterId only work that waits for that counter; 0 for all.
     */
    public void flush(long domain, long counterId) {
        CounterWriter only = counters.get(counterId);
        // the end of some of it may count, but nothing starts before the end of this step
        for (WaitingWork work : waiting()) {
            if (work.id != 0 && work.domain() == domain && (counterId == 0 || work.trigger == only)) {
                cancel(work);
            }
        }
    }

    /**
     * Checks that nothing waits for a counter or is to count there.
     *
     * @throws FabricException {@code FI_EBUSY} otherwise.
     */
    public void requireUnused(long counterId) {
        CounterWriter writer = counters.get(counterId);
        if (writer == null) {
            return;
        }
        for (WaitingWork work : waiting()) {
            if (work.trigger == writer || work instanceof WaitingChange change && change.target == writer
                || work instanceof WaitingOperation operation && operation.completion == writer) {
                throw new FabricException(FabricErrno.EBUSY, "work waits for counter " + counterId
                    + ", or is to count there", "Cancel the work, or let the counter start it.");
            }
        }
    }

    /** The client has ended: its endpoints are closed already, and changes of counters are dropped. */
    void close() {
        for (WaitingChange change : List.copyOf(changes)) {
            change.trigger.forget(change);
            release(change);
        }
    }

    private static void cancel(WaitingWork work) {
        // raised here, where the work still waits
        FaultPoint.pass();
        work.trigger.forget(work);
        work.cancel();
    }

    /** Takes back the record of a change that is in no queue any more. */
    void release(WaitingChange change) {
        int last = changes.size() - 1;
        changes.get(last).index = change.index;
        ArrayListUtil.fastUnorderedRemove(changes, change.index);
        change.trigger = null;
        change.target = null;
        free.add(change);
    }

    private List<WaitingWork> waiting() {
        List<WaitingWork> all = new ArrayList<>(changes);
        for (EngineEndpoint endpoint : endpoints) {
            all.addAll(endpoint.work().waiting());
        }
        return all;
    }
}
