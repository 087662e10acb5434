package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.config.Sockets;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.TcpSocket;

import java.nio.channels.SelectableChannel;

/**
 * A socket that is connected, or on its way to be. All calls answer at once.
 *
 * <p>Owner: progress agent.
 */
abstract class TcpPort {
    /** Answer of calls that do not say why: nothing there, no room, or an error. */
    static final int FAILED = TcpSocket.FAILED;

    /**
     * Begins a connection from the address that an endpoint listens on, so that the peer knows whose it is.
     *
     * @param kind      of sockets.
     * @param local     that address.
     * @param remote    where the peer listens.
     * @param keepsPort whether it comes from that port too, which must not be listened at; else from another one.
     * @return a connection that is made or on its way, see {@link #connectError()}.
     * @throws FabricException why not.
     */
    static TcpPort connect(Sockets kind, SocketName local, SocketName remote, boolean keepsPort) {
        if (local.isIn6() != remote.isIn6()) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, remote + " cannot be reached from " + local,
                "Use addresses of one family on both sides.");
        }
        return kind == Sockets.NATIVE
            ? TcpNativePort.connect(local, remote, keepsPort) : TcpNioPort.connect(local, remote, keepsPort);
    }

    /** Its descriptor, -1 if it is closed or has none that is known. */
    abstract int fd();

    /** Its channel, or null if it has none. */
    abstract SelectableChannel channel();

    /** How the way up has ended, once it is told as writable: 0, or a positive errno. */
    abstract int connectError();

    /** Whether a stream that has ended was broken off instead of closed by the other side. */
    abstract boolean isReset();

    /** Address of its own end, or null if it has none. */
    abstract SocketName localName();

    /** Sends bytes; how many were taken, or {@link #FAILED}. */
    abstract long send(long address, long length);

    /** Receives bytes; how many, 0 at the end of the stream, or {@link #FAILED}. */
    abstract long receive(long address, long length);

    /** Sends what is in several places; how many bytes were taken, or a negative errno. */
    abstract long sendVector(IoVector vector);

    /** Receives to several places; how many bytes, 0 at the end of the stream, or {@link #FAILED}. */
    abstract long receiveVector(IoVector vector);

    /** As {@link #receiveVector}, but answers a negative errno; may allocate. */
    abstract long receiveError(IoVector vector);

    /** What the system knows of the other side; null if it cannot be asked, as by the JDK's sockets. */
    abstract TcpSocket.Health health();

    /**
     * Lets the system ask whether the peer's host is still there, or no more; see {@link TcpSocket#keepAlive}. Nothing
     * follows from a refusal but that this connection is not watched.
     */
    abstract void keepAlive(int idleSeconds, int intervalSeconds, int probes);

    /** Bounds how long sent bytes may wait; see {@link TcpSocket#userTimeout}. The JDK's sockets have no such bound. */
    abstract void userTimeout(int milliseconds);

    /** Ends both directions and gives it back; again does nothing. */
    abstract void close();
}
