package org.jfabric.driver.link;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;

/**
 * What the operating system gave an endpoint as its address, for example a bound socket. It is made before the endpoint
 * is opened, because the address is part of what the endpoint is; the link that the endpoint is attached to takes it
 * over and closes it when the endpoint is detached. That of an endpoint that connects is closed with it.
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
     * @return text of a {@link SocketName}.
     */
    public abstract String address();

    /**
     * Joins a group besides. Resource thread.
     *
     * @param group multicast address and port.
     * @return what receives the group's messages, for {@link Link#join}.
     * @throws FabricException {@code FI_EOPNOTSUPP} if the link has no groups, or why the group cannot be joined.
     */
    public BoundAddress join(SocketName group) {
        throw new FabricException(FabricErrno.EOPNOTSUPP, "the link of " + address() + " has no multicast groups");
    }

    /** Gives it back to the operating system; again does nothing. */
    public abstract void close();
}
