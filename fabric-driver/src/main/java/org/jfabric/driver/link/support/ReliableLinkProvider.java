package org.jfabric.driver.link.support;

import org.jfabric.AddressFormat;
import org.jfabric.AddressVectorType;
import org.jfabric.EndpointType;
import org.jfabric.EventEntry;
import org.jfabric.FabricAddress;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Order;
import org.jfabric.Progress;
import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.ResourceManagement;
import org.jfabric.Threading;
import org.jfabric.TrafficClass;
import org.jfabric.Verdict;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.PieceList;
import org.jfabric.layout.MemoryRegionDescriptor;

import java.util.List;

/**
 * What links with reliable datagrams and connections have in common: addresses {@code jfabric://driver/endpoint}, the
 * limits of the engine, what our own wire can do. A link of another wire says in {@link #offer} what differs.
 *
 * <p>Stateless; any thread.
 */
public abstract class ReliableLinkProvider extends LinkProvider {
    /** Private data of connections: what one event of an event queue carries. */
    public static final int CM_DATA_BYTES = EventEntry.MAX_DATA_LENGTH;
    /** Capabilities that concern several peers, of which a connection has one. */
    private static final long CONNECTIONLESS_CAPS = Flags.SOURCE | Flags.SOURCE_ERR | Flags.DIRECTED_RECV;

    private final String name;
    private final Protocol protocol;
    private final int score;

    /**
     * A provider of one link.
     *
     * @param name     the link's name.
     * @param protocol what endpoints of the link report.
     * @param score    greater is preferred.
     */
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
     * Why a destination cannot be reached.
     *
     * @param destination address of a remote endpoint.
     * @param driverName  name of this driver.
     * @return the reason, or null if it can be tried.
     */
    protected abstract Reason unreachable(String destination, String driverName);

    /**
     * What channels of the link can carry.
     *
     * @param config options of the driver.
     * @return the limits.
     */
    protected abstract ChannelLimits limits(DriverConfig config);

    /**
     * Limits of a channel of our own wire.
     *
     * @param config            options of the driver.
     * @param segmentLimitBytes longest segment, 0 if the link needs none.
     * @return the limits.
     */
    protected static ChannelLimits limits(DriverConfig config, int segmentLimitBytes) {
        return new ChannelLimits(
            config.engine().eagerLimitBytes(),
            segmentLimitBytes,
            MemoryRegionDescriptor.MAX_LENGTH,
            Long.BYTES,
            Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE,
            Order.SAS);
    }

    /**
     * Everything that the link offers, to whoever asks.
     *
     * @param hints      what the application asks for: some members are its choice.
     * @param driverName name of the driver.
     * @param config     options of the driver.
     * @return a new object, which a link of another wire may change.
     */
    protected Info offer(Info hints, String driverName, DriverConfig config) {
        ChannelLimits limits = limits(config);
        long caps = Flags.MSG | Flags.TAGGED | Flags.SEND | Flags.RECV | Flags.DIRECTED_RECV | Flags.SOURCE
            | Flags.SOURCE_ERR | Flags.MULTI_RECV | Flags.FENCE | Flags.LOCAL_COMM;
        EndpointType type = EndpointType.RDM;
        if (hints.epAttr().type() == EndpointType.MSG) {
            type = EndpointType.MSG;
            caps &= ~CONNECTIONLESS_CAPS;
        }
        long order = limits.messageOrder();
        Info info = new Info();
        info.caps(caps).mode(0).addrFormat(AddressFormat.ADDR_STR).linkName(name);
        // STRICT makes entries wait for each other, so only applications that ask have it; DATA is never offered,
        // because the bytes of a message are copied in any order
        info.txAttr().caps(caps & InfoNarrowing.TRANSMIT_CAPS).msgOrder(order)
            .compOrder(completionOrder(hints.txAttr().compOrder()))
            .opFlags(Flags.TRANSMIT_COMPLETE).size(size(hints.txAttr().size(), config.queue().txSize()))
            .iovLimit(PieceList.MAX_PIECES)
            .injectSize(config.queue().injectSizeBytes());
        info.rxAttr().caps(caps & InfoNarrowing.RECEIVE_CAPS).msgOrder(order)
            .compOrder(completionOrder(hints.rxAttr().compOrder()))
            .size(size(hints.rxAttr().size(), config.queue().rxSize())).iovLimit(PieceList.MAX_PIECES)
            .totalBufferedRecv(config.engine().unexpectedBudgetBytes());
        info.epAttr().type(type).protocol(protocol).protocolVersion(1)
            .maxMsgSize(limits.maxMessageBytes()).memTagFormat(FabricAddress.TAG_FORMAT_GENERIC)
            .txCtxCnt(1).rxCtxCnt(1);
        Progress progress = config.threading().mode().isManualProgress() ? Progress.MANUAL : Progress.AUTO;
        info.domainAttr().name(driverName).threading(Threading.DOMAIN).controlProgress(progress)
            .dataProgress(progress).resourceManagement(ResourceManagement.ENABLED)
            .avType(AddressVectorType.UNSPEC).cqDataSize(limits.cqDataBytes()).mrKeySize(8)
            .maxErrDataSize(104).maxEpTxCtx(1).maxEpRxCtx(1).caps(Flags.LOCAL_COMM)
            .tclass(TrafficClass.BEST_EFFORT.code());
        info.fabricAttr().name("jfabric").provName(name).provVersion(1);
        return info;
    }

    private static long completionOrder(long asked) {
        return asked == Order.NONE ? Order.NONE : Order.STRICT;
    }

    private static int size(long asked, int standard) {
        return asked == 0 ? standard : (int) Math.min(Math.max(asked, 1), standard);
    }
}
