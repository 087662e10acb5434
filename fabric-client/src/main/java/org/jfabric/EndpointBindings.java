package org.jfabric;

import org.jfabric.client.BufferedMode;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.ContextPlace;
import org.jfabric.client.CounterIds;
import org.jfabric.client.QueueSignal;
import org.jfabric.codec.control.EnableEndpoint;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * The objects to which an endpoint is bound, and the rules of binding.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class EndpointBindings {
    private static final long BIND_FLAGS = Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION;
    /** What counters count, in the order of {@link #counters}. */
    private static final long[] COUNTED = {
        Flags.SEND, Flags.RECV, Flags.READ, Flags.WRITE, Flags.REMOTE_READ, Flags.REMOTE_WRITE};
    private static final long LOCAL_ACCESS = Flags.READ | Flags.WRITE;
    private static final long REMOTE_ACCESS = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final long COUNTER_FLAGS = Flags.SEND | Flags.RECV | LOCAL_ACCESS | REMOTE_ACCESS;

    private final Endpoint endpoint;
    private CompletionQueue txCq;
    private CompletionQueue rxCq;
    private boolean txSelective;
    private boolean rxSelective;
    private final Counter[] counters = new Counter[COUNTED.length];
    private AddressVector addressVector;
    private EventQueue eventQueue;
    private SharedTransmitContext transmitContext;
    private Endpoint receiveContext;

    EndpointBindings(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    void bind(Fid object, long flags) {
        if (endpoint.sharedReceives() != null) {
            throw new FabricException(FabricErrno.EINVAL, "an object of class " + object.fidClass()
                + " cannot be bound to a shared receive context", "Bind it to the endpoints that use the context.");
        }
        switch (object) {
            case CompletionQueue queue -> bindQueue(queue, flags);
            case Counter counter -> bindCounter(counter, flags);
            case AddressVector vector -> bindVector(vector, flags);
            case EventQueue queue -> bindEvents(queue, flags);
            case SharedTransmitContext context -> bindContext(context, flags);
            case Endpoint context when context.sharedReceives() != null -> bindContext(context, flags);
            case MemoryRegion region -> bindRegion(region, flags);
            default -> throw new FabricException(FabricErrno.EINVAL, "an object of class " + object.fidClass()
                + " cannot be bound to an endpoint", "Bind completion queues, counters, an address vector, an event"
                + " queue, shared contexts, memory regions.");
        }
    }

    private void bindQueue(CompletionQueue queue, long flags) {
        if ((flags & ~BIND_FLAGS) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "bind flags are "
                + Flags.toString(flags, Flags.Kind.CQ_BIND) + ", known are TRANSMIT, RECV, SELECTIVE_COMPLETION");
        }
        boolean transmits = (flags & Flags.TRANSMIT) != 0;
        boolean receives = (flags & Flags.RECV) != 0;
        if (!transmits && !receives) {
            throw new FabricException(FabricErrno.EINVAL,
                "bind flags name no direction", "Add Flags.TRANSMIT, Flags.RECV or both.");
        }
        requireBindable("a completion queue", queue.domain(), queue.isOpen());
        if (transmits && txCq != null || receives && rxCq != null) {
            throw new FabricException(FabricErrno.EINVAL, "a completion queue is bound for "
                + (transmits && txCq != null ? "transmit" : "receive") + " already", "Bind one for each direction.");
        }
        boolean selective = (flags & Flags.SELECTIVE_COMPLETION) != 0;
        if (transmits) {
            txCq = queue;
            txSelective = selective;
        }
        if (receives) {
            rxCq = queue;
            rxSelective = selective;
        }
        if (!queue.endpoints().contains(endpoint)) {
            queue.endpoints().add(endpoint);
        }
    }

    private void bindCounter(Counter counter, long flags) {
        if ((flags & ~COUNTER_FLAGS) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "bind flags are "
                + Flags.toString(flags, Flags.Kind.COUNTER_BIND) + ", known are "
                + Flags.toString(COUNTER_FLAGS, Flags.Kind.COUNTER_BIND));
        }
        if (flags == 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "bind flags name nothing to count", "Add Flags.SEND, Flags.RECV or both.");
        }
        long caps = endpoint.requested().caps();
        boolean accesses = (caps & (Flags.RMA | Flags.ATOMIC)) != 0;
        if ((flags & LOCAL_ACCESS) != 0 && !accesses || (flags & REMOTE_ACCESS) != 0
            && !(accesses && (caps & Flags.RMA_EVENT) != 0)) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "bind flags are "
                + Flags.toString(flags, Flags.Kind.COUNTER_BIND) + ", but the endpoint has "
                + (accesses ? "no capability RMA_EVENT" : "no remote memory access"),
                "Count SEND and RECV, or ask for RMA" + ((flags & REMOTE_ACCESS) != 0 ? " and RMA_EVENT." : "."));
        }
        requireBindable("a counter", counter.domain(), counter.isOpen());
        for (int i = 0; i < COUNTED.length; i++) {
            if ((flags & COUNTED[i]) != 0 && counters[i] != null) {
                throw new FabricException(FabricErrno.EINVAL, "a counter is bound for "
                    + Flags.toString(COUNTED[i], Flags.Kind.COUNTER_BIND) + " already",
                    "Bind one for each kind of operation.");
            }
        }
        for (int i = 0; i < COUNTED.length; i++) {
            if ((flags & COUNTED[i]) != 0) {
                counters[i] = counter;
            }
        }
        if (!counter.endpoints().contains(endpoint)) {
            counter.endpoints().add(endpoint);
        }
    }

    private void bindVector(AddressVector vector, long flags) {
        if (flags != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "bind flags are " + Codes.hex(flags) + ", an address vector has none", "Bind it with flags 0.");
        }
        requireBindable("an address vector", vector.domain(), vector.isOpen());
        if (endpoint.role() != null) {
            throw new FabricException(FabricErrno.EINVAL, "a context has the address vector of its scalable endpoint",
                "Bind it to that.");
        }
        if (endpoint.requested().connects()) {
            throw new FabricException(FabricErrno.EINVAL, "an address vector cannot be bound to a connection-oriented"
                + " endpoint", "Connect it to its one peer.");
        }
        if (addressVector != null) {
            throw new FabricException(FabricErrno.EINVAL, "an address vector is bound already", "Bind exactly one.");
        }
        addressVector = vector;
        vector.endpoints().add(endpoint);
    }

    /** Of a context: the vector of its scalable endpoint. */
    void inherit(AddressVector vector) {
        addressVector = vector;
        vector.endpoints().add(endpoint);
    }

    private void bindEvents(EventQueue queue, long flags) {
        if (flags != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "bind flags are " + Codes.hex(flags) + ", an event queue has none", "Bind it with flags 0.");
        }
        requireBindable("an event queue", endpoint.domain(), queue.isOpen());
        if (queue.fabric() != endpoint.domain().fabric()) {
            throw new FabricException(FabricErrno.EINVAL, "an event queue of another fabric cannot be bound");
        }
        if (eventQueue != null) {
            throw new FabricException(FabricErrno.EINVAL, "an event queue is bound already", "Bind at most one.");
        }
        eventQueue = queue;
        queue.users().add(endpoint);
    }

    private void bindContext(SharedTransmitContext context, long flags) {
        requireBindable("a shared transmit context", context.domain(), context.isOpen());
        Info asked = endpoint.requested();
        requireShared("a shared transmit context", "tx_ctx_cnt", asked.epAttr().txCtxCnt(), transmitContext, flags);
        ContextAttributes.requireWithin("the endpoint", "the shared context", asked.txAttr(), context.attr());
        transmitContext = context;
        context.endpoints().add(endpoint);
    }

    private void bindContext(Endpoint context, long flags) {
        requireBindable("a shared receive context", context.domain(), context.isOpen());
        Info asked = endpoint.requested();
        requireShared("a shared receive context", "rx_ctx_cnt", asked.epAttr().rxCtxCnt(), receiveContext, flags);
        ContextAttributes.requireWithin(
            "the endpoint", "the shared context", asked.rxAttr(), context.sharedReceives().attr());
        if (BufferedMode.isAskedFor(asked)) {
            throw new FabricException(FabricErrno.EINVAL, "the endpoint has mode BUFFERED_RECV, and so a buffer of its"
                + " own for messages", "Open it without the mode.");
        }
        receiveContext = context;
        context.sharedReceives().endpoints().add(endpoint);
    }

    /** The region knows what it is bound to, and may be bound to an endpoint that is enabled. */
    private void bindRegion(MemoryRegion region, long flags) {
        if (region.domain() != endpoint.domain()) {
            throw new FabricException(FabricErrno.EDOMAIN, "a memory region of another domain cannot be bound");
        }
        region.bindings().bind(endpoint, flags);
    }

    private static void requireShared(String what, String attribute, long count, Fid bound, long flags) {
        if (flags != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "bind flags are " + Codes.hex(flags) + ", " + what + " has none", "Bind it with flags 0.");
        }
        if (count != FabricAddress.SHARED_CONTEXT) {
            throw new FabricException(FabricErrno.EINVAL, "ep_attr." + attribute + " is " + count + ", " + what
                + " needs SHARED_CONTEXT", "Open the endpoint with FabricAddress.SHARED_CONTEXT there.");
        }
        if (bound != null) {
            throw new FabricException(FabricErrno.EINVAL, what + " is bound already", "Bind at most one.");
        }
    }

    private void requireContexts(Info info) {
        boolean lacksTransmit = info.epAttr().txCtxCnt() == FabricAddress.SHARED_CONTEXT && transmitContext == null;
        if (lacksTransmit || info.epAttr().rxCtxCnt() == FabricAddress.SHARED_CONTEXT && receiveContext == null) {
            throw new FabricException(FabricErrno.EINVAL, "ep_attr." + (lacksTransmit ? "tx" : "rx")
                + "_ctx_cnt is SHARED_CONTEXT, and no shared context is bound",
                "Bind a shared " + (lacksTransmit ? "transmit" : "receive") + " context before enable().");
        }
        AddressVector first = receiveContext == null ? null : receiveContext.sharedReceives().addressVector();
        if (first != null && !info.connects() && first != addressVector) {
            throw new FabricException(FabricErrno.EINVAL, "the endpoint's address vector is not that of the other"
                + " endpoints of its shared receive context", "Bind the same address vector to all of them.");
        }
    }

    void requireComplete(Info info) {
        requireContexts(info);
        boolean transmits = info.transmits();
        if (transmits && txCq == null || info.receives() && rxCq == null) {
            throw new FabricException(FabricErrno.ENOCQ, "no completion queue is bound for "
                + (transmits && txCq == null ? "transmit" : "receive"));
        }
        if (info.connects()) {
            if (eventQueue == null) {
                throw new FabricException(FabricErrno.ENOEQ, "no event queue is bound, which reports connections");
            }
        } else if (addressVector == null) {
            throw new FabricException(FabricErrno.ENOAV, "no address vector is bound");
        }
    }

    /** Sets the signal that wakes the driver after entries of receives were read. */
    void driverSignal(QueueSignal signal) {
        if (rxCq != null) {
            rxCq.driverSignal(signal);
        }
    }

    void onEnabled() {
        if (txCq != null) {
            txCq.onEndpointEnabled();
        }
        if (rxCq != null) {
            rxCq.onEndpointEnabled();
        }
        if (receiveContext != null && addressVector != null) {
            receiveContext.sharedReceives().onEnabled(addressVector);
        }
    }

    void unbind() {
        if (txCq != null) {
            txCq.endpoints().remove(endpoint);
        }
        if (rxCq != null) {
            rxCq.endpoints().remove(endpoint);
        }
        for (Counter counter : counters) {
            if (counter != null) {
                counter.endpoints().remove(endpoint);
            }
        }
        if (addressVector != null) {
            addressVector.endpoints().remove(endpoint);
        }
        if (eventQueue != null) {
            eventQueue.users().remove(endpoint);
        }
        if (transmitContext != null) {
            transmitContext.endpoints().remove(endpoint);
        }
        if (receiveContext != null) {
            receiveContext.sharedReceives().remove(endpoint);
        }
    }

    CompletionQueue txCq() {
        return txCq;
    }

    CompletionQueue rxCq() {
        return rxCq;
    }

    boolean txSelective() {
        return txSelective;
    }

    /** The entries of a shared receive context are as the endpoints that use it have bound their queues. */
    boolean rxSelective() {
        return rxSelective || endpoint.sharedReceives() != null;
    }

    /** Slots for the entries of receives; null if the endpoint does not receive. */
    CompletionCredits receiveCredits() {
        return endpoint.sharedReceives() != null ? endpoint.sharedReceives().credits()
            : rxCq == null || !endpoint.requested().receives() ? null : rxCq.credits();
    }

    /** Null if the endpoint has sends of its own. */
    SharedTransmitContext transmitContext() {
        return transmitContext;
    }

    /** Null if the endpoint has receives of its own. */
    Endpoint receiveContext() {
        return receiveContext;
    }

    /** The driver's number of the shared receive context, as {@link EnableEndpoint} has it. */
    long receiveContextId() {
        return endpoint.sharedReceives() != null ? ContextPlace.IS_RECEIVE_CONTEXT
            : receiveContext == null ? 0 : receiveContext.id();
    }

    /** Flags as the driver takes them, 0 without a queue. */
    long txFlags() {
        return txCq == null ? 0 : Flags.TRANSMIT | (txSelective ? Flags.SELECTIVE_COMPLETION : 0);
    }

    /** Flags as the driver takes them, 0 without a queue. */
    long rxFlags() {
        return rxCq == null ? 0 : Flags.RECV | (rxSelective ? Flags.SELECTIVE_COMPLETION : 0);
    }

    /** An operation was lost with its driver, which has not counted it. */
    void onLost(long flags) {
        int counted = (flags & Flags.RECV) != 0 ? 1 : (flags & Flags.READ) != 0 ? 2
            : (flags & (Flags.RMA | Flags.ATOMIC)) != 0 ? 3 : 0;
        if (counters[counted] != null) {
            counters[counted].addErr(1);
        }
    }

    /** The driver's numbers of the counters. */
    CounterIds counterIds() {
        return new CounterIds(
            counterId(0), counterId(1), counterId(2), counterId(3), counterId(4), counterId(5));
    }

    private long counterId(int counted) {
        return counters[counted] == null ? 0 : counters[counted].id();
    }

    AddressVector addressVector() {
        return addressVector;
    }

    /** The bound completion queue with that number, or null. Any thread, once the endpoint is enabled. */
    CompletionQueue completionQueue(long id) {
        if (txCq != null && txCq.id() == id) {
            return txCq;
        }
        return rxCq != null && rxCq.id() == id ? rxCq : null;
    }

    /** Null if none is bound. Any thread, once the endpoint is enabled. */
    EventQueue eventQueue() {
        return eventQueue;
    }

    private void requireBindable(String what, Domain of, boolean open) {
        if (endpoint.state() == Endpoint.CLOSED) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the endpoint is closed", "Open another one.");
        }
        if (endpoint.state() == Endpoint.ENABLED) {
            throw new FabricException(FabricErrno.EOPBADSTATE, what + " cannot be bound to an endpoint that is enabled",
                "Bind everything before enable().");
        }
        if (of != endpoint.domain()) {
            throw new FabricException(FabricErrno.EDOMAIN, what + " of another domain cannot be bound");
        }
        if (!open) {
            throw new FabricException(FabricErrno.EOPBADSTATE, what + " that is closed cannot be bound");
        }
    }
}
