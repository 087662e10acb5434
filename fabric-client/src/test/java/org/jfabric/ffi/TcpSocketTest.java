package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Sockets that are opened first and connected later. */
class TcpSocketTest {
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_NODELAY = 1;
    private static final byte[] HERE = SocketName.parse("fi_sockaddr_in://127.0.0.1:0").toBytes();
    private static final Downcall GETSOCKOPT = Downcall.of("getsockopt", 5);

    private final int listener = TcpSocket.listen(HERE, 1);
    private final int socket = TcpSocket.open(false);

    @AfterEach
    void close() {
        Libc.close(socket);
        Libc.close(listener);
    }

    @Test
    void shouldSendSmallWritesImmediatelyOnBothSides() {
        assertEquals(0, TcpSocket.connect(socket, TcpSocket.localName(listener)));
        int[] accepted = {-1};
        Deadline.await("connection", () -> (accepted[0] = TcpSocket.accept(listener)) >= 0, () -> accepted[0]);
        assertTrue(isWithoutDelay(socket));
        assertTrue(isWithoutDelay(accepted[0]));
        Libc.close(accepted[0]);
    }

    @Test
    void shouldConnectAfterAConnectionThatFailed() {
        byte[] nobody = SocketName.parse("fi_sockaddr_in://127.0.0.1:1").toBytes();
        assertEquals(0, TcpSocket.connect(socket, nobody));
        Deadline.await("refusal", () -> TcpSocket.connectError(socket) == LinuxErrno.ECONNREFUSED, () -> "");
        TcpSocket.disconnect(socket);
        assertEquals(0, TcpSocket.connect(socket, TcpSocket.localName(listener)));
        Deadline.await("connection", () -> TcpSocket.peerName(socket) != null, () -> "");
    }

    private static boolean isWithoutDelay(int fd) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, 8, Integer.BYTES);
        assertEquals(0, state.intResult(GETSOCKOPT.call(
            state, fd, IPPROTO_TCP, TCP_NODELAY, state.scratchAddress, state.scratchAddress + 8)));
        return state.scratch.get(ValueLayout.JAVA_INT, 0) == 1;
    }
}
