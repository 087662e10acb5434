package org.jfabric.driver.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters by link, endpoint and peer, as a monitoring system reads them. */
@Timeout(60)
class MetricsTest {
    private static final int LENGTH = 100;
    private static final int LONG = 100_000;
    private final Path base = TestDirectory.create();
    private FabricDriver alpha;
    private FabricDriver beta;

    private FabricDriver launch(String name, ThreadingMode mode) {
        return FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve(name)).threadingMode(mode)
            .set("jfabric.metrics.port", "0").build());
    }

    @AfterEach
    void close() {
        for (FabricDriver driver : new FabricDriver[] {alpha, beta}) {
            if (driver != null) {
                driver.close();
            }
        }
        TestDirectory.delete(base);
    }

    private static HttpURLConnection get(int port, String path) throws IOException {
        return (HttpURLConnection) URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
    }

    private static OpenMetricsPage page(FabricDriver driver) throws IOException {
        HttpURLConnection connection = get(driver.metricsPort(), "/metrics");
        // an interrupt does not end a read
        connection.setReadTimeout(Deadline.ms(20));
        // as Prometheus asks
        connection.setRequestProperty("Accept", "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.3");
        assertEquals(200, connection.getResponseCode());
        assertEquals("application/openmetrics-text; version=1.0.0; charset=utf-8",
            connection.getHeaderField("Content-Type"));
        return OpenMetricsPage.parse(
            new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }

    /** Reads the page until it shows what is awaited; counts are published some time after the messages. */
    private static OpenMetricsPage await(FabricDriver driver, Runnable pump, Predicate<OpenMetricsPage> shows)
        throws IOException {
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        OpenMetricsPage page = page(driver);
        while (!shows.test(page)) {
            OpenMetricsPage last = page;
            assertTrue(System.nanoTime() - deadlineNs < 0, () -> last.names().stream()
                .filter(name -> !name.endsWith("_bucket")).map(name -> name + last.samples(name) + '\n').toList()
                .toString());
            pump.run();
            page = page(driver);
        }
        return page;
    }

    /** 22 messages, one of them before its receive and one long, an error at the sender, and a receive that waits. */
    private void exchange(FabricNode a, FabricNode b, long toB, String link, Runnable pump) throws IOException {
        for (int i = 0; i < 20; i++) {
            assertEquals(0, b.endpoint.trecv(b.memory.address(), LENGTH, -1L, 7, 0, i));
        }
        b.awaitRead(20);
        for (int i = 0; i < 20; i++) {
            assertEquals(0, a.endpoint.tsend(a.memory.address(), LENGTH, toB, 7, 100 + i));
            a.await(100 + i);
            b.await(i);
        }
        // comes before its receive
        assertEquals(0, a.endpoint.tsend(a.memory.address(), LENGTH, toB, 8, 200));
        a.await(200);
        await(beta, pump, page -> page.sum("jfabric_peer_waiting_messages", "link", link) == 1);
        assertEquals(0, b.endpoint.trecv(b.memory.address(), LENGTH, -1L, 8, 0, 30));
        b.await(30);
        assertEquals(0, b.endpoint.trecv(b.memory.address(), LONG, -1L, 9, 0, 31));
        b.awaitRead(1);
        assertEquals(0, a.endpoint.tsend(a.memory.address(), LONG, toB, 9, 201));
        a.await(201);
        b.await(31);
        assertEquals(0, a.endpoint.tsend(a.memory.address(), LENGTH, 4711, 9, 202));
        assertEquals(FabricErrno.EINVAL, a.await().err());
        assertEquals(0, b.endpoint.trecv(b.memory.address(), LENGTH, -1L, 10, 0, 32));
    }

    private static void assertCounted(
        OpenMetricsPage sender, OpenMetricsPage receiver, String link, String from, String to) {
        long bytes = 21 * LENGTH + LONG;
        for (String[] scope : new String[][] {
            {"endpoint", "endpoint", from}, {"link", "link", link},
            {"peer", "peer", to}}) {
            assertEquals(22, sender.sum("jfabric_" + scope[0] + "_sent_messages_total", scope[1], scope[2]));
            assertEquals(bytes, sender.sum("jfabric_" + scope[0] + "_sent_bytes_total", scope[1], scope[2]));
        }
        for (String[] scope : new String[][] {
            {"endpoint", "endpoint", to}, {"link", "link", link},
            {"peer", "peer", from}}) {
            assertEquals(22, receiver.sum("jfabric_" + scope[0] + "_received_messages_total", scope[1], scope[2]));
            assertEquals(bytes, receiver.sum("jfabric_" + scope[0] + "_received_bytes_total", scope[1], scope[2]));
            assertEquals(1, receiver.sum("jfabric_" + scope[0] + "_unexpected_messages_total", scope[1], scope[2]));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED loopback", "SHARED shm", "SHARED tcp", "INVOKER shm", "DEDICATED shm"})
    void shouldCountMessagesByLinkEndpointAndPeer(String setup) throws IOException {
        String link = setup.split(" ")[1];
        ThreadingMode mode = ThreadingMode.valueOf(setup.split(" ")[0]);
        alpha = launch("alpha", mode);
        beta = link.equals("loopback") ? alpha : launch("beta", mode);
        Runnable pump = mode != ThreadingMode.INVOKER ? () -> { } : () -> {
            alpha.cycle();
            beta.cycle();
        };
        try (Fabric first = alpha.fabric(new FabricConfig().clientName("desk \"1\""));
            Fabric second = beta == alpha ? alpha.fabric(new FabricConfig()) : beta.fabric(new FabricConfig())) {
            Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
            FabricNode a = new FabricNode(first, link, hints, 256, 0, pump);
            FabricNode b = new FabricNode(second, link, hints, 256, 0, pump);
            long toB = a.av.insert(b.endpoint.name());
            exchange(a, b, toB, link, pump);

            OpenMetricsPage sender = await(alpha, pump, page -> page.sum(
                "jfabric_endpoint_errors_total", "endpoint", a.endpoint.name()) == 1
                && page.sum("jfabric_endpoint_sent_messages_total", "endpoint", a.endpoint.name()) == 22);
            OpenMetricsPage receiver = await(beta, pump, page -> page.sum(
                "jfabric_endpoint_posted_receives", "endpoint", b.endpoint.name()) == 1
                && page.sum("jfabric_endpoint_received_messages_total", "endpoint", b.endpoint.name()) == 22);

            assertCounted(sender, receiver, link, a.endpoint.name(), b.endpoint.name());
            assertEquals(1, sender.sum("jfabric_peer_up", "peer", b.endpoint.name()));
            assertEquals(0, receiver.sum("jfabric_peer_waiting_messages"));
            assertEquals(1, sender.sum("jfabric_client_info",
                "name", mode == ThreadingMode.INVOKER ? "embedding" : "desk \"1\"",
                "pid", String.valueOf(ProcessHandle.current().pid())));
            assertTrue(sender.sum("jfabric_driver_cycle_seconds_count") > 0);
        }
        if (mode != ThreadingMode.INVOKER) {
            OpenMetricsPage empty = await(
                alpha, pump, page -> page.sum("jfabric_client_info") == 0 && page.samples("jfabric_peer_up").isEmpty());
            assertTrue(empty.samples("jfabric_endpoint_sent_bytes_total").isEmpty());
            assertEquals(22, empty.sum("jfabric_link_sent_messages_total"));
        }
    }

    /** Any process of the host can connect. */
    @Test
    void shouldAnswerAndLimitConnectionsWhenAnotherProcessSendsHalfRequests() throws IOException {
        alpha = launch("alpha", ThreadingMode.INVOKER);
        try (HalfRequests others = new HalfRequests(alpha.metricsPort())) {
            assertTrue(page(alpha).names().contains("jfabric_driver_clients"));
            assertTrue(others.areLimited());
        }
    }

    @Test
    void shouldAnswerInPrometheusOlderFormatWhoDoesNotAskForOpenMetrics() throws IOException {
        alpha = launch("alpha", ThreadingMode.SHARED);
        HttpURLConnection connection = get(alpha.metricsPort(), "/metrics");
        assertEquals("text/plain; version=0.0.4; charset=utf-8", connection.getHeaderField("Content-Type"));
        List<String> lines = new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines().toList();
        assertTrue(lines.contains("# TYPE jfabric_driver_commands_total counter"), lines::toString);
        assertTrue(lines.contains("# TYPE jfabric_build_info gauge"), lines::toString);
        assertTrue(lines.contains("# TYPE jfabric_driver_cycle_seconds histogram"), lines::toString);
        assertTrue(lines.stream().noneMatch(line -> line.startsWith("# UNIT") || line.startsWith("# EOF")
            || line.endsWith(" unknown") || line.endsWith(" info")), lines::toString);
        Set<String> openMetrics = page(alpha).names();
        Set<String> names = lines.stream().filter(line -> !line.startsWith("#"))
            .map(line -> line.replaceFirst("[ {].*", "")).collect(Collectors.toSet());
        assertEquals(openMetrics, names);
    }

    @Test
    void shouldHaveAnMBeanWithTheSamplesOfThePageIfItIsNamed() throws Exception {
        DriverConfig.Builder named = DriverConfig.builder().threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.metrics.jmxName", "desk").set("jfabric.metrics.port", "0");
        alpha = FabricDriver.launchEmbedded(named.directory(base.resolve("alpha")).build());
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("org.jfabric:type=Driver,name=desk");
        Set<String> attributes = new TreeSet<>();
        for (MBeanAttributeInfo attribute : beans.getMBeanInfo(name).getAttributes()) {
            attributes.add(attribute.getName().replaceFirst("\\{.*", ""));
            assertFalse(attribute.getDescription().equals("null"), attribute::toString);
        }
        Set<String> expected = new TreeSet<>(page(alpha).names());
        expected.removeIf(each -> each.endsWith("_bucket"));
        assertEquals(expected, attributes);
        assertEquals(0L, beans.getAttribute(name, "jfabric_driver_clients"));
        assertTrue(beans.getAttribute(name, "process_start_time_seconds") instanceof Double seconds && seconds > 1e9);
        FabricException taken = assertThrows(FabricException.class,
            () -> FabricDriver.launchEmbedded(named.directory(base.resolve("beta")).build()));
        assertTrue(taken.getMessage().contains("jfabric.metrics.jmxName"), taken.getMessage());
        assertTrue(beans.isRegistered(name));
        alpha.close();
        assertFalse(beans.isRegistered(name));
    }

    @Test
    void shouldHaveASampleWhateverIsInItsLabels() {
        Metric odd = new Metric("jfabric_odd", Metric.Kind.GAUGE, Map.of("name", "a\r\n x_bucket{ b"), BigDecimal.TWO,
            List.of());
        Metric times = new Metric("jfabric_times", Metric.Kind.HISTOGRAM, Map.of(), BigDecimal.ONE,
            List.of(new Metric.Bucket("+Inf", 3)));
        assertEquals(Map.of("jfabric_odd{name=\"a\r\\n x_bucket{ b\"}", 2L, "jfabric_times_count", 3L,
            "jfabric_times_sum", 1L), OpenMetricsText.samples(List.of(odd, times)));
    }

    /** Java's clients do not send a header Host of one's choice. */
    private static String ask(int port, String host) throws IOException {
        try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port)) {
            socket.setSoTimeout(Deadline.ms(20));
            socket.getOutputStream().write(("HEAD /metrics HTTP/1.1\r\nConnection: close\r\nHost: " + host
                + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void shouldShowItsVersionItsProcessAndWhetherItTakesClients() throws IOException {
        alpha = launch("alpha", ThreadingMode.SHARED);
        assertEquals(200, get(alpha.metricsPort(), "/health").getResponseCode());
        assertEquals(200, get(alpha.metricsPort(), "/ready").getResponseCode());
        OpenMetricsPage page = page(alpha);
        assertEquals(1, page.sum("jfabric_build_info", "java", Runtime.version().toString()));
        assertEquals(ProcessHandle.current().info().startInstant().orElseThrow().toEpochMilli() / 1e3,
            page.sum("process_start_time_seconds"));
        for (String name : List.of("process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
            "process_max_fds", "jvm_memory_used_bytes", "jvm_threads", "jfabric_directory_free_bytes")) {
            assertTrue(page.sum(name) > 0, name);
        }
    }

    @Test
    void shouldAnswerNothingElseAndNothingAfterTheEnd() throws IOException {
        alpha = launch("alpha", ThreadingMode.SHARED);
        int port = alpha.metricsPort();
        assertEquals(404, get(port, "/").getResponseCode());
        HttpURLConnection post = get(port, "/metrics");
        post.setRequestMethod("POST");
        assertEquals(405, post.getResponseCode());
        HttpURLConnection head = get(port, "/metrics");
        head.setRequestMethod("HEAD");
        assertEquals(200, head.getResponseCode());
        assertTrue(ask(port, "127.0.0.1:" + port).startsWith("HTTP/1.1 200 "));
        assertTrue(ask(port, "localhost:" + port).startsWith("HTTP/1.1 200 "));
        // the name of a page that a browser was given, and a port that was passed on
        assertTrue(ask(port, "evil.example:" + port).startsWith("HTTP/1.1 421 "));
        assertTrue(ask(port, "127.0.0.1:1").startsWith("HTTP/1.1 421 "));
        FabricException taken = assertThrows(FabricException.class, () -> FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(base.resolve("beta")).threadingMode(ThreadingMode.SHARED)
                .set("jfabric.metrics.port", String.valueOf(port)).build()));
        assertEquals(FabricErrno.EADDRINUSE, taken.errno());
        assertTrue(taken.getMessage().contains("jfabric.metrics.port"), taken.getMessage());

        alpha.close();

        assertThrows(ConnectException.class, () -> get(port, "/metrics").getResponseCode());
    }

    @Test
    void shouldCountEverythingInTheSumsWhenTheNumberOfRowsIsLimited() throws IOException {
        alpha = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.SHARED).set("jfabric.metrics.port", "0")
            .set("jfabric.metrics.endpointLimit", "2").set("jfabric.metrics.peerLimit", "1").build());
        try (Fabric fabric = alpha.fabric()) {
            Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
            FabricNode a = new FabricNode(fabric, "loopback", hints, 256, 0, () -> { });
            for (int i = 0; i < 3; i++) {
                FabricNode b = new FabricNode(fabric, "loopback", hints, 256, 0, () -> { });
                assertEquals(0, b.endpoint.trecv(b.memory.address(), LENGTH, -1L, 7, 0, i));
                assertEquals(0, a.endpoint.tsend(a.memory.address(), LENGTH, a.av.insert(b.endpoint.name()), 7, i));
                a.await(i);
                b.await(i);
            }
            OpenMetricsPage page = await(alpha, () -> { },
                seen -> seen.sum("jfabric_endpoint_sent_messages_total", "endpoint", a.endpoint.name()) == 3
                    && seen.sum("jfabric_link_received_messages_total", "link", "loopback") == 3);
            assertEquals(2, page.samples("jfabric_endpoint_sent_messages_total").size());
            assertEquals(1, page.samples("jfabric_peer_sent_messages_total").size());
        }
    }

    @Test
    void shouldSayOnceThatThereIsNoRoomForCountersAndWorkWithoutThem() {
        alpha = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.SHARED).set("jfabric.cnc.countersLengthBytes", "64KiB").build());
        try (Fabric fabric = alpha.fabric(); DriverView view = new DriverView(base.resolve("alpha"))) {
            Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
            FabricNode node = null;
            // there are 512 counters, and each endpoint takes 13
            for (int i = 0; i < 45; i++) {
                node = new FabricNode(fabric, "loopback", hints, 16, 0, () -> { });
            }
            long to = node.av.insert(node.endpoint.name());
            assertEquals(0, node.endpoint.trecv(node.memory.address(), LENGTH, -1L, 7, 0, 1));
            assertEquals(0, node.endpoint.tsend(node.memory.address(), LENGTH, to, 7, 1));
            node.await(1);
            node.await(1);
            List<String> errors = view.errors();
            assertEquals(1, errors.size(), errors::toString);
            assertTrue(errors.getFirst().contains("Raise jfabric.cnc.countersLengthBytes"), errors::toString);
            assertFalse(errors.getFirst().startsWith("1 times"), errors::toString);
        }
    }
}
