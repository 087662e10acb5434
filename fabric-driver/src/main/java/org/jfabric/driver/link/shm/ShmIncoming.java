package org.jfabric.driver.link.shm;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.LocalEndpoint;

/** A connection request of another driver's endpoint. Owner: progress agent. */
final class ShmIncoming extends IncomingConnection {
    private final ShmRequests requests;
    private final int source;
    private final int shortSource;
    private final int grant;
    private final String remoteAddress;
    private final byte[] cmData;
    private boolean gone;

    ShmIncoming(ShmRequests requests, int source, int shortSource, int grant, String remoteAddress, byte[] cmData) {
        this.requests = requests;
        this.source = source;
        this.shortSource = shortSource;
        this.grant = grant;
        this.remoteAddress = remoteAddress;
        this.cmData = cmData;
    }

    /** The peer's id of its channel. */
    int source() {
        return source;
    }

    /** The peer's short number of its channel, or {@link ShmShortNumbers#NONE}. */
    int shortSource() {
        return shortSource;
    }

    /** Byte credit that the request carried. */
    int grant() {
        return grant;
    }

    /** Whether the peer has withdrawn the request, or its driver has died. */
    boolean isGone() {
        return gone;
    }

    void gone() {
        gone = true;
    }

    @Override
    public String remoteAddress() {
        return remoteAddress;
    }

    @Override
    public byte[] cmData() {
        return cmData;
    }

    @Override
    public Channel accept(LocalEndpoint endpoint, byte[] answer, ConnectionHandler handler) {
        return requests.accept(this, endpoint, answer, handler);
    }

    @Override
    public void reject(byte[] answer) {
        requests.reject(this, answer);
    }
}
