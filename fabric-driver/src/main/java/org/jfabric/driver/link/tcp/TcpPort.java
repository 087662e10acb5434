package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.ffi.ZeroCopy;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/**
 * A socket that is connected or being connected. No call blocks.
 *
 * <p>Owner: progress agent.
 */
public abstract class TcpPort {
    /** Result of calls that give no reason: no data, no room, or an error. */
    protected static final int FAILED = TcpSocket.FAILED;

    /** The descriptor, -1 if the socket is closed or its descriptor is not accessible. */
    public abstract int fd();

    /** The socket's channel, or null if it has none. */
    public abstract SelectableChannel channel();

    /**
     * Result of the connect, once the socket is reported as writable: 0, or a positive errno. Later: the socket's
     * error.
     */
    public abstract int connectError();

    /** Whether a stream that has ended was reset instead of closed by the peer. */
    public abstract boolean isReset();

    /** Address of the local end, or null if it has none. */
    public abstract SocketName localName();

    /** Sends bytes; returns how many were accepted, or {@link #FAILED}. */
    public abstract long send(long address, long length);

    /** Receives bytes; returns how many, 0 at the end of the stream, or {@link #FAILED}. */
    public abstract long receive(long address, long length);

    /** Sends the bytes of a vector; returns how many were accepted, or a negative errno. */
    public abstract long sendVector(IoVector vector);

    /** Receives into a vector; returns how many bytes, 0 at the end of the stream, or {@link #FAILED}. */
    public abstract long receiveVector(IoVector vector);

    /** As {@link #receiveVector}, but returns a negative errno; may allocate. */
    public abstract long receiveError(IoVector vector);

    /** The system's state of the connection; null if it is not accessible, as with the JDK's sockets. */
    public abstract TcpSocket.Health health();

    /**
     * Sets or ends keepalive, by which the system detects the loss of the peer's host; see {@link TcpSocket#keepAlive}.
     * If the system refuses it, the connection has no keepalive.
     */
    public abstract void keepAlive(int idleSeconds, int intervalSeconds, int probes);

    /**
     * Limits the time that sent bytes may stay unacknowledged; see {@link TcpSocket#userTimeout}. The JDK's sockets
     * lack it.
     */
    public abstract void userTimeout(int milliseconds);

    /** Marks the packets of a connection that was accepted; what the system refuses leaves them as they were. */
    public abstract void mark(SocketClass marks);

    /** Has the system give times of arrival; false if it has none. */
    boolean stamp(TimestampClock clock) {
        return false;
    }

    /** When the last bytes of the last read arrived, after {@link #stamp}: nanoseconds; 0 if that is not known. */
    long timeNs() {
        return 0;
    }

    /** Allows {@link #sendPinned}; 0, or a negative errno if this kind of socket has no such sends. */
    int allowPinned() {
        return -FabricErrno.EOPNOTSUPP;
    }

    /** As {@link ZeroCopy#send}. */
    long sendPinned(IoVector vector) {
        throw new UnsupportedOperationException();
    }

    /** As {@link #sendVector}, for bytes that {@link #sendPinned} is to follow. */
    long sendBeforePinned(IoVector vector) {
        return sendVector(vector);
    }

    /** Passes on the reports about {@link #sendPinned} that have arrived. */
    int takeReports(ZeroCopy report, TcpPins pins) {
        return 0;
    }

    /** As {@link #close}, but bytes that are not sent yet are dropped, and the connection is reset. */
    void abort() {
        close();
    }

    /** Closes both directions and the socket. A second call does nothing. */
    public abstract void close();
}
