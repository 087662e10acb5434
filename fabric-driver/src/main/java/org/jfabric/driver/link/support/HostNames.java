package org.jfabric.driver.link.support;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * Resolves a host and a port, as users write them, to a socket address. The resolution of a name may take seconds.
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
     * Whether a host is a numeric address, which needs no resolution.
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
     * Resolves a host and port in one text.
     *
     * @param text text for which {@link #isHost} is true.
     * @throws FabricException {@code FI_ENODATA} if the host cannot be resolved.
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
     * Resolves a host. Of several addresses the first IPv4 address is used, as in C libfabric.
     *
     * @param node    name or numeric address; empty for any address of this host.
     * @param service port, or empty for none.
     * @throws FabricException {@code FI_ENODATA} if the host cannot be resolved, {@code FI_EINVAL} if the service is
     *     not a port.
     */
    public static SocketName resolve(String node, String service) {
        if (!service.isEmpty() && !isPort(service)) {
            throw new FabricException(FabricErrno.EINVAL,
                "the service \"" + service + "\" is not a port", "Give a number from 0 to 65535.");
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
