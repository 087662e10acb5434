package org.jfabric.driver.link.support;

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
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

/**
 * Chooses an address of this host for an endpoint. Peers use the address as the endpoint's name, so that it is never
 * the wildcard. The choice is the requested source address; else an address of the interface that an option names; else
 * the local address of the route to the destination; else the first address of the first interface that is up, the
 * loopback interface last, IPv4 before IPv6. The first address of an interface is the primary one: others may belong to
 * a service that moves to another host.
 *
 * <p>Stateless; resource thread, because host names are resolved.
 */
public final class LocalAddresses {
    /** Link-local addresses are valid only on their own network. */
    private static final Comparator<InetAddress> PREFERENCE = Comparator.comparing(InetAddress::isLinkLocalAddress)
        .thenComparing(address -> !(address instanceof Inet4Address));

    private LocalAddresses() {
    }

    /**
     * Chooses an address.
     *
     * @param wanted           source and destination address and format of the endpoint.
     * @param networkInterface name of an interface, a numeric address, or {@link TcpConfig#ANY_INTERFACE}.
     * @return address with the requested port, 0 for any.
     * @throws FabricException {@code FI_EADDRNOTAVAIL} if there is no such address, {@code FI_EHOSTUNREACH} if there is
     *     no route to the destination, {@code FI_ENODATA} if a host cannot be resolved.
     */
    public static SocketName choose(Info wanted, String networkInterface, String option) {
        SocketName source = named(wanted.srcAddr());
        if (source != null && !source.inetAddress().isAnyLocalAddress()) {
            return source;
        }
        int port = source == null ? 0 : source.port();
        boolean wantsIn6 = wanted.addrFormat() == AddressFormat.SOCKADDR_IN6 || source != null && source.isIn6();
        boolean isAny = TcpConfig.ANY_INTERFACE.equals(networkInterface);
        List<InetAddress> candidates = isAny ? candidates(null, named(wanted.destAddr()))
            : candidates(networkInterface, null);
        boolean anyFamily = source == null && wanted.addrFormat() != AddressFormat.SOCKADDR_IN && !wantsIn6;
        for (InetAddress candidate : candidates) {
            if (anyFamily || candidate instanceof Inet4Address != wantsIn6) {
                return SocketName.of(new InetSocketAddress(candidate, port));
            }
        }
        throw new FabricException(FabricErrno.EADDRNOTAVAIL,
            "no interface" + (isAny ? " that is up" : " called " + networkInterface) + " has an "
                + (wantsIn6 ? "IPv6" : "IPv4") + " address; there are " + interfaces().stream()
                .map(NetworkInterface::getName).toList(),
            "Name another one in " + option + ", or an address of this host as source.");
    }

    /**
     * Whether two addresses cannot reach each other because one is IPv4 and the other IPv6. Any thread.
     *
     * @return false also if one of them is not a socket address.
     */
    public static boolean areOfTwoFamilies(String own, String remote) {
        return SocketName.isName(own) && SocketName.isName(remote)
            && SocketName.parse(own).isIn6() != SocketName.parse(remote).isIn6();
    }

    /** Parses a socket address, or resolves a host and port; null for other texts. */
    private static SocketName named(String text) {
        if (SocketName.isName(text)) {
            return SocketName.parse(text);
        }
        return text != null && HostNames.isHost(text) ? HostNames.resolve(text) : null;
    }

    /**
     * The addresses among which to choose, the preferred one first.
     *
     * @param networkInterface name of an interface, a numeric address; null for any interface.
     * @param destination      null for none; the interface that leads to it is taken if none is named.
     * @return perhaps none.
     * @throws FabricException {@code FI_EHOSTUNREACH} if there is no route to the destination,
     *     {@code FI_EADDRNOTAVAIL} if the interfaces cannot be listed.
     */
    public static List<InetAddress> candidates(String networkInterface, SocketName destination) {
        if (networkInterface == null && destination != null) {
            return List.of(towards(destination));
        }
        if (networkInterface != null && HostNames.isNumeric(networkInterface)) {
            return List.of(HostNames.resolve(networkInterface, "").inetAddress());
        }
        List<InetAddress> addresses = new ArrayList<>();
        List<InetAddress> ofLoopback = new ArrayList<>();
        for (NetworkInterface each : interfaces()) {
            // also if it is down: its name was configured explicitly, and it may come up later
            if (networkInterface == null ? isUp(each) : each.getName().equals(networkInterface)) {
                // the JDK lists them from the last to the first
                (isLoopback(each) ? ofLoopback : addresses).addAll(
                    Collections.list(each.getInetAddresses()).reversed());
            }
        }
        addresses.sort(PREFERENCE);
        // also those that are no loopback addresses: an address that moves between hosts is often kept there
        ofLoopback.sort(PREFERENCE);
        addresses.addAll(ofLoopback);
        return addresses;
    }

    /**
     * The local address of the route to a destination. Nothing is sent: connecting a datagram socket only selects the
     * route.
     */
    private static InetAddress towards(SocketName target) {
        try (DatagramSocket probe = new DatagramSocket(null)) {
            probe.connect(new InetSocketAddress(target.inetAddress(), Math.max(1, target.port())));
            return probe.getLocalAddress();
        } catch (IOException | IllegalArgumentException noWay) {
            throw new FabricException(FabricErrno.EHOSTUNREACH,
                "no route to " + target + ": " + noWay.getMessage(), "Check the address and the routes.", noWay);
        }
    }

    /** In the system's order; the JDK lists them, too, from the last to the first. */
    private static List<NetworkInterface> interfaces() {
        try {
            List<NetworkInterface> all = Collections.list(NetworkInterface.getNetworkInterfaces());
            all.sort(Comparator.comparing(NetworkInterface::getIndex));
            return all;
        } catch (SocketException none) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "the interfaces of this host cannot be listed",
                none.getMessage(), none);
        }
    }

    private static boolean isLoopback(NetworkInterface each) {
        try {
            return each.isLoopback();
        } catch (SocketException gone) {
            return false;
        }
    }

    private static boolean isUp(NetworkInterface each) {
        try {
            return each.isUp();
        } catch (SocketException gone) {
            return false;
        }
    }
}
