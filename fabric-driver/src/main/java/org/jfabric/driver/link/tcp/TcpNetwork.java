package org.jfabric.driver.link.tcp;

import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.SocketClass;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * Where the sockets of a link come from. A link uses those of one network, so that each call of a socket has one
 * target.
 *
 * <p>Any thread.
 */
abstract class TcpNetwork {
    private static final TcpNetwork NATIVE = new TcpNetwork() {
        @Override
        TcpListener listen(SocketName wanted, int backlog) {
            return TcpNativeListener.open(wanted, backlog);
        }

        @Override
        TcpPort begin(SocketName local, SocketName remote, boolean keepsPort, SocketClass marks) {
            return TcpNativePort.connect(local, remote, keepsPort, marks);
        }

        @Override
        WatchedSet watch(LinkServices services) {
            return new EpollSet(services);
        }
    };

    private static final TcpNetwork NIO = new TcpNetwork() {
        @Override
        TcpListener listen(SocketName wanted, int backlog) {
            return TcpNioListener.open(wanted, backlog);
        }

        @Override
        TcpPort begin(SocketName local, SocketName remote, boolean keepsPort, SocketClass marks) {
            return TcpNioPort.connect(local, remote, keepsPort, marks);
        }

        @Override
        WatchedSet watch(LinkServices services) {
            return new SelectorSet();
        }
    };

    /** The system's network, by a kind of sockets. */
    static TcpNetwork of(Sockets kind) {
        return kind == Sockets.NATIVE ? NATIVE : NIO;
    }

    /**
     * Opens a listening socket.
     *
     * @param wanted  address; the wildcard only for connection-oriented endpoints; port 0 for any.
     * @throws FabricException if the address cannot be bound.
     */
    abstract TcpListener listen(SocketName wanted, int backlog);

    /** As {@link TcpReservation#open}. */
    TcpReservation reserve(SocketName wanted) {
        return TcpReservation.open(wanted);
    }

    /**
     * Begins a connection from the address on which an endpoint listens, by which the peer identifies the endpoint.
     *
     * @param keepsPort whether the port of {@code local} is used too, on which no socket may listen; else any port.
     * @return a socket that is connected or being connected, see {@link TcpPort#connectError()}.
     * @throws FabricException if the attempt cannot begin.
     */
    final TcpPort connect(SocketName local, SocketName remote, boolean keepsPort, SocketClass marks) {
        if (local.isIn6() != remote.isIn6()) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, remote + " cannot be reached from " + local,
                "Use addresses of one family on both sides.");
        }
        return begin(local, remote, keepsPort, marks);
    }

    /** As {@link #connect}, between addresses of one family. */
    abstract TcpPort begin(SocketName local, SocketName remote, boolean keepsPort, SocketClass marks);

    /** Makes an empty set for the sockets of this network. */
    abstract WatchedSet watch(LinkServices services);
}
