package org.jfabric.driver.link;

import java.security.MessageDigest;

/**
 * What a link sees of an endpoint of this driver. Owner: progress agent.
 */
public abstract class LocalEndpoint {
    /**
     * The endpoint's name within the driver.
     *
     * @return the last part of its address.
     */
    public abstract String name();

    /**
     * The endpoint's full address, as a peer would insert it.
     *
     * @return for example {@code jfabric://alpha/ep-3f2a9c01d4e5b677-3}.
     */
    public abstract String address();

    /**
     * Whether a remote endpoint may exchange messages with this one.
     *
     * @param remoteKey authorization key of the remote endpoint, empty for none.
     * @return true if both have the same key, or both have none.
     */
    public final boolean admits(byte[] remoteKey) {
        // in constant time: how long a wrong key was looked at must not tell its first right bytes
        return MessageDigest.isEqual(authKey(), remoteKey);
    }

    /**
     * The endpoint's authorization key.
     *
     * @return the live bytes, empty for none.
     */
    public abstract byte[] authKey();

    /**
     * What {@link LinkProvider#bind} gave the endpoint.
     *
     * @return the link's own object, or null.
     */
    public abstract BoundAddress bound();

    /**
     * Untagged receives that wait for a message, so that a link which may leave messages where they are takes no more
     * than can be placed.
     *
     * @return a count.
     */
    public abstract int postedReceives();

    /**
     * Whether the application has named a remote endpoint.
     *
     * @param remoteAddress the remote endpoint's address.
     * @return true if the endpoint's address vector holds it now.
     */
    public abstract boolean knows(String remoteAddress);

    /**
     * A remote endpoint opens a channel, or opens one that we are opening ourselves.
     *
     * @param remoteAddress the remote endpoint's address.
     * @return the engine's side for that remote endpoint; the same for the same address while it is up.
     */
    public abstract ChannelHandler handlerFor(String remoteAddress);
}
