package org.jfabric;

import org.jfabric.client.QueueSignal;

/**
 * What an endpoint is bound to, and the rules of binding.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class EndpointBindings {
    private static final long BIND_FLAGS = Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION;
    private static final long REMOTE_MEMORY = Flags.READ | Flags.WRITE | Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final long COUNTER_FLAGS = Flags.SEND | Flags.RECV;

    private final Endpoint endpoint;
    private CompletionQueue txCq;
    private CompletionQueue rxCq;
    private boolean txSelective;
    private boolean rxSelective;
    private Counter sendCounter;
    private Counter receiveCounter;
    private AddressVector addressVector;
    private EventQueue eventQueue;

    EndpointBindings(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    void bind(Fid object, long flags) {
        switch (object) {
            case CompletionQueue queue -> bindQueue(queue, flags);
            case Counter counter -> bindCounter(counter, flags);
            case AddressVector vector -> bindVector(vector, flags);
            case EventQueue queue -> bindEvents(queue, flags);
            default -> throw new FabricException(FabricErrno.EINVAL, "an object of class " + object.fidClass()
                + " cannot be bound to an endpoint", "Bind completion queues, counters, an address vector, an event"
                + " queue.");
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
        if ((flags & ~(COUNTER_FLAGS | REMOTE_MEMORY)) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "bind flags are "
                + Flags.toString(flags, Flags.Kind.COUNTER_BIND) + ", known are SEND and RECV");
        }
        if (flags == 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "bind flags name nothing to count", "Add Flags.SEND, Flags.RECV or both.");
        }
        if ((flags & REMOTE_MEMORY) != 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "bind flags are "
                + Flags.toString(flags, Flags.Kind.COUNTER_BIND) + ", but the endpoint has no remote memory access"
                + ((flags & (Flags.REMOTE_READ | Flags.REMOTE_WRITE)) != 0 ? " and no capability RMA_EVENT" : ""),
                "Count SEND and RECV.");
        }
        requireBindable("a counter", counter.domain(), counter.isOpen());
        boolean sends = (flags & Flags.SEND) != 0;
        boolean receives = (flags & Flags.RECV) != 0;
        if (sends && sendCounter != null || receives && receiveCounter != null) {
            throw new FabricException(FabricErrno.EINVAL, "a counter is bound for "
                + (sends && sendCounter != null ? "sends" : "receives") + " already",
                "Bind one for each kind of operation.");
        }
        if (sends) {
            sendCounter = counter;
        }
        if (receives) {
            receiveCounter = counter;
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

    void requireComplete(Info info) {
        boolean transmits = info.transmits();
        if (transmits && txCq == null || info.receives() && rxCq == null) {
            throw new FabricException(FabricErrno.ENOCQ, "no completion queue is bound for "
                + (transmits && txCq == null ? "transmit" : "receive"));
        }
        if (info.connects()) {
            if (eventQueue == null) {
                throw new FabricException(FabricErrno.ENOEQ, "no event queue is bound, which connections are told by");
            }
        } else if (addressVector == null) {
            throw new FabricException(FabricErrno.ENOAV, "no address vector is bound");
        }
    }

    /** What wakes the driver when entries of receives were read. */
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
    }

    void unbind() {
        if (txCq != null) {
            txCq.endpoints().remove(endpoint);
        }
        if (rxCq != null) {
            rxCq.endpoints().remove(endpoint);
        }
        if (sendCounter != null) {
            sendCounter.endpoints().remove(endpoint);
        }
        if (receiveCounter != null) {
            receiveCounter.endpoints().remove(endpoint);
        }
        if (addressVector != null) {
            addressVector.endpoints().remove(endpoint);
        }
        if (eventQueue != null) {
            eventQueue.users().remove(endpoint);
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

    boolean rxSelective() {
        return rxSelective;
    }

    /** Flags as the driver takes them, 0 without a queue. */
    long txFlags() {
        return txCq == null ? 0 : Flags.TRANSMIT | (txSelective ? Flags.SELECTIVE_COMPLETION : 0);
    }

    /** Flags as the driver takes them, 0 without a queue. */
    long rxFlags() {
        return rxCq == null ? 0 : Flags.RECV | (rxSelective ? Flags.SELECTIVE_COMPLETION : 0);
    }

    /** Null if none is bound. */
    Counter sendCounter() {
        return sendCounter;
    }

    /** Null if none is bound. */
    Counter receiveCounter() {
        return receiveCounter;
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
