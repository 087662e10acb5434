package org.jfabric.driver.stream;

import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * Where a group is read that is written on another host: {@code stream://host:port/group}.
 *
 * @param socket of the writer's driver, {@code host:port}.
 * @param group  its name there.
 */
record StreamAddress(String socket, String group) {
    private static final String SCHEME = "stream://";

    static boolean isOne(String address) {
        return address.startsWith(SCHEME);
    }

    /**
     * Takes an address apart.
     *
     * @throws FabricException {@code FI_EINVAL}, {@code FI_EOPNOTSUPP} for two paths.
     */
    static StreamAddress parse(String address) {
        int slash = address.indexOf('/', SCHEME.length());
        if (address.indexOf(';') >= 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, address + " has two paths", "Name one of them.");
        }
        if (slash < 0 || !FabricName.isValidPart(address.substring(slash + 1))) {
            throw new FabricException(
                FabricErrno.EINVAL, "the address of a stream is " + address, "Name it stream://<host>:<port>/<group>.");
        }
        return new StreamAddress(address.substring(SCHEME.length(), slash), address.substring(slash + 1));
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
     * Resolves a host and a port. Resource thread: it may ask a name server.
     *
     * @throws FabricException {@code FI_EINVAL}; {@code FI_ENODATA} if the host cannot be resolved;
     *     {@code FI_EOPNOTSUPP} for a multicast group.
     */
    static SocketName resolve(String socket) {
        String text = SocketName.HOST_SCHEME + socket;
        if (!HostNames.isHost(text) || socket.endsWith(":0")) {
            throw new FabricException(FabricErrno.EINVAL, "the socket of a stream is " + socket,
                "Name it <host>:<port>, with a port from 1 to 65535.");
        }
        SocketName name = HostNames.resolve(text);
        if (name.inetAddress().isMulticastAddress()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the socket of a stream is the multicast group " + socket,
                "Name an address of the writer's host: each reading host is sent its own datagrams.");
        }
        return name;
    }
}
