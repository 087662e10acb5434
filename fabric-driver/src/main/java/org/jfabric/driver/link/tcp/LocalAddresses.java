package org.jfabric.driver.link.tcp;

import org.jfabric.AddressFormat;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.SocketName;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.link.HostNames;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * Chooses the address that an endpoint listens on, which is part of its name and so never the wildcard: the source
 * address asked for; else of the interface that the option names; else of the one that leads to the destination; else
 * the first of one that is not loopback, IPv4 before IPv6.
 *
 * <p>Stateless; resource thread, because names are looked up.
 */
final class LocalAddresses {
    private LocalAddresses() {
    }

    /**
     * Chooses.
     *
     * @param wanted source and destination address and format of the endpoint.
     * @param config the option.
     * @return address with the port asked for, 0 for any.
     * @throws FabricException {@code FI_EADDRNOTAVAIL} if there is none.
     */
    static SocketName choose(Info wanted, TcpConfig config) {
        SocketName source = source(wanted.srcAddr());
        if (source != null && !source.inetAddress().isAnyLocalAddress()) {
            return source;
        }
        int port = source == null ? 0 : source.port();
        boolean wantsIn6 = wanted.addrFormat() == AddressFormat.SOCKADDR_IN6 || source != null && source.isIn6();
        List<InetAddress> candidates = TcpConfig.ANY_INTERFACE.equals(config.networkInterface())
            ? any(wanted.destAddr()) : named(config.networkInterface());
        boolean anyFamily = source == null && wanted.addrFormat() != AddressFormat.SOCKADDR_IN && !wantsIn6;
        for (InetAddress candidate : candidates) {
            if (anyFamily || candidate instanceof Inet4Address != wantsIn6) {
                return SocketName.of(new InetSocketAddress(candidate, port));
            }
        }
        throw new FabricException(FabricErrno.EADDRNOTAVAIL,
            "no interface" + (TcpConfig.ANY_INTERFACE.equals(config.networkInterface()) ? ""
                : " called " + config.networkInterface()) + " has an " + (wantsIn6 ? "IPv6" : "IPv4") + " address",
            "Name another one in " + TcpConfig.INTERFACE.name() + ", or an address of this host as source.");
    }

    private static SocketName source(String text) {
        if (SocketName.isName(text)) {
            return SocketName.parse(text);
        }
        return text != null && HostNames.isHost(text) ? HostNames.resolve(text) : null;
    }

    private static List<InetAddress> any(String destination) {
        SocketName target = source(destination);
        if (target != null) {
            // nothing is sent: the system only says which way it would go
            try (DatagramSocket probe = new DatagramSocket()) {
                probe.connect(new InetSocketAddress(target.inetAddress(), Math.max(1, target.port())));
                return List.of(probe.getLocalAddress());
            } catch (IOException | IllegalArgumentException noWay) {
                throw new FabricException(FabricErrno.EHOSTUNREACH,
                    "no way leads to " + target + ": " + noWay.getMessage(), "Check the address and the routes.",
                    noWay);
            }
        }
        List<InetAddress> all = new ArrayList<>();
        try {
            for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                if (each.isUp()) {
                    all.addAll(Collections.list(each.getInetAddresses()));
                }
            }
        } catch (SocketException none) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "the interfaces cannot be listed", none.getMessage(),
                none);
        }
        // link-local ones are only known on their own network
        all.sort(Comparator.comparing(InetAddress::isLoopbackAddress).thenComparing(InetAddress::isLinkLocalAddress)
            .thenComparing(address -> !(address instanceof Inet4Address)));
        return all;
    }

    private static List<InetAddress> named(String name) {
        if (HostNames.isNumeric(name)) {
            return List.of(HostNames.resolve(name, "").inetAddress());
        }
        try {
            NetworkInterface found = NetworkInterface.getByName(name);
            List<InetAddress> addresses =
                found == null ? new ArrayList<>() : Collections.list(found.getInetAddresses());
            addresses.sort(Comparator.comparing((InetAddress address) -> !(address instanceof Inet4Address))
                .thenComparing(InetAddress::isLinkLocalAddress));
            return addresses;
        } catch (SocketException none) {
            return List.of();
        }
    }
}
