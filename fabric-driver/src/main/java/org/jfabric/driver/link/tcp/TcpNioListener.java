package org.jfabric.driver.link.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/** A listening socket of the JDK. Owner: as {@link TcpListener}. */
final class TcpNioListener extends TcpListener {
    private final ServerSocketChannel channel;
    private TcpNioPort accepted;

    private TcpNioListener(ServerSocketChannel channel, SocketName name) {
        super(name);
        this.channel = channel;
    }

    /** As {@link TcpNetwork#listen}. */
    static TcpNioListener open(SocketName wanted, int backlog) {
        ServerSocketChannel channel = null;
        try {
            channel = ServerSocketChannel.open(
                wanted.isIn6() ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(TcpNioPort.address(wanted), backlog);
            return new TcpNioListener(channel, SocketName.of((InetSocketAddress) channel.getLocalAddress()));
        } catch (IOException ex) {
            TcpNioPort.closeQuietly(channel);
            throw new FabricException(TcpNioPort.errno(ex, wanted),
                "cannot listen at " + wanted + ": " + ex.getMessage(), REMEDY, ex);
        }
    }

    @Override
    int fd() {
        return -1;
    }

    @Override
    SelectableChannel channel() {
        return channel;
    }

    @Override
    boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    int accept() {
        SocketChannel taken = null;
        try {
            taken = channel.accept();
            if (taken == null) {
                return -FabricErrno.EAGAIN;
            }
            accepted = new TcpNioPort(taken);
            return 0;
        } catch (IOException ex) {
            TcpNioPort.closeQuietly(taken);
            // the JDK does not give the errno; this one is persistent, so that the caller pauses
            return -FabricErrno.EMFILE;
        }
    }

    @Override
    TcpPort accepted() {
        return accepted;
    }

    @Override
    SocketName acceptedFrom() {
        try {
            return SocketName.of((InetSocketAddress) ((SocketChannel) accepted.channel()).getRemoteAddress());
        } catch (IOException ex) {
            return null;
        }
    }

    @Override
    public void close() {
        TcpNioPort.closeQuietly(channel);
    }
}
