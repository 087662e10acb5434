package org.jfabric.driver.conductor;

import java.security.SecureRandom;
import java.util.Arrays;
import org.jfabric.driver.resource.WaitPoint;

/**
 * The wait point of one completion queue, counter or wait set, at which the driver wakes waiting threads, and its wait
 * channel, if it has one.
 *
 * <p>Owner: conductor; the points belong to the progress threads.
 */
final class WaitResource {
    /** {@link #token()} of an object that has no channel. */
    static final long NO_CHANNEL = 0;

    private final WaitPoint[] points;
    private final long token;
    private ClientSocket channel;

    /**
     * A point without a channel yet.
     *
     * @param points one for each progress thread; all wake the same waiting threads.
     * @param token admits the channel; {@link #NO_CHANNEL} if the object has none.
     */
    WaitResource(WaitPoint[] points, long token) {
        this.points = points;
        this.token = token;
    }

    /** A token that only the client that opened the object receives, random, never {@link #NO_CHANNEL}. */
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
     * Points of one object, for the progress threads of a driver.
     *
     * @param line  native address of the object's wait words.
     */
    static WaitPoint[] points(int count, long line) {
        WaitPoint[] points = new WaitPoint[count];
        Arrays.setAll(points, thread -> new WaitPoint(line));
        return points;
    }

    /** Wakes the waiting threads, by number of the progress thread; only for calls on that thread. */
    WaitPoint[] points() {
        return points;
    }

    /** The proof with which the client attaches the channel. Returns the token, or {@link #NO_CHANNEL}. */
    long token() {
        return token;
    }

    /** The token of an object with a wait resource or, if that is null, without one. */
    static long token(WaitResource resource) {
        return resource == null ? NO_CHANNEL : resource.token;
    }

    /** The channel, null if none is attached. */
    ClientSocket channel() {
        return channel;
    }

    void channel(ClientSocket newChannel) {
        channel = newChannel;
    }
}
