package org.jfabric.driver.link.support;

import org.jfabric.info.SocketName;

/**
 * A peer of a reliable-datagram endpoint, as {@link CrossingRequests} sees it: at most one connection at a time.
 *
 * <p>Owner: progress agent.
 */
public interface CrossingPeer {
    /** The address at which the peer's endpoint listens. */
    SocketName remote();

    /** The same address as text, the key by which peers are found. */
    String remoteAddress();

    /** Whether messages can be exchanged. */
    boolean isUp();

    /**
     * Whether an attempt of this side to connect is under way.
     *
     * @return false also between two attempts.
     */
    boolean isConnecting();

    /** The number that the peer has given to this incarnation of its endpoint. Returns 0 while it is not known. */
    int process();

    /** The channel that uses the connection, never null while {@link #isUp()}. */
    MessageChannel messages();

    /**
     * Whether a message of the peer has begun to arrive and makes no progress; see {@link StallWatch}.
     *
     * @param nowNs     current time in nanoseconds.
     * @param timeoutNs nanoseconds allowed without progress.
     * @return false while it is not up.
     */
    boolean isStalled(long nowNs, long timeoutNs);

    /**
     * Whether a message of the peer has begun to arrive and is not complete; {@link #isStalled} has to be asked then.
     */
    boolean isMidMessage();

    /** Abandons this side's attempt to connect, because the peer's request is accepted instead. */
    void dropAttempt();

    /**
     * Ends the connection, which is up; {@link CrossingRequests#remove} is called before this returns.
     *
     * @param errno reason, a positive fabric errno.
     */
    void lose(int errno);

    /** Ends the connection as {@link #lose} does, because {@link #isStalled} was true, and logs it. */
    void loseStalled();
}
