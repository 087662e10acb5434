package org.jfabric.driver.link.support;

import java.util.List;
import org.jfabric.EventEntry;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Base class of the providers of links with reliable datagrams and connections: addresses
 * {@code jfabric://driver/endpoint}, the limits of the engine, and the capabilities of JFabric's own wire. A link with
 * another wire overrides {@link #offer}.
 *
 * <p>Stateless; any thread.
 */
public abstract class ReliableLinkProvider extends LinkProvider {
    /** Largest private data of connections: as many bytes as one event of an event queue carries. */
    public static final int CM_DATA_BYTES = EventEntry.MAX_DATA_LENGTH;
    /** Capabilities that concern several peers; a connection has only one. */
    private static final long CONNECTIONLESS_CAPS = Flags.SOURCE | Flags.SOURCE_ERR | Flags.DIRECTED_RECV;

    /** Remote memory access of our own wire. */
    protected static final long REMOTE_CAPS = Flags.RMA | Flags.ATOMIC | Flags.READ | Flags.WRITE
        | Flags.REMOTE_READ | Flags.REMOTE_WRITE | Flags.RMA_EVENT | Flags.RMA_PMEM;

    private static final int MR_KEY_BYTES = 8;

    private final String name;
    private final Protocol protocol;
    private final int score;

    protected ReliableLinkProvider(String name, Protocol protocol, int score) {
        this.name = name;
        this.protocol = protocol;
        this.score = score;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        List<Reason> reasons = InfoComparison.compare(
            hints, offer(hints, driverName, config), limits(config).levels());
        String destination = hints.destAddr();
        if (destination != null && !destination.isEmpty()) {
            Reason unreachable = unreachable(destination, driverName);
            if (unreachable != null) {
                reasons.add(unreachable);
            }
        }
        return new Verdict(name, reasons.isEmpty(), score, reasons);
    }

    @Override
    public int cmDataBytes() {
        return CM_DATA_BYTES;
    }

    @Override
    public final Info info(Info hints, String driverName, DriverConfig config) {
        return InfoNarrowing.narrow(hints, offer(hints, driverName, config));
    }

    /**
     * Checks whether the link can reach a destination. Returns null if the connection can be tried, else the reason.
     */
    protected abstract Reason unreachable(String destination, String driverName);

    protected abstract ChannelLimits limits(DriverConfig config);

    /**
     * The limits of a channel of JFabric's own wire.
     *
     * @param segmentLimitBytes longest segment in bytes, 0 if the link needs no segments.
     */
    protected static ChannelLimits limits(DriverConfig config, int segmentLimitBytes) {
        return new ChannelLimits(
            config.get(EngineConfig.EAGER_LIMIT_BYTES),
            segmentLimitBytes,
            MemoryRegionDescriptor.MAX_LENGTH,
            Long.BYTES,
            Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE,
            Order.STRICT | Order.RMA_RAR | Order.RMA_RAW | Order.RMA_WAR | Order.RMA_WAW | Order.ATOMIC_RAR
                | Order.ATOMIC_RAW | Order.ATOMIC_WAR | Order.ATOMIC_WAW);
    }

    /** The capabilities of remote memory access. Returns 0 unless the link has it. */
    protected long remoteCaps() {
        return 0;
    }

    /** Most ranges of a peer's memory that one read or write may name (rma_iov_limit). Returns 1 or more. */
    protected int remoteRanges() {
        return 1;
    }

    /**
     * The capability of groups, for connectionless endpoints that request it. Returns 0 or {@code Flags.MULTICAST}.
     */
    protected long groupCaps() {
        return 0;
    }

    /** Whether the wire can name the contexts of a scalable endpoint. */
    protected boolean namesContexts() {
        return false;
    }

    /**
     * All attributes that the link offers.
     *
     * @param hints      the application's hints: some members are its choice.
     * @return a new object, which a link with another wire may change.
     */
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        long caps = Flags.MSG | Flags.TAGGED | Flags.SEND | Flags.RECV | Flags.DIRECTED_RECV | Flags.SOURCE
            | Flags.SOURCE_ERR | Flags.MULTI_RECV | Flags.TRIGGER | Flags.FENCE | Flags.LOCAL_COMM | remoteCaps();
        EndpointType type = EndpointType.RDM;
        if (hints.epAttr().type() == EndpointType.MSG) {
            type = EndpointType.MSG;
            caps &= ~CONNECTIONLESS_CAPS;
        }
        if (type == EndpointType.RDM && hints.caps() != 0) {
            caps |= groupCaps();
        }
        boolean isScalable = namesContexts() && type == EndpointType.RDM;
        if (isScalable) {
            caps |= Flags.NAMED_RX_CTX;
        }
        Info info = new Offer(name, type, protocol, caps, limits(config)).info(hints, driverName, config);
        if (isScalable) {
            info.domainAttr().maxEpTxCtx(ContextName.MAX_CONTEXTS).maxEpRxCtx(ContextName.MAX_CONTEXTS);
        }
        info.rxAttr().totalBufferedRecv(config.get(EngineConfig.UNEXPECTED_BUDGET_BYTES));
        info.epAttr().protocolVersion(1).memTagFormat(FabricAddress.TAG_FORMAT_GENERIC);
        info.domainAttr().mrKeySize(MR_KEY_BYTES);
        long accesses = Flags.RMA | Flags.ATOMIC;
        if ((caps & accesses) != 0 && (hints.caps() == 0 || (hints.caps() & accesses) != 0)) {
            long any = FabricAddress.ORDER_SIZE_UNLIMITED;
            info.txAttr().rmaIovLimit(remoteRanges());
            boolean keepsWar = (info.txAttr().msgOrder() & Order.WAR) != 0;
            info.epAttr().maxOrderRawSize(any).maxOrderWarSize(keepsWar ? any : 0).maxOrderWawSize(any);
        } else {
            // without accesses there is nothing else that is kept in order
            info.txAttr().msgOrder(info.txAttr().msgOrder() & Order.SAS);
            info.rxAttr().msgOrder(info.rxAttr().msgOrder() & Order.SAS);
        }
        return info;
    }
}
