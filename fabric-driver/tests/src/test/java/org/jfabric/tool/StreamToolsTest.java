package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.LossyRelay;
import org.jfabric.driver.metrics.MetricsSnapshot;
import org.jfabric.driver.metrics.OpenMetricsText;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the tools show of a stream between two hosts. */
@Tag("slow") // runs drivers
@Timeout(120)
class StreamToolsTest {
    private static final String OPTIONS = "jfabric.link.enabled=loopback,shm,tcp,udp";
    private static final String RING = "jfabric.shm.groupRingLengthBytes=16k";
    private static final String GROUP = "jfabric://alpha/quotes";
    private static final int LENGTH = 1_000;
    private static final long SEED = 4711;

    private final Path base = TestDirectory.create();
    private final int port = freePort();
    private final DriverProcess alpha = DriverProcess.launch(base.resolve("alpha"), OPTIONS, RING);
    private final DriverProcess beta = DriverProcess.launch(base.resolve("beta"), OPTIONS, RING);
    private final Fabric writing = Fabric.connect(new FabricConfig().directory(alpha.awaitReady().directory()));
    private final Fabric reading = Fabric.connect(new FabricConfig().directory(beta.awaitReady().directory()));
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[LENGTH]);
    private Publication publication;
    private Subscription subscription;
    private long seen;

    private static int freePort() {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @AfterEach
    void end() {
        writing.close();
        reading.close();
        alpha.close();
        beta.close();
        TestDirectory.delete(base);
    }

    private Map<?, ?> group(DriverProcess driver, String address) {
        ToolRun run = ToolRun.of("queues", "--dir", driver.directory().toString(), "--json");
        assertEquals(0, run.status(), run.err());
        return ((List<?>) JsonText.object(run.out()).get("groups")).stream().map(each -> (Map<?, ?>) each)
            .filter(each -> address.equals(each.get("address"))).findFirst().orElse(Map.of());
    }

    /** Writes, and reads if wanted, until the tools show of a group of a driver what is expected. */
    private Map<?, ?> await(
        boolean reads, DriverProcess driver, String address, Predicate<Map<?, ?>> met) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        Map<?, ?> group = Map.of();
        while (!met.test(group)) {
            for (int i = 0; i < 1_000; i++) {
                publication.offer(message, 0, LENGTH);
                if (reads) {
                    subscription.poll((buffer, offset, length, header) -> seen++, 16);
                }
            }
            group = group(driver, address);
            assertTrue(System.nanoTime() - deadline < 0, "seed " + SEED + ", " + seen + " read: " + group);
        }
        return group;
    }

    private static Map<?, ?> host(Map<?, ?> group) {
        List<?> hosts = group.containsKey("hosts") ? (List<?>) group.get("hosts") : List.of();
        return hosts.isEmpty() ? Map.of() : (Map<?, ?>) hosts.getFirst();
    }

    private static double number(Map<?, ?> of, String name) {
        return of.get(name) instanceof Double value ? value : -1;
    }

    private static String page(DriverProcess driver) {
        try (CncView view = CncView.open(driver.directory())) {
            return OpenMetricsText.of(MetricsSnapshot.of(view.counters()));
        }
    }

    @Test
    void shouldShowLossRepairsAndRoundTripAtBothEnds() {
        try (LossyRelay relay = new LossyRelay(port, SEED, 50)) {
            String stream = "stream://127.0.0.1:" + relay.port() + "/quotes";
            publication = Publication.on(writing, GROUP).onNetwork("127.0.0.1:" + port).open();
            subscription = Subscription.on(reading, stream).open();
            Map<?, ?> group = await(true, alpha, GROUP, each -> number(host(each), "repairs") > 20);
            Map<?, ?> host = host(group);
            assertEquals("beta", host.get("driver"), host::toString);
            assertTrue(number(host, "asked") > 0, host::toString);
            assertTrue(number(host, "repairBytes") > 20 * LENGTH, host::toString);
            assertTrue(number(host, "bytes") > number(host, "repairBytes"), host::toString);
            assertTrue(number(host, "roundTripNs") > 0, host::toString);
            assertTrue(number(host, "position") > 0, host::toString);

            Map<?, ?> far = await(true, beta, stream, each -> each.get("values") instanceof Map<?, ?> values
                && number(values, "asked_ranges") > 0 && number(values, "written_messages") > 0);
            Map<?, ?> values = (Map<?, ?>) far.get("values");
            assertEquals(0.0, values.get("lost_messages"), values::toString);
            assertTrue(number(values, "round_trip_ns") > 0, values::toString);

            String text = ToolRun.of("queues", "--dir", alpha.directory().toString()).out();
            assertTrue(text.matches("(?s).*\n    host 127.0.0.1:\\d+, driver beta: position \\d+, \\d+ messages?"
                + " behind, round trip [0-9.]+ ms, has asked \\d+ times, \\d+ repairs with \\d+ bytes.*"), text);
            String both = ToolRun.of("top", "--once", "--interval", "0.3", "--width", "150", "--dir",
                alpha.directory().toString(), "--dir", beta.directory().toString()).out();
            assertTrue(both.matches("(?s).*\n  > host beta at 127.0.0.1:\\d+ .*\n      \\S+B/s, round trip"
                + " [0-9.]+ ms.*"), both);
            assertTrue(both.matches("(?s).*\n      received \\d+ messages, lost 0, \\d+ arrived again, has asked \\d+"
                + " times, round trip [0-9.]+ ms.*"), both);

            String page = page(alpha) + page(beta);
            List.of("host_position", "host_datagram_bytes", "host_asked_ranges", "host_repairs", "host_repair_bytes",
                "host_round_trip_seconds", "group_hosts", "group_lost_messages", "group_asked_ranges",
                "group_repeated_messages", "group_round_trip_seconds").forEach(name ->
                    assertTrue(page.contains("# HELP jfabric_" + name + ' '), name + " in " + page));

            subscription.close();
            await(false, alpha, GROUP, each -> each.get("hosts") instanceof List<?> hosts && hosts.isEmpty());
            assertTrue(!page(alpha).contains("jfabric_host_"), page(alpha));
            assertTrue(!page(beta).contains("jfabric_group_"), page(beta));
            publication.close();
        }
    }

    @Test
    void shouldNameTheHostThatHoldsTheWriterBack() {
        publication = Publication.on(writing, GROUP).onNetwork("127.0.0.1:" + port).open();
        subscription = Subscription.on(reading, "stream://127.0.0.1:" + port + "/quotes").open();
        Map<?, ?> group = await(false, alpha, GROUP, each -> each.get("heldBackBy") != null);
        assertEquals(host(group).get("address"), group.get("heldBackBy"), group::toString);
        assertTrue(number(host(group), "lag") > 0, group::toString);
        await(true, alpha, GROUP, each -> each.get("heldBackBy") == null);
        subscription.close();
        publication.close();
    }

    private String why(int status, String address) {
        ToolRun run = ToolRun.of("info", "--why", "--dir", alpha.directory().toString(), "--to", address);
        assertEquals(status, run.status(), run.err() + run.out());
        return run.out();
    }

    @Test
    void shouldSayWhichPathAStreamTakesAndWhyThereIsNone() {
        String path = why(0, "stream://127.0.0.1:4100/quotes");
        assertTrue(path.matches("stream: chosen.*; path: seen unicast UDP from 127.0.0.1 \\(lo, .*"
            + " to 127.0.0.1 port 4100, .*\n"), path);
        String both = why(0, "stream://127.0.0.1:4100;127.0.0.2:4100/quotes");
        assertTrue(both.contains(" to 127.0.0.1 port 4100") && both.contains(" to 127.0.0.2 port 4100"), both);
        String group = why(0, "stream://239.1.2.3:4100/quotes");
        assertTrue(group.contains("multicast UDP, group 239.1.2.3 port 4100"), group);
        String own = why(0, "jfabric://alpha/quotes?lossy&net=127.0.0.1:4100");
        assertTrue(own.contains("path: seen unicast UDP from 127.0.0.1 (lo"), own);
        Map.of("stream://nowhere.invalid:4100/q", "host: seen nowhere.invalid, which has no address",
            "stream://127.0.0.1:4100", "Name the group.", "stream://127.0.0.1/q", "a port from 1 to 65535",
            "stream://239.1.2.3:4100@nowhere0/q", "nowhere0, which is not there",
            "stream://127.0.0.1:1;127.0.0.1:2;127.0.0.1:3/q", "paths: seen 3 in",
            "stream://255.255.255.255:4100/q", "route: seen none",
            "jfabric://alpha/q?net=192.0.2.77:4100", "192.0.2.77 of another host").forEach((address, reason) -> {
                String text = why(1, address);
                assertTrue(text.startsWith("stream: rejected; ") && text.contains(reason), text);
            });
    }

    @Test
    void shouldSayThatTheDriverHasNoLinkForStreams() {
        try (DriverProcess gamma = DriverProcess.launch(base.resolve("gamma"), "jfabric.link.enabled=loopback,shm")) {
            ToolRun run = ToolRun.of("info", "--json", "--dir", gamma.awaitReady().directory().toString(), "--to",
                "stream://127.0.0.1:4100/quotes");
            assertEquals(1, run.status(), run.err());
            Map<?, ?> verdict = (Map<?, ?>) ((List<?>) JsonText.object(run.out()).get("verdicts")).getFirst();
            assertEquals(false, verdict.get("chosen"), verdict::toString);
            assertTrue(verdict.toString().contains("jfabric.link.enabled"), verdict::toString);
        }
    }
}
