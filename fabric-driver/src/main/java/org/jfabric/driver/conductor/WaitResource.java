package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.WaitPoint;

import java.security.SecureRandom;

/**
 * Where those are woken who wait for one completion queue, counter or wait set, and the wait channel that may belong
 * to it.
 *
 * <p>Owner: conductor; the point belongs to the progress thread.
 */
public final class WaitResource {
    /** {@link #token()} of an object that has no channel. */
    public static final long NO_CHANNEL = 0;

    private final WaitPoint point;
    private final long token;
    private ClientSocket channel;

    /**
     * A point without a channel yet.
     *
     * @param point wakes the waiting threads.
     * @param token who knows it may attach the channel; {@link #NO_CHANNEL} if nobody may.
     */
    public WaitResource(WaitPoint point, long token) {
        this.point = point;
        this.token = token;
    }

    /**
     * A token that only the client is told that opened the object.
     *
     * @return random, never {@link #NO_CHANNEL}.
     */
    public static long randomToken() {
        // who was told some tokens must not know those of others
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
    public WaitPoint point() {
        return point;
    }

    /**
     * What the client must know to attach the channel.
     *
     * @return the token, or {@link #NO_CHANNEL}.
     */
    public long token() {
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
