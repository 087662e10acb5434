package org.jfabric.driver.link.verbsud;

import org.jfabric.AddressFormat;
import org.jfabric.AddressVectorType;
import org.jfabric.EndpointType;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.IbUdName;
import org.jfabric.Info;
import org.jfabric.Mode;
import org.jfabric.Order;
import org.jfabric.Progress;
import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.ResourceManagement;
import org.jfabric.SocketName;
import org.jfabric.Threading;
import org.jfabric.TrafficClass;
import org.jfabric.Verdict;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.VerbsDevices;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.VerbsUnavailableException;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.InfoComparison;
import org.jfabric.driver.link.support.InfoNarrowing;

import java.util.List;
import java.util.function.Supplier;

/**
 * Makes the verbsud link. What it offers is what libfabric's verbs provider offers for datagrams, and multicast:
 * untagged messages of one packet, with 32 bits besides. Where there is no RDMA device its verdict says what is
 * missing.
 */
public final class VerbsUdLinkProvider extends LinkProvider {
    /** The link's name. */
    public static final String NAME = "verbsud";

    /** Above udp. */
    private static final int SCORE = 12;
    /** The immediate word of a message. */
    private static final int CQ_DATA_BYTES = 4;
    /** What a port's packets hold at most. */
    private static final int LONGEST_PACKET_BYTES = 4096;
    private static final long CAPS = Flags.MSG | Flags.SEND | Flags.RECV | Flags.SOURCE | Flags.MULTICAST
        | Flags.LOCAL_COMM | Flags.REMOTE_COMM;
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE;

    private final Supplier<VerbsLibraries> system;

    /** The link over this system's libraries. */
    public VerbsUdLinkProvider() {
        this(VerbsLibraries::system);
    }

    /**
     * A provider.
     *
     * @param system the libraries, or {@link VerbsUnavailableException}.
     */
    VerbsUdLinkProvider(Supplier<VerbsLibraries> system) {
        this.system = system;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean usesSocketNames() {
        return true;
    }

    @Override
    public List<Reason> obstacles(DriverConfig config) {
        try {
            return VerbsDevices.examine(system.get(),
                VerbsUdSettings.of(config).pinnedBytes(LONGEST_PACKET_BYTES), VerbsDevices.lockedMemoryLimitBytes());
        } catch (VerbsUnavailableException e) {
            return List.of(e.reason());
        }
    }

    @Override
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        Info wanted = plain(hints);
        List<Reason> obstacles = obstacles(config);
        int packetBytes = LONGEST_PACKET_BYTES;
        Reason noPlace = null;
        if (obstacles.isEmpty() && isKnown(wanted.srcAddr())) {
            try {
                packetBytes = VerbsUdPlace.choose(system.get(), wanted, config.verbs()).packetBytes();
            } catch (FabricException e) {
                noPlace = new Reason("source", String.valueOf(wanted.srcAddr()), "an address of an RDMA device",
                    e.getMessage());
            }
        }
        List<Reason> reasons = InfoComparison.compare(wanted, offer(wanted, driverName, config, packetBytes), LEVELS);
        String destination = hints.destAddr();
        if (destination != null && !destination.isEmpty() && !IbUdName.isName(destination) && !isGroup(destination)) {
            reasons.add(new Reason("destination", destination,
                IbUdName.SCHEME + "<GID>:<queue pair>/<LID>/<P_Key>/<level>",
                "This link reaches queue pairs and groups; name one, or ask for another link"));
        }
        String source = hints.srcAddr();
        if (source != null && !source.isEmpty() && !IbUdName.isName(source) && !SocketName.isName(source)
            && !HostNames.isHost(source)) {
            reasons.add(new Reason("source", source, IbUdName.SCHEME + "<GID>:0/0/0/0 or a socket address",
                "Name a GID or an IP address of the device"));
        }
        if (hints.epAttr().authKeySize() != 0 && !hints.fabricAttr().precedes(1, 5)) {
            reasons.add(new Reason("ep_attr.auth_key_size", "0", Long.toString(hints.epAttr().authKeySize()),
                "Ask without an authorization key: a datagram has no room for it"));
        }
        reasons.addAll(obstacles);
        if (noPlace != null) {
            reasons.add(noPlace);
        }
        return new Verdict(NAME, reasons.isEmpty(), SCORE, reasons);
    }

    /** Whether a source is one without asking who has a host's name, which is slow: {@link #bind} does. */
    private static boolean isKnown(String source) {
        return source == null || !HostNames.isHost(source) || HostNames.isNumeric(source.substring(
            SocketName.HOST_SCHEME.length(), source.lastIndexOf(':')).replaceAll("[\\[\\]]", ""));
    }

    private static boolean isGroup(String address) {
        return SocketName.isName(address) && SocketName.parse(address).inetAddress().isMulticastAddress();
    }

    @Override
    public Info info(Info hints, String driverName, DriverConfig config) {
        Info wanted = plain(hints);
        int packetBytes = LONGEST_PACKET_BYTES;
        try {
            packetBytes = isKnown(wanted.srcAddr())
                ? VerbsUdPlace.choose(system.get(), wanted, config.verbs()).packetBytes() : packetBytes;
        } catch (FabricException | VerbsUnavailableException e) {
            // the verdict says why; what identifies the link is told all the same
        }
        Info info = InfoNarrowing.narrow(wanted, offer(wanted, driverName, config, packetBytes));
        return info.srcAddr(hints.srcAddr()).destAddr(hints.destAddr());
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        try {
            return VerbsUdPort.open(system.get(), wanted, config);
        } catch (VerbsUnavailableException e) {
            throw new FabricException(FabricErrno.ENODEV, "the verbsud link cannot be used: " + e.getMessage(),
                "See ./fabric info --why.", e);
        }
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new VerbsUdLink(services);
    }

    static ChannelLimits limits(int packetBytes) {
        return new ChannelLimits(packetBytes, 0, packetBytes, CQ_DATA_BYTES, LEVELS, Order.NONE);
    }

    private static Info offer(Info wanted, String driverName, DriverConfig config, int packetBytes) {
        Info info = new Info();
        info.caps(CAPS).mode(0).linkName(NAME).addrFormat(wanted.addrFormat() == AddressFormat.ADDR_STR
            ? AddressFormat.ADDR_STR : AddressFormat.ADDR_IB_UD);
        info.txAttr().caps(CAPS & InfoNarrowing.TRANSMIT_CAPS).msgOrder(Order.NONE).compOrder(Order.STRICT)
            .opFlags(Flags.TRANSMIT_COMPLETE).size(size(wanted.txAttr().size(), config.queue().txSize()))
            .iovLimit(PieceList.MAX_PIECES).injectSize(Math.min(packetBytes, config.queue().injectSizeBytes()));
        info.rxAttr().caps(CAPS & InfoNarrowing.RECEIVE_CAPS).msgOrder(Order.NONE).compOrder(Order.STRICT)
            .size(size(wanted.rxAttr().size(), config.queue().rxSize())).iovLimit(PieceList.MAX_PIECES);
        info.epAttr().type(EndpointType.DGRAM).protocol(Protocol.IB_UD).protocolVersion(1).maxMsgSize(packetBytes)
            .txCtxCnt(1).rxCtxCnt(1);
        Progress progress = config.threading().mode().isManualProgress() ? Progress.MANUAL : Progress.AUTO;
        info.domainAttr().name(driverName).threading(Threading.DOMAIN).controlProgress(progress)
            .dataProgress(progress).resourceManagement(ResourceManagement.ENABLED)
            .avType(AddressVectorType.UNSPEC).cqDataSize(CQ_DATA_BYTES).maxErrDataSize(104).maxEpTxCtx(1)
            .maxEpRxCtx(1).caps(Flags.LOCAL_COMM | Flags.REMOTE_COMM).tclass(TrafficClass.BEST_EFFORT.code());
        info.fabricAttr().name("jfabric").provName(NAME).provVersion(1);
        return info;
    }

    /** The hints without wishes that say the same as others here, and the mode that this link does not have. */
    private static Info plain(Info hints) {
        Info wanted = hints.copy();
        if (wanted.addrFormat() == AddressFormat.SOCKADDR) {
            wanted.addrFormat(AddressFormat.UNSPEC);
        }
        wanted.mode(wanted.mode() & ~Mode.BUFFERED_RECV);
        wanted.rxAttr().mode(wanted.rxAttr().mode() & ~Mode.BUFFERED_RECV);
        return wanted;
    }

    private static int size(long asked, int standard) {
        return asked == 0 ? standard : (int) Math.min(Math.max(asked, 1), standard);
    }
}
