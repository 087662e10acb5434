package org.jfabric.driver.link.udp;

import java.nio.file.Path;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.DtlsConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.DatagramLinkProvider;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.tls.AccessList;
import org.jfabric.driver.tls.TlsIdentity;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;

/**
 * Makes the udp link. It offers the same as libfabric's udp provider: untagged messages of one datagram. Makes the dtls
 * link, too, whose datagrams are records of DTLS 1.2.
 */
public final class UdpLinkProvider extends DatagramLinkProvider {
    public static final String NAME = "udp";

    public static final String DTLS_NAME = "dtls";

    private static final int SCORE = 10;
    /** Whoever does not ask for encryption does not pay for it. */
    private static final int DTLS_SCORE = 7;

    private final boolean isEncrypted;
    /** Null for the sockets of the driver's options. */
    private final UdpNetwork network;

    private UdpLinkProvider(String name, int score, boolean isEncrypted, UdpNetwork network) {
        super(name, Protocol.UDP, 0, score, 0);
        this.isEncrypted = isEncrypted;
        this.network = network;
    }

    /** Makes a provider of plain links whose sockets are those of a network. */
    UdpLinkProvider(UdpNetwork network) {
        this(NAME, SCORE, false, network);
    }

    /** Makes a provider of the plain link; it has no state. */
    public UdpLinkProvider() {
        this(NAME, SCORE, false, null);
    }

    /** Makes a provider of the encrypted link. Returns a provider without state. */
    public static UdpLinkProvider ofDtls() {
        return new UdpLinkProvider(DTLS_NAME, DTLS_SCORE, true, null);
    }

    @Override
    public List<Reason> bounds(DriverConfig config) {
        return config.get(UdpConfig.SOCKETS) == Sockets.NATIVE ? BusyPollVerdict.of(config) : List.of();
    }

    @Override
    public boolean isEncrypted() {
        return isEncrypted;
    }

    /** A message waits for the session with its receiver, and others do not wait for that. */
    @Override
    public boolean completesInOrder() {
        return !isEncrypted;
    }

    @Override
    protected long caps() {
        return isEncrypted ? super.caps() & ~Flags.MULTICAST : super.caps();
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        boolean isNamed = wanted.srcAddr() != null && !wanted.srcAddr().isEmpty();
        // unlike an address that peers connect to, a datagram socket may be bound to the wildcard if requested
        SocketName name = isNamed ? name(wanted.srcAddr())
            : LocalAddresses.choose(wanted, config.get(UdpConfig.INTERFACE), UdpConfig.INTERFACE.name());
        UdpNetwork sockets = network != null ? network : UdpNetwork.of(config.get(UdpConfig.SOCKETS));
        UdpPort port = sockets.open(name, name.inetAddress(), false, config);
        return isEncrypted ? port.withoutGroups() : port;
    }

    @Override
    protected boolean hasSockets() {
        return !isEncrypted;
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        DtlsResources resources = null;
        if (isEncrypted) {
            Path access = config.file(DtlsConfig.ACCESS_FILE);
            resources = new DtlsResources(services, TlsIdentity.ofDatagrams(config),
                access == null ? null : new AccessList(access), config);
        }
        return new UdpLink(name(), services, config, limits(longestBytes(config)), resources, port -> { });
    }

    @Override
    protected int longestBytes(Info wanted, DriverConfig config, List<Reason> obstacles) {
        return longestBytes(config);
    }

    /** Over dtls the record has to fit into the same datagram. */
    private int longestBytes(DriverConfig config) {
        int datagram = config.get(UdpConfig.MAX_MESSAGE_BYTES);
        return isEncrypted ? Math.min(datagram - DtlsSession.OVERHEAD_BYTES, DtlsSession.MAX_MESSAGE_BYTES) : datagram;
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
