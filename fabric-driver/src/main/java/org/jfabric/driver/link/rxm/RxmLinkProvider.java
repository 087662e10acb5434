package org.jfabric.driver.link.rxm;

import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Order;
import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.SocketLinkProvider;
import org.jfabric.driver.link.support.Strangers;
import org.jfabric.layout.MemoryRegionDescriptor;

import java.util.List;

/**
 * Makes the rxm link: reliable datagrams by the protocol of libfabric's {@code ofi_rxm}, over the connections of
 * another link. Debian's libfabric 1.17 calls it {@code tcp} where that other link is tcp.
 */
public final class RxmLinkProvider extends SocketLinkProvider {
    /** Name of the link over tcp. */
    public static final String NAME = "rxm";

    static final ChannelLimits LIMITS = new ChannelLimits(
        Integer.MAX_VALUE, 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES, Flags.INJECT_COMPLETE, Order.SAS);

    /** Below tcp's own protocol, which needs fewer packets. */
    private static final int SCORE = 40;

    private final LinkProvider below;

    /**
     * A provider of the link over another one.
     *
     * @param name  of the link.
     * @param below makes the link whose connections are used.
     */
    public RxmLinkProvider(String name, LinkProvider below) {
        super(name, Protocol.RXM, SCORE, LIMITS.levels());
        this.below = below;
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        RxmSettings settings = new RxmSettings(
            config.rxm().eagerLimitBytes(), config.rxm().segmentedLimitBytes(), config.tcp().connectTimeoutNs(),
            new Strangers.Limits(config.tcp().strangerLimit(), config.tcp().strangersPerHost()),
            config.tcp().unknownPeerTimeoutNs(), config.tcp().takeover());
        return new RxmLink(name(), below.open(services, config), services, settings);
    }

    @Override
    public List<Reason> obstacles(DriverConfig config) {
        return below.obstacles(config);
    }

    @Override
    public List<Reason> bounds(DriverConfig config) {
        return below.bounds(config);
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        return below.bind(wanted, config);
    }
}
