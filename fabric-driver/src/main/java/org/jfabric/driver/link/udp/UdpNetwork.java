package org.jfabric.driver.link.udp;

import java.net.InetAddress;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.SocketName;

/**
 * Where the sockets of a link come from. An endpoint and its groups use those of one network, so that each call of a
 * socket has one target.
 *
 * <p>Any thread.
 */
abstract class UdpNetwork {
    private static final UdpNetwork NATIVE = new UdpNetwork() {
        @Override
        UdpPort open(SocketName wanted, InetAddress local, boolean shared, DriverConfig config) {
            return UdpNativePort.open(this, wanted, local, shared, config);
        }
    };

    private static final UdpNetwork NIO = new UdpNetwork() {
        @Override
        UdpPort open(SocketName wanted, InetAddress local, boolean shared, DriverConfig config) {
            return UdpNioPort.open(this, wanted, local, shared, config);
        }
    };

    /** The system's network, by a kind of sockets. */
    static UdpNetwork of(Sockets kind) {
        return kind == Sockets.NATIVE ? NATIVE : NIO;
    }

    /**
     * Opens a socket.
     *
     * @param wanted address to bind to; port 0 for any.
     * @param shared whether other sockets may have the same address.
     * @throws NativeCallException if the address cannot be bound.
     */
    abstract UdpPort open(SocketName wanted, InetAddress local, boolean shared, DriverConfig config);
}
