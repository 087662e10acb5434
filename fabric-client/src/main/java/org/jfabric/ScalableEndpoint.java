package org.jfabric;

import org.jfabric.codec.control.OpenScalableEndpoint;
import org.jfabric.codec.control.ScalableEndpointReady;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.Codes;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;

/**
 * Several transmit and receive contexts under one address (fi_scalable_ep). Each context is an {@link Endpoint} that
 * only sends or only receives, with completion queues, counters and attributes of its own, so that each thread can have
 * one of its own.
 *
 * <pre>{@code
 * ScalableEndpoint scalable = domain.openScalableEndpoint(info);
 * scalable.bind(peers);
 * Endpoint worker = scalable.txContext(0);
 * worker.bind(queue, Flags.TRANSMIT);
 * worker.enable();
 * }</pre>
 *
 * <p>The object itself transfers nothing: it has no calls for that. Contexts are bound to the address vector of the
 * scalable endpoint, and to completion queues, counters and event queues of their own. Contexts are not ordered with
 * each other. Messages to the address arrive at receive context 0, those to an address that
 * {@link FabricAddress#rxAddr} made arrive at the context that it names; a context that is not enabled refuses them
 * with {@link FabricErrno#ECONNREFUSED}. To name contexts, both sides need {@link Flags#NAMED_RX_CTX}, and the sender
 * an address vector with {@link AddressVectorAttr#rxCtxBits()}. Whatever context a message was sent by, its source is
 * the entry of the one address. See {@code docs/scalable-endpoints.md}.
 *
 * <p>Every call is a control call, from any thread; with an embedded driver from the thread that uses the domain.
 * Source: fi_endpoint(3), section Scalable Endpoints.
 */
public final class ScalableEndpoint implements Fid {
    private final Domain domain;
    private final Info info;
    private final long context;
    private final long id;
    private final String name;
    private final Endpoint[] transmit;
    private final Endpoint[] receive;
    private AddressVector addressVector;
    private volatile boolean closed;

    private ScalableEndpoint(
        Domain domain, Info info, long context, ScalableEndpointReady ready, int transmits, int receives) {
        this.domain = domain;
        this.info = info;
        this.context = context;
        this.id = ready.scalableId();
        this.name = ready.address();
        this.transmit = new Endpoint[transmits];
        this.receive = new Endpoint[receives];
    }

    /** Opens one with a consistent info; under the fabric's lock. */
    static ScalableEndpoint open(Domain domain, Info wanted, long context, String endpointName) {
        if (wanted.handle() != null) {
            throw new FabricException(
                FabricErrno.EINVAL, "a scalable endpoint has no handle", "Set the handle to null.");
        }
        long maxTransmit = wanted.domainAttr().maxEpTxCtx();
        long maxReceive = wanted.domainAttr().maxEpRxCtx();
        if (wanted.epAttr().type() != EndpointType.RDM || maxTransmit <= 1 && maxReceive <= 1) {
            throw new FabricException(FabricErrno.ENOSYS, "endpoints of link " + wanted.linkName() + " and type "
                + wanted.epAttr().type() + " have one context for each direction",
                "Ask Fabric.info for EndpointType.RDM and 2 or more in ep_attr.tx_ctx_cnt or rx_ctx_cnt.");
        }
        int transmits = count("tx_ctx_cnt", wanted.transmits(), wanted.epAttr().txCtxCnt(), maxTransmit);
        int receives = count("rx_ctx_cnt", wanted.receives(), wanted.epAttr().rxCtxCnt(), maxReceive);
        return new ScalableEndpoint(domain, wanted, context,
            domain.commands().call("opening a scalable endpoint",
                new OpenScalableEndpoint(wanted.caps(), transmits, receives, endpointName)), transmits, receives);
    }

    private static int count(String name, boolean hasDirection, long wanted, long limit) {
        if (wanted == FabricAddress.SHARED_CONTEXT) {
            return hasDirection ? 1 : 0;
        }
        if (wanted < 0 || wanted > limit) {
            throw new FabricException(FabricErrno.EINVAL,
                "ep_attr." + name + " is " + wanted + ", the domain has 1 to " + limit + " for an endpoint",
                "Ask for as many as domain_attr.max_ep_" + name.substring(0, 6) + " says.");
        }
        return hasDirection ? Math.clamp(wanted, 1, Integer.MAX_VALUE) : 0;
    }

    /**
     * Binds the address vector, which serves all contexts (fi_scalable_ep_bind); before any of them is enabled.
     *
     * @param vector of the same domain.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is one already, {@link FabricErrno#EOPBADSTATE} if
     *     either is closed, {@link FabricErrno#EDOMAIN} for another domain's.
     */
    public void bind(AddressVector vector) {
        bind(vector, 0);
    }

    @Override
    public void bind(Fid object, long flags) {
        if (!(Codes.required(object, "object") instanceof AddressVector vector)) {
            throw new FabricException(FabricErrno.EINVAL, "an object of class " + object.fidClass()
                + " cannot be bound to a scalable endpoint", "Bind it to the contexts, and the address vector here.");
        }
        synchronized (domain.lock()) {
            requireOpen();
            if (flags != 0) {
                throw new FabricException(FabricErrno.EBADFLAGS,
                    "bind flags are " + Codes.hex(flags) + ", an address vector has none", "Bind it with flags 0.");
            }
            if (vector.domain() != domain) {
                throw new FabricException(
                    FabricErrno.EDOMAIN, "an address vector of another domain cannot be bound");
            }
            if (!vector.isOpen()) {
                throw new FabricException(
                    FabricErrno.EOPBADSTATE, "an address vector that is closed cannot be bound");
            }
            if (addressVector != null) {
                throw new FabricException(
                    FabricErrno.EINVAL, "an address vector is bound already", "Bind exactly one.");
            }
            addressVector = vector;
            vector.endpoints().add(this);
            inherit(transmit);
            inherit(receive);
        }
    }

    private void inherit(Endpoint[] contexts) {
        for (Endpoint each : contexts) {
            if (each != null) {
                each.bindings().inherit(addressVector);
            }
        }
    }

    /**
     * Checks that contexts can be enabled (fi_enable). They need not wait for it.
     *
     * @throws FabricException {@link FabricErrno#ENOAV} without an address vector, {@link FabricErrno#EOPBADSTATE} if
     *     closed.
     */
    public void enable() {
        synchronized (domain.lock()) {
            requireOpen();
            if (addressVector == null) {
                throw new FabricException(FabricErrno.ENOAV, "no address vector is bound");
            }
        }
    }

    /**
     * Opens a transmit context with the attributes of this endpoint, whose own context is 0.
     *
     * @param index from 0; the number of transmit contexts is {@code ep_attr.tx_ctx_cnt}.
     * @return the context.
     * @throws FabricException as {@link #txContext(int, TxAttr, long)}.
     */
    public Endpoint txContext(int index) {
        return txContext(index, null, 0);
    }

    /**
     * Opens a transmit context (fi_tx_context): an endpoint that sends only, of class {@link FidClass#TX_CTX}. It is
     * bound to completion queues, counters and event queues and enabled like any other; its receive calls answer
     * {@code -FI_EOPNOTSUPP}. When it is closed its index is free again.
     *
     * @param index   from 0; the number of transmit contexts is {@code ep_attr.tx_ctx_cnt}.
     * @param attr    a subset of this endpoint's attributes, members that are 0 are inherited; or null to inherit all.
     *                Receives the attributes assigned.
     * @param context of the context itself.
     * @return the context, to be bound and enabled.
     * @throws FabricException {@link FabricErrno#EINVAL} for an index out of range and attributes that this endpoint
     *     does not have or no link offers, {@link FabricErrno#EBADFLAGS} for such {@code op_flags},
     *     {@link FabricErrno#EBUSY} if the context of that index is open, {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public Endpoint txContext(int index, TxAttr attr, long context) {
        synchronized (domain.lock()) {
            requireFree("transmit", transmit, index);
            Info own = ScalableContext.transmitInfo(info, attr);
            return open(transmit, new ScalableContext(this, index, true), own, context);
        }
    }

    /**
     * Opens a receive context with the attributes of this endpoint, whose own context is 0.
     *
     * @param index from 0; the number of receive contexts is {@code ep_attr.rx_ctx_cnt}.
     * @return the context.
     * @throws FabricException as {@link #rxContext(int, RxAttr, long)}.
     */
    public Endpoint rxContext(int index) {
        return rxContext(index, null, 0);
    }

    /**
     * Opens a receive context (fi_rx_context): an endpoint that receives only, of class {@link FidClass#RX_CTX}; else
     * as {@link #txContext(int, TxAttr, long)}.
     *
     * @param index   from 0; the number of receive contexts is {@code ep_attr.rx_ctx_cnt}.
     * @param attr    a subset of this endpoint's attributes, members that are 0 are inherited; or null to inherit all.
     *                Receives the attributes assigned.
     * @param context of the context itself.
     * @return the context, to be bound and enabled.
     * @throws FabricException as {@link #txContext(int, TxAttr, long)}.
     */
    public Endpoint rxContext(int index, RxAttr attr, long context) {
        synchronized (domain.lock()) {
            requireFree("receive", receive, index);
            Info own = ScalableContext.receiveInfo(info, attr);
            return open(receive, new ScalableContext(this, index, false), own, context);
        }
    }

    private Endpoint open(Endpoint[] contexts, ScalableContext role, Info own, long ownContext) {
        Endpoint opened = domain.openContext(role, own, ownContext);
        if (addressVector != null) {
            opened.bindings().inherit(addressVector);
        }
        contexts[role.index()] = opened;
        return opened;
    }

    /** One of its contexts is closed. */
    void onClosed(ScalableContext role) {
        (role.transmits() ? transmit : receive)[role.index()] = null;
    }

    /**
     * The one address of all contexts (fi_getname), from the opening on.
     *
     * @return for example {@code jfabric://default/quotes}.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public String name() {
        synchronized (domain.lock()) {
            requireOpen();
            return name;
        }
    }

    /**
     * Returns the info that the endpoint was opened with.
     *
     * @return a copy, with the number of contexts.
     */
    public Info info() {
        Info copy = info.copy();
        if (copy.epAttr().txCtxCnt() != FabricAddress.SHARED_CONTEXT) {
            copy.epAttr().txCtxCnt(transmit.length);
        }
        if (copy.epAttr().rxCtxCnt() != FabricAddress.SHARED_CONTEXT) {
            copy.epAttr().rxCtxCnt(receive.length);
        }
        return copy;
    }

    @Override
    public FidClass fidClass() {
        return FidClass.SEP;
    }

    @Override
    public long context() {
        return context;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /**
     * Closes the endpoint. Has no effect if it is already closed.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while contexts are open, {@link FabricErrno#ETIMEDOUT} as
     *     {@link Fid#close()}.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    void requireNoContexts() {
        int open = open(transmit) + open(receive);
        if (open != 0) {
            throw new FabricException(
                FabricErrno.EBUSY, "the scalable endpoint has open contexts: " + open, "Close these first.");
        }
    }

    private static int open(Endpoint[] contexts) {
        int count = 0;
        for (Endpoint each : contexts) {
            count += each == null ? 0 : 1;
        }
        return count;
    }

    @Override
    public String toString() {
        return "ScalableEndpoint{" + name + ", transmit=" + transmit.length + ", receive=" + receive.length
            + (closed ? ", closed" : "") + '}';
    }

    long id() {
        return id;
    }

    /** Forgets what it was bound to; under the fabric's lock. */
    void markClosed() {
        closed = true;
        if (addressVector != null) {
            addressVector.endpoints().remove(this);
        }
    }

    private void requireFree(String side, Endpoint[] contexts, int index) {
        requireOpen();
        if (index < 0 || index >= contexts.length) {
            throw new FabricException(FabricErrno.EINVAL, "the index of a " + side + " context is " + index
                + ", the scalable endpoint has " + contexts.length, "Use 0 to the number of contexts - 1.");
        }
        if (contexts[index] != null) {
            throw new FabricException(FabricErrno.EBUSY, side + " context " + index + " is open",
                "Open each context once.");
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new FabricException(
                FabricErrno.EOPBADSTATE, "the scalable endpoint is closed", "Open another one.");
        }
    }
}
