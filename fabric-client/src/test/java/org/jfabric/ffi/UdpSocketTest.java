package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sockets for datagrams, of which one is connected to a peer and has the address of another one. */
@Timeout(30)
class UdpSocketTest {
    private static final InetAddress HOST = InetAddress.getLoopbackAddress();

    private final MemorySegment memory = Arena.ofAuto().allocate(64);
    private final MessageVector vector = new MessageVector(1, 1);

    private void send(DatagramSocket from, InetSocketAddress to, int number) throws Exception {
        from.send(new DatagramPacket(new byte[] {(byte) number}, 1, to));
    }

    /** The number that a socket receives next. */
    private int receive(int fd) {
        vector.piece(0, 0, memory.address(), 64);
        vector.pieceCount(0, 1);
        Deadline.await("a datagram", () -> {
            vector.nameLength(0, MessageVector.NAME_BYTES);
            return UdpSocket.receive(fd, vector, 1) == 1;
        }, () -> "descriptor " + fd);
        return memory.get(ValueLayout.JAVA_BYTE, 0);
    }

    @Test
    void shouldGiveAConnectedSocketWhatItsPeerSendsAndNothingElse() throws Exception {
        int fd = UdpSocket.open(SocketName.of(new InetSocketAddress(HOST, 0)).toBytes(), false);
        assertTrue(fd >= 0);
        InetSocketAddress address = new InetSocketAddress(HOST, SocketName.ofBytes(UdpSocket.name(fd)).port());
        try (DatagramSocket peer = new DatagramSocket(0, HOST); DatagramSocket other = new DatagramSocket(0, HOST)) {
            int connected = UdpSocket.openConnected(
                fd, SocketName.of((InetSocketAddress) peer.getLocalSocketAddress()).toBytes());
            assertTrue(connected >= 0);
            try {
                send(other, address, 1);
                send(peer, address, 2);
                send(other, address, 3);
                assertEquals(2, receive(connected));
                assertEquals(1, receive(fd));
                assertEquals(3, receive(fd));
                // what it sends comes from the common address, and needs no name
                vector.piece(0, 0, memory.address(), 1);
                vector.name(0, 0, 0);
                assertEquals(1, UdpSocket.send(connected, vector, 1));
                DatagramPacket packet = new DatagramPacket(new byte[1], 1);
                peer.receive(packet);
                assertEquals(address, packet.getSocketAddress());
                // a third socket gets the address of neither
                assertEquals(-LinuxErrno.EADDRINUSE, UdpSocket.open(UdpSocket.name(fd), true));
            } finally {
                Libc.close(connected);
            }
            send(peer, address, 4);
            assertEquals(4, receive(fd));
        } finally {
            Libc.close(fd);
        }
    }
}
