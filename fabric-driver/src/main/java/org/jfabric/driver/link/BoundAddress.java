package org.jfabric.driver.link;

/**
 * What the operating system gave an endpoint as its address, for example a bound socket. It is made before the endpoint
 * is opened, because the address is part of what the endpoint is; the link that the endpoint is attached to takes it
 * over and closes it when the endpoint is detached.
 *
 * <p>Made on the resource thread; owner afterwards: progress agent.
 */
public abstract class BoundAddress {
    /** For links. */
    protected BoundAddress() {
    }

    /**
     * The address that peers insert.
     *
     * @return text of a {@link org.jfabric.SocketName}.
     */
    public abstract String address();

    /** Gives it back to the operating system; again does nothing. */
    public abstract void close();
}
