package org.jfabric.driver.link;

import org.agrona.DirectBuffer;

/**
 * Accepts connections of other drivers that arrive at the driver's socket. Owner: progress agent, but
 * for {@link #thread}.
 */
public abstract class PeerAcceptor {
    /** For the link that connects drivers through the socket. */
    protected PeerAcceptor() {
    }

    /**
     * The progress thread that a connection is for. Conductor.
     *
     * @param hello  the first message, without its length prefix; valid during the call.
     * @return number of the thread as the peer has written it; -1 if the connection is for another acceptor.
     */
    public abstract int thread(DirectBuffer hello, int length);

    /**
     * Another driver of this user has connected and sent its hello message. The acceptor owns the descriptor from now
     * on.
     *
     * @param fd     non-blocking descriptor; the peer's uid is that of this driver.
     * @param hello  the first message, without its length prefix; valid during the call.
     */
    public abstract void onPeer(int fd, DirectBuffer hello, int length);
}
