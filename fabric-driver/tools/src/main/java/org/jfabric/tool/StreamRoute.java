package org.jfabric.tool;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;

/**
 * The way that a stream between hosts takes: to {@code stream://host:port/group} of a reader, or from the socket behind
 * {@code net=} of a writer's address. Nothing is sent.
 */
final class StreamRoute {
    /** In place of that of a link. */
    static final String NAME = "stream";
    private static final String READS = JoinAttr.STREAM_SCHEME;
    private static final String WRITES = "net=";
    private static final String LINK = "udp";
    private static final int MOST_PATHS = 2;

    private StreamRoute() {
    }

    /** Whether an address is that of a stream between hosts. */
    static boolean isStream(String address) {
        return address != null && (address.startsWith(READS) || writes(address) != null);
    }

    /** The socket of a writer's address, or null. */
    private static String writes(String address) {
        return Arrays.stream(address.substring(address.indexOf('?') + 1).split("&"))
            .filter(each -> address.indexOf('?') >= 0 && each.startsWith(WRITES))
            .map(each -> each.substring(WRITES.length())).findFirst().orElse(null);
    }

    /**
     * Examines an address.
     *
     * @param verdicts of all links of the driver.
     */
    static Verdict examine(String address, List<Verdict> verdicts) {
        List<Reason> reasons = new ArrayList<>();
        Verdict link = verdicts.stream().filter(each -> each.linkName().equals(LINK)).findFirst()
            .orElseGet(() -> LinkConfig.absent(LINK));
        if (!link.chosen()) {
            reasons.addAll(link.reasons());
        }
        boolean isReader = address.startsWith(READS);
        String socket = isReader ? address.substring(READS.length()) : writes(address);
        int slash = socket.indexOf('/');
        if (isReader && slash < 0) {
            reasons.add(new Reason("address", address, "stream://<host>:<port>/<group>", "Name the group."));
        } else {
            String[] paths = (isReader ? socket.substring(0, slash) : socket).split(";", -1);
            if (paths.length > MOST_PATHS) {
                reasons.add(new Reason("paths", paths.length + " in " + address, "1 or 2", "Name two of them."));
            }
            for (String path : paths) {
                examine(path, isReader, reasons);
            }
        }
        boolean isRefused = reasons.stream().anyMatch(each -> !each.remedy().isEmpty());
        return new Verdict(NAME, !isRefused, 0, reasons);
    }

    private static void examine(String path, boolean isReader, List<Reason> reasons) {
        int at = path.indexOf('@');
        String socket = at < 0 ? path : path.substring(0, at);
        int colon = socket.lastIndexOf(':');
        String port = socket.substring(colon + 1);
        if (colon < 1 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) < 1
            || Integer.parseInt(port) > 0xffff) {
            reasons.add(new Reason("socket", socket, "<host>:<port>, with a port from 1 to 65535", "Correct it."));
            return;
        }
        String host = socket.substring(0, colon).replaceFirst("^\\[(.*)]$", "$1");
        InetAddress to;
        try {
            InetAddress[] all = InetAddress.getAllByName(host);
            to = Arrays.stream(all).filter(Inet4Address.class::isInstance).findFirst().orElse(all[0]);
        } catch (UnknownHostException e) {
            reasons.add(new Reason("host", host + ", which has no address", "a name that can be resolved here",
                "Correct the name, /etc/hosts or the name server, or give its address as a number."));
            return;
        }
        if (to.isMulticastAddress()) {
            group(to.getHostAddress() + " port " + port, at < 0 ? "" : path.substring(at + 1), reasons);
        } else if (isReader) {
            route(new InetSocketAddress(to, Integer.parseInt(port)), reasons);
        } else {
            local(to, reasons);
        }
    }

    /** The interface of a multicast group. */
    private static void group(String group, String name, List<Reason> reasons) {
        try {
            boolean isUsable = name.isEmpty();
            for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
                isUsable |= each.isUp() && each.supportsMulticast() && (each.getName().equals(name)
                    || each.inetAddresses().anyMatch(address -> address.getHostAddress().equals(name)));
            }
            reasons.add(new Reason(isUsable ? "path" : "interface", isUsable ? "multicast UDP, group " + group + " by "
                + (name.isEmpty() ? "the interface that jfabric.udp.interface names" : name)
                : name + ", which is not there, not up, or has no multicast", "an interface with multicast",
                isUsable ? "" : "Name one that ip link shows with UP and MULTICAST."));
        } catch (SocketException e) {
            reasons.add(new Reason("interface", e.getMessage(), "an interface with multicast", "See ip link."));
        }
    }

    /** The way out to the writer. */
    private static void route(InetSocketAddress to, List<Reason> reasons) {
        // a connected socket of UDP sends nothing, and has the address that the route gives it
        try (DatagramChannel socket = DatagramChannel.open()) {
            InetAddress from = ((InetSocketAddress) socket.connect(to).getLocalAddress()).getAddress();
            reasons.add(new Reason("path", "unicast UDP from " + interfaceOf(from) + " to "
                + to.getAddress().getHostAddress() + " port " + to.getPort(), "a route", ""));
        } catch (IOException e) {
            reasons.add(new Reason("route", "none to " + to.getAddress().getHostAddress() + ": " + e.getMessage(),
                "a route", "See what ip route get " + to.getAddress().getHostAddress() + " says."));
        }
    }

    /** Where a writer sends from. */
    private static void local(InetAddress address, List<Reason> reasons) {
        try {
            boolean isHere = address.isAnyLocalAddress() || NetworkInterface.getByInetAddress(address) != null;
            reasons.add(new Reason(isHere ? "path" : "address",
                isHere ? "unicast UDP from " + interfaceOf(address) : address.getHostAddress() + " of another host",
                "an address of this host", isHere ? "" : "Name one of those that ip address shows."));
        } catch (SocketException e) {
            reasons.add(new Reason("address", e.getMessage(), "an address of this host", "See what ip address shows."));
        }
    }

    private static String interfaceOf(InetAddress address) throws SocketException {
        NetworkInterface out = address.isAnyLocalAddress() ? null : NetworkInterface.getByInetAddress(address);
        return address.getHostAddress() + (out == null ? "" : " (" + out.getName() + ", datagrams of up to "
            + out.getMTU() + " bytes)");
    }
}
