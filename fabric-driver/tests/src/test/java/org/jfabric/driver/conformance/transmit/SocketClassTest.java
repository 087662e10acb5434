package org.jfabric.driver.conformance.transmit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.info.TrafficClass;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The sockets of endpoints have the marks of their traffic classes: those of this process, where the drivers are, are
 * found by their ports and asked with getsockopt.
 */
@Tag("conformance")
@Timeout(120)
@Isolated("asks every descriptor of the process")
class SocketClassTest {
    private static final int LENGTH = 8;
    private static final int IN_FAMILY = 2;
    private static final int IN6_FAMILY = 10;

    private Path base;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void create() {
        base = TestDirectory.create();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        TestDirectory.delete(base);
    }

    @ParameterizedTest(name = "link={0} sockets={1} address={2}")
    @CsvSource({
        "tcp,NATIVE,127.0.0.1", "tcp,NIO,127.0.0.1", "tcp,NATIVE,::1", "tcp,NIO,::1",
        "rxm,NATIVE,127.0.0.1", "rxm,NIO,127.0.0.1", "rxm,NATIVE,::1",
        "udp,NATIVE,127.0.0.1", "udp,NIO,127.0.0.1", "udp,NATIVE,::1", "udp,NIO,::1"})
    @Requirement("TX-054")
    void shouldMarkThePacketsOfSockets(String link, String sockets, String address) {
        assumeAddress(address);
        boolean isNative = sockets.equals("NATIVE");
        Messenger a = messenger("a", link, sockets, address, TrafficClass.LOW_LATENCY.code());
        Messenger b = messenger("b", link, sockets, address, TrafficClass.dscpSet(10));
        Messenger c = messenger("c", link, sockets, address, 0);
        send(a, b);
        send(b, a);
        send(c, a);
        int portOfA = port(a);
        int portOfB = port(b);
        int portOfC = port(c);
        if (link.equals("udp")) {
            assertMarks(46, 6, isNative, sockets((local, remote) -> local == portOfA));
            assertMarks(10, 0, isNative, sockets((local, remote) -> local == portOfB));
            assertMarks(0, 0, isNative, sockets((local, remote) -> local == portOfC));
            return;
        }
        List<SocketClass> dialedByA = sockets((local, remote) -> remote == portOfB);
        assertMarks(46, 6, isNative, dialedByA);
        assertMarks(10, 0, isNative, sockets((local, remote) -> local == portOfB && remote != 0));
        // the other end of what an endpoint without a class has asked for
        assertMarks(46, 6, isNative, sockets((local, remote) -> local == portOfA && remote != 0));
    }

    private static void assertMarks(int dscp, int priority, boolean isNative, List<SocketClass> found) {
        assertFalse(found.isEmpty(), "no such socket");
        for (SocketClass each : found) {
            assertEquals(dscp << 2, each.tos(), found::toString);
            if (isNative) {
                assertEquals(priority, each.priority(), found::toString);
            }
        }
    }

    private Messenger messenger(String name, String link, String sockets, String address, int tclass) {
        FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve(name))
            .set("jfabric.link.enabled", link)
            .set("jfabric.tcp.sockets", sockets).set("jfabric.udp.sockets", sockets)
            .threadingMode(ThreadingMode.SHARED).build());
        open.add(driver);
        Info hints = new Info().linkName(link).srcAddr(address.contains(":")
            ? SocketName.IN6_SCHEME + '[' + address + "]:0" : SocketName.IN_SCHEME + address + ":0");
        hints.txAttr().tclass(tclass);
        if (link.equals("udp")) {
            hints.epAttr().type(EndpointType.DGRAM);
        }
        Messenger messenger = driver.fabric().messenger().hints(hints).open();
        open.add(messenger);
        return messenger;
    }

    private static void send(Messenger from, Messenger to) {
        to.endpoint().recv(to.memory().address(), LENGTH, FabricAddress.ADDR_UNSPEC, 1);
        long peer = from.peer(to.address()).number();
        to.peer(from.address());
        assertEquals(0, from.endpoint().send(from.memory().address(), LENGTH, peer, 2));
        from.await(1, completion -> { });
        to.await(1, completion -> { });
    }

    private static int port(Messenger messenger) {
        return SocketName.parse(messenger.address()).port();
    }

    /** The marks of the IP sockets of this process whose ports suit; without another end its port is 0. */
    private static List<SocketClass> sockets(BiPredicate<Integer, Integer> ports) {
        List<SocketClass> found = new ArrayList<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                int fd = Integer.parseInt(descriptor.getFileName().toString());
                byte[] local = isSocket(descriptor) ? TcpSocket.localName(fd) : null;
                if (local == null || local.length < 2 || local[0] != IN_FAMILY && local[0] != IN6_FAMILY) {
                    continue;
                }
                byte[] remote = TcpSocket.peerName(fd);
                if (ports.test(SocketName.ofBytes(local).port(),
                    remote == null ? 0 : SocketName.ofBytes(remote).port())) {
                    found.add(SocketClass.of(fd, local[0] == IN6_FAMILY));
                }
            }
        } catch (IOException ex) {
            throw new AssertionError(ex);
        }
        return found;
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException closed) {
            return false;
        }
    }

    private static void assumeAddress(String address) {
        try (DatagramSocket probe = new DatagramSocket(new InetSocketAddress(address, 0))) {
            assumeTrue(probe.isBound());
        } catch (IOException missing) {
            assumeTrue(false, "this host has no address " + address);
        }
    }
}
