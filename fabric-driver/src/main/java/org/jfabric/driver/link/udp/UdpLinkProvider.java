package org.jfabric.driver.link.udp;

import java.net.InetAddress;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.DatagramLinkProvider;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;

/**
 * Makes the udp link. It offers the same as libfabric's udp provider: untagged messages of one datagram.
 */
public final class UdpLinkProvider extends DatagramLinkProvider {
    /** The link's name. */
    public static final String NAME = "udp";

    private static final int SCORE = 10;

    /** Makes a provider; it has no state. */
    public UdpLinkProvider() {
        super(NAME, Protocol.UDP, 0, SCORE, 0);
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        UdpConfig udp = config.udp();
        boolean isNamed = wanted.srcAddr() != null && !wanted.srcAddr().isEmpty();
        // unlike an address that peers connect to, a datagram socket may be bound to the wildcard if requested
        SocketName name = isNamed ? name(wanted.srcAddr())
            : LocalAddresses.choose(wanted, udp.networkInterface(), UdpConfig.INTERFACE.name());
        return open(name, name.inetAddress(), false, udp);
    }

    static UdpPort open(SocketName name, InetAddress local, boolean shared, UdpConfig udp) {
        return udp.sockets() == Sockets.NATIVE ? UdpNativePort.open(name, local, shared, udp)
            : UdpNioPort.open(name, local, shared, udp);
    }

    @Override
    protected boolean hasSockets() {
        return true;
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new UdpLink(NAME, services, config.udp(), limits(config.udp().maxMessageBytes()));
    }

    @Override
    protected int longestBytes(Info wanted, DriverConfig config, List<Reason> obstacles) {
        return config.udp().maxMessageBytes();
    }

    @Override
    protected Reason unreachable(String destination) {
        return check("destination", destination);
    }

    @Override
    protected Reason unusable(String source) {
        return check("source", source);
    }

    static Reason check(String what, String address) {
        return SocketName.isName(address) || HostNames.isHost(address) ? null : new Reason(what, address,
            SocketName.IN_SCHEME + "<number>:<port>, port 0 to 65535",
            "This link reaches socket addresses; name one, or request another link");
    }

    @Override
    protected AddressFormat addressFormat(Info wanted) {
        return format(wanted);
    }

    static AddressFormat format(Info wanted) {
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

    static SocketName name(String address) {
        return SocketName.isName(address) ? SocketName.parse(address) : HostNames.resolve(address);
    }
}
