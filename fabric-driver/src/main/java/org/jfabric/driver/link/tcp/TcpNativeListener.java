package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import org.jfabric.ffi.SocketLibrary;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/** A listening socket by its descriptor. Owner: as {@link TcpListener}. */
final class TcpNativeListener extends TcpListener {
    private int fd;
    private TcpNativePort accepted;

    private TcpNativeListener(int fd, SocketName name) {
        super(name);
        this.fd = fd;
    }

    /** As {@link TcpNetwork#listen}. */
    static TcpNativeListener open(SocketName wanted, int backlog) {
        int fd = TcpSocket.listen(wanted.toBytes(), backlog);
        if (fd < 0) {
            throw new FabricException(
                -fd, "cannot listen at " + wanted + ": " + FabricErrno.name(-fd), REMEDY);
        }
        return new TcpNativeListener(fd, SocketName.ofBytes(TcpSocket.localName(fd)));
    }

    @Override
    int fd() {
        return fd;
    }

    @Override
    SelectableChannel channel() {
        return null;
    }

    @Override
    boolean isOpen() {
        return fd >= 0;
    }

    @Override
    int accept() {
        int result = TcpSocket.accept(fd);
        accepted = result < 0 ? null : new TcpNativePort(result);
        return Math.min(0, result);
    }

    @Override
    TcpPort accepted() {
        return accepted;
    }

    @Override
    SocketName acceptedFrom() {
        byte[] image = TcpSocket.peerName(accepted.fd());
        return image == null ? null : SocketName.ofBytes(image);
    }

    @Override
    public void close() {
        int open = fd;
        fd = -1;
        if (open >= 0) {
            SocketLibrary.close(open);
        }
    }
}
