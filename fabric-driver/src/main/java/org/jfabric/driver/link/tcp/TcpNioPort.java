package org.jfabric.driver.link.tcp;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * A socket of the JDK. It allocates in each call and hides the errno of a failure: memory whose file was truncated
 * appears as a reset. Owner: as {@link TcpPort}.
 */
final class TcpNioPort extends TcpPort {
    private final SocketChannel channel;
    private boolean isReset;

    /** A socket that is connected, from {@link TcpNioListener}, or is being connected. */
    TcpNioPort(SocketChannel channel) throws IOException {
        this.channel = channel;
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    /** As {@link TcpNetwork#connect}. */
    static TcpNioPort connect(SocketName local, SocketName remote, boolean keepsPort, SocketClass marks) {
        SocketChannel channel = null;
        try {
            channel = SocketChannel.open(local.isIn6() ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
            TcpNioPort port = new TcpNioPort(channel);
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, keepsPort);
            port.mark(marks);
            channel.bind(new InetSocketAddress(local.inetAddress(), keepsPort ? local.port() : 0));
            channel.connect(address(remote));
            return port;
        } catch (IOException ex) {
            closeQuietly(channel);
            throw new FabricException(errno(ex, local), "cannot connect " + local + " to " + remote + ": "
                + ex.getMessage(), "Check the address, the routes, and the limit of open files.", ex);
        }
    }

    static InetSocketAddress address(SocketName name) {
        return new InetSocketAddress(name.inetAddress(), name.port());
    }

    /** The errno of an exception, as far as its class and message show it. */
    static int errno(IOException ex, SocketName local) {
        if (String.valueOf(ex.getMessage()).contains("Too many open files")) {
            return FabricErrno.EMFILE;
        }
        return switch (ex) {
            case BindException bound -> local != null && isOfThisHost(local)
                ? FabricErrno.EADDRINUSE : FabricErrno.EADDRNOTAVAIL;
            case ConnectException failed -> String.valueOf(failed.getMessage()).contains("timed out")
                ? FabricErrno.ETIMEDOUT : FabricErrno.ECONNREFUSED;
            case NoRouteToHostException unknown -> FabricErrno.EHOSTUNREACH;
            case SocketException other -> FabricErrno.ENETUNREACH;
            default -> FabricErrno.EIO;
        };
    }

    private static boolean isOfThisHost(SocketName local) {
        try {
            return NetworkInterface.getByInetAddress(local.inetAddress()) != null;
        } catch (SocketException ex) {
            return false;
        }
    }

    static void closeQuietly(SelectableChannel open) {
        try {
            if (open != null) {
                open.close();
            }
        } catch (IOException ex) {
            throw new IllegalStateException("a socket cannot be closed", ex);
        }
    }

    @Override
    public int fd() {
        return -1;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public int connectError() {
        try {
            return channel.finishConnect() ? 0 : FabricErrno.EINPROGRESS;
        } catch (IOException ex) {
            return errno(ex, null);
        }
    }

    @Override
    public boolean isReset() {
        return isReset;
    }

    @Override
    public SocketName localName() {
        try {
            return SocketName.of((InetSocketAddress) channel.getLocalAddress());
        } catch (IOException ex) {
            return null;
        }
    }

    @Override
    public long send(long address, long length) {
        try {
            return channel.write(IoVector.buffer(address, length));
        } catch (IOException ex) {
            return FAILED;
        }
    }

    @Override
    public long receive(long address, long length) {
        try {
            return received(channel.read(IoVector.buffer(address, length)));
        } catch (IOException ex) {
            return reset();
        }
    }

    @Override
    public long sendVector(IoVector vector) {
        try {
            return channel.write(vector.buffers());
        } catch (IOException ex) {
            return -FabricErrno.ECONNRESET;
        }
    }

    @Override
    public long receiveVector(IoVector vector) {
        try {
            return received(channel.read(vector.buffers()));
        } catch (IOException ex) {
            return reset();
        }
    }

    @Override
    public long receiveError(IoVector vector) {
        long got = receiveVector(vector);
        return got == FAILED ? -FabricErrno.EAGAIN : got;
    }

    /** The result of a read after a reset: the end of the stream. */
    private long reset() {
        isReset = true;
        return 0;
    }

    private static long received(long read) {
        return read == 0 ? FAILED : Math.max(0, read);
    }

    @Override
    public TcpSocket.Health health() {
        return null;
    }

    @Override
    public void keepAlive(int idleSeconds, int intervalSeconds, int probes) {
        try {
            if (idleSeconds == 0) {
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, false);
                return;
            }
            channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, idleSeconds);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, intervalSeconds);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, probes);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        } catch (IOException ex) {
            // the connection has no keepalive then; the next read or write detects its loss
        }
    }

    @Override
    public void userTimeout(int milliseconds) {
        throw new IllegalStateException("the link is not opened with this option over the sockets of the JDK");
    }

    /** The code point alone: the JDK has no option for the queue of the interface. */
    @Override
    public void mark(SocketClass marks) {
        try {
            if (!marks.equals(SocketClass.NONE)) {
                channel.setOption(StandardSocketOptions.IP_TOS, marks.tos());
            }
        } catch (IOException ex) {
            // its packets are not marked then; the next read or write notices what has happened to it
        }
    }

    @Override
    public void close() {
        closeQuietly(channel);
    }
}
