package org.jfabric;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.EndpointPort;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.TxAttr;

/**
 * A transmit context that several endpoints share (fi_stx_context): together they have no more operations outstanding
 * than its size, and none may ask for more than it has. Operations are posted to the endpoints, and their completions
 * go to the queues of the endpoints. A post that finds no room in the context answers {@code -FI_EAGAIN}; an operation
 * of any of its endpoints that ends makes room.
 *
 * <pre>{@code
 * hints.epAttr().txCtxCnt(FabricAddress.SHARED_CONTEXT);
 * SharedTransmitContext shared = domain.openSharedTransmitContext(domain.info().txAttr(), 0);
 * endpoint.bind(shared, 0);
 * }</pre>
 *
 * <p>Use: open the endpoints with {@code ep_attr.tx_ctx_cnt} {@code SHARED_CONTEXT} and bind the context before they
 * are enabled. In libfabric a card's queue can be saved by it; here an endpoint's transmit queue is memory between one
 * client and its driver, so every endpoint keeps a queue of its own, and the context counts. Its endpoints may be used
 * by different threads, which then wait for each other for the time of that count.
 *
 * <p>Every call is a control call and may come from any thread. Source: fi_endpoint(3), section Shared Contexts.
 */
public final class SharedTransmitContext implements Fid {
    private final Domain domain;
    private final TxAttr attr;
    private final long context;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private boolean closed;
    /** Of the endpoints that are enabled; with the two counts under the monitor of this object. */
    private final List<Share> shares = new ArrayList<>();
    /** Operations that these endpoints have posted. */
    private long posted;
    /** What {@link #posted} may reach, as far as is known. */
    private long limit;

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

    /** An endpoint that uses it is enabled and posts to that port. */
    synchronized Share open(EndpointPort port) {
        Share share = new Share(port);
        shares.add(share);
        return share;
    }

    private boolean refresh() {
        limit = attr.size();
        for (Share each : shares) {
            limit += each.port.completedSends();
        }
        return posted < limit;
    }

    /** The operations of one endpoint, which count for all. Any thread. */
    final class Share {
        private final EndpointPort port;
        private long taken;

        private Share(EndpointPort port) {
            this.port = port;
        }

        /** Takes the place of one operation; false if as many as the context may have are outstanding. */
        boolean take() {
            synchronized (SharedTransmitContext.this) {
                if (posted >= limit && !refresh()) {
                    return false;
                }
                posted++;
                taken++;
                return true;
            }
        }

        /** Gives back what {@link #take()} has taken: the operation was not posted. */
        void giveBack() {
            synchronized (SharedTransmitContext.this) {
                posted--;
                taken--;
            }
        }

        /** Operations that any endpoint of the context may post now. */
        long left() {
            synchronized (SharedTransmitContext.this) {
                return refresh() ? limit - posted : 0;
            }
        }

        /** The endpoint is closed: what it had outstanding has ended. */
        void close() {
            synchronized (SharedTransmitContext.this) {
                if (shares.remove(this)) {
                    posted -= taken;
                    refresh();
                }
            }
        }
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
