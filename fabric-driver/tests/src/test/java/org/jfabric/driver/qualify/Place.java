package org.jfabric.driver.qualify;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;

/**
 * Where this host meets the other one.
 *
 * @param device           of RDMA, or null.
 * @param networkInterface that belongs to it.
 * @param address          of the interface, IPv4.
 * @param gid              number of the device's GID with that address, or 0.
 */
record Place(String device, String networkInterface, InetAddress address, int gid) {
    private static final int GIDS = 256;
    private static final int ANY_PORT = 9;

    /** By the device or the interface; by the way to the peer if both are null. */
    static Place of(String device, String networkInterface, InetAddress peer) throws IOException {
        String name = device == null ? networkInterface : interfaceOf(device);
        InetAddress address = name == null ? towards(peer) : address(name, peer);
        if (name == null) {
            name = NetworkInterface.getByInetAddress(address).getName();
        }
        return new Place(device, name, address, device == null ? 0 : gid(device, address));
    }

    Path deviceFolder() {
        return port(device).getParent().getParent();
    }

    String host() {
        return address.getHostAddress();
    }

    private static Path port(String device) {
        return Path.of("/sys/class/infiniband", device, "ports", "1");
    }

    private static String interfaceOf(String device) {
        for (int i = 0; i < GIDS; i++) {
            String name = line(port(device).resolve("gid_attrs/ndevs/" + i));
            if (!name.isEmpty()) {
                return name;
            }
        }
        throw new IllegalArgumentException("no RDMA device " + device + " with a network interface at its first port");
    }

    private static InetAddress towards(InetAddress peer) throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(peer, ANY_PORT);
            return socket.getLocalAddress();
        }
    }

    /** The address in the network of the peer, else the first. */
    private static InetAddress address(String name, InetAddress peer) throws IOException {
        NetworkInterface found = NetworkInterface.getByName(name);
        InetAddress first = null;
        for (InterfaceAddress each : found == null ? List.<InterfaceAddress>of() : found.getInterfaceAddresses()) {
            if (each.getAddress() instanceof Inet4Address) {
                int shift = Integer.SIZE - Math.max(1, each.getNetworkPrefixLength());
                if (bits(each.getAddress()) >>> shift == bits(peer) >>> shift) {
                    return each.getAddress();
                }
                first = first == null ? each.getAddress() : first;
            }
        }
        if (first == null) {
            throw new IllegalArgumentException("no network interface " + name + " with an IPv4 address");
        }
        return first;
    }

    private static int bits(InetAddress address) {
        return ByteBuffer.wrap(address.getAddress()).getInt();
    }

    /** That of RoCE version 2 is behind that of version 1 with the same address. */
    private static int gid(String device, InetAddress address) {
        String hex = HexFormat.of().formatHex(address.getAddress());
        String wanted = "ffff:" + hex.substring(0, 4) + ':' + hex.substring(4);
        int found = 0;
        for (int i = 0; i < GIDS; i++) {
            if (line(port(device).resolve("gids/" + i)).endsWith(wanted)) {
                found = i;
            }
        }
        return found;
    }

    /** The first line of a file of the kernel; empty if there is none. */
    static String line(Path file) {
        try {
            return Files.readString(file).lines().findFirst().orElse("").strip();
        } catch (IOException none) {
            return "";
        }
    }
}
