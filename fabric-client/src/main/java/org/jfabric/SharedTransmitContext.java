package org.jfabric;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.TxAttr;

/**
 * A transmit context that several endpoints share (fi_stx_context): a limit for what they may ask for. Operations are
 * posted to the endpoints, and their completions go to the queues of the endpoints.
 *
 * <pre>{@code
 * hints.epAttr().txCtxCnt(FabricAddress.SHARED_CONTEXT);
 * SharedTransmitContext shared = domain.openSharedTransmitContext(domain.info().txAttr(), 0);
 * endpoint.bind(shared, 0);
 * }</pre>
 *
 * <p>Use: open the endpoints with {@code ep_attr.tx_ctx_cnt} {@code SHARED_CONTEXT} and bind the context before they
 * are enabled. In libfabric a card's queue can be saved by it; here an endpoint's transmit queue is memory between one
 * client and its driver, which is taken by one thread without a lock, so every endpoint keeps a queue of its own.
 *
 * <p>Every call is a control call and may come from any thread. Source: fi_endpoint(3), section Shared Contexts.
 */
public final class SharedTransmitContext implements Fid {
    private final Domain domain;
    private final TxAttr attr;
    private final long context;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private boolean closed;

    SharedTransmitContext(Domain domain, TxAttr attr, long context) {
        this.domain = domain;
        this.attr = attr;
        this.context = context;
    }

    /**
     * The attributes that it was opened with; an endpoint that uses it may ask for none beyond them.
     *
     * @return a copy.
     */
    public TxAttr attr() {
        return attr.copy();
    }

    @Override
    public FidClass fidClass() {
        return FidClass.STX_CTX;
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
     * Refuses: what reports operations is bound to the endpoints.
     *
     * @param object of any class.
     * @param flags  of any value.
     * @throws FabricException {@link FabricErrno#EINVAL} always.
     */
    @Override
    public void bind(Fid object, long flags) {
        throw new FabricException(FabricErrno.EINVAL, "nothing can be bound to a shared transmit context",
            "Bind queues and counters to the endpoints that use it.");
    }

    /**
     * Closes the context. Has no effect if it is already closed.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while endpoints that use it
     *     are open.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "SharedTransmitContext{endpoints=" + endpoints.size() + (closed ? ", closed" : "") + '}';
    }

    /** Those that use it; under the fabric's lock. */
    List<Endpoint> endpoints() {
        return endpoints;
    }

    Domain domain() {
        return domain;
    }

    /** Under the fabric's lock. */
    void markClosed() {
        closed = true;
    }
}
