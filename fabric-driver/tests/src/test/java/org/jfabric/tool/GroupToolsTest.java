package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.MulticastGroup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.kit.GroupRig.Place;
import org.jfabric.driver.metrics.MetricsSnapshot;
import org.jfabric.driver.metrics.OpenMetricsText;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What drivers publish of their groups, and what the tools show of it. */
@Timeout(120)
class GroupToolsTest {
    private static final String GROUP = GroupRig.GROUP;
    private static final String[] SMALL = {"jfabric.shm.groupRingLengthBytes=4k",
        "jfabric.engine.unexpectedBudgetBytes=64k", "jfabric.engine.creditWindowBytes=4k",
        "jfabric.engine.eagerLimitBytes=1k"};
    private static final int COUNT = 250;
    private static final int LENGTH = 300;

    private static MulticastGroup write(GroupRig rig, String options) {
        return rig.writer.endpoint.join(GROUP + options, 0, Flags.SEND);
    }

    private static void send(GroupRig rig, MulticastGroup group) {
        for (int i = 0; i < COUNT; i++) {
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), LENGTH, group.fiAddr(), i));
        }
    }

    private static void post(FabricNode node) {
        for (int i = 0; i < COUNT; i++) {
            assertEquals(0, node.endpoint.recv(
                node.memory.address(i * 512L), 512, FabricAddress.ADDR_UNSPEC, i));
        }
    }

    /** All metrics of a driver whose names begin so, by name and labels. */
    private static Map<String, Long> metrics(GroupRig rig, String driver, String prefix) {
        Map<String, Long> values = new TreeMap<>();
        try (CncView view = CncView.open(rig.directory(driver))) {
            MetricsSnapshot.of(view.counters()).stream().filter(each -> each.name().startsWith(prefix)).forEach(each ->
                values.put(each.name() + new TreeMap<>(each.labels()), each.value().longValue()));
        }
        return values;
    }

    private static Long metric(GroupRig rig, String driver, String name) {
        return metrics(rig, driver, name).values().stream().findFirst().orElse(null);
    }

    private static void await(GroupRig rig, String what, BooleanSupplier met) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (!met.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> what + ": " + rig.drivers().stream()
                .map(each -> metrics(rig, each, "jfabric_")).toList());
            for (int i = 0; i < 100; i++) {
                rig.writer.poll();
                rig.readers.forEach(FabricNode::poll);
                rig.pump();
            }
            Thread.yield();
        }
    }

    @Test
    void shouldPublishPositionsAndTheReaderThatHoldsTheWriterBack() {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 2, SMALL)) {
            MulticastGroup group = write(rig, "");
            rig.readers.forEach(rig::read);
            post(rig.readers.getFirst());
            String slow = rig.readers.getLast().endpoint.name();
            String waiting = "jfabric_waiting{endpoint=" + GROUP + ", reason=reader, waits_for=" + slow + "}";
            send(rig, group);
            await(rig, "a wait", () -> metrics(rig, "alpha", "jfabric_waiting").containsKey(waiting));
            long position = metric(rig, "alpha", "jfabric_group_position");
            assertTrue(position > 8 && position < COUNT, "position " + position);
            assertEquals(position, metric(rig, "alpha", "jfabric_group_written_messages"));
            assertEquals(2, metric(rig, "alpha", "jfabric_group_readers"));
            assertTrue(metric(rig, "alpha", "jfabric_group_reader_waits") > 0);
            long oldest = metric(rig, "alpha", "jfabric_group_oldest_position");
            assertTrue(oldest > 0 && oldest < position && oldest > position - 11, oldest + " of " + position);
            long lag = metric(rig, "alpha", "jfabric_group_lag_messages");
            // the ring holds ten of these messages
            assertTrue(lag > 7 && lag < 11, "lag " + lag);
            assertEquals(lag, metrics(rig, "alpha", waiting.substring(0, 15)).get(waiting));
            String labels = "{group=" + GROUP + ", reader=" + slow + "}";
            await(rig, "positions", () -> metric(rig, "reader-0", "jfabric_reader_position") == position);
            Map<String, Long> reader = metrics(rig, "reader-1", "jfabric_reader_");
            assertTrue(reader.get("jfabric_reader_position" + labels) >= position - lag, reader::toString);
            assertTrue(reader.get("jfabric_reader_position" + labels) < position, reader::toString);
            assertEquals(0, reader.get("jfabric_reader_lost_messages" + labels));
            assertTrue(Math.abs(reader.get("jfabric_reader_moved_time_seconds" + labels)
                - System.currentTimeMillis() / 1_000) < 100, reader::toString);
            Map<String, Long> info = metrics(rig, "alpha", "jfabric_group");
            assertEquals(1, info.get("jfabric_group{group=" + GROUP + ", log=" + group.start().logId()
                + ", term=1, writer=" + rig.writer.endpoint.name() + "}"), info::toString);

            post(rig.readers.getLast());
            await(rig, "the end of the wait", () -> metric(rig, "alpha", "jfabric_group_position") == COUNT
                && metrics(rig, "alpha", "jfabric_waiting").isEmpty()
                && metric(rig, "reader-1", "jfabric_reader_position") == COUNT);
            group.close();
            assertEquals(Map.of(), metrics(rig, "alpha", "jfabric_group"));
            await(rig, "the end", () -> metrics(rig, "reader-1", "jfabric_reader_").isEmpty());
        }
    }

    @Test
    void shouldPublishWhatEachReaderOfALossyGroupHasLost() {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 1, SMALL)) {
            MulticastGroup group = write(rig, "?lossy");
            rig.read(rig.readers.getFirst());
            send(rig, group);
            rig.stop("reader-0");
            await(rig, "all is written", () -> metric(rig, "alpha", "jfabric_group_position") == COUNT);
            rig.resume("reader-0");
            post(rig.readers.getFirst());
            await(rig, "lost messages", () -> metric(rig, "reader-0", "jfabric_reader_lost_messages") > 0
                && metric(rig, "reader-0", "jfabric_reader_position") == COUNT);
            assertEquals(metrics(rig, "reader-0", "jfabric_other").get(
                "jfabric_other{label=shm: messages of lossy groups lost by their readers}"),
                metric(rig, "reader-0", "jfabric_reader_lost_messages"));
            assertEquals(Map.of(), metrics(rig, "alpha", "jfabric_group_lag"));
        }
    }

    @Test
    void shouldLimitTheReadersAndGroupsWithCountersOfTheirOwn() {
        try (GroupRig rig = new GroupRig(
            Place.ONE_DRIVER, 5, "jfabric.metrics.peerLimit=2", "jfabric.metrics.endpointLimit=1")) {
            MulticastGroup group = write(rig, "");
            MulticastGroup second = rig.writer.endpoint.join("jfabric://alpha/second", 0, Flags.SEND);
            List<MulticastGroup> read = rig.readers.stream().map(rig::read).toList();
            await(rig, "all readers", () -> metric(rig, "alpha", "jfabric_group_readers") == 5);
            assertEquals(2 * 3, metrics(rig, "alpha", "jfabric_reader_").size());
            assertEquals(7, metrics(rig, "alpha", "jfabric_group").size());
            read.getFirst().close();
            assertEquals(3, metrics(rig, "alpha", "jfabric_reader_").size());
            rig.read(rig.readers.getFirst());
            assertEquals(2 * 3, metrics(rig, "alpha", "jfabric_reader_").size());
            group.close();
            second.close();
        }
    }

    @Test
    void shouldDescribeEachMetricOfGroups() {
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1)) {
            write(rig, "");
            rig.writer.endpoint.join(
                "jfabric://alpha/second?log=" + rig.directory("alpha").resolveSibling("log"), 0, Flags.SEND);
            rig.read(rig.readers.getFirst());
            try (CncView view = CncView.open(rig.directory("alpha"))) {
                String page = OpenMetricsText.of(MetricsSnapshot.of(view.counters()));
                List<String> names = page.lines().filter(line -> line.matches("# TYPE jfabric_(group|reader).*"))
                    .map(line -> line.split(" ")[2]).toList();
                assertEquals(17, names.size(), names::toString);
                names.forEach(name -> assertTrue(page.contains("# HELP " + name + ' '), name));
            }
        }
    }

    @Tag("slow") // runs drivers
    @Test
    void shouldShowGroupsOfDaemonsInQueuesAndTop() {
        try (GroupRig rig = new GroupRig(Place.PROCESSES, 2, SMALL);
            Publication quotes = Publication.on(rig.writer.fabric, GROUP).open();
            Subscription near = Subscription.on(rig.readers.getFirst().fabric, GROUP).open();
            Subscription far = Subscription.on(rig.readers.getLast().fabric, GROUP).open()) {
            UnsafeBuffer message = new UnsafeBuffer(new byte[LENGTH]);
            int[] seen = new int[1];
            String alpha = rig.directory("alpha").toString();
            long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
            Map<?, ?> group = Map.of();
            for (long askedNs = System.nanoTime(); group.get("heldBackBy") == null;) {
                // the far one reads nothing
                int result = quotes.offer(message, 0, LENGTH);
                near.poll((buffer, offset, length, header) -> seen[0]++, 16);
                if (result == -FabricErrno.EAGAIN && System.nanoTime() - askedNs > 300_000_000) {
                    group = group(ToolRun.of("queues", "--dir", alpha, "--json"));
                    askedNs = System.nanoTime();
                }
                assertTrue(System.nanoTime() - deadline < 0, group::toString);
            }
            long written = ((Double) ((Map<?, ?>) group.get("values")).get("position")).longValue();
            // the ring holds ten of these messages
            assertTrue(written > 7 && written <= quotes.position(), group::toString);
            List<?> readers = (List<?>) group.get("readers");
            assertEquals(2, readers.size(), group::toString);
            Map<?, ?> last = (Map<?, ?>) readers.getFirst();
            assertEquals(last.get("address"), group.get("heldBackBy"));
            assertTrue(last.get("address").toString().startsWith("jfabric://beta/"), group::toString);
            assertTrue((Double) last.get("lag") > 5, group::toString);

            String text = ToolRun.of("queues", "--dir", rig.directory("beta").toString()).out();
            assertTrue(text.matches("(?s).*\ngroup " + GROUP + " of jfabric://alpha/\\S+, log [0-9a-f-]+ term 1\n"
                + "  next position " + written + ", oldest in the ring \\d+; 2 readers, has waited for"
                + " readers \\d+ times?\n    jfabric://beta/\\S+: position \\d+, \\d+ messages behind(, has not moved"
                + " for [0-9.]+ m?s)?, holds the writer back\n    jfabric://alpha/\\S+: position "
                + written + ", 0 messages behind\n"), text);

            String frame = ToolRun.of("top", "--once", "--interval", "0.2", "--width", "150", "--dir", alpha, "--dir",
                rig.directory("beta").toString()).out();
            assertTrue(frame.matches("(?s).*\n" + GROUP + " of jfabric://alpha/\\S+ +" + written + " .*\n"
                + "  > jfabric://beta/\\S+ holds it back .*"), frame);
            assertTrue(frame.contains(GROUP + " waits for jfabric://beta/"), frame);
            while (far.position() < quotes.position()) {
                far.poll((buffer, offset, length, header) -> seen[0]++, 16);
                near.poll((buffer, offset, length, header) -> seen[0]++, 16);
                assertTrue(System.nanoTime() - deadline < 0, far::toString);
            }
            while (group(ToolRun.of("queues", "--dir", alpha, "--json")).get("heldBackBy") != null) {
                assertTrue(System.nanoTime() - deadline < 0, "it is held back");
            }
        }
    }

    private static Map<?, ?> group(ToolRun run) {
        assertEquals(0, run.status(), run.err());
        List<?> groups = (List<?>) JsonText.object(run.out()).get("groups");
        assertEquals(1, groups.size(), groups::toString);
        return (Map<?, ?>) groups.getFirst();
    }
}
