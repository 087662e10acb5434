package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A daemon that is drained: what its clients can still do, and how it ends. */
@Tag("slow") // runs daemons
class DrainCommandTest {
    private static final int LONG = 1 << 20;

    private final ToolDirectory directory = new ToolDirectory();
    private final Path path = directory.driver("drained");
    private final List<Boolean> draining = Collections.synchronizedList(new ArrayList<>());
    private volatile FabricException gone;

    @AfterEach
    void close() {
        directory.close();
    }

    private DriverProcess start() {
        return DriverProcess.start(path, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "jfabric.metrics.port=0");
    }

    /** Status with which the driver answers whether it takes clients. */
    private static int ready(DriverProcess driver) throws IOException {
        String page = driver.output().lines().filter(line -> line.startsWith("metrics at ")).findFirst().orElseThrow();
        return ((HttpURLConnection) URI.create(page.replace("metrics at ", "").replace("/metrics", "/ready")).toURL()
            .openConnection()).getResponseCode();
    }

    private FabricNode node() {
        Fabric fabric = Fabric.connect(new FabricConfig().directory(path).listener(new FabricListener() {
            @Override
            public void onDriverDraining(boolean begins) {
                draining.add(begins);
            }

            @Override
            public void onDriverGone(FabricException why) {
                gone = why;
            }
        }));
        return new FabricNode(
            fabric, "loopback", new Info().caps(Flags.TAGGED | Flags.MSG), 64, 0, () -> { });
    }

    /** A send of the node to itself that cannot end before its receive is posted. */
    private static long holdASend(FabricNode node) {
        long self = node.av.insert(node.endpoint.name());
        node.fill(0, LONG, 7);
        assertEquals(0, node.endpoint.tsend(node.memory.address(0), LONG, self, 1, 11));
        return self;
    }

    /** Lengths by context, in any order: the two ends of a message are not ordered. */
    private static Map<Long, Long> twoEntries(FabricNode node) {
        Map<Long, Long> lengths = new HashMap<>();
        for (int i = 0; i < 2; i++) {
            FabricNode.Entry entry = node.await();
            assertEquals(0, entry.err(), entry::toString);
            lengths.put(entry.context(), entry.len());
        }
        return lengths;
    }

    @Test
    void shouldWaitForTheLastSendAndEndWithStatusZero() throws Exception {
        try (DriverProcess driver = start(); FabricNode node = node()) {
            long self = holdASend(node);
            assertEquals(200, ready(driver));
            CompletableFuture<ToolRun> drain =
                CompletableFuture.supplyAsync(
                    () -> ToolRun.of("drain", "--dir", path.toString(), "--timeout=100", "--json"));
            Deadline.awaitParked("the client is notified", () -> draining.equals(List.of(true)));

            assertEquals(503, ready(driver));
            FabricException refused = assertThrows(FabricException.class, () -> open(node));
            assertEquals(FabricErrno.ESHUTDOWN, refused.errno());
            assertTrue(refused.getMessage().contains("drained"), refused::getMessage);
            ToolRun second = ToolRun.of("drain", "--dir", path.toString());
            assertEquals(1, second.status());
            assertTrue(second.err().contains("another process drains"), second.err());
            // what is open works on
            assertEquals(0, node.endpoint.trecv(node.memory.address(2 * LONG), 64, self, 2, 0, 21));
            assertEquals(0, node.endpoint.tsend(node.memory.address(0), 64, self, 2, 22));
            assertEquals(Map.of(21L, 64L, 22L, 0L), twoEntries(node));
            assertNull(gone);

            assertEquals(0, node.endpoint.trecv(node.memory.address(2 * LONG), LONG, self, 1, 0, 12));
            ToolRun ended = drain.get();

            assertEquals(0, ended.status(), ended.err());
            assertEquals(
                Map.of("directory", path.toString(), "pid", (double) driver.process().pid(), "drained", true),
                JsonText.object(ended.out()));
            assertEquals(0, driver.process().waitFor(), driver.output());
            Deadline.awaitParked("the client sees the end", () -> gone != null);
            // the entries of what has ended before stay readable
            assertEquals(Map.of(12L, (long) LONG, 11L, 0L), twoEntries(node));
            node.assertFilled(2L * LONG, LONG, 7);
        }
    }

    @Test
    void shouldGoOnAsBeforeWhenTheTimeIsOverOrTheToolIsKilledAndEndOnlyIfForced() throws Exception {
        try (DriverProcess driver = start(); FabricNode node = node()) {
            holdASend(node);

            ToolRun late = ToolRun.of("drain", "--dir", path.toString(), "--timeout=0.1");

            assertEquals(1, late.status());
            assertTrue(late.err().contains("1 of " + node.endpoint.name()), late.err());
            Deadline.awaitParked("the client is notified", () -> draining.equals(List.of(true, false)));
            open(node).close();

            try (TestProcess tool = TestJvm.start(
                FabricTool.class, "drain", "--dir", path.toString(), "--timeout=1000")) {
                Deadline.awaitParked("the client is notified", () -> draining.equals(List.of(true, false, true)));
                tool.kill();
            }
            Deadline.awaitParked("the tool was killed", () -> draining.equals(List.of(true, false, true, false)));
            open(node).close();
            assertTrue(driver.process().isAlive());

            ToolRun forced = ToolRun.of("drain", "--dir", path.toString(), "--timeout=0.1", "--force");

            assertEquals(1, forced.status());
            assertTrue(forced.err().contains("ends all the same"), forced.err());
            assertEquals(0, driver.process().waitFor(), driver.output());
            Deadline.awaitParked("the client sees the end", () -> gone != null);
        }
    }

    @Test
    void shouldLeaveTheDriverOfAnApplicationToThatApplication() {
        try (FabricDriver driver = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(path).threadingMode(ThreadingMode.SHARED).build())) {
            ToolRun drain = ToolRun.of("drain", "--dir", path.toString());

            assertEquals(1, drain.status());
            assertTrue(drain.err().contains("FI_EOPNOTSUPP") && drain.err().contains("FabricDriver.close()"),
                drain.err());
            assertTrue(driver.isRunning());
        }
    }

    private static Endpoint open(FabricNode node) {
        Endpoint endpoint = node.domain.openEndpoint(node.info);
        try {
            endpoint.bind(node.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(node.av);
            endpoint.enable();
            return endpoint;
        } catch (FabricException refused) {
            endpoint.close();
            throw refused;
        }
    }
}
