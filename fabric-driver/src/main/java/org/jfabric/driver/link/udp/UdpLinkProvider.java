package org.jfabric.driver.link.udp;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.stream.net.StreamSockets;
import org.jfabric.driver.link.support.DatagramLinkProvider;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.link.support.Timestamps;
import org.jfabric.driver.resource.PreloadedSockets;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/**
 * Makes the udp link. It offers the same as libfabric's udp provider: untagged messages of one datagram. Makes
 * encrypted links, too.
 */
public final class UdpLinkProvider extends DatagramLinkProvider {
    public static final String NAME = "udp";

    private static final int SCORE = 10;

    /** Null for the plain link. */
    private final DatagramSecurity.Maker security;
    /** Null for the sockets of the driver's options. */
    private final UdpNetwork network;

    private UdpLinkProvider(String name, int score, DatagramSecurity.Maker security, UdpNetwork network) {
        super(name, Protocol.UDP, 0, score, 0);
        this.security = security;
        this.network = network;
    }

    /** Makes a provider of plain links whose sockets are those of a network. */
    UdpLinkProvider(UdpNetwork network) {
        this(NAME, SCORE, null, network);
    }

    /** Makes a provider of the plain link; it has no state. */
    public UdpLinkProvider() {
        this(NAME, SCORE, null, null);
    }

    /** Makes a provider of an encrypted link; it has no state. */
    public UdpLinkProvider(String name, int score, DatagramSecurity.Maker security) {
        this(name, score, security, null);
    }

    @Override
    public List<Reason> bounds(DriverConfig config) {
        Sockets sockets = config.get(UdpConfig.SOCKETS);
        List<Reason> bounds = new ArrayList<>(PreloadedSockets.bounds(sockets));
        if (sockets == Sockets.NATIVE) {
            bounds.addAll(BusyPollVerdict.of(config));
        }
        return bounds;
    }

    @Override
    public boolean isEncrypted() {
        return security != null;
    }

    /** A message waits for the session with its receiver, and others do not wait for that. */
    @Override
    public boolean completesInOrder() {
        return !isEncrypted();
    }

    @Override
    protected long caps() {
        return isEncrypted() ? super.caps() & ~Flags.MULTICAST : super.caps() | Timestamps.CAPS;
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        boolean isNamed = wanted.srcAddr() != null && !wanted.srcAddr().isEmpty();
        // unlike an address that peers connect to, a datagram socket may be bound to the wildcard if requested
        SocketName name = isNamed ? name(wanted.srcAddr())
            : LocalAddresses.choose(wanted, config.get(UdpConfig.INTERFACE), UdpConfig.INTERFACE.name());
        UdpNetwork sockets = network != null ? network : UdpNetwork.of(config.get(UdpConfig.SOCKETS));
        UdpPort port = sockets.open(name, name.inetAddress(), false, config);
        stamp(port, wanted, true);
        return isEncrypted() ? port.withoutGroups() : port;
    }

    /** Has a port give the times that are asked for; closes it if it cannot. */
    public static void stamp(UdpPort port, Info wanted, boolean hasDepartures) {
        int result = port.stamp(
            Timestamps.arrivals(wanted), hasDepartures ? Timestamps.departures(wanted) : null);
        if (result < 0) {
            port.close();
        }
        Timestamps.check(result, port.name());
    }

    @Override
    protected List<Reason> timeObstacles(Info wanted, DriverConfig config) {
        List<Reason> reasons = new ArrayList<>(
            Timestamps.obstacles(wanted, config.get(UdpConfig.SOCKETS), UdpConfig.SOCKETS));
        reasons.addAll(cardObstacles(wanted, config));
        return reasons;
    }

    /** What stands against the clock of the card that has the endpoint's address. */
    public static List<Reason> cardObstacles(Info wanted, DriverConfig config) {
        if (TimestampClock.of(wanted.caps()) != TimestampClock.CARD) {
            return List.of();
        }
        boolean isNamed = wanted.srcAddr() != null && !wanted.srcAddr().isEmpty();
        return Timestamps.obstacles(wanted, (isNamed ? name(wanted.srcAddr())
            : LocalAddresses.choose(wanted, config.get(UdpConfig.INTERFACE), UdpConfig.INTERFACE.name()))
            .inetAddress());
    }

    @Override
    protected long departureCaps() {
        return isEncrypted() ? 0 : Timestamps.CAPS;
    }

    @Override
    protected boolean hasSockets() {
        return !isEncrypted();
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        DatagramSecurity shared = isEncrypted() ? security.make(services, config) : null;
        return new UdpLink(name(), services, config, limits(longestBytes(config)), shared, port -> { });
    }

    /** The sockets of the streams of a thread. */
    public StreamSockets streams(LinkServices services, DriverConfig config) {
        return new UdpStreams(
            services, config, network != null ? network : UdpNetwork.of(config.get(UdpConfig.SOCKETS)));
    }

    @Override
    protected int longestBytes(Info wanted, DriverConfig config, List<Reason> obstacles) {
        return longestBytes(config);
    }

    /** Over dtls the record has to fit into the same datagram. */
    private int longestBytes(DriverConfig config) {
        int datagram = config.get(UdpConfig.MAX_MESSAGE_BYTES);
        return isEncrypted() ? security.longestBytes(datagram) : datagram;
    }

    @Override
    protected Reason unreachable(String destination) {
        return check("destination", destination);
    }

    @Override
    protected Reason unusable(String source) {
        return check("source", source);
    }

    /** The reason against an address that no link of datagrams has, or null. */
    public static Reason check(String what, String address) {
        return SocketName.isName(address) || HostNames.isHost(address) ? null : new Reason(what, address,
            SocketName.IN_SCHEME + "<number>:<port>, port 0 to 65535",
            "This link reaches socket addresses; name one, or request another link");
    }

    @Override
    protected AddressFormat addressFormat(Info wanted) {
        return format(wanted);
    }

    /** The format of addresses that an application asks for. */
    public static AddressFormat format(Info wanted) {
        return isIn6(wanted) ? AddressFormat.SOCKADDR_IN6 : AddressFormat.SOCKADDR_IN;
    }

    private static boolean isIn6(Info wanted) {
        for (String address : new String[] {wanted.srcAddr(), wanted.destAddr()}) {
            if (address != null && SocketName.isName(address)) {
                return SocketName.parse(address).isIn6();
            }
        }
        return wanted.addrFormat() == AddressFormat.SOCKADDR_IN6;
    }

    /** An address or host that {@link #check} has nothing against. */
    public static SocketName name(String address) {
        return SocketName.isName(address) ? SocketName.parse(address) : HostNames.resolve(address);
    }
}
