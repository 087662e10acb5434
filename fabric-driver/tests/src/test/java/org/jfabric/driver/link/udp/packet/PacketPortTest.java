package org.jfabric.driver.link.udp.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.PacketPrivilege;
import org.jfabric.driver.kit.SteppedServices;
import org.jfabric.ffi.MessageVector;
import org.jfabric.info.SocketName;
import org.jfabric.net.TwoHosts;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rings of one address, without a driver: each call is the test's. */
@Timeout(60)
class PacketPortTest {
    private static final int SEGMENT = 1000;
    private static final int BURST = 20 * SEGMENT;

    @BeforeEach
    void assume() {
        PacketPrivilege.assume();
    }

    /** A port, and a socket that sends bursts to it, each of bytes with one value. */
    private static final class Rig extends SteppedServices implements AutoCloseable {
        final PacketPort port;
        private final Arena arena = Arena.ofShared();
        private final long memory = arena.allocate(65_000, 64).address();
        private final Bursts bursts;

        Rig(String host) {
            String scheme = host.startsWith("[") ? SocketName.IN6_SCHEME : SocketName.IN_SCHEME;
            SocketName own = SocketName.parse(scheme + host + ":0");
            port = PacketPort.open(own, DriverConfig.builder().build());
            port.attach(this, new PacketCounters(this));
            bursts = new Bursts(own, port.name(), SEGMENT);
        }

        void burst(int bytes, int value) {
            UnsafeApi.setMemory(memory, bytes, (byte) value);
            bursts.send(memory, bytes);
        }

        /** Values of the datagrams of one call; their lengths for those of other lengths. */
        List<Integer> take() {
            MessageVector vector = port.incoming(null);
            int count = port.receive(vector, 32);
            List<Integer> taken = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                taken.add(vector.transferred(i) == SEGMENT ? UnsafeApi.getByte(vector.pieceAddress(i, 0))
                    : vector.transferred(i));
            }
            return taken;
        }

        List<Integer> takeAndDeliver() {
            List<Integer> taken = take();
            port.delivered();
            return taken;
        }

        @Override
        public long nowNs() {
            return System.nanoTime();
        }

        @Override
        public void close() {
            bursts.close();
            port.close();
            arena.close();
            free();
        }
    }

    private static List<Integer> twenty(int value) {
        return Collections.nCopies(20, value);
    }

    /** A fault of a client's memory ends the delivery, so that the frames are not given back at its end. */
    @Test
    void shouldReceiveAfterADeliveryThatDidNotEnd() {
        try (Rig rig = new Rig("127.0.0.1")) {
            rig.burst(BURST, 1);
            rig.burst(BURST, 2);
            assertEquals(twenty(1), rig.take());
            assertEquals(twenty(2), rig.take());
            rig.burst(BURST, 3);
            assertEquals(twenty(3), rig.takeAndDeliver());
        }
    }

    /** Its socket would not receive it either. */
    @ParameterizedTest
    @CsvSource({"0.0.0.0, 239.1.2.3, 127.0.0.1", "0.0.0.0, 127.255.255.255, 127.0.0.1"})
    void shouldTakeForTheWildcardOnlyAddressesOfTheHost(String wildcard, String group, String host)
        throws IOException {
        try (Rig rig = new Rig(wildcard);
             DatagramSocket sender = new DatagramSocket(0, InetAddress.getByName(host))) {
            sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, NetworkInterface.getByName("lo"));
            sender.setBroadcast(true);
            int number = rig.port.name().port();
            sender.send(new DatagramPacket(new byte[33], 33, InetAddress.getByName(group), number));
            sender.send(new DatagramPacket(new byte[35], 35, InetAddress.getByName(host), number));
            assertEquals(List.of(35), rig.takeAndDeliver());
        }
    }

    /** The system waits for all processors when it closes a packet socket. */
    @Test
    void shouldFreeTheAddressInTheDutyCycleAndCloseItsRingsBehindIt() throws IOException {
        try (Rig rig = new Rig("127.0.0.1")) {
            int ring = rig.port.descriptors()[0];
            String open = file(ring);
            rig.port.close(rig);
            InetAddress host = rig.port.name().inetAddress();
            new DatagramSocket(rig.port.name().port(), host).close();
            assertEquals(open, file(ring));
            rig.runTasks();
            assertNotEquals(open, file(ring));
        }
    }

    /** What a descriptor stands for, with a number that no other file has. */
    private static String file(int fd) throws IOException {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
        } catch (NoSuchFileException e) {
            // closed, perhaps just now by another test that has got the number
            return "nothing";
        }
    }

    /** Shuts the loopback interface of its host down, and prints what it receives then. */
    static final class Shutting {
        public static void main(String[] arguments) throws Exception {
            set("up");
            try (Rig rig = new Rig("127.0.0.1")) {
                rig.burst(BURST, 1);
                rig.takeAndDeliver();
                set("down");
                set("up");
                boolean isRight = true;
                for (int i = 2; i < 7; i++) {
                    rig.burst(BURST, i);
                    List<Integer> taken = rig.takeAndDeliver();
                    isRight &= taken.equals(twenty(i));
                }
                System.out.println("received " + isRight);
            }
        }

        private static void set(String state) throws Exception {
            assertEquals(0, new ProcessBuilder("ip", "link", "set", "lo", state).inheritIO().start().waitFor());
        }
    }

    @Test
    void shouldReceiveTheSameBurstsAfterTheInterfaceWasDown() throws Exception {
        try (TwoHosts hosts = TwoHosts.make(); TestProcess side = TwoHosts.java(hosts.first(), Shutting.class)) {
            assertEquals("received true", side.awaitLine("received"));
        }
    }
}
