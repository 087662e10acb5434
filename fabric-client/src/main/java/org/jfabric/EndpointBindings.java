package org.jfabric;

/**
 * What an endpoint is bound to, and the rules of binding.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class EndpointBindings {
    private static final long BIND_FLAGS = Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION;

    private final Endpoint endpoint;
    private CompletionQueue txCq;
    private CompletionQueue rxCq;
    private boolean txSelective;
    private boolean rxSelective;
    private AddressVector addressVector;

    EndpointBindings(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    void bind(CompletionQueue queue, long flags) {
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

    void bind(AddressVector vector) {
        requireBindable("an address vector", vector.domain(), vector.isOpen());
        if (addressVector != null) {
            throw new FabricException(FabricErrno.EINVAL, "an address vector is bound already", "Bind exactly one.");
        }
        addressVector = vector;
        vector.endpoints().add(endpoint);
    }

    void requireComplete(boolean transmits, boolean receives) {
        if (transmits && txCq == null || receives && rxCq == null) {
            throw new FabricException(FabricErrno.ENOCQ, "no completion queue is bound for "
                + (transmits && txCq == null ? "transmit" : "receive"));
        }
        if (addressVector == null) {
            throw new FabricException(FabricErrno.ENOAV, "no address vector is bound");
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
        if (addressVector != null) {
            addressVector.endpoints().remove(endpoint);
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

    AddressVector addressVector() {
        return addressVector;
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
