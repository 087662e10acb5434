package org.jfabric.driver.link.support;

import org.jfabric.AddressFormat;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.SocketName;
import org.jfabric.driver.config.TcpConfig;

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
 * Chooses the address of this host for an endpoint that peers know by its name, so never the wildcard:
 * the source address asked for; else of the interface that an option names; else of the one that leads to the
 * destination; else the first of one that is up and not loopback, IPv4 before IPv6.
 *
 * <p>Stateless; resource thread, because names are looked up.
 */
public final class LocalAddresses {
    private LocalAddresses() {
    }

    /**
     * Chooses.
     *
     * @param wanted           source and destination address and format of the endpoint.
     * @param networkInterface name of an interface, an address as a number, or {@link TcpConfig#ANY_INTERFACE}.
     * @param option           that says so, for messages.
     * @return address with the port asked for, 0 for any.
     * @throws FabricException {@code FI_EADDRNOTAVAIL} if there is none, {@code FI_EHOSTUNREACH} if no way leads to the
     *     destination, {@code FI_ENODATA} if nobody knows a host.
     */
    public static SocketName choose(Info wanted, String networkInterface, String option) {
        SocketName source = named(wanted.srcAddr());
        if (source != null && !source.inetAddress().isAnyLocalAddress()) {
            return source;
        }
        int port = source == null ? 0 : source.port();
        boolean wantsIn6 = wanted.addrFormat() == AddressFormat.SOCKADDR_IN6 || source != null && source.isIn6();
        boolean isAny = TcpConfig.ANY_INTERFACE.equals(networkInterface);
        List<InetAddress> candidates = isAny ? any(wanted.destAddr()) : ofInterface(networkInterface);
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
     * Whether nothing goes between two addresses because one is of IPv4 and the other of IPv6. Any thread.
     *
     * @param own    address of an endpoint.
     * @param remote address of another one.
     * @return false also if one of them is no socket address.
     */
    public static boolean areOfTwoFamilies(String own, String remote) {
        return SocketName.isName(own) && SocketName.isName(remote)
            && SocketName.parse(own).isIn6() != SocketName.parse(remote).isIn6();
    }

    /** A socket address as it is written, its host looked up; null for none. */
    private static SocketName named(String text) {
        if (SocketName.isName(text)) {
            return SocketName.parse(text);
        }
        return text != null && HostNames.isHost(text) ? HostNames.resolve(text) : null;
    }

    private static List<InetAddress> any(String destination) {
        SocketName target = named(destination);
        if (target != null) {
            return List.of(towards(target));
        }
        List<InetAddress> all = new ArrayList<>();
        interfaces().stream().filter(LocalAddresses::isUp)
            .forEach(each -> all.addAll(Collections.list(each.getInetAddresses())));
        // link-local ones are only known on their own network
        all.sort(Comparator.comparing(InetAddress::isLoopbackAddress).thenComparing(InetAddress::isLinkLocalAddress)
            .thenComparing(address -> !(address instanceof Inet4Address)));
        return all;
    }

    /** The address from which a destination is reached: nothing is sent, the system only says which way it would go. */
    private static InetAddress towards(SocketName target) {
        try (DatagramSocket probe = new DatagramSocket(null)) {
            probe.connect(new InetSocketAddress(target.inetAddress(), Math.max(1, target.port())));
            return probe.getLocalAddress();
        } catch (IOException | IllegalArgumentException noWay) {
            throw new FabricException(FabricErrno.EHOSTUNREACH,
                "no way leads to " + target + ": " + noWay.getMessage(), "Check the address and the routes.", noWay);
        }
    }

    private static List<InetAddress> ofInterface(String name) {
        if (HostNames.isNumeric(name)) {
            return List.of(HostNames.resolve(name, "").inetAddress());
        }
        List<InetAddress> addresses = new ArrayList<>();
        for (NetworkInterface each : interfaces()) {
            // up or not: who names it knows, and a cable may be a moment away
            if (each.getName().equals(name)) {
                addresses.addAll(Collections.list(each.getInetAddresses()));
            }
        }
        addresses.sort(Comparator.comparing((InetAddress address) -> !(address instanceof Inet4Address))
            .thenComparing(InetAddress::isLinkLocalAddress));
        return addresses;
    }

    private static List<NetworkInterface> interfaces() {
        try {
            return Collections.list(NetworkInterface.getNetworkInterfaces());
        } catch (SocketException none) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "the interfaces of this host cannot be listed",
                none.getMessage(), none);
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
