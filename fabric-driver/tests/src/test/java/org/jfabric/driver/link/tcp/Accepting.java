package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.SocketName;

/** Takes one byte of each call, and has nothing else. */
final class Accepting extends TcpPort {
    @Override
    public int fd() {
        throw new UnsupportedOperationException();
    }

    @Override
    public SelectableChannel channel() {
        throw new UnsupportedOperationException();
    }

    @Override
    public int connectError() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isReset() {
        throw new UnsupportedOperationException();
    }

    @Override
    public SocketName localName() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long send(long address, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long receive(long address, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long sendVector(IoVector vector) {
        return 1;
    }

    @Override
    public long receiveVector(IoVector vector) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long receiveError(IoVector vector) {
        throw new UnsupportedOperationException();
    }

    @Override
    public TcpSocket.Health health() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void keepAlive(int idleSeconds, int intervalSeconds, int probes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void userTimeout(int milliseconds) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void mark(SocketClass marks) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
