package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jfabric.FabricConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.driver.resource.Environment;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Applications that seldom poll their embedded drivers: connections come up and messages arrive within a few polls.
 * Between two polls only the time passes, which is not the system's.
 */
@Tag("slow")
@Timeout(60)
class SeldomPollsTest {
    private static final int MOST_POLLS_TO_CONNECT = 10;
    /** With flights of datagrams, and slow steps between them. */
    private static final int MOST_POLLS_TO_SECURE = 20;
    private static final int MOST_POLLS = 2;
    /** In close succession. */
    private static final int MOST_BUSY_POLLS = 100_000;
    private static final long MS = 1_000_000;
    private static final int MESSAGES = 4;
    /** After so many without a datagram a socket is quiet. */
    private static final int POLLS_TO_QUIET = 4_000;

    private final Path base = TestDirectory.create();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final PassingTime time = new PassingTime();

    static Stream<Arguments> links() {
        Stream<Arguments> each = Stream.of("shm", "tcp", "rxm", "best", "udp").flatMap(link ->
            IntStream.of(1, 20, 200, 2_000).mapToObj(pauseMs -> Arguments.of(link, pauseMs)));
        return Stream.concat(each, Stream.of("loopback", "tls", "tlsrxm", "dtls").map(link ->
            Arguments.of(link, 2_000)));
    }

    @ParameterizedTest(name = "{0}, polls {1} ms apart")
    @MethodSource("links")
    void shouldReceiveWithinFewPolls(String link, int pauseMs) {
        FabricNode a = node(link, "alpha", null);
        FabricNode b = node(link, "beta", null);
        long toB = a.av.insert(b.endpoint.name());
        for (int i = 0; i < MESSAGES; i++) {
            exchange(a, b, toB, MS * pauseMs, i > 0 ? MOST_POLLS : mostToConnect(link));
        }
    }

    /** Its peer has no more than the usual time for a connection. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("linksWithConnections")
    void shouldConnectInTheTimeOfABusyPeer(String link) {
        FabricNode a = node(link, "alpha", null);
        FabricNode b = node(link, "beta", null);
        long toB = a.av.insert(b.endpoint.name());
        assertEquals(0, b.endpoint.recv(b.memory.address(), 64, -1L, 1));
        assertEquals(0, a.endpoint.send(a.memory.address(), 8, toB, 2));
        FabricNode.Entry received = null;
        for (int polls = 0; received == null; polls++) {
            assertTrue(polls < MOST_POLLS_TO_CONNECT, () -> "nothing was received; sent: " + a.poll());
            for (int i = 0; i < 200; i++) {
                time.passNs(10 * MS);
                FabricNode.Entry sent = a.poll();
                assertEquals(0, sent == null ? 0 : sent.err(), () -> "sent " + sent);
            }
            received = b.poll();
        }
        assertEquals(1, received.context());
    }

    static Stream<String> linksWithConnections() {
        // the slow steps of encryption take real time, of which this clock knows nothing
        return Stream.of("shm", "tcp", "best");
    }

    /** What it polled for in close succession came to nothing. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("linksWithQuietEndpoints")
    void shouldNoticeThatPollsHaveBecomeSeldom(String link) {
        FabricNode a = node(link, "alpha", null);
        FabricNode b = node(link, "beta", null);
        long toB = a.av.insert(b.endpoint.name());
        exchange(a, b, toB, 50, MOST_BUSY_POLLS);
        // a socket without a receive is not read anyway
        assertEquals(0, b.endpoint.recv(b.memory.address(), 64, -1L, 1));
        for (int i = 0; i < POLLS_TO_QUIET; i++) {
            a.poll();
            b.poll();
            time.passNs(50);
        }
        exchange(a, b, toB, 20 * MS, MOST_POLLS_TO_CONNECT);
        exchange(a, b, toB, 20 * MS, MOST_POLLS);
    }

    static Stream<String> linksWithQuietEndpoints() {
        return Stream.of("shm", "tcp", "rxm", "udp", "dtls");
    }

    /** A client notices the end of its gateway's process, and reaches the one that has its port. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("linksOfSockets")
    void shouldReachAGatewayThatWasKilledAndStartedAgain(String link) {
        int pauseMs = 500;
        FabricNode client = node(link, "alpha", null);
        FabricNode killed = node(link, "beta", null);
        String name = killed.endpoint.name();
        long toGateway = client.av.insert(name);
        exchange(client, killed, toGateway, 1_000, MOST_BUSY_POLLS);
        open.remove(killed);
        ((FabricDriver) open.pop()).abandon();
        FabricNode gateway = node(link, "gamma", name);
        assertEquals(0, gateway.endpoint.recv(gateway.memory.address(), 64, -1L, 7));
        int errors = 0;
        FabricNode.Entry received = null;
        for (int sends = 0; received == null; sends++) {
            assertTrue(sends < MOST_POLLS_TO_CONNECT, "nothing was received, " + sends + " sends");
            assertEquals(0, client.endpoint.send(client.memory.address(), 8, toGateway, sends));
            time.passNs(pauseMs * MS);
            for (FabricNode.Entry sent = client.poll(); sent != null; sent = client.poll()) {
                errors += sent.err() == 0 ? 0 : 1;
            }
            received = gateway.poll();
        }
        assertEquals(7, received.context());
        assertTrue(errors <= MOST_POLLS, errors + " sends failed");
    }

    static Stream<String> linksOfSockets() {
        return Stream.of("tcp", "rxm");
    }

    private static int mostToConnect(String link) {
        return link.equals("dtls") ? MOST_POLLS_TO_SECURE : MOST_POLLS_TO_CONNECT;
    }

    private void exchange(FabricNode a, FabricNode b, long toB, long pauseNs, int mostPolls) {
        assertEquals(0, b.endpoint.recv(b.memory.address(), 64, -1L, 1));
        assertEquals(0, a.endpoint.send(a.memory.address(), 8, toB, 2));
        FabricNode.Entry sent = null;
        FabricNode.Entry received = null;
        for (int polls = 0; sent == null || received == null; polls++) {
            assertTrue(polls < mostPolls, "sent " + sent + ", received " + received + " in " + polls + " polls");
            time.passNs(pauseNs);
            sent = sent == null ? a.poll() : sent;
            received = received == null ? b.poll() : received;
        }
        assertEquals(0, sent.err(), sent::toString);
        assertEquals(0, received.err(), received::toString);
    }

    private FabricNode node(String link, String name, String address) {
        boolean isDatagram = link.equals("udp") || link.equals("dtls");
        Info hints = isDatagram ? DatagramPair.hints().srcAddr("fi_sockaddr_in://127.0.0.1:0")
            : FabricPair.usualHints();
        if (address != null) {
            hints.srcAddr(address);
        }
        FabricDriver driver = link.equals("loopback") && !open.isEmpty() ? (FabricDriver) open.peekLast()
            : launch(link, name);
        FabricNode node = new FabricNode(driver.fabric(new FabricConfig()), link, hints, 64, 0, () -> { });
        open.push(node);
        return node;
    }

    private FabricDriver launch(String link, String name) {
        DriverConfig.Builder builder = DriverConfig.builder().directory(base.resolve(name))
            .threadingMode(ThreadingMode.INVOKER);
        options(link).forEach(each -> builder.set(each.split("=")[0], each.split("=")[1]));
        DriverConfig config = builder.build();
        FabricDriver driver = FabricDriver.launch(config, LinkProviders.enabled(config), false, time);
        open.push(driver);
        return driver;
    }

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        TestDirectory.delete(base);
    }

    private static List<String> options(String link) {
        String enabled = switch (link) {
            case "rxm" -> "rxm,tcp";
            case "tlsrxm" -> "tlsrxm,tls";
            case "best" -> "shm,tcp";
            case "loopback" -> "shm";
            default -> link;
        };
        Stream<String> keys = link.contains("tls") ? TestKeys.shared().assignments().stream() : Stream.empty();
        return Stream.concat(Stream.of("jfabric.link.enabled=loopback," + enabled, "jfabric.tcp.interface=lo",
            "jfabric.udp.interface=lo"), keys).toList();
    }

    /** Without threads the cycles do what is slow, so that no poll depends on how fast another thread is. */
    private static final class PassingTime extends Environment {
        private long nowNs = System.nanoTime();

        void passNs(long ns) {
            nowNs += ns;
        }

        @Override
        public long nanoTime() {
            return nowNs;
        }

        @Override
        public boolean hasThreads() {
            return false;
        }

        @Override
        public void pause() {
            passNs(MS);
        }
    }
}
