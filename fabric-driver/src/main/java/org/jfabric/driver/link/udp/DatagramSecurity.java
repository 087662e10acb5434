package org.jfabric.driver.link.udp;

import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.LinkServices;

/**
 * What the encrypted endpoints of a link have in common.
 *
 * <p>Owner: progress agent.
 */
public interface DatagramSecurity extends AutoCloseable {
    /** Makes it for a link that is about to be opened. */
    interface Maker {
        /** Reads the keys. */
        DatagramSecurity make(LinkServices services, DriverConfig config);

        /** The longest message of which a sealed record fits into a datagram. */
        int longestBytes(int datagramBytes);
    }

    /** The sessions of an endpoint with its peers. */
    DatagramSessions open(UdpEndpoint endpoint, UdpPort port);

    @Override
    void close();
}
