package org.jfabric.driver.link.shm;

import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Order;
import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.Verdict;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.InfoComparison;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.layout.MemoryRegionDescriptor;

import java.util.List;

/**
 * Makes the shm link.
 */
public final class ShmLinkProvider extends LinkProvider {
    /** The link's name. */
    public static final String NAME = "shm";

    private static final int SCORE = 90;

    /** A provider; it has no state. */
    public ShmLinkProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        List<Reason> reasons = InfoComparison.compare(hints, offer(hints, driverName, config));
        String destination = hints.destAddr();
        if (destination != null && !destination.isEmpty() && FabricName.driverOf(destination) == null) {
            reasons.add(new Reason(
                "destination",
                destination,
                FabricName.of("<driver>", "<endpoint>"),
                "Shm reaches endpoints of this user's drivers on this host only"));
        }
        return new Verdict(NAME, reasons.isEmpty(), SCORE, reasons);
    }

    @Override
    public Info info(Info hints, String driverName, DriverConfig config) {
        return InfoComparison.narrow(hints, offer(hints, driverName, config));
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new ShmLink(services, config.shm(), limits(config));
    }

    private static Info offer(Info hints, String driverName, DriverConfig config) {
        return InfoComparison.offer(hints, NAME, Protocol.JFABRIC_SHM, limits(config), driverName, config);
    }

    private static ChannelLimits limits(DriverConfig config) {
        return new ChannelLimits(
            config.engine().eagerLimitBytes(),
            config.shm().segmentLengthBytes(),
            MemoryRegionDescriptor.MAX_LENGTH,
            Long.BYTES,
            Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE,
            Order.SAS);
    }
}
