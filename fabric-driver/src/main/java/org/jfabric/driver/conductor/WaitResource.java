package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.WaitPoint;

import java.security.SecureRandom;

/**
 * The wait point of one completion queue, counter or wait set, at which the driver wakes waiting threads, and its wait
 * channel, if it has one.
 *
 * <p>Owner: conductor; the point belongs to the progress thread.
 */
final class WaitResource {
    /** {@link #token()} of an object that has no channel. */
    static final long NO_CHANNEL = 0;

    private final WaitPoint point;
    private final long token;
    private ClientSocket channel;

    /**
     * A point without a channel yet.
     *
     * @param point wakes the waiting threads.
     * @param token admits the channel; {@link #NO_CHANNEL} if the object has none.
     */
    WaitResource(WaitPoint point, long token) {
        this.point = point;
        this.token = token;
    }

    /**
     * A token that only the client that opened the object receives.
     *
     * @return random, never {@link #NO_CHANNEL}.
     */
    static long randomToken() {
        // a client must not be able to guess the tokens of others from its own
        SecureRandom random = new SecureRandom();
        long token;
        do {
            token = random.nextLong();
        } while (token == NO_CHANNEL);
        return token;
    }

    /**
     * Wakes the waiting threads.
     *
     * @return only for calls on the progress thread.
     */
    WaitPoint point() {
        return point;
    }

    /**
     * The proof with which the client attaches the channel.
     *
     * @return the token, or {@link #NO_CHANNEL}.
     */
    long token() {
        return token;
    }

    /** The channel, null if none is attached. */
    ClientSocket channel() {
        return channel;
    }

    void channel(ClientSocket newChannel) {
        channel = newChannel;
    }
}
