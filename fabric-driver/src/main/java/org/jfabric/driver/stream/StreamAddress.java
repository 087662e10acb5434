package org.jfabric.driver.stream;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/**
 * Where a group is read that is written on another host: {@code stream://host:port/group}, with a second
 * {@code host:port} behind a semicolon if there are two paths. A multicast group stands for the host, and
 * {@code @interface} behind the port names the interface of this host.
 *
 * @param network the paths, as in {@code ?net=} of the writer.
 * @param group   its name there.
 * @param times   whose clock times of arrival are of, as {@code ?times=} behind the group says; null for none.
 */
record StreamAddress(String network, String group, TimestampClock times) {
    private static final String SCHEME = JoinAttr.STREAM_SCHEME;
    private static final String BETWEEN_PATHS = ";";
    private static final int MOST_PATHS = 2;

    /** One path. */
    record Way(SocketName socket, String networkInterface) {
        boolean isMulticast() {
            return socket.inetAddress().isMulticastAddress();
        }
    }

    static boolean isOne(String address) {
        return address.startsWith(SCHEME);
    }

    /**
     * Takes an address apart.
     *
     * @throws FabricException {@code FI_EINVAL}.
     */
    static StreamAddress parse(String address) {
        int slash = address.indexOf('/', SCHEME.length());
        int mark = address.indexOf('?');
        int end = mark < 0 ? address.length() : mark;
        if (slash < 0 || slash > end || !FabricName.isValidPart(address.substring(slash + 1, end))) {
            throw new FabricException(
                FabricErrno.EINVAL, "the address of a stream is " + address,
                "Name it stream://<host>:<port>/<group>, or stream://<host>:<port>;<host>:<port>/<group>.");
        }
        StreamAddress parsed = new StreamAddress(
            address.substring(SCHEME.length(), slash), address.substring(slash + 1, end), times(address, end));
        List<String> paths = paths(parsed.network);
        if (paths.size() > MOST_PATHS) {
            throw new FabricException(FabricErrno.EINVAL, "the stream " + address + " has " + paths.size() + " paths",
                "Name one or two.");
        }
        if (paths.size() == MOST_PATHS && paths.getFirst().equals(paths.getLast())) {
            throw new FabricException(FabricErrno.EINVAL, "both paths of the stream " + address + " are the same",
                "Name one, or two networks that can fail without each other.");
        }
        return parsed;
    }

    private static TimestampClock times(String address, int from) {
        if (from == address.length()) {
            return null;
        }
        for (TimestampClock clock : TimestampClock.values()) {
            if (address.substring(from).equals(JoinAttr.TIMES + clock.name().toLowerCase(Locale.ROOT))) {
                return clock;
            }
        }
        throw new FabricException(FabricErrno.EINVAL, "the option of stream " + address + " is "
            + address.substring(from), "Give none, " + JoinAttr.TIMES + "system or " + JoinAttr.TIMES + "card: other"
            + " options are the writer's.");
    }

    /** The texts of paths, each {@code host:port} and perhaps {@code @interface}. */
    static List<String> paths(String network) {
        return Arrays.asList(network.split(BETWEEN_PATHS, -1));
    }

    /** The name of a ring for one reader alone, which is not where the others are. */
    static String alone(String address, int number) {
        return address + '#' + number;
    }

    /** The address without that number. */
    static String shared(String ring) {
        int mark = isOne(ring) ? ring.indexOf('#') : -1;
        return mark < 0 ? ring : ring.substring(0, mark);
    }

    /**
     * The paths of a writer. Resource thread: it may ask a name server.
     *
     * @throws FabricException as {@link #parse} and {@link #way}; {@code FI_EINVAL} if one of two is a multicast group,
     *     or a single address has an interface.
     */
    static List<Way> writerWays(String network) {
        parse(SCHEME + network + "/group");
        List<Way> ways = new ArrayList<>();
        for (String path : paths(network)) {
            Way way = way(path);
            if (way.networkInterface != null && !way.isMulticast()) {
                throw new FabricException(FabricErrno.EINVAL, "the socket of a stream is " + path,
                    "Name the address of the interface alone: only a multicast group needs both.");
            }
            ways.add(way);
        }
        if (ways.getFirst().isMulticast() != ways.getLast().isMulticast()) {
            throw new FabricException(FabricErrno.EINVAL, "one path of " + network + " is a multicast group",
                "Name a multicast group for each path, or for none.");
        }
        return ways;
    }

    /**
     * Resolves a path. Resource thread: it may ask a name server.
     *
     * @throws FabricException {@code FI_EINVAL}; {@code FI_ENODATA} if the host cannot be resolved.
     */
    static Way way(String path) {
        int at = path.indexOf('@');
        String socket = at < 0 ? path : path.substring(0, at);
        String text = SocketName.HOST_SCHEME + socket;
        if (!HostNames.isHost(text) || socket.endsWith(":0") || at + 1 == path.length()) {
            throw new FabricException(FabricErrno.EINVAL, "the socket of a stream is " + path,
                "Name it <host>:<port> or <host>:<port>@<interface>, with a port from 1 to 65535.");
        }
        return new Way(HostNames.resolve(text), at < 0 ? null : path.substring(at + 1));
    }
}
