package org.jfabric.driver.link.udp.packet;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.DatagramLinkProvider;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.link.support.Timestamps;
import org.jfabric.driver.link.udp.UdpLink;
import org.jfabric.driver.link.udp.UdpLinkProvider;
import org.jfabric.driver.resource.PreloadedSockets;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.PacketSocket;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;

/**
 * Makes the packet link: the wire, the addresses and the peers of link udp, with datagrams that are received from a
 * mapped ring and sent past the system's own processing.
 */
public final class PacketLinkProvider extends DatagramLinkProvider {
    public static final String NAME = "packet";

    /** More than that of link udp: whoever enables both means this one. */
    private static final int SCORE = 11;
    private static final int IN_HEADERS_BYTES = 28;
    private static final int IN6_HEADERS_BYTES = 48;

    /** A packet socket was opened: not tried again in each query, because to close one takes 10 ms and more. */
    private volatile boolean isPossible;

    public PacketLinkProvider() {
        super(NAME, Protocol.UDP, 0, SCORE, 0);
    }

    @Override
    public List<Reason> obstacles(DriverConfig config) {
        if (isPossible) {
            return PreloadedSockets.obstacles();
        }
        int fd = PacketSocket.openReceiver();
        if (fd >= 0) {
            isPossible = true;
            Libc.close(fd);
            return PreloadedSockets.obstacles();
        }
        if (fd != -PacketSocket.EPERM) {
            return List.of(new Reason("packet sockets", FabricErrno.describe(-fd), "a socket of AF_PACKET",
                "Raise the limit of open files (EMFILE), or load the module af_packet (EAFNOSUPPORT); or use link"
                    + " udp"));
        }
        return List.of(new Reason("privilege",
            "no packet socket: " + FabricErrno.describe(-fd), "CAP_NET_RAW",
            "Give the driver the capability: AmbientCapabilities=CAP_NET_RAW in its unit of systemd, --cap-add NET_RAW"
                + " for a container, or setcap cap_net_raw+ep on a java command of its own; or use link udp"));
    }

    @Override
    public BoundAddress bind(Info wanted, DriverConfig config) {
        boolean isNamed = wanted.srcAddr() != null && !wanted.srcAddr().isEmpty();
        SocketName name = isNamed ? UdpLinkProvider.name(wanted.srcAddr())
            : LocalAddresses.choose(wanted, config.get(UdpConfig.INTERFACE), UdpConfig.INTERFACE.name());
        if (name.inetAddress().isAnyLocalAddress() && isRouter(name)) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "the wildcard address on a host that forwards packets"
                + " of others, which would be taken for messages", "Name an address of this host.");
        }
        PacketPort port = PacketPort.open(name, config);
        UdpLinkProvider.stamp(port, wanted, false);
        return port;
    }

    @Override
    protected long caps() {
        return super.caps() | Timestamps.CAPS;
    }

    @Override
    protected List<Reason> timeObstacles(Info wanted, DriverConfig config) {
        return UdpLinkProvider.cardObstacles(wanted, config);
    }

    private static boolean isRouter(SocketName name) {
        Path setting = Path.of(
            name.isIn6() ? "/proc/sys/net/ipv6/conf/all/forwarding" : "/proc/sys/net/ipv4/ip_forward");
        try {
            return !Files.readString(setting).trim().equals("0");
        } catch (IOException unknown) {
            return true;
        }
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        PacketCounters counters = new PacketCounters(services);
        return new UdpLink(NAME, services, config, limits(config.get(UdpConfig.MAX_MESSAGE_BYTES)), port -> {
            if (port instanceof PacketPort own) {
                own.attach(services, counters);
            }
        });
    }

    @Override
    protected int longestBytes(Info wanted, DriverConfig config, List<Reason> obstacles) {
        int most = config.get(UdpConfig.MAX_MESSAGE_BYTES);
        String source = wanted.srcAddr();
        if (source == null || !SocketName.isName(source)) {
            return most;
        }
        SocketName name = SocketName.parse(source);
        try {
            NetworkInterface own = NetworkInterface.getByInetAddress(name.inetAddress());
            return own == null ? most
                : Math.min(most, own.getMTU() - (name.isIn6() ? IN6_HEADERS_BYTES : IN_HEADERS_BYTES));
        } catch (SocketException gone) {
            return most;
        }
    }

    @Override
    protected Reason unreachable(String destination) {
        return UdpLinkProvider.check("destination", destination);
    }

    @Override
    protected Reason unusable(String source) {
        return UdpLinkProvider.check("source", source);
    }

    @Override
    protected AddressFormat addressFormat(Info wanted) {
        return UdpLinkProvider.format(wanted);
    }
}
