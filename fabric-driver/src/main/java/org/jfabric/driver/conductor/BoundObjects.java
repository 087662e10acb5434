package org.jfabric.driver.conductor;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jfabric.client.CounterIds;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.engine.EndpointCompletions;
import org.jfabric.driver.engine.EndpointCounters;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * {@code fi_ep_bind}: the completion queues, counters and address vector of an endpoint. As long as they are bound they
 * cannot be closed. Owner: conductor.
 */
final class BoundObjects {
    private static final long BIND_FLAGS = Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION;

    private final CompletionQueueResource transmitCompletions;
    private final CompletionQueueResource receiveCompletions;
    /** In the order of {@link CounterIds}; null where there is none. */
    private final CounterResource[] counters;
    private final AddressVectorResource vector;
    private final EndpointResource receiveContext;
    private final boolean isReceiveSelective;

    private BoundObjects(
        CompletionQueueResource transmitCompletions,
        CompletionQueueResource receiveCompletions,
        CounterResource[] counters,
        AddressVectorResource vector,
        EndpointResource receiveContext,
        boolean isReceiveSelective) {
        this.transmitCompletions = transmitCompletions;
        this.receiveCompletions = receiveCompletions;
        this.counters = counters;
        this.vector = vector;
        this.receiveContext = receiveContext;
        this.isReceiveSelective = isReceiveSelective;
    }

    /**
     * Binds the objects that a request names.
     *
     * @throws FabricException {@code FI_ENOAV}, {@code FI_ENOCQ}, {@code FI_EBADFLAGS} or {@code FI_EINVAL}; then none
     *     is bound.
     */
    static BoundObjects bind(ClientSession session, EndpointRequest request) {
        if (request.isReceiveContext()) {
            return new BoundObjects(null, null, new CounterResource[0], null, null, false);
        }
        AddressVectorResource vector =
            request.connects() ? null : session.addressVectors().get(request.message().avId());
        if (vector == null && !request.connects()) {
            throw new FabricException(FabricErrno.ENOAV,
                "address vector " + request.message().avId() + " is not open, a connectionless endpoint needs one",
                "Bind an open address vector of this client before enabling.");
        }
        CompletionQueueResource transmit =
            queue(session, "transmit", request.message().txCqId(), request.message().txCqFlags(), Flags.TRANSMIT);
        CompletionQueueResource receive =
            queue(session, "receive", request.message().rxCqId(), request.message().rxCqFlags(), Flags.RECV);
        boolean sends = request.hints().transmits();
        boolean receives = request.hints().receives();
        if (sends && transmit == null || receives && receive == null) {
            throw new FabricException(FabricErrno.ENOCQ,
                "no completion queue is bound for " + (sends && transmit == null ? "sends" : "receives"),
                "Bind one with FI_TRANSMIT, FI_RECV or both before enabling, or ask for the other direction only.");
        }
        BoundObjects objects = new BoundObjects(
            transmit == null ? receive : transmit,
            receive == null ? transmit : receive,
            counters(session, request.counters()),
            vector,
            receiveContext(session, request.message().receiveContextId()),
            (request.message().rxCqFlags() & Flags.SELECTIVE_COMPLETION) != 0);
        objects.bind();
        return objects;
    }

    /** The queues and counters, as the engine writes them. */
    EndpointCompletions completions(int thread) {
        return transmitCompletions == null ? EndpointCompletions.NONE : new EndpointCompletions(
            transmitCompletions.writer(), receiveCompletions.writer(),
            new EndpointCounters(writer(0, thread), writer(1, thread), writer(2, thread), writer(3, thread),
                writer(4, thread), writer(5, thread)),
            isReceiveSelective);
    }

    /**
     * The progress thread that must serve the endpoint, because it writes the queues or serves the shared context.
     *
     * @return its number, or {@link CompletionQueueResource#UNPLACED} if any thread may.
     * @throws FabricException {@code FI_EOPNOTSUPP} if these are on different threads.
     */
    int thread() {
        int found = CompletionQueueResource.UNPLACED;
        if (transmitCompletions != null) {
            found = common(found, transmitCompletions.thread());
            found = common(found, receiveCompletions.thread());
        }
        return receiveContext == null ? found : common(found, receiveContext.thread());
    }

    /** As {@link #thread()}, with one more object that only one thread may serve. */
    static int common(int thread, int other) {
        if (thread != CompletionQueueResource.UNPLACED && other != CompletionQueueResource.UNPLACED
            && thread != other) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "the endpoint's completion queues, shared receive context and listener are on progress threads "
                    + thread + " and " + other + ", and only one thread can serve an endpoint",
                "Give the endpoint queues that no other endpoint uses or that are on one thread, or start the driver "
                    + "with " + ThreadingConfig.PROGRESS_THREADS.name() + " = 1.");
        }
        return thread == CompletionQueueResource.UNPLACED ? other : thread;
    }

    /** Queues that no endpoint was bound to yet, and that no thread writes. */
    Set<CompletionQueueResource> unplaced() {
        return Stream.of(transmitCompletions, receiveCompletions)
            .filter(each -> each != null && each.thread() == CompletionQueueResource.UNPLACED)
            .collect(Collectors.toSet());
    }

    /** The shared receive context, or null. */
    EngineEndpoint receiveContext() {
        return receiveContext == null ? null : receiveContext.endpoint();
    }

    private CounterWriter writer(int index, int thread) {
        return counters[index] == null ? null : counters[index].writer(thread);
    }

    /** The address vector, or null of a connection-oriented endpoint. */
    AddressVectorResource vector() {
        return vector;
    }

    /** The endpoint does not use them any more. */
    void unbind() {
        if (transmitCompletions != null) {
            transmitCompletions.unbind();
            receiveCompletions.unbind();
        }
        if (receiveContext != null) {
            receiveContext.addUsers(-1);
        }
        distinctCounters().forEach(CounterResource::unbind);
        if (vector != null) {
            vector.unbind();
        }
    }

    private void bind() {
        transmitCompletions.bind();
        receiveCompletions.bind();
        if (receiveContext != null) {
            receiveContext.addUsers(1);
        }
        distinctCounters().forEach(CounterResource::bind);
        if (vector != null) {
            vector.bind();
        }
    }

    private List<CounterResource> distinctCounters() {
        return Stream.of(counters).filter(Objects::nonNull).distinct().toList();
    }

    private static EndpointResource receiveContext(ClientSession session, long id) {
        if (id == 0) {
            return null;
        }
        EndpointResource context = session.endpoints().get(id);
        if (context == null || !context.endpoint().isReceiveContext()) {
            throw new FabricException(FabricErrno.EINVAL, "shared receive context " + id + " is not open",
                "Bind an open shared receive context of this client.");
        }
        return context;
    }

    private static CounterResource[] counters(ClientSession session, CounterIds ids) {
        return new CounterResource[] {
            counter(session, "sends", ids.sends()),
            counter(session, "receives", ids.receives()),
            counter(session, "reads", ids.reads()),
            counter(session, "writes", ids.writes()),
            counter(session, "reads by peers", ids.remoteReads()),
            counter(session, "writes by peers", ids.remoteWrites())};
    }

    private static CompletionQueueResource queue(
        ClientSession session, String side, long cqId, long flags, long needed) {
        if (cqId == 0) {
            return null;
        }
        CompletionQueueResource queue = session.completionQueues().get(cqId);
        if (queue == null) {
            throw new FabricException(FabricErrno.ENOCQ,
                "completion queue " + cqId + ", bound for the " + side + " side, is not open",
                "Bind an open completion queue of this client.");
        }
        if ((flags & ~BIND_FLAGS) != 0 || (flags & needed) == 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "completion queue " + cqId + " is bound for the " + side + " side with flags 0x"
                    + Long.toHexString(flags),
                "Bind it with FI_TRANSMIT, FI_RECV or both, and FI_SELECTIVE_COMPLETION if wanted.");
        }
        return queue;
    }

    private static CounterResource counter(ClientSession session, String what, long counterId) {
        CounterResource counter = session.counters().get(counterId);
        if (counter == null && counterId != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "counter " + counterId + ", bound for " + what + ", is not open",
                "Bind an open counter of this client.");
        }
        return counter;
    }
}
