package org.jfabric.tool;

import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.ffi.CpuQuota;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PingPongProcessTest {
    /** Other tests have other ones. */
    private static final String SIZE_OF_KILLED = "61";

    /** Both sides have one key and trust it, so that one folder of keys is enough. */
    @ParameterizedTest(name = "link={0} mode={1}")
    @MethodSource("encrypted")
    void shouldExchangeMessagesOverTls(String link, String mode, @TempDir Path keys) throws IOException {
        Path made = TestKeys.shared().folder();
        Files.copy(made.resolve("key"), keys.resolve("key.pem"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.copy(made.resolve("certificate.pem"), keys.resolve("certificate.pem"));
        Files.copy(made.resolve("trusted.pem"), keys.resolve("trusted.pem"));
        ToolRun run = ToolRun.of("pingpong", "--link", link, "--mode", mode, "--size", "1000", "--count", "5",
            "--interface", "lo", "--keys", keys.toString(), "--json");

        assertEquals(0, run.status(), run.err());
        assertEquals(10.0, JsonText.object(run.out()).get("verified"));
        ToolRun plain = ToolRun.of("pingpong", "--link", "tcp", "--keys", keys.toString());
        assertEquals(2, plain.status());
        assertTrue(plain.err().contains("is for links tls and tlsrxm, not for tcp"), plain.err());
    }

    static List<Arguments> encrypted() {
        return each("tls, daemon", "tlsrxm, embedded", "tls, embedded");
    }

    /** The first, or all: continuous integration runs the command over links without encryption in each mode. */
    private static List<Arguments> each(String... cases) {
        return Arrays.stream(cases).limit(Effort.rounds(1, cases.length))
            .map(each -> Arguments.of((Object[]) each.split(", "))).toList();
    }

    /** Few round trips, and as few to warm up: where threads share cores each one may take milliseconds. */
    @ParameterizedTest(name = "link={0} mode={1} size={2}")
    @MethodSource("plain")
    void shouldPrintOneObjectWhenTwoProcessesExchangeMessages(String link, String mode, long size) {
        ToolRun run = ToolRun.of(
            "pingpong", "--link", link, "--mode", mode, "--size", Long.toString(size), "--count", "5", "--json");

        assertEquals(0, run.status(), run.err());
        assertEquals(1, run.out().lines().count(), run.out());
        Map<String, Object> result = JsonText.object(run.out());
        assertEquals(List.of("link", "mode", "sizeBytes", "count", "verified", "spinning", "halfRoundTripNs",
            "messagesPerSecond", "busy", "othersCores", "stolenPercent"), List.copyOf(result.keySet()));
        assertEquals(link, result.get("link"));
        assertEquals(mode, result.get("mode"));
        assertEquals((double) size, result.get("sizeBytes"));
        assertEquals(5.0, result.get("count"));
        assertEquals(10.0, result.get("verified"));
        boolean spinning = PingPongPlan.of(link, mode, List.of(size), CpuQuota.availableCores()).spinning();
        assertEquals(spinning, result.get("spinning"));
        assertEquals(!spinning, run.err().contains("clients yield"));
        Map<?, ?> times = (Map<?, ?>) result.get("halfRoundTripNs");
        assertEquals(Set.of("mean", "p50", "p99", "p99.9", "p99.99", "max"), times.keySet());
        double before = 0;
        for (String name : List.of("p50", "p99", "p99.9", "p99.99", "max")) {
            double value = (Double) times.get(name);
            assertTrue(value > 0 && value >= before, run.out());
            before = value;
        }
        double mean = (Double) times.get("mean");
        assertEquals(1e9 / mean, (Double) result.get("messagesPerSecond"), 1e9 / mean * 0.01);
        for (String stage : List.of("starting", "warming up", "comparing contents", "timing")) {
            assertTrue(run.err().contains(stage), run.err());
        }
    }

    static List<Arguments> plain() {
        return each("loopback, embedded, 64", "shm, daemon, 1", "loopback, daemon, 0", "shm, embedded, 100000");
    }

    /** From the median on, so that half of the round trips are outliers. */
    @Test
    void shouldExplainRoundTripsThatTookLong() {
        ToolRun run = ToolRun.of(
            "pingpong", "--link", "shm", "--mode", "daemon", "--count", "200", "--explain=1", "--json");

        assertEquals(0, run.status(), run.err());
        Map<?, ?> outliers = (Map<?, ?>) JsonText.object(run.out()).get("outliers");
        double threshold = (Double) outliers.get("thresholdNs");
        List<?> longest = (List<?>) outliers.get("longest");
        double count = (Double) outliers.get("count");
        assertTrue(threshold > 0 && !longest.isEmpty() && longest.size() <= count, run.out());
        Set<String> kinds = Arrays.stream(Cause.Kind.values()).map(Cause.Kind::text).collect(Collectors.toSet());
        for (Object each : longest) {
            Map<?, ?> outlier = (Map<?, ?>) each;
            assertTrue((Double) outlier.get("ns") > threshold, run.out());
            for (Object cause : (List<?>) outlier.get("causes")) {
                assertTrue(kinds.contains(((Map<?, ?>) cause).get("kind")), run.out());
            }
        }
    }

    @Test
    void shouldRefuseOutliersBelowTheMedian() {
        ToolRun run = ToolRun.of("pingpong", "--explain=0.5");
        assertEquals(2, run.status());
        assertTrue(run.err().contains("'--explain': 0.5 is not from 1 to"), run.err());
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldPrintALineForEachSizeWhenThereAreSeveral(String mode) {
        ToolRun run = ToolRun.of(
            "pingpong", "--link", "shm", "--mode", mode, "--size", "100000,0,1KiB", "--count", "5", "--json");

        assertEquals(0, run.status(), run.err());
        List<Map<String, Object>> results = run.out().lines().map(JsonText::object).toList();
        assertEquals(List.of(100_000.0, 0.0, 1024.0), results.stream().map(result -> result.get("sizeBytes")).toList());
        for (Map<String, Object> result : results) {
            assertEquals(10.0, result.get("verified"), run.out());
        }
        // the processes stay, only the passes begin anew
        assertEquals(1, run.err().lines().filter("starting ping"::equals).count(), run.err());
        assertEquals(3, run.err().lines().filter(line -> line.startsWith("comparing contents")).count(), run.err());
    }

    static List<String> modes() {
        return Effort.ALL ? List.of("daemon", "embedded") : List.of("embedded");
    }

    @Test
    void shouldEndEverythingWhenAProcessIsKilled() throws Exception {
        CompletableFuture<ToolRun> running = CompletableFuture.supplyAsync(() -> ToolRun.of("pingpong", "--link",
            "loopback", "--mode", "daemon", "--size", SIZE_OF_KILLED, "--count", "100000000"));
        List<ProcessHandle> processes = new ArrayList<>();
        while (processes.size() < 3) {
            assertTrue(!running.isDone(), () -> "ended before it was killed: " + running.join());
            Thread.onSpinWait();
            processes = ProcessHandle.current().children()
                .filter(process -> SIZE_OF_KILLED.equals(argument(process, "--size"))).toList();
        }

        List<String> folders = processes.stream()
            .map(process -> Path.of(argument(process, "--dir")).getParent().toString()).distinct().toList();
        assertEquals(1, folders.size(), folders::toString);
        processes.getFirst().destroyForcibly();

        ToolRun run = running.get(Deadline.s(60), TimeUnit.SECONDS);
        assertEquals(1, run.status());
        assertEquals("", run.out());
        assertTrue(run.err().contains("fabric: While "), run.err());
        assertTrue(run.err().contains("(signal 9)"), run.err());
        for (ProcessHandle process : processes) {
            process.onExit().get(Deadline.s(10), TimeUnit.SECONDS);
        }
        assertFalse(Files.exists(Path.of(folders.getFirst())), folders::toString);
    }

    /** What follows that word on the command line of a process; null for one that has only just been forked. */
    private static String argument(ProcessHandle process, String name) {
        try {
            // the Java runtime knows no arguments of a process whose command line is longer than a page
            List<String> all =
                List.of(Files.readString(Path.of("/proc/" + process.pid() + "/cmdline")).split("\0"));
            int index = all.indexOf(name);
            return index < 0 ? null : all.get(index + 1);
        } catch (IOException gone) {
            return null;
        }
    }
}
