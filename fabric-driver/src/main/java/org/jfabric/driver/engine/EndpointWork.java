package org.jfabric.driver.engine;

import java.util.ArrayList;
import org.agrona.collections.ArrayListUtil;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * The operations of one endpoint that wait for counters. They start by the same calls as others, and fail as these.
 *
 * <p>Owner: progress agent.
 */
final class EndpointWork {
    private final EngineEndpoint endpoint;
    private final Sender sender;
    private final Receiver receiver;
    private final ArrayList<WaitingOperation> waiting = new ArrayList<>();
    private final ArrayList<WaitingOperation> free = new ArrayList<>();

    EndpointWork(EngineEndpoint endpoint, Sender sender, Receiver receiver) {
        this.endpoint = endpoint;
        this.sender = sender;
        this.receiver = receiver;
    }

    /**
     * Accepts an operation, and starts it if the counter has reached its threshold. Returns 0, {@code -FI_EAGAIN}
     * without room, or {@code -FI_EOPNOTSUPP} without the capabilities.
     */
    int add(WorkRequest request) {
        if ((endpoint.settings().caps() & Flags.TRIGGER) == 0
            || request.kind == WorkRequest.ATOMIC && !sender.hasAtomics()) {
            return -FabricErrno.EOPNOTSUPP;
        }
        TransmitOperation reserved = null;
        if (request.kind != WorkRequest.RECEIVE) {
            reserved = sender.reserve(request);
        }
        if (reserved == null && (request.kind != WorkRequest.RECEIVE || !receiver.reserve())) {
            return -FabricErrno.EAGAIN;
        }
        SessionWork session = endpoint.session().work();
        WaitingOperation work = free.isEmpty() ? new WaitingOperation(this) : free.removeLast();
        work.request.set(request);
        work.operation = reserved;
        work.id = request.workId;
        work.threshold = request.threshold;
        work.trigger = session.counter(request.counterId);
        work.completion = session.counter(request.completionId);
        work.index = waiting.size();
        waiting.add(work);
        if (work.trigger == null || work.completion == null && request.completionId != 0) {
            // it was closed meanwhile
            end(work, FabricErrno.EINVAL);
            return 0;
        }
        work.trigger.queue(work);
        return 0;
    }

    /** Cancels an operation with that context; returns false if none waits. */
    boolean cancel(long context) {
        FaultPoint.pass();
        for (WaitingOperation work : waiting) {
            WorkRequest request = work.request;
            if (request.context == context
                && (request.flags & (Flags.INJECT | Flags.COMPLETION)) != Flags.INJECT) {
                work.trigger.forget(work);
                cancel(work);
                return true;
            }
        }
        return false;
    }

    /** Ends an operation that is in no queue any more. */
    void cancel(WaitingOperation work) {
        end(work, FabricErrno.ECANCELED);
    }

    private void end(WaitingOperation work, int errno) {
        remove(work);
        try {
            if (work.operation == null) {
                receiver.endReserved(work.request, work.completion, errno);
            } else {
                sender.endReserved(work.operation, work.request, work.completion, errno);
            }
        } finally {
            release(work);
        }
    }

    /** Starts an operation that is in no queue any more. */
    void start(WaitingOperation work) {
        remove(work);
        try {
            endpoint.start(work);
        } finally {
            release(work);
        }
    }

    /** Closes with the endpoint: the operations end without entries, together with those that have started. */
    void close() {
        for (WaitingOperation work : waiting) {
            work.trigger.forget(work);
        }
        waiting.clear();
    }

    long domain() {
        return endpoint.settings().domain();
    }

    ArrayList<WaitingOperation> waiting() {
        return waiting;
    }

    private void remove(WaitingOperation work) {
        int last = waiting.size() - 1;
        waiting.get(last).index = work.index;
        ArrayListUtil.fastUnorderedRemove(waiting, work.index);
    }

    private void release(WaitingOperation work) {
        work.operation = null;
        work.completion = null;
        work.trigger = null;
        free.add(work);
    }
}
