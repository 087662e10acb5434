package org.jfabric.driver.link.udp;

import org.jfabric.AddressFormat;
import org.jfabric.AddressVectorType;
import org.jfabric.EndpointType;
import org.jfabric.Flags;
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
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.InfoComparison;
import org.jfabric.driver.link.support.InfoNarrowing;
import org.jfabric.driver.link.support.LocalAddresses;

import java.net.InetAddress;
import java.util.List;

/**
 * Makes the udp link. What it offers is what libfabric's udp provider offers: untagged messages of one datagram.
 */
public final class UdpLinkProvider extends LinkProvider {
    /** The link's name. */
    public static final String NAME = "udp";

    private static final int SCORE = 10;
    private static final long CAPS = Flags.MSG | Flags.SEND | Flags.RECV | Flags.SOURCE | Flags.MULTICAST
        | Flags.LOCAL_COMM | Flags.REMOTE_COMM;
    private static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE;

    /** A provider; it has no state. */
    public UdpLinkProvider() {
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
    public Verdict verdict(Info hints, String driverName, DriverConfig config) {
        Info wanted = plain(hints);
        List<Reason> reasons = InfoComparison.compare(wanted, offer(wanted, driverName, config), LEVELS);
        address(reasons, "destination", hints.destAddr());
        address(reasons, "source", hints.srcAddr());
        if (hints.epAttr().authKeySize() != 0 && !hints.fabricAttr().precedes(1, 5)) {
            reasons.add(new Reason("ep_attr.auth_key_size", "0", Long.toString(hints.epAttr().authKeySize()),
                "Ask without an authorization key: a datagram has no room for it"));
        }
        return new Verdict(NAME, reasons.isEmpty(), SCORE, reasons);
    }

    @Override
    public Info info(Info hints, String driverName, DriverConfig config) {
        Info wanted = plain(hints);
        Info info = InfoNarrowing.narrow(wanted, offer(wanted, driverName, config));
        return info.srcAddr(hints.srcAddr()).destAddr(hints.destAddr());
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        UdpConfig udp = config.udp();
        boolean isNamed = wanted.srcAddr() != null && !wanted.srcAddr().isEmpty();
        // unlike a name that peers connect to, that of a socket for datagrams may be the wildcard if asked for
        SocketName name = isNamed ? name(wanted.srcAddr())
            : LocalAddresses.choose(wanted, udp.networkInterface(), UdpConfig.INTERFACE.name());
        return open(name, name.inetAddress(), false, udp);
    }

    static UdpPort open(SocketName name, InetAddress local, boolean shared, UdpConfig udp) {
        return udp.sockets() == Sockets.NATIVE ? UdpNativePort.open(name, local, shared, udp)
            : UdpNioPort.open(name, local, shared, udp);
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new UdpLink(services, config.udp(), limits(config));
    }

    private static ChannelLimits limits(DriverConfig config) {
        int longest = config.udp().maxMessageBytes();
        return new ChannelLimits(longest, 0, longest, 0, LEVELS, Order.NONE);
    }

    private static Info offer(Info wanted, String driverName, DriverConfig config) {
        Info info = new Info();
        int longest = config.udp().maxMessageBytes();
        AddressFormat format = wanted.addrFormat() == AddressFormat.ADDR_STR ? AddressFormat.ADDR_STR
            : isIn6(wanted) ? AddressFormat.SOCKADDR_IN6 : AddressFormat.SOCKADDR_IN;
        info.caps(CAPS).mode(0).addrFormat(format).linkName(NAME);
        info.txAttr().caps(CAPS & InfoNarrowing.TRANSMIT_CAPS).msgOrder(Order.NONE).compOrder(Order.STRICT)
            .opFlags(Flags.TRANSMIT_COMPLETE).size(size(wanted.txAttr().size(), config.queue().txSize()))
            .iovLimit(PieceList.MAX_PIECES).injectSize(Math.min(longest, config.queue().injectSizeBytes()));
        info.rxAttr().caps(CAPS & InfoNarrowing.RECEIVE_CAPS).msgOrder(Order.NONE).compOrder(Order.STRICT)
            .size(size(wanted.rxAttr().size(), config.queue().rxSize())).iovLimit(PieceList.MAX_PIECES);
        info.epAttr().type(EndpointType.DGRAM).protocol(Protocol.UDP).maxMsgSize(longest).txCtxCnt(1).rxCtxCnt(1);
        Progress progress = config.threading().mode().isManualProgress() ? Progress.MANUAL : Progress.AUTO;
        info.domainAttr().name(driverName).threading(Threading.DOMAIN).controlProgress(progress)
            .dataProgress(progress).resourceManagement(ResourceManagement.ENABLED)
            .avType(AddressVectorType.UNSPEC).maxErrDataSize(104).maxEpTxCtx(1).maxEpRxCtx(1)
            .caps(Flags.LOCAL_COMM | Flags.REMOTE_COMM).tclass(TrafficClass.BEST_EFFORT.code());
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

    private static boolean isIn6(Info wanted) {
        for (String address : new String[] {wanted.srcAddr(), wanted.destAddr()}) {
            if (address != null && SocketName.isName(address)) {
                return SocketName.parse(address).isIn6();
            }
        }
        return wanted.addrFormat() == AddressFormat.SOCKADDR_IN6;
    }

    private static SocketName name(String address) {
        return SocketName.isName(address) ? SocketName.parse(address) : HostNames.resolve(address);
    }

    private static void address(List<Reason> reasons, String what, String address) {
        if (address != null && !address.isEmpty() && !SocketName.isName(address) && !HostNames.isHost(address)) {
            reasons.add(new Reason(what, address, SocketName.IN_SCHEME + "<number>:<port>, port 0 to 65535",
                "This link reaches socket addresses; name one, or ask for another link"));
        }
    }

    private static int size(long asked, int standard) {
        return asked == 0 ? standard : (int) Math.min(Math.max(asked, 1), standard);
    }
}
