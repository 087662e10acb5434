package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.SocketName;
import org.jfabric.ffi.TcpSocket;

/** Begins connections. Stateless. */
final class TcpConnector {
    private TcpConnector() {
    }

    /**
     * Begins a connection from the address that an endpoint listens on, so that the peer knows whose it is.
     *
     * @param local  image of that address.
     * @param remote where the peer listens.
     * @return descriptor or a negative errno.
     */
    static int connect(byte[] local, SocketName remote) {
        byte[] image = remote.toBytes();
        if (local.length != image.length) {
            return -FabricErrno.EADDRNOTAVAIL;
        }
        return TcpSocket.connect(local, image);
    }

    /**
     * Begins a connection from an address, the port included.
     *
     * @param local  image of that address.
     * @param remote where the peer listens.
     * @return descriptor or a negative errno.
     */
    static int connectFrom(byte[] local, SocketName remote) {
        byte[] image = remote.toBytes();
        if (local.length != image.length) {
            return -FabricErrno.EADDRNOTAVAIL;
        }
        return TcpSocket.connectFrom(local, image);
    }
}
