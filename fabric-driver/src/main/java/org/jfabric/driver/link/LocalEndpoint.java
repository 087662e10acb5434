package org.jfabric.driver.link;

import java.security.MessageDigest;
import org.jfabric.driver.resource.ReadPlace;
import org.jfabric.info.TimestampClock;

/**
 * An endpoint of this driver, as links see it. Owner: progress agent.
 */
public abstract class LocalEndpoint {
    /** The endpoint's name within the driver. */
    public abstract String name();

    /**
     * The endpoint's full address, as a peer would insert it, for example {@code
     * jfabric://alpha/ep-3f2a9c01d4e5b677-3}.
     */
    public abstract String address();

    /**
     * Whether a remote endpoint may exchange messages with this one.
     *
     * @param remoteKey authorization key of the remote endpoint, empty for none.
     * @return true if both have the same key, or both have none.
     */
    public final boolean admits(byte[] remoteKey) {
        // in constant time: the duration of the comparison must not reveal how many leading bytes are right
        return MessageDigest.isEqual(authKey(), remoteKey);
    }

    /** The endpoint's authorization key. Returns the live bytes, empty for none. */
    public abstract byte[] authKey();

    /**
     * The address that {@link LinkProvider#bind} has bound for the endpoint. Returns the link's own object, or null.
     */
    public abstract BoundAddress bound();

    /**
     * The class of its messages, for links whose network has classes. Returns a label or code point of {@link
     * org.jfabric.info.TrafficClass}, 0 for none.
     */
    public abstract int trafficClass();

    /**
     * Whose clock the times of arrival are of that its messages get ({@link ChannelHandler#arrivedAt}). Returns null if
     * they get none.
     */
    public TimestampClock arrivals() {
        return null;
    }

    /**
     * The domain whose regions the peers may access, for cards that check that themselves.
     *
     * @param accesses {@code Flags.RMA}, {@code Flags.ATOMIC} or both: those that cards execute.
     * @return an object that stands for the domain by its identity; null if the endpoint has none of these accesses.
     */
    public Object memoryDomain(long accesses) {
        return null;
    }

    /**
     * Where a client that reads a group in place says how far it is. Returns the same object always; null without a
     * completion queue for receives.
     */
    public ReadPlace readPlace() {
        return null;
    }

    /**
     * Number of untagged receives that wait for a message. A link that can leave messages unread uses it to process no
     * more of them than can be placed.
     */
    public abstract int postedReceives();

    /** Whether the application has inserted a remote endpoint's address. */
    public abstract boolean knows(String remoteAddress);

    /**
     * A remote endpoint opens a channel, perhaps while this side is opening one to it as well. Returns the engine's
     * side for that remote endpoint; the same object for the same address while the channel is up.
     */
    public abstract ChannelHandler handlerFor(String remoteAddress);
}
