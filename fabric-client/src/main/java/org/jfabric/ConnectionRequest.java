package org.jfabric;

import org.jfabric.info.EndpointSource;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Info;

/**
 * A peer's request for a connection: the handle in the {@link Info} of an {@link EventType#CONNREQ} event.
 *
 * <pre>{@code
 * Endpoint endpoint = domain.openEndpoint(event.info());
 * endpoint.accept();
 * }</pre>
 *
 * <p>It has one answer: {@link Endpoint#accept()} of an endpoint that was opened with that info,
 * {@link PassiveEndpoint#reject(ConnectionRequest)}, or the close of this object or of the passive endpoint, which
 * rejects it too. Until then it counts against the backlog. Source: fi_endpoint(3), section fi_endpoint; fi_cm(3).
 */
public final class ConnectionRequest implements Fid, EndpointSource {
    private final PassiveEndpoint passive;
    private final long id;
    private final String localAddress;
    private final String peerAddress;
    private volatile boolean answered;

    ConnectionRequest(PassiveEndpoint passive, long id, String localAddress, String peerAddress) {
        this.passive = passive;
        this.id = id;
        this.localAddress = localAddress;
        this.peerAddress = peerAddress;
    }

    /**
     * The passive endpoint that was asked.
     *
     * @return perhaps closed.
     */
    public PassiveEndpoint passive() {
        return passive;
    }

    /**
     * The address of the peer that asks for the connection.
     *
     * @return the peer's address, also {@link Info#destAddr()} of the event.
     */
    public String peerAddress() {
        return peerAddress;
    }

    @Override
    public FidClass fidClass() {
        return FidClass.CONNREQ;
    }

    /**
     * Whether the request waits for its answer. The peer may be gone nevertheless.
     *
     * @return false once it was accepted or rejected, or its passive endpoint is closed.
     */
    @Override
    public boolean isOpen() {
        return !answered && passive.isOpen();
    }

    /** Rejects the request without data, if it has no answer yet. */
    @Override
    public void close() {
        passive.closeRequest(this);
    }

    @Override
    public String toString() {
        return "ConnectionRequest{peer=" + peerAddress + (isOpen() ? "" : ", answered") + '}';
    }

    long id() {
        return id;
    }

    String localAddress() {
        return localAddress;
    }

    void requireWaiting() {
        if (!isOpen()) {
            throw new FabricException(FabricErrno.EOPBADSTATE, this + " does not wait for an answer",
                "Answer each request once, before its passive endpoint is closed.");
        }
    }

    /** It has its answer, whatever becomes of that; under the fabric's lock. */
    void answer() {
        requireWaiting();
        answered = true;
    }
}
