package org.jfabric.driver.link.loopback;

import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.ReliableLinkProvider;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;

/**
 * Makes the loopback link.
 */
public final class LoopbackLinkProvider extends ReliableLinkProvider {
    public static final String NAME = "loopback";

    private static final int SCORE = 100;

    /** Makes a provider; it has no state. */
    public LoopbackLinkProvider() {
        super(NAME, Protocol.JFABRIC_LOOPBACK, SCORE);
    }

    @Override
    public boolean staysInDriver() {
        return true;
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new LoopbackLink(services, limits(config));
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
    protected long remoteCaps() {
        return REMOTE_CAPS;
    }

    @Override
    protected boolean namesContexts() {
        return true;
    }

    @Override
    protected ChannelLimits limits(DriverConfig config) {
        return limits(config, 0);
    }
}
