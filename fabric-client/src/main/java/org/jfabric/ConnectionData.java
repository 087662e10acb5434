package org.jfabric;

import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/** Private data and addresses on their way between the application's memory and commands. Stateless; any thread. */
final class ConnectionData {
    private static final String SCHEME = "jfabric://";

    private ConnectionData() {
    }

    /** Copies private data, cut to what every link carries. */
    static byte[] take(DirectBuffer param, int offset, int length, Domain domain) {
        return take(param, offset, length, domain.connection().attachment().cmDataSize());
    }

    static byte[] take(DirectBuffer param, int offset, int length, int cmDataSize) {
        if (param == null || offset < 0 || length < 0 || offset > param.capacity() - length) {
            throw new FabricException(FabricErrno.EINVAL, "private data of " + length + " bytes at offset " + offset
                + " of " + (param == null ? "no buffer" : "a buffer of " + param.capacity()),
                "Give a range inside of the buffer.");
        }
        byte[] data = new byte[Math.min(length, cmDataSize)];
        param.getBytes(offset, data);
        return data;
    }

    /** Stores an address as fi_getname does it. */
    static int put(String address, MutableDirectBuffer addr, int offset, int[] addrlen) {
        if (addrlen == null || addrlen.length == 0) {
            return -FabricErrno.EINVAL;
        }
        byte[] bytes = address.getBytes(StandardCharsets.US_ASCII);
        int room = addrlen[0];
        if (room < 0 || room > 0 && (addr == null || offset < 0 || offset > addr.capacity() - room)) {
            return -FabricErrno.EINVAL;
        }
        if (room > 0) {
            addr.putBytes(offset, bytes, 0, Math.min(room, bytes.length));
        }
        addrlen[0] = bytes.length;
        return room < bytes.length ? -FabricErrno.ETOOSMALL : 0;
    }

    /** Refuses an address that an endpoint of this driver cannot have; the rest is the driver's decision. */
    static void requireOwn(String address, String driverName) {
        int slash = address.startsWith(SCHEME) ? address.indexOf('/', SCHEME.length()) : -1;
        if (slash < 0 || slash == address.length() - 1) {
            throw new FabricException(FabricErrno.EINVAL, "\"" + address + "\" is no address of an endpoint",
                "Write " + SCHEME + driverName + "/<endpoint>.");
        }
        if (!address.substring(SCHEME.length(), slash).equals(driverName)) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, address + " is an address of another driver",
                "Write " + SCHEME + driverName + "/<endpoint>.");
        }
    }

    static boolean isSocket(String address) {
        return SocketName.isName(address) || address.startsWith(SocketName.HOST_SCHEME);
    }

    static void requireSocket(String address) {
        if (!isSocket(address)) {
            throw new FabricException(FabricErrno.EINVAL, "\"" + address + "\" is no address of a socket",
                "Write " + SocketName.IN_SCHEME + "<address>:<port>, with a port from 0 (any) to 65535.");
        }
    }

    /** The name of an endpoint within its driver, from its address; null for an address of another form. */
    static String endpointName(String address) {
        if (address == null || !address.startsWith(SCHEME)) {
            return null;
        }
        int slash = address.indexOf('/', SCHEME.length());
        return slash < 0 || slash == address.length() - 1 ? null : address.substring(slash + 1);
    }
}
