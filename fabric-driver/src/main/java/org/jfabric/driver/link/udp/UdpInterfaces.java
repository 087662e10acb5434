package org.jfabric.driver.link.udp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Comparator;
import java.util.List;

/**
 * Finds the address of this host that an endpoint is bound to. Slow: resource thread.
 */
final class UdpInterfaces {
    private UdpInterfaces() {
    }

    /** The address from which a destination is reached; the kernel knows, and nothing is sent to find out. */
    static InetAddress towards(SocketName destination) {
        try (DatagramSocket probe = new DatagramSocket(null)) {
            probe.connect(new InetSocketAddress(destination.inetAddress(), Math.max(1, destination.port())));
            return probe.getLocalAddress();
        } catch (IOException ex) {
            throw new FabricException(FabricErrno.ENETUNREACH,
                "there is no way to " + destination + " (" + ex.getMessage() + ")",
                "Name a destination that this host has a route to.", ex);
        }
    }

    /** An address of the interface with that name, or that address itself. */
    static InetAddress named(String name, boolean isIn6) {
        List<NetworkInterface> all = all();
        for (NetworkInterface candidate : all) {
            for (InetAddress address : addresses(candidate, isIn6)) {
                if (candidate.getName().equals(name) || address.getHostAddress().equals(name)) {
                    return address;
                }
            }
        }
        throw new FabricException(FabricErrno.ENODEV,
            "no interface that is up is called " + name + " or has that address, for IPv" + (isIn6 ? 6 : 4) + "; there"
                + " are " + all.stream().map(NetworkInterface::getName).toList(),
            "Correct the option jfabric.udp.interface of the driver.");
    }

    /** An address of the first interface: those that lead to other hosts come before the loopback interface. */
    static InetAddress first(boolean isIn6) {
        return all().stream()
            .sorted(Comparator.comparing(UdpInterfaces::isLoopback))
            .flatMap(candidate -> addresses(candidate, isIn6).stream())
            .findFirst()
            .orElseThrow(() -> new FabricException(FabricErrno.ENODEV,
                "no interface that is up has an address of IPv" + (isIn6 ? 6 : 4),
                "Bring an interface up, or ask for the other kind of addresses."));
    }

    private static List<NetworkInterface> all() {
        try {
            return NetworkInterface.networkInterfaces().filter(UdpInterfaces::isUp).toList();
        } catch (SocketException ex) {
            throw new FabricException(FabricErrno.ENODEV, "the interfaces of this host cannot be listed", "", ex);
        }
    }

    private static boolean isUp(NetworkInterface candidate) {
        try {
            return candidate.isUp();
        } catch (SocketException ex) {
            return false;
        }
    }

    private static boolean isLoopback(NetworkInterface candidate) {
        try {
            return candidate.isLoopback();
        } catch (SocketException ex) {
            return false;
        }
    }

    /** Link-local addresses come last: they mean nothing without the interface. */
    private static List<InetAddress> addresses(NetworkInterface candidate, boolean isIn6) {
        return candidate.inetAddresses()
            .filter(address -> address.getAddress().length == (isIn6 ? 16 : 4))
            .sorted(Comparator.comparing(InetAddress::isLinkLocalAddress))
            .toList();
    }
}
