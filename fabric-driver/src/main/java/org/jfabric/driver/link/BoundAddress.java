package org.jfabric.driver.link;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * An address that the operating system has given to an endpoint, for example a bound socket. It is made before the
 * endpoint is opened, because the address is part of the endpoint's identity. The link to which the endpoint is
 * attached takes ownership, and closes it when the endpoint is detached. The address of a connection-oriented endpoint
 * is closed together with the endpoint.
 *
 * <p>Made on the resource thread; owner afterwards: progress agent.
 */
public abstract class BoundAddress {
    protected BoundAddress() {
    }

    /** The address that peers insert. Returns the text of a {@link SocketName}. */
    public abstract String address();

    /**
     * The address by one of the endpoint's links. Returns the same as {@link #address()}, unless the endpoint has an
     * address for each link.
     */
    public String address(String linkName) {
        return address();
    }

    /**
     * The object that a link takes ownership of. Returns this object, unless the endpoint has an address for each link;
     * null if that link needs none.
     */
    public BoundAddress of(String linkName) {
        return this;
    }

    /**
     * Whether the endpoint can have a link.
     *
     * @param linkName name of a link that was chosen before the address was bound.
     * @return false if that link has found no address.
     */
    public boolean serves(String linkName) {
        return true;
    }

    /**
     * Joins a multicast group in addition. Resource thread.
     *
     * @return the receiving side of the group, to be passed to {@link Link#join}.
     * @throws FabricException {@code FI_EOPNOTSUPP} if the link has no groups, or another errno if the group cannot be
     *     joined.
     */
    public BoundAddress join(SocketName group) {
        throw new FabricException(FabricErrno.EOPNOTSUPP, "the link of " + address() + " has no multicast groups");
    }

    /** Gives the address back to the operating system. A second call does nothing. */
    public abstract void close();
}
