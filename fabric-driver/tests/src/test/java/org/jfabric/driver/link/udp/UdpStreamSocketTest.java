package org.jfabric.driver.link.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.kit.SteppedServices;
import org.jfabric.driver.stream.net.PeerAddress;
import org.jfabric.info.SocketName;
import org.junit.jupiter.api.Test;

/** The socket of a stream with the one beside it, over the system's sockets. */
class UdpStreamSocketTest {
    private static final SocketName LOCAL = SocketName.parse("fi_sockaddr_in://127.0.0.1:0");
    /** So many datagrams to one peer open the second socket, and so many to others close it. */
    private static final int RUN = 1024;
    private static final int LENGTH = 64;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);

    private static final class Services extends SteppedServices {
        @Override
        public long nowNs() {
            return System.nanoTime();
        }
    }

    private final Services services = new Services();

    private static void send(UdpStreamSocket socket, DatagramSocket to) {
        PeerAddress peer = PeerAddress.of(SocketName.of((InetSocketAddress) to.getLocalSocketAddress()));
        for (int i = 0; i < RUN; i++) {
            assertTrue(socket.claim() != 0, "the system takes no datagram");
            socket.send(LENGTH, peer.name(), peer.length());
        }
        socket.flush();
    }

    private static void receive(UdpStreamSocket socket, DatagramSocket from, SocketName to, int length)
        throws IOException {
        from.send(new DatagramPacket(new byte[length], length, to.inetAddress(), to.port()));
        int received = -1;
        for (long end = System.nanoTime() + DEADLINE_NS; received < 0 && System.nanoTime() < end;) {
            received = socket.receive();
        }
        assertEquals(length, received);
    }

    /** It has taken the last datagram from the second one. */
    @Test
    void shouldReceiveAfterTheSecondSocketWasClosed() throws IOException {
        DriverConfig config = DriverConfig.builder().build();
        UdpPort port = UdpNetwork.of(config.get(UdpConfig.SOCKETS)).open(LOCAL, LOCAL.inetAddress(), false, config);
        UdpStreamSocket socket = new UdpStreamSocket(port, null, services, config);
        InetAddress local = LOCAL.inetAddress();
        try (DatagramSocket sole = new DatagramSocket(0, local); DatagramSocket other = new DatagramSocket(0, local)) {
            send(socket, sole);
            assertEquals(1, services.tasks.size(), "opens a second socket");
            services.runTasks();
            receive(socket, sole, port.name(), 8);
            send(socket, other);
            receive(socket, other, port.name(), 16);
            receive(socket, sole, port.name(), 24);
        } finally {
            socket.close();
        }
    }
}
