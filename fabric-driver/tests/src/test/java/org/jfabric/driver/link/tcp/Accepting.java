package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.SocketName;

/** Takes one byte of each call, and has nothing else. */
final class Accepting extends TcpPort {
    @Override
    int fd() {
        throw new UnsupportedOperationException();
    }

    @Override
    SelectableChannel channel() {
        throw new UnsupportedOperationException();
    }

    @Override
    int connectError() {
        throw new UnsupportedOperationException();
    }

    @Override
    boolean isReset() {
        throw new UnsupportedOperationException();
    }

    @Override
    SocketName localName() {
        throw new UnsupportedOperationException();
    }

    @Override
    long send(long address, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    long receive(long address, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    long sendVector(IoVector vector) {
        return 1;
    }

    @Override
    long receiveVector(IoVector vector) {
        throw new UnsupportedOperationException();
    }

    @Override
    long receiveError(IoVector vector) {
        throw new UnsupportedOperationException();
    }

    @Override
    TcpSocket.Health health() {
        throw new UnsupportedOperationException();
    }

    @Override
    void keepAlive(int idleSeconds, int intervalSeconds, int probes) {
        throw new UnsupportedOperationException();
    }

    @Override
    void userTimeout(int milliseconds) {
        throw new UnsupportedOperationException();
    }

    @Override
    void mark(SocketClass marks) {
        throw new UnsupportedOperationException();
    }

    @Override
    void close() {
        throw new UnsupportedOperationException();
    }
}
