package org.jfabric.driver.link;

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
     * @return for example {@code jfabric://alpha/ep-3}.
     */
    public abstract String address();

    /**
     * A remote endpoint opens a channel, or opens one that we are opening ourselves.
     *
     * @param remoteAddress the remote endpoint's address.
     * @return the engine's side for that remote endpoint; the same for the same address while it is up.
     */
    public abstract ChannelHandler handlerFor(String remoteAddress);
}
