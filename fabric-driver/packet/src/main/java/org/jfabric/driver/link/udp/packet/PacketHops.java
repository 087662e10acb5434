package org.jfabric.driver.link.udp.packet;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jfabric.ffi.Netlink;
import org.jfabric.info.SocketName;

/**
 * Finds the next hops of destinations in the kernel's tables. Stateless; resource thread.
 *
 * <p>Endpoints of link packet on this host have a sign: a raw socket that is bound to their address, and connected to
 * one that holds their port. The kernel drops frames from one IPv4 address of a host to another one that were not sent
 * by its own sockets, so only endpoints with rings receive frames over the loopback interface. These frames name
 * another next hop than that interface, so that the kernel drops them before it looks up a route.
 */
final class PacketHops {
    /**
     * For experiments (RFC 3692). Endpoints whose rings see frames arrive over the loopback interface, not leave, had
     * 253.
     */
    static final int SIGN_PROTOCOL = 254;
    /** Of no interface: it is locally administered, and the kernel gives none. */
    private static final long NO_HARDWARE = 0xfdfdfdfdfd02L;

    private static final Path SIGNS = Path.of("/proc/net/raw");

    private static final int NLMSG_HEADER_BYTES = 16;
    private static final int NLM_F_REQUEST = 1;
    private static final int RTM_NEWLINK = 16;
    private static final int RTM_GETLINK = 18;
    private static final int RTM_NEWROUTE = 24;
    private static final int RTM_GETROUTE = 26;
    private static final int RTM_NEWNEIGH = 28;
    private static final int RTM_GETNEIGH = 30;
    private static final int ROUTE_BYTES = 12;
    private static final int NEIGHBOUR_BYTES = 12;
    private static final int LINK_BYTES = 16;
    private static final int RTA_DST = 1;
    private static final int RTA_SRC = 2;
    private static final int RTA_OIF = 4;
    private static final int RTA_GATEWAY = 5;
    private static final int RTA_PREFSRC = 7;
    private static final int RTA_VIA = 18;
    private static final int RTA_ENCAP = 22;
    private static final int RTN_UNICAST = 1;
    private static final int RTN_LOCAL = 2;
    private static final int NDA_DST = 1;
    private static final int NDA_LLADDR = 2;
    private static final int IFLA_ADDRESS = 1;
    private static final int IFLA_MTU = 4;
    private static final int NUD_REACHABLE = 0x02;
    private static final int NUD_STALE = 0x04;
    private static final int NUD_DELAY = 0x08;
    private static final int NUD_PROBE = 0x10;
    private static final int NUD_PERMANENT = 0x80;
    private static final int NUD_USABLE = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT;
    private static final int ARPHRD_ETHER = 1;
    private static final int ARPHRD_LOOPBACK = 772;
    private static final int IFF_UP = 1;
    private static final int HARDWARE_BYTES = 6;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    private PacketHops() {
    }

    /**
     * Finds next hops.
     *
     * @param own   source address, or the wildcard.
     * @return the next hop of each; null where the kernel's socket has to be used.
     */
    static List<PacketHop> find(InetAddress own, List<SocketName> peers) {
        List<PacketHop> hops = new ArrayList<>();
        Set<String> signs = null;
        try (Netlink kernel = new Netlink()) {
            for (SocketName peer : peers) {
                Answer route = route(kernel, own, peer);
                if (route == null) {
                    hops.add(null);
                } else if (route.header(7) == RTN_LOCAL && !peer.isIn6()) {
                    signs = signs == null ? signs() : signs;
                    hops.add(hasSign(signs, peer) ? hop(kernel, route, null, NO_HARDWARE) : null);
                } else if (route.header(7) == RTN_LOCAL) {
                    hops.add(hop(kernel, route, null, 0));
                } else {
                    Answer neighbour = neighbour(kernel, route, peer);
                    hops.add(neighbour == null ? null
                        : hop(kernel, route, neighbour, hardware(neighbour.attribute(NDA_LLADDR))));
                }
            }
        }
        return hops;
    }

    private static Answer route(Netlink kernel, InetAddress own, SocketName peer) {
        byte[] to = peer.inetAddress().getAddress();
        ByteBuffer request = request(RTM_GETROUTE);
        request.put((byte) (peer.isIn6() ? AF_INET6 : AF_INET)).put((byte) (8 * to.length));
        request.put((byte) (own.isAnyLocalAddress() ? 0 : 8 * to.length)).put(new byte[ROUTE_BYTES - 3]);
        attribute(request, RTA_DST, to);
        if (!own.isAnyLocalAddress()) {
            attribute(request, RTA_SRC, own.getAddress());
        }
        int scope = peer.isIn6() ? ByteBuffer.wrap(peer.toBytes()).order(ByteOrder.nativeOrder()).getInt(24) : 0;
        if (scope != 0) {
            attribute(request, RTA_OIF, number(scope));
        }
        Answer route = ask(kernel, request, RTM_NEWROUTE, ROUTE_BYTES);
        boolean isPlain = route != null && (route.header(7) == RTN_UNICAST || route.header(7) == RTN_LOCAL)
            && route.attribute(RTA_OIF) != null && route.attribute(RTA_ENCAP) == null
            && route.attribute(RTA_VIA) == null;
        return isPlain ? route : null;
    }

    private static Answer neighbour(Netlink kernel, Answer route, SocketName peer) {
        byte[] gateway = route.attribute(RTA_GATEWAY);
        ByteBuffer request = request(RTM_GETNEIGH);
        request.put((byte) (peer.isIn6() ? AF_INET6 : AF_INET)).put(new byte[3]).put(route.attribute(RTA_OIF));
        request.put(new byte[4]);
        attribute(request, NDA_DST, gateway == null ? peer.inetAddress().getAddress() : gateway);
        Answer neighbour = ask(kernel, request, RTM_NEWNEIGH, NEIGHBOUR_BYTES);
        if (neighbour == null || (state(neighbour) & NUD_USABLE) == 0) {
            return null;
        }
        byte[] hardware = neighbour.attribute(NDA_LLADDR);
        return hardware != null && hardware.length == HARDWARE_BYTES ? neighbour : null;
    }

    private static int state(Answer neighbour) {
        return neighbour.bytes.getShort(NLMSG_HEADER_BYTES + 8);
    }

    private static PacketHop hop(Netlink kernel, Answer route, Answer neighbour, long hardware) {
        byte[] index = route.attribute(RTA_OIF);
        ByteBuffer request = request(RTM_GETLINK);
        request.put(new byte[4]).put(index).put(new byte[8]);
        Answer link = ask(kernel, request, RTM_NEWLINK, LINK_BYTES);
        if (link == null || link.attribute(IFLA_MTU) == null
            || (link.bytes.getInt(NLMSG_HEADER_BYTES + 8) & IFF_UP) == 0
            || link.bytes.getShort(NLMSG_HEADER_BYTES + 2) != (neighbour == null ? ARPHRD_LOOPBACK : ARPHRD_ETHER)) {
            return null;
        }
        byte[] own = link.attribute(IFLA_ADDRESS);
        if (own == null || own.length != HARDWARE_BYTES) {
            return null;
        }
        byte[] source = route.attribute(RTA_PREFSRC);
        byte[] to = route.attribute(RTA_DST);
        return new PacketHop(number(index), hardware, hardware(own), number(link.attribute(IFLA_MTU)),
            source == null ? to : source, neighbour != null && (state(neighbour) & NUD_STALE) != 0);
    }

    private static long hardware(byte[] address) {
        long hardware = 0;
        for (int i = 0; i < HARDWARE_BYTES; i++) {
            hardware |= (address[i] & 0xffL) << 8 * i;
        }
        return hardware;
    }

    // ---- signs ----

    /** The address in a sign: that of the endpoint; of one for all addresses another one that no endpoint has. */
    static SocketName signedAddress(SocketName name) {
        return name.inetAddress().isAnyLocalAddress() ? SocketName.parse(SocketName.IN_SCHEME + "127.253.255.254:0")
            : name.withPort(0);
    }

    /** The port in a sign, as two numbers of an address: the system shows no ports of raw sockets. */
    static SocketName signedPort(SocketName name) {
        return SocketName.parse(
            SocketName.IN_SCHEME + "127.253." + (name.port() >>> 8) + '.' + (name.port() & 0xff) + ":0");
    }

    /** Both addresses of each raw socket of the signs' protocol. */
    private static Set<String> signs() {
        Set<String> found = new HashSet<>();
        try {
            for (String line : Files.readAllLines(SIGNS)) {
                // number: own address:protocol, other address:port, …
                String[] words = line.trim().split("\\s+");
                if (words.length > 2 && words[1].endsWith(String.format(":%04X", SIGN_PROTOCOL))) {
                    found.add(words[1].substring(0, words[1].indexOf(':')) + ' '
                        + words[2].substring(0, words[2].indexOf(':')));
                }
            }
        } catch (IOException hidden) {
            // then the peers are reached by the kernel's socket
            return found;
        }
        return found;
    }

    private static boolean hasSign(Set<String> signs, SocketName peer) {
        SocketName wildcard = SocketName.parse(SocketName.IN_SCHEME + "0.0.0.0:" + peer.port());
        return signs.contains(sign(peer)) || signs.contains(sign(wildcard));
    }

    private static String sign(SocketName name) {
        return String.format("%08X %08X", number(signedAddress(name).inetAddress().getAddress()),
            number(signedPort(name).inetAddress().getAddress()));
    }

    // ---- messages ----

    private static ByteBuffer request(int type) {
        ByteBuffer request = ByteBuffer.allocate(256).order(ByteOrder.nativeOrder());
        return request.putInt(0).putShort((short) type).putShort((short) NLM_F_REQUEST).putInt(1).putInt(0);
    }

    private static void attribute(ByteBuffer request, int type, byte[] value) {
        request.putShort((short) (4 + value.length)).putShort((short) type).put(value);
    }

    private static Answer ask(Netlink kernel, ByteBuffer request, int type, int headerBytes) {
        byte[] message = new byte[request.position()];
        request.putInt(0, message.length).get(0, message);
        Answer answer = new Answer(ByteBuffer.wrap(kernel.exchange(message)).order(ByteOrder.nativeOrder()),
            NLMSG_HEADER_BYTES + headerBytes);
        return answer.bytes.capacity() >= answer.begin && answer.bytes.getShort(4) == type ? answer : null;
    }

    private static byte[] number(int value) {
        return ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(value).array();
    }

    private static int number(byte[] value) {
        return ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).getInt();
    }

    /** An answer of the kernel. */
    private record Answer(ByteBuffer bytes, int begin) {
        int header(int offset) {
            return bytes.get(NLMSG_HEADER_BYTES + offset) & 0xff;
        }

        /** Null without such an attribute. */
        byte[] attribute(int type) {
            int end = Math.min(bytes.getInt(0), bytes.capacity());
            for (int at = begin; at + 4 <= end; ) {
                int length = bytes.getShort(at) & 0xffff;
                if (length < 4 || at + length > end) {
                    return null;
                }
                if ((bytes.getShort(at + 2) & 0x3fff) == type) {
                    byte[] value = new byte[length - 4];
                    bytes.get(at + 4, value);
                    return value;
                }
                at += length + 3 & ~3;
            }
            return null;
        }
    }
}
