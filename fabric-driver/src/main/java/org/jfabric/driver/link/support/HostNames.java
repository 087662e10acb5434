package org.jfabric.driver.link.support;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * Turns what people write, a host and a port, into a socket address. Looking a name up may take seconds.
 *
 * <p>Stateless; resource thread.
 */
public final class HostNames {
    private static final int MAX_PORT = 0xffff;
    private static final int MAX_DIGITS = 5;

    private HostNames() {
    }

    /**
     * Whether a service can be the port of a socket address.
     *
     * @param service any text.
     * @return true for a number from 0 to 65535.
     */
    public static boolean isPort(String service) {
        return !service.isEmpty() && service.length() <= MAX_DIGITS
            && service.chars().allMatch(c -> c >= '0' && c <= '9') && Integer.parseInt(service) <= MAX_PORT;
    }

    /**
     * Whether a host is written as a number, so that nothing has to be looked up.
     *
     * @param node any text.
     * @return true for an IPv4 or IPv6 address.
     */
    public static boolean isNumeric(String node) {
        return literal(node) != null;
    }

    /**
     * Whether a text has the form of {@link SocketName#HOST_SCHEME}.
     *
     * @param text any.
     * @return true if {@link #resolve(String)} may be tried.
     */
    public static boolean isHost(String text) {
        int colon = text.lastIndexOf(':');
        return text.startsWith(SocketName.HOST_SCHEME) && colon > SocketName.HOST_SCHEME.length()
            && isPort(text.substring(colon + 1));
    }

    /**
     * Looks the host of a text up.
     *
     * @param text for which {@link #isHost} is true.
     * @return its socket address.
     * @throws FabricException {@code FI_ENODATA} if nobody knows the host.
     */
    public static SocketName resolve(String text) {
        int colon = text.lastIndexOf(':');
        String host = text.substring(SocketName.HOST_SCHEME.length(), colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        return resolve(host, text.substring(colon + 1));
    }

    /**
     * Looks a host up. Of several addresses the first IPv4 one is taken, as C libfabric does.
     *
     * @param node    name or number; empty for any address of this host.
     * @param service port, or empty for none.
     * @return its socket address.
     * @throws FabricException {@code FI_ENODATA} if nobody knows the host, {@code FI_EINVAL} if the service is no port.
     */
    public static SocketName resolve(String node, String service) {
        if (!service.isEmpty() && !isPort(service)) {
            throw new FabricException(FabricErrno.EINVAL,
                "the service \"" + service + "\" is no port", "Give a number from 0 to 65535.");
        }
        int port = service.isEmpty() ? 0 : Integer.parseInt(service);
        InetAddress literal = node.isEmpty() ? null : literal(node);
        if (literal != null) {
            return SocketName.of(new InetSocketAddress(literal, port));
        }
        if (node.isEmpty()) {
            return SocketName.parse(SocketName.IN_SCHEME + "0.0.0.0:" + port);
        }
        try {
            InetAddress[] found = InetAddress.getAllByName(node);
            for (InetAddress address : found) {
                if (address instanceof Inet4Address) {
                    return SocketName.of(new InetSocketAddress(address, port));
                }
            }
            return SocketName.of(new InetSocketAddress(found[0], port));
        } catch (UnknownHostException ex) {
            throw new FabricException(FabricErrno.ENODATA,
                "the host \"" + node + "\" is not known", "Correct the name, or give its address as a number.", ex);
        }
    }

    private static InetAddress literal(String node) {
        try {
            return InetAddress.ofLiteral(node);
        } catch (IllegalArgumentException ex) {
            return null;
        }
    }
}
