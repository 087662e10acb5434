package org.jfabric.driver.link.support;

import org.jfabric.CompletionError;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Option;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.PieceList;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.info.Order;
import org.jfabric.info.Progress;
import org.jfabric.info.Protocol;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.Threading;
import org.jfabric.info.TrafficClass;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * The attributes that a link offers. This record fills in the values that all links share. The base classes of the
 * providers, and then each link's provider, change the others.
 */
record Offer(String linkName, EndpointType type, Protocol protocol, long caps, ChannelLimits limits) {
    /** A registration is one range of memory. */
    private static final int MR_PIECES = 1;
    /**
     * Objects of one kind. The driver counts none, but each has one or two files that are mapped, also by the client,
     * which may be the same process, and Linux gives a process 65,530 mappings (vm.max_map_count).
     */
    private static final int MAX_OBJECTS = 1 << 14;

    /**
     * Fills in every attribute.
     *
     * @param hints      the application's hints: sizes and the order of completions are its choice.
     * @return a new object, which a link may change.
     */
    Info info(Info hints, String driverName, DriverConfig config) {
        long order = limits.messageOrder();
        Info info = new Info();
        info.caps(caps).mode(0).addrFormat(AddressFormat.ADDR_STR).linkName(linkName);
        info.txAttr().caps(caps & InfoNarrowing.TRANSMIT_CAPS).msgOrder(order)
            .compOrder(completionOrder(hints.txAttr().compOrder())).opFlags(Flags.TRANSMIT_COMPLETE)
            .size(size(hints.txAttr().size(), config, QueueConfig.TX_SIZE)).iovLimit(PieceList.MAX_PIECES)
            .injectSize(injectSize(hints.txAttr().injectSize(), config));
        info.rxAttr().caps(caps & InfoNarrowing.RECEIVE_CAPS).msgOrder(order)
            .compOrder(completionOrder(hints.rxAttr().compOrder()))
            .size(size(hints.rxAttr().size(), config, QueueConfig.RX_SIZE)).iovLimit(PieceList.MAX_PIECES);
        info.epAttr().type(type).protocol(protocol).maxMsgSize(limits.maxMessageBytes()).txCtxCnt(1).rxCtxCnt(1);
        Progress progress = config.get(ThreadingConfig.MODE).isManualProgress() ? Progress.MANUAL : Progress.AUTO;
        info.domainAttr().name(driverName).threading(Threading.DOMAIN).controlProgress(progress)
            .dataProgress(progress).resourceManagement(ResourceManagement.ENABLED)
            .avType(AddressVectorType.UNSPEC).cqDataSize(limits.cqDataBytes())
            .maxErrDataSize(CompletionError.MAX_ERR_DATA_LENGTH).cqCnt(MAX_OBJECTS).cntrCnt(MAX_OBJECTS)
            .epCnt(MAX_OBJECTS).txCtxCnt(MAX_OBJECTS).rxCtxCnt(MAX_OBJECTS).mrIovLimit(MR_PIECES)
            .mrCnt(MemoryRegionDescriptor.MAX_REGIONS)
            // operations name memory by its region; calls that copy, inject for example, take any memory
            .mrMode(MrMode.LOCAL)
            .maxEpTxCtx(1).maxEpRxCtx(1).maxEpStxCtx(MAX_OBJECTS).maxEpSrxCtx(MAX_OBJECTS)
            .caps(caps & (Flags.LOCAL_COMM | Flags.REMOTE_COMM))
            .tclass(TrafficClass.BEST_EFFORT.code());
        info.fabricAttr().name("jfabric").provName(linkName).provVersion(1);
        return info;
    }

    /**
     * STRICT makes completion entries wait for each other, so that it is offered only on request. DATA is never
     * offered, because the bytes of a message are copied in any order. Datagrams always complete in order.
     */
    private long completionOrder(long asked) {
        return asked == Order.NONE && type != EndpointType.DGRAM ? Order.NONE : Order.STRICT;
    }

    /** As many as are asked for, also more than usual: the driver takes memory for no more than an endpoint wants. */
    private static int size(long asked, DriverConfig config, Option<Integer> usual) {
        return asked == 0 ? config.get(usual)
            : (int) Math.min(asked < 0 ? Integer.MAX_VALUE : asked, usual.max());
    }

    /** The usual one, or a greater one that is asked for; the greatest if more is asked for. */
    private static long injectSize(long asked, DriverConfig config) {
        long most = Sizing.maxInjectSizeBytes(config);
        return asked < 0 ? most : Math.min(most, Math.max(asked, config.get(QueueConfig.INJECT_SIZE_BYTES)));
    }
}
