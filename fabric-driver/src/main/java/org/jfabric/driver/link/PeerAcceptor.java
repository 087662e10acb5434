package org.jfabric.driver.link;

import org.agrona.DirectBuffer;

/**
 * Takes connections of other drivers that arrive at the driver's socket. Owner: progress agent.
 */
public abstract class PeerAcceptor {
    /** For the link that connects drivers through the socket. */
    protected PeerAcceptor() {
    }

    /**
     * Another driver of this user has connected and said hello. The descriptor is the acceptor's from now on.
     *
     * @param fd     non-blocking descriptor; the peer's uid is that of this driver.
     * @param hello  the first message, without its length prefix; valid during the call.
     * @param length bytes.
     */
    public abstract void onPeer(int fd, DirectBuffer hello, int length);
}
