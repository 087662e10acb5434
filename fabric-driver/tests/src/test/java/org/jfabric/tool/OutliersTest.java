package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.ffi.Affinity;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Coincidences of outliers, and those that have none. */
@Timeout(60)
class OutliersTest {
    private static Outliers.Outlier outlier(long beginNs, long endNs) {
        return new Outliers.Outlier("round trip", beginNs, endNs);
    }

    private static Cause cause(Cause.Kind kind, long beginNs, long endNs, long amount) {
        return new Cause("ping", kind, beginNs, endNs, amount, "");
    }

    @Test
    void shouldNameOnlyWhatHappenedDuringAnOutlierAndTookAPartOfIt() {
        Cause during = cause(Cause.Kind.SAFEPOINT, 1_400, 1_600, 200);
        assertTrue(during.coincides(1_000, 2_000));
        assertTrue(during.coincides(1_500, 1_501));
        assertFalse(during.coincides(1_600, 2_000), "it was over");
        assertFalse(during.coincides(1_000, 1_400), "it had not begun");
        assertFalse(during.coincides(0, 3_000), "less than a tenth of it");
        // the clock may begin anywhere
        assertTrue(cause(Cause.Kind.SAFEPOINT, Long.MAX_VALUE - 5, Long.MIN_VALUE + 5, 11)
            .coincides(Long.MAX_VALUE - 10, Long.MIN_VALUE + 10));
        assertTrue(cause(Cause.Kind.PREEMPTED, 0, 8_000, 500).coincides(1_000, 2_000));
        assertFalse(cause(Cause.Kind.PREEMPTED, 0, 8_001, 500).coincides(1_000, 2_000),
            "too long between two samples");
        assertTrue(cause(Cause.Kind.PAGE_FAULTS, 900, 1_001, 1).coincides(1_000, 2_000));
    }

    @Test
    void shouldListOutliersWithTheirCausesAndNeverGuess() {
        Outliers found = Outliers.explain("round trips", 500, 3,
            List.of(outlier(50_000, 51_000), outlier(1_000, 3_000), outlier(10_000, 10_600)),
            List.of(cause(Cause.Kind.PAGE_FAULTS, 900, 3_100, 2), cause(Cause.Kind.COLLECTION, 1_200, 2_200, 1_000),
                cause(Cause.Kind.SAFEPOINT, 1_100, 2_300, 1_200), cause(Cause.Kind.COLLECTION, 2_300, 2_550, 250),
                new Cause("driver b", Cause.Kind.NO_CREDIT, 9_000, 11_000, 2_000, "jfabric://b/x")));
        List<String> lines = found.toText().lines().toList();
        assertEquals("3 round trips longer than 500 ns: 1 with safepoint, 1 with collection, 1 with page-faults, "
            + "1 with no-credit, 1 not known", lines.getFirst());
        assertEquals(List.of(
            "round trip of 2,000 ns: ping: safepoint of 1,200 ns; ping: collection of 1,000 ns; "
                + "ping: collection of 250 ns; ping: 2 page fault(s) within 2,200 ns",
            "round trip of 600 ns: driver b: no credit for 2,000 ns (jfabric://b/x)",
            "round trip of 1,000 ns: not known"),
            lines.stream().skip(1).map(line -> line.substring(line.indexOf("Z ") + 2)).toList());
        JsonWriter json = new JsonWriter();
        found.writeTo(json);
        Map<?, ?> object = JsonText.object(json.toString());
        assertEquals(3.0, object.get("count"));
        List<?> longest = (List<?>) object.get("longest");
        assertEquals(List.of(), ((Map<?, ?>) longest.getLast()).get("causes"));
        assertEquals(Map.of("who", "driver b", "kind", "no-credit", "ns", 2000.0, "withinNs", 2000.0,
            "detail", "jfabric://b/x"), ((List<?>) ((Map<?, ?>) longest.get(1)).get("causes")).getFirst());
    }

    @Test
    void shouldReportTheLongestOutliersOfASideAndCountAll() {
        OutlierProbe probe = new OutlierProbe(100, 8);
        for (int i = 0; i < 1_000; i++) {
            // lengths 0 to 999 in another order
            probe.measured(0, i * 7L % 1_000);
        }
        List<Outliers.Outlier> outliers = new ArrayList<>();
        List<Cause> causes = new ArrayList<>();
        assertEquals(899, OutlierProbe.read("pong", probe.report(), outliers, causes));
        assertEquals(IntStream.range(800, 1_000).mapToObj(Long::valueOf).toList(),
            outliers.stream().map(Outliers.Outlier::lengthNs).sorted().toList());
        assertTrue(causes.stream().allMatch(cause -> cause.who().equals("pong")
            && (cause.kind() == Cause.Kind.PREEMPTED || cause.kind() == Cause.Kind.PAGE_FAULTS)), causes::toString);
        probe.close();
    }

    @Test
    void shouldCountPageFaultsOfTheThreadThatIsWatched() throws IOException {
        List<Cause> causes = new ArrayList<>();
        Path folder = TestDirectory.create();
        try (ThreadLoad load = ThreadLoad.ofThisThread("ping"); Arena arena = Arena.ofConfined();
            FileChannel file = FileChannel.open(folder.resolve("pages"), StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            load.sample(new ArrayList<>());
            long begin = System.nanoTime();
            // a new file's pages are mapped by their first stores, at most 512 with one fault; what the C library
            // gives may be mapped already
            file.map(FileChannel.MapMode.READ_WRITE, 0, 64L << 20, arena).fill((byte) 1);
            assertTrue(load.sample(causes));
            Cause faults = causes.stream().filter(each -> each.kind() == Cause.Kind.PAGE_FAULTS).findFirst()
                .orElseThrow();
            assertTrue(faults.amount() >= 16 && faults.endNs() >= begin, faults::toString);
        } finally {
            TestDirectory.delete(folder);
        }
    }

    /** Two threads that never rest share one core. */
    @Test
    void shouldSeeThatAThreadWaitsForACore() throws Exception {
        List<Cause> causes = new ArrayList<>();
        boolean[] over = new boolean[1];
        UnsafeBuffer ended = new UnsafeBuffer(new byte[8]);
        Thread[] rivals = new Thread[2];
        Throwable[] failure = new Throwable[1];
        int cpu = Affinity.cpus().nextSetBit(0);
        rivals[0] = Thread.ofPlatform().start(() -> {
            Affinity.bind(cpu);
            while (ended.getIntVolatile(0) == 0) {
                Thread.onSpinWait();
            }
        });
        rivals[1] = Thread.ofPlatform().start(() -> {
            Affinity.bind(cpu);
            try (ThreadLoad load = ThreadLoad.ofThisThread("ping")) {
                Deadline.await("it waited for a core", () -> {
                    load.sample(causes);
                    return causes.stream().filter(each -> each.kind() == Cause.Kind.PREEMPTED)
                        .mapToLong(Cause::amount).sum() > 2_000_000;
                }, () -> causes);
                over[0] = true;
            } catch (IOException | AssertionError ex) {
                failure[0] = ex;
            } finally {
                ended.putIntVolatile(0, 1);
            }
        });
        for (Thread rival : rivals) {
            rival.join();
        }
        assertTrue(over[0], () -> String.valueOf(failure[0]));
    }

    @Test
    void shouldReadTheLinesOfAVirtualMachine() {
        String safepoint = "[4711000000ns] Safepoint \"SerialCollectForAllocation\", Time since last: 99 ns, Reaching "
            + "safepoint:      5208 ns, Cleanup:       100 ns, At safepoint:    1224750 ns, Leaving safepoint: 9 ns, "
            + "Total:    1234567 ns, Threads: 1 runnable, 12 total";
        assertEquals(new Cause("ping", Cause.Kind.SAFEPOINT, 4_709_765_433L, 4_711_000_000L, 1_234_567,
            "SerialCollectForAllocation"), SafepointLog.cause("ping", safepoint));
        assertEquals(new Cause("ping", Cause.Kind.COLLECTION, 997_500_000L, 1_000_000_000L, 2_500_000,
            "Pause Young (Allocation Failure) 16M->1M(61M)"), SafepointLog.cause("ping",
            "[1000000000ns] GC(0) Pause Young (Allocation Failure) 16M->1M(61M) 2.500ms"));
        assertEquals(null, SafepointLog.cause("ping", "[13773433001549ns] Using Serial"));
        assertEquals(null, SafepointLog.cause("ping", "[1ns] GC(1) Concurrent Mark Cycle 12.345ms"));
    }

    @Test
    void shouldSayWhatIsWrongWithALog() {
        Path folder = TestDirectory.create();
        try {
            ToolException none = assertThrows(
                ToolException.class, () -> SafepointLog.read("ping", folder.resolve("none")));
            assertTrue(none.getMessage().contains("none cannot be read"), none.getMessage());
        } finally {
            TestDirectory.delete(folder);
        }
    }
}
