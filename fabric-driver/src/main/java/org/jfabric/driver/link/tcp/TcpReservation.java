package org.jfabric.driver.link.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * An address that is reserved for a connection-oriented endpoint. The system refuses connections to it. A passive
 * endpoint has a reservation until it is closed, an active endpoint that took the address over until its own close.
 *
 * <p>A bound socket with SO_REUSEADDR that does not listen shares its address with other such sockets. For that reason
 * another socket can listen at the address, or connect from it, while the reservation stays open. The bind of another
 * reservation does not fail either: the conductor checks whether an endpoint of this driver has the address, and a
 * conflict with another process shows when one of them listens.
 *
 * <p>Made on the resource thread; owner afterwards: progress agent. Control path only, so that a socket of the JDK is
 * used whichever sockets the link uses.
 */
final class TcpReservation extends BoundAddress {
    /** Null if the address is not one of this host. */
    private final SocketChannel socket;
    private final SocketName name;

    private TcpReservation(SocketChannel socket, SocketName name) {
        this.socket = socket;
        this.name = name;
    }

    /**
     * Reserves an address.
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
            throw new FabricException(TcpNioPort.errno(refused, wanted), "cannot bind the address " + wanted + ": "
                + refused.getMessage(), "Name an address of this host and a free port in srcAddr or in"
                + " jfabric.tcp.interface.", refused);
        }
    }

    /** A reservation in a network that keeps its own list of addresses. */
    static TcpReservation of(SocketName name) {
        return new TcpReservation(null, name);
    }

    @Override
    public String address() {
        return name.toString();
    }

    @Override
    public void close() {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
