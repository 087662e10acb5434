package org.jfabric.driver.link.tcp;

import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.link.BoundAddress;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * An address that is kept for a connection-oriented endpoint, and nothing more: who connects to it is refused by the
 * system. A passive endpoint has one until it is closed, an active one that took the address over until its own close.
 *
 * <p>A socket that is bound and does not listen shares its address with others that say so too, so that one which
 * listens there, or connects from there, needs no handing over. Another one that is only bound does not see this one
 * either: whether an endpoint of this driver has the address is the conductor's matter, and another process is found
 * out when it listens.
 *
 * <p>Made on the resource thread; owner then: progress agent. Control path only, so that it is the JDK's socket
 * whatever sockets the link uses.
 */
final class TcpReservation extends BoundAddress {
    private final SocketChannel socket;
    private final SocketName name;

    private TcpReservation(SocketChannel socket, SocketName name) {
        this.socket = socket;
        this.name = name;
    }

    /**
     * Takes an address.
     *
     * @param wanted address of this host or the wildcard; port 0 for any.
     * @throws FabricException {@code FI_EADDRINUSE}, {@code FI_EADDRNOTAVAIL}, {@code FI_EMFILE}.
     */
    static TcpReservation open(SocketName wanted) {
        try {
            SocketChannel socket = SocketChannel.open(
                wanted.isIn6() ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
            try {
                socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                socket.bind(new InetSocketAddress(wanted.inetAddress(), wanted.port()));
                return new TcpReservation(socket, SocketName.of((InetSocketAddress) socket.getLocalAddress()));
            } catch (IOException refused) {
                socket.close();
                throw refused;
            }
        } catch (IOException refused) {
            throw new FabricException(TcpNioPort.errno(refused, wanted), "cannot take the address " + wanted + ": "
                + refused.getMessage(), "Name an address of this host and a free port in srcAddr or in"
                + " jfabric.tcp.interface.", refused);
        }
    }

    @Override
    public String address() {
        return name.toString();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
