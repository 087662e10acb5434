package org.jfabric.driver.link.udp.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.PacketSocket;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is in the ring comes from anyone: it is checked, counted, and never harms what follows. */
@Tag("hostile")
@Timeout(120)
class PacketHostileTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final String WRONG_CHECKSUM = "packet: datagrams dropped because of a wrong checksum";
    private static final String MALFORMED = "packet: datagrams dropped because they were malformed or too long";
    private static final String RING_FULL = "packet: datagrams dropped because the ring was full";
    private static final String BY_SOCKET = "packet: datagrams sent by the system's socket";

    /** Sends frames of any contents over the loopback interface. */
    private static final class Forger implements AutoCloseable {
        private final int fd = PacketSocket.openSender(PacketSocket.LOOPBACK_INTERFACE);
        private final MessageVector from = new MessageVector(1, 1);
        private final MessageVector frame = new MessageVector(1, 1);
        private final Arena arena = Arena.ofShared();
        private final long payload = arena.allocate(2048, 64).address();
        private final PacketRoute route;
        final long memory = arena.allocate(4096, 64).address();
        int length;

        Forger(SocketName to) throws IOException {
            InetAddress own = to.inetAddress();
            route = new PacketRoute(to);
            route.update(new PacketHop(PacketSocket.LOOPBACK_INTERFACE, 0, 0, 65_536, own.getAddress(), false), fd,
                own, 9, 0, 0);
            frame.pieceCount(0, 1);
            frame.name(0, 0, 0);
        }

        /** A datagram that is right. */
        void make(int payloadBytes, int seed) {
            for (int i = 0; i < payloadBytes; i++) {
                UnsafeApi.putByte(payload + i, (byte) (seed + i));
            }
            from.piece(0, 0, payload, payloadBytes);
            from.pieceCount(0, 1);
            route.write(from, 0, frame, 0, memory);
            length = (int) frame.pieceLength(0, 0);
        }

        int headerBytes() {
            return route.headerBytes;
        }

        void flip(int offset) {
            UnsafeApi.putByte(memory + offset, (byte) ~UnsafeApi.getByte(memory + offset));
        }

        void send() {
            frame.piece(0, 0, memory, length);
            int sent = UdpSocket.send(fd, frame, 1);
            assertEquals(1, sent);
        }

        @Override
        public void close() {
            Libc.close(fd);
            arena.close();
        }
    }

    private static Bursts bursts(DatagramPair pair, int datagramBytes) {
        return new Bursts(SocketName.parse(pair.address(0)), SocketName.parse(pair.b.endpoint.name()), datagramBytes);
    }

    private static void exchange(DatagramPair pair, int rounds) {
        for (int i = 0; i < rounds; i++) {
            pair.a.fill(0, 100, i);
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, i));
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 100, pair.toB, i));
            pair.a.await(i);
            FabricNode.Entry entry = pair.b.await(i);
            assertEquals(100, entry.len());
            assertEquals(pair.toA, entry.source());
            pair.b.assertFilled(0, 100, i);
        }
    }

    private static long counter(DatagramPair pair, String driver, String label) {
        try (DriverView view = new DriverView(pair.directory(driver))) {
            return view.counters().getOrDefault(label, 0L);
        }
    }

    @ParameterizedTest
    @EnumSource(value = DatagramSetup.class, names = {"PACKET_EMBEDDED", "PACKET_IPV6"})
    void shouldDropAndCountWrongChecksums(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup);
             Forger forger = new Forger(SocketName.parse(pair.b.endpoint.name()))) {
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
            forger.make(64, 1);
            forger.flip(forger.headerBytes() + 5);
            forger.send();
            forger.make(64, 1);
            // the port of the sender is part of the sum
            forger.flip(forger.headerBytes() - 8);
            forger.send();
            int dropped = 2;
            if (!pair.setup.host.contains(":")) {
                forger.make(64, 1);
                // the hop limit, which the sum of the IP header covers alone
                forger.flip(PacketSocket.ETHERNET_BYTES + 8);
                forger.send();
                dropped++;
            }
            pair.b.assertQuiet(20);
            assertEquals(dropped, counter(pair, "beta", WRONG_CHECKSUM));
            forger.make(64, 1);
            forger.send();
            assertEquals(64, pair.b.await(1).len());
            assertEquals(dropped, counter(pair, "beta", WRONG_CHECKSUM));
            exchange(pair, 10);
        }
    }

    /** IPv4 alone permits a datagram without a checksum. */
    @ParameterizedTest
    @EnumSource(value = DatagramSetup.class, names = {"PACKET_EMBEDDED", "PACKET_IPV6"})
    void shouldTakeADatagramWithoutChecksumWhereItMay(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup);
             Forger forger = new Forger(SocketName.parse(pair.b.endpoint.name()))) {
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
            forger.make(33, 1);
            UnsafeApi.putShort(forger.memory + forger.headerBytes() - 2, (short) 0);
            forger.send();
            if (setup.host.contains(":")) {
                pair.b.assertQuiet(20);
                assertEquals(1, counter(pair, "beta", WRONG_CHECKSUM));
            } else {
                assertEquals(33, pair.b.await(1).len());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = DatagramSetup.class, names = {"PACKET_EMBEDDED", "PACKET_IPV6"})
    void shouldSurviveForgedLengths(DatagramSetup setup) throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (DatagramPair pair = new DatagramPair(setup);
             Forger forger = new Forger(SocketName.parse(pair.b.endpoint.name()))) {
            boolean isIn6 = setup.host.contains(":");
            int received = 0;
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
            for (int i = 0; i < 5_000; i++) {
                forger.make(random.nextInt(200), i);
                int ip = PacketSocket.ETHERNET_BYTES;
                int ipLength = ip + (isIn6 ? 4 : 2);
                int[] places = {ip, ipLength, ipLength + 1, forger.headerBytes() - 4,
                    forger.headerBytes() - 3};
                UnsafeApi.putByte(forger.memory + places[random.nextInt(places.length)], (byte) random.nextInt(256));
                // most without a checksum, which would hide the rest
                UnsafeApi.putShort(forger.memory + forger.headerBytes() - 2, (short) 0);
                if (random.nextInt(3) == 0) {
                    forger.length = forger.headerBytes() + random.nextInt(4);
                }
                forger.send();
                pair.pump();
                FabricNode.Entry entry = pair.b.poll();
                if (entry != null) {
                    assertEquals(0, entry.err(), "seed " + seed);
                    assertTrue(entry.len() <= 200, "seed " + seed + ": " + entry);
                    received++;
                    assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
                }
            }
            assertTrue(counter(pair, "beta", MALFORMED) + counter(pair, "beta", WRONG_CHECKSUM) > 100,
                "seed " + seed + ", received " + received);
            forger.make(77, 1);
            forger.send();
            long deadlineNs = System.nanoTime() + Deadline.ns(10);
            FabricNode.Entry entry;
            do {
                entry = pair.b.poll();
                if (entry != null && entry.len() != 77) {
                    assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
                }
                assertTrue(System.nanoTime() < deadlineNs, "seed " + seed);
            } while (entry == null || entry.len() != 77);
            exchange(pair, 10);
        }
    }

    /** Over the loopback interface they arrive as one packet. */
    @Test
    void shouldDeliverTheDatagramsOfOneSendSingly() throws Exception {
        try (DatagramPair pair = new DatagramPair(DatagramSetup.PACKET_EMBEDDED);
             Bursts bursts = bursts(pair, 100)) {
            int[] lengths = {100, 100, 50};
            for (int round = 0; round < 100; round++) {
                pair.a.fill(0, 250, round);
                for (int i = 0; i < lengths.length; i++) {
                    assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address() + 100 * i, 4096, ANY, i));
                }
                bursts.send(pair.a.memory.buffer().addressOffset(), 250);
                for (int i = 0; i < lengths.length; i++) {
                    assertEquals(lengths[i], pair.b.await(i).len());
                }
                pair.b.assertFilled(0, 250, round);
            }
            exchange(pair, 10);
        }
    }

    /** As many bytes as one packet has, and several such packets one behind the other, read a few at a time. */
    @Test
    void shouldDeliverBurstsThatAreLongerThanAFrame() throws Exception {
        try (DatagramPair pair = new DatagramPair(DatagramSetup.PACKET_EMBEDDED);
             Bursts bursts = bursts(pair, 1000)) {
            int length = 1000;
            int burst = 60;
            for (int round = 0; round < 50; round++) {
                int packets = 1 + round % 3;
                for (int i = 0; i < packets; i++) {
                    pair.a.fill(0, length * burst, round + i);
                    bursts.send(pair.a.memory.buffer().addressOffset(), length * burst);
                }
                for (int i = 0; i < packets; i++) {
                    for (int first = 0; first < burst; first += 7) {
                        int count = Math.min(7, burst - first);
                        for (int j = 0; j < count; j++) {
                            long place = pair.b.memory.address() + (long) (first + j) * length;
                            assertEquals(0, pair.b.endpoint.recv(place, 4096, ANY, first + j));
                        }
                        for (int j = 0; j < count; j++) {
                            assertEquals(length, pair.b.await(first + j).len());
                        }
                    }
                    pair.b.assertFilled(0, length * burst, round + i);
                }
            }
            assertEquals(0, counter(pair, "beta", MALFORMED));
            exchange(pair, 10);
        }
    }

    /** Bursts that find no room are lost as a whole, and counted; the ring stays in order. */
    @Test
    void shouldCountBurstsWithoutRoomAndReceiveTheRest() throws Exception {
        try (DatagramPair pair = new DatagramPair(DatagramSetup.PACKET_EMBEDDED);
             Bursts bursts = bursts(pair, 1000)) {
            int burst = 60;
            int packets = 400;
            for (int i = 0; i < packets; i++) {
                bursts.send(pair.a.memory.buffer().addressOffset(), 1000 * burst);
            }
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 5, pair.toB, 1));
            pair.a.await(1);
            long received = 0;
            boolean isLast = false;
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            while (!isLast) {
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
                isLast = pair.b.await(1).len() == 5;
                received += isLast ? 0 : 1;
                assertTrue(System.nanoTime() < deadlineNs, received + " received");
            }
            assertEquals(0, received % burst);
            assertTrue(received >= burst, received + " received");
            assertEquals(packets, received / burst + counter(pair, "beta", MALFORMED));
            exchange(pair, 10);
        }
    }

    /** Datagrams for other ports never reach the ring; those of unknown senders do, and are received as such. */
    @Test
    void shouldExchangeDuringAFloodOfForeignDatagrams() throws Exception {
        try (DatagramPair pair = new DatagramPair(DatagramSetup.PACKET_EMBEDDED);
             DatagramChannel foreign = DatagramChannel.open(); DatagramChannel target = DatagramChannel.open()) {
            InetSocketAddress elsewhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            target.bind(elsewhere);
            ByteBuffer datagram = ByteBuffer.allocate(1000);
            for (int i = 0; i < 50; i++) {
                for (int j = 0; j < 200; j++) {
                    foreign.send(datagram.clear(), target.getLocalAddress());
                }
                exchange(pair, 5);
            }
            assertEquals(0, counter(pair, "beta", RING_FULL));
        }
    }

    @Test
    void shouldCountWhatAFullRingDropsAndReceiveTheRest() throws Exception {
        try (DatagramPair pair = new DatagramPair(DatagramSetup.PACKET_EMBEDDED)) {
            for (int i = 0; i < 4_000; i++) {
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 1000, pair.toB, i));
                pair.a.await(i);
            }
            int received = 0;
            boolean isLast = false;
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            while (!isLast) {
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 5, pair.toB, 1));
                pair.a.await(1);
                isLast = pair.b.await(1).len() == 5;
                received++;
                assertTrue(System.nanoTime() < deadlineNs, received + " received");
            }
            assertTrue(received > 500 && received < 4_000, received + " were kept");
            assertTrue(counter(pair, "beta", RING_FULL) > 0);
            // those that were sent meanwhile
            for (int i = 0; i < received - 1; i++) {
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
                if (pair.b.poll() == null) {
                    break;
                }
            }
        }
    }

    @Test
    void shouldReserveItsPortAndAnswerNoOneAsUnreachable() throws Exception {
        try (DatagramPair pair = new DatagramPair(DatagramSetup.PACKET_EMBEDDED);
             DatagramChannel plain = DatagramChannel.open(); DatagramChannel second = DatagramChannel.open()) {
            SocketName name = SocketName.parse(pair.b.endpoint.name());
            InetSocketAddress taken = new InetSocketAddress(name.inetAddress(), name.port());
            assertThrows(BindException.class, () -> second.bind(taken));
            plain.connect(taken);
            for (int i = 0; i < 10; i++) {
                // a report that the port is unreachable would fail the next write
                assertEquals(3, plain.write(ByteBuffer.wrap(new byte[3])));
            }
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
            assertEquals(3, pair.b.await(1).len());
        }
    }

    /** To a peer with a ring on this host datagrams are soon sent as frames, to a plain socket never. */
    @ParameterizedTest
    @EnumSource(value = DatagramSetup.class, names = {"PACKET_EMBEDDED", "PACKET_IPV6"})
    void shouldSendFramesAsSoonAsTheRouteIsKnown(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup)) {
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            long before;
            do {
                before = counter(pair, "alpha", BY_SOCKET);
                exchange(pair, 100);
                assertTrue(System.nanoTime() < deadlineNs, before + " by the socket");
            } while (counter(pair, "alpha", BY_SOCKET) != before);
        }
    }

    /** Prints why the link cannot be used. */
    static final class Unprivileged {
        public static void main(String[] arguments) {
            System.out.println("obstacles " + new PacketLinkProvider().obstacles(DriverConfig.builder().build()));
        }
    }

    @Test
    void shouldSayWhichPrivilegeIsMissing() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")) && Libc.geteuid() == 0,
            "takes a capability away by setpriv, as root");
        List<String> command = new ArrayList<>(List.of("/usr/bin/setpriv", "--bounding-set", "-net_raw"));
        command.addAll(TestJvm.command(List.of(), Unprivileged.class));
        try (TestProcess process = TestProcess.start(command)) {
            String said = process.awaitLine("obstacles");
            assertTrue(said.contains("CAP_NET_RAW") && said.contains("--cap-add NET_RAW"), said);
        }
    }
}
