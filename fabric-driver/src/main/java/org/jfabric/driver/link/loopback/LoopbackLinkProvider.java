package org.jfabric.driver.link.loopback;

import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.ReliableLinkProvider;

/**
 * Makes the loopback link.
 */
public final class LoopbackLinkProvider extends ReliableLinkProvider {
    /** The link's name. */
    public static final String NAME = "loopback";

    private static final int SCORE = 100;

    /** A provider; it has no state. */
    public LoopbackLinkProvider() {
        super(NAME, Protocol.JFABRIC_LOOPBACK, SCORE);
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new LoopbackLink(services.driverName(), limits(config));
    }

    @Override
    protected Reason unreachable(String destination, String driverName) {
        return driverName.equals(FabricName.driverOf(destination)) ? null : new Reason(
            "destination",
            destination,
            FabricName.of(driverName, "<endpoint>"),
            "Loopback reaches only endpoints of this driver; use shm for another driver on this host");
    }

    @Override
    protected ChannelLimits limits(DriverConfig config) {
        return limits(config, 0);
    }
}
