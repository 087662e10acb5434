package org.jfabric.driver.link.rxm;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.RxmConfig;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.support.CardAccess;
import org.jfabric.driver.link.support.InfoNarrowing;
import org.jfabric.driver.link.support.SocketLinkProvider;
import org.jfabric.driver.link.support.UnknownPeers;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Makes the rxm link: reliable datagrams by the protocol of libfabric's {@code ofi_rxm}, over the connections of
 * another link. Debian's libfabric 1.17 names it {@code tcp} if that other link is tcp.
 */
public final class RxmLinkProvider extends SocketLinkProvider {
    /** Name of the link over tcp. */
    public static final String NAME = "rxm";
    static final String TLS_NAME = "tlsrxm";
    static final String VERBS_NAME = "verbsrxm";

    /** Atomic operations are executed when they arrive, in the order of the packets. */
    private static final long ATOMIC_ORDER = Order.ATOMIC_RAR | Order.ATOMIC_RAW | Order.ATOMIC_WAW;
    private static final long ACCESSES = Flags.READ | Flags.WRITE | Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    /** A card does not keep the order of its accesses and the driver's atomic operations. */
    private static final long MIXED_ORDER = Order.RAR | Order.RAW | Order.WAW;
    /** Least eager limit for atomic operations: a compare operation of the greatest length fits into one packet. */
    private static final int ATOMIC_EAGER_BYTES = RxmPacket.RANGES_LENGTH + 2 * AtomicForm.MAX_BYTES;
    /** The stronger ones are confirmed by the peer's read of the payload. */
    private static final long LEVELS =
        Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;

    static final ChannelLimits LIMITS = new ChannelLimits(
        Integer.MAX_VALUE, 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES, LEVELS, Order.SAS);

    /** Below tcp's own protocol, which needs fewer packets. */
    private static final int SCORE = 40;
    private static final int TLS_SCORE = 30;

    private final LinkProvider below;
    /** Whether cards read and write remote memory, under keys and addresses of their own. */
    private final boolean isByCard;

    /** Makes a provider of the link over another one. */
    public RxmLinkProvider(String name, LinkProvider below) {
        this(name, SCORE, below);
    }

    private RxmLinkProvider(String name, int score, LinkProvider below) {
        super(name, Protocol.RXM, score, LEVELS);
        this.below = below;
        this.isByCard = below.staysOnFirstThread();
    }

    /** Makes a provider of the encrypted link. Returns a provider without state. */
    public static RxmLinkProvider overTls(LinkProvider below) {
        return new RxmLinkProvider(TLS_NAME, TLS_SCORE, below);
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        RxmSettings settings = new RxmSettings(
            config.get(RxmConfig.EAGER_LIMIT_BYTES), config.get(RxmConfig.SEGMENTED_LIMIT_BYTES),
            config.get(TcpConfig.CONNECT_TIMEOUT_NS),
            UnknownPeers.Limits.of(config),
            config.get(TcpConfig.UNKNOWN_PEER_TIMEOUT_NS), config.get(TcpConfig.TAKEOVER));
        return new RxmLink(name(), below.open(services, config), services, settings);
    }

    @Override
    public boolean isEncrypted() {
        return below.isEncrypted();
    }

    @Override
    public boolean staysOnFirstThread() {
        return below.staysOnFirstThread();
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
        ChannelLimits stream = super.limits(config);
        return new ChannelLimits(
            stream.eagerLimitBytes(), 0, stream.maxMessageBytes(), stream.cqDataBytes(), LEVELS,
            stream.messageOrder() | ATOMIC_ORDER);
    }

    /** The wire cannot report accesses to their target: {@code FI_RMA_EVENT} is refused. */
    @Override
    protected long remoteCaps() {
        return ACCESSES | Flags.ATOMIC | (isByCard ? 0 : Flags.RMA);
    }

    @Override
    protected int remoteRanges() {
        return isByCard ? 1 : RemoteRanges.MAX_RANGES;
    }

    /** Only for applications that name it: keys and addresses are of another kind than over other links. */
    private boolean asksCard(Info hints) {
        return isByCard && (hints.caps() & Flags.RMA) != 0;
    }

    @Override
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        Verdict verdict = super.verdict(hints, driverName, config);
        if (!asksCard(hints) || hints.domainAttr().mrMode() != 0) {
            return verdict;
        }
        List<Reason> reasons = new ArrayList<>(verdict.chosen() ? List.of() : verdict.reasons());
        reasons.add(CardAccess.unnamed());
        return new Verdict(name(), false, verdict.score(), reasons);
    }

    @Override
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        Info offer = super.offer(hints, driverName, config);
        boolean hasAtomics = config.get(RxmConfig.EAGER_LIMIT_BYTES) >= ATOMIC_EAGER_BYTES;
        // an injected write by a card is one packet
        offer.txAttr().injectSize(Math.min(offer.txAttr().injectSize(),
            Math.max(config.get(QueueConfig.INJECT_SIZE_BYTES), config.get(RxmConfig.EAGER_LIMIT_BYTES))));
        boolean hasReads = !isByCard || asksCard(hints);
        long caps = offer.caps();
        long order = offer.txAttr().msgOrder();
        if (asksCard(hints)) {
            caps |= Flags.RMA;
            order &= (hints.caps() & Flags.ATOMIC) != 0 ? ~MIXED_ORDER : ~0L;
            CardAccess.describe(offer, CardAccess.LONGEST_BYTES);
        }
        if (!hasAtomics) {
            caps &= ~(hasReads ? Flags.ATOMIC : Flags.ATOMIC | ACCESSES);
            order &= hasReads ? ~ATOMIC_ORDER : Order.SAS;
        }
        offer.caps(caps);
        offer.txAttr().caps(caps & InfoNarrowing.TRANSMIT_CAPS).msgOrder(order);
        offer.rxAttr().caps(caps & InfoNarrowing.RECEIVE_CAPS).msgOrder(order);
        return offer;
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        return below.bind(wanted, config);
    }
}
