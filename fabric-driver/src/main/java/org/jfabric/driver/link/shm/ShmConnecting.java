package org.jfabric.driver.link.shm;

import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.info.FabricErrno;

/**
 * One side of a connection that is being established: of the requesting side until the answer arrives, of the accepting
 * side until its answer is in the ring.
 *
 * <p>Owner: progress agent.
 */
final class ShmConnecting {
    static final byte[] NO_DATA = {};

    private final ShmRequests requests;
    private final ShmChannel channel;
    private final ConnectionHandler handler;
    private final byte[] cmData;
    /** The request; null at the requesting side. */
    private final ShmIncoming incoming;
    private int grant;

    ShmConnecting(
        ShmRequests requests, ShmChannel channel, ConnectionHandler handler, byte[] cmData, ShmIncoming incoming) {
        this.requests = requests;
        this.channel = channel;
        this.handler = handler;
        this.cmData = cmData;
        this.incoming = incoming;
    }

    /** The same attempt on another connection. */
    ShmConnecting on(ShmRequests others) {
        return new ShmConnecting(others, channel, handler, cmData, incoming);
    }

    ShmChannel channel() {
        return channel;
    }

    /** Private data to send. */
    byte[] cmData() {
        return cmData;
    }

    ShmIncoming incoming() {
        return incoming;
    }

    /** Byte credit that the answer carries. */
    int grant() {
        return grant;
    }

    int grant(int newGrant) {
        grant = newGrant;
        return newGrant;
    }

    /** The connection is established; messages may follow. */
    void made(int remoteId, int remoteShort, int peerGrant, byte[] answer) {
        channel.connecting = null;
        channel.remote(remoteId, remoteShort);
        channel.state = ShmChannel.UP;
        channel.frameHandler().onGrant(peerGrant);
        handler.onConnected(channel.localAddress(), channel.remoteAddress(), answer);
        channel.handler().onUp(channel);
    }

    /** The link closes the channel: reports that the connection has failed. */
    void failed(int errno) {
        failed(incoming == null ? errno : FabricErrno.ECONNABORTED, NO_DATA);
    }

    void failed(int errno, byte[] answer) {
        channel.connecting = null;
        handler.onFailed(errno, answer);
    }

    /** The engine has closed the channel: withdraws or rejects the request, if the peer knows of it. */
    void abandon() {
        channel.connecting = null;
        requests.abandon(this);
    }
}
