package org.jfabric.driver.link.rxm;

import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.InfoNarrowing;
import org.jfabric.driver.link.support.SocketLinkProvider;
import org.jfabric.driver.link.support.UnknownPeers;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Makes the rxm link: reliable datagrams by the protocol of libfabric's {@code ofi_rxm}, over the connections of
 * another link. Debian's libfabric 1.17 names it {@code tcp} if that other link is tcp.
 */
public final class RxmLinkProvider extends SocketLinkProvider {
    /** Name of the link over tcp. */
    public static final String NAME = "rxm";

    /** The orders of libfabric's provider over tcp: all but reads, or sends, that a later write must not overtake. */
    private static final long ORDER = Order.STRICT & ~(Order.WAR | Order.SAR)
        | Order.ATOMIC_RAR | Order.ATOMIC_RAW | Order.ATOMIC_WAW;
    private static final long ATOMIC_CAPS =
        Flags.ATOMIC | Flags.READ | Flags.WRITE | Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    /** Least eager limit for atomic operations: a compare operation of the greatest length fits into one packet. */
    private static final int ATOMIC_EAGER_BYTES = RxmPacket.RANGES_LENGTH + 2 * AtomicForm.MAX_BYTES;

    static final ChannelLimits LIMITS = new ChannelLimits(
        Integer.MAX_VALUE, 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES, Flags.INJECT_COMPLETE, ORDER);

    /** Below tcp's own protocol, which needs fewer packets. */
    private static final int SCORE = 40;

    private final LinkProvider below;

    /**
     * Makes a provider of the link over another one.
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
            new UnknownPeers.Limits(config.tcp().unknownPeerLimit(), config.tcp().unknownPeersPerHost()),
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
    protected ChannelLimits limits(DriverConfig config) {
        return LIMITS;
    }

    @Override
    protected long remoteCaps() {
        return ATOMIC_CAPS;
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info offer = super.offer(hints, driverName, config);
        offer.epAttr().maxOrderWarSize(0);
        if (config.rxm().eagerLimitBytes() < ATOMIC_EAGER_BYTES) {
            long caps = offer.caps() & ~ATOMIC_CAPS;
            offer.caps(caps);
            offer.txAttr().caps(caps & InfoNarrowing.TRANSMIT_CAPS).msgOrder(Order.SAS).rmaIovLimit(0);
            offer.rxAttr().caps(caps & InfoNarrowing.RECEIVE_CAPS).msgOrder(Order.SAS);
            offer.epAttr().maxOrderRawSize(0).maxOrderWawSize(0);
        }
        return offer;
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        return below.bind(wanted, config);
    }
}
