package org.jfabric.driver.link.shm;

import org.jfabric.FabricErrno;
import org.jfabric.driver.link.ConnectionHandler;

/**
 * One side of a connection that is being made: of the side that asks until it has its answer, of the side that accepts
 * until its answer is in the ring.
 *
 * <p>Owner: progress agent.
 */
final class ShmConnecting {
    static final byte[] NO_DATA = {};

    private final ShmRequests requests;
    private final ShmChannel channel;
    private final ConnectionHandler handler;
    private final byte[] cmData;
    /** Null at the side that asks. */
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

    ShmChannel channel() {
        return channel;
    }

    /** Private data to be sent. */
    byte[] cmData() {
        return cmData;
    }

    ShmIncoming incoming() {
        return incoming;
    }

    /** Credit that the answer carries. */
    int grant() {
        return grant;
    }

    int grant(int newGrant) {
        grant = newGrant;
        return newGrant;
    }

    /** Both sides know each other; messages may follow. */
    void made(int remoteId, int remoteShort, int peerGrant, byte[] answer) {
        channel.connecting = null;
        channel.remote(remoteId, remoteShort);
        channel.state = ShmChannel.UP;
        channel.frameHandler().onGrant(peerGrant);
        handler.onConnected(channel.localAddress(), channel.remoteAddress(), answer);
        channel.handler().onUp(channel);
    }

    /** The channel is closed by the link: its handler is told. */
    void failed(int errno) {
        failed(incoming == null ? errno : FabricErrno.ECONNABORTED, NO_DATA);
    }

    void failed(int errno, byte[] answer) {
        channel.connecting = null;
        handler.onFailed(errno, answer);
    }

    /** The handler has closed the channel: the peer is told, if it knows of it. */
    void givenUp() {
        channel.connecting = null;
        requests.givenUp(this);
    }
}
