package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jfabric.tool.FabricTool;
import org.jfabric.tool.JsonText;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One round in processes of its own; no figures. */
@Tag("slow")
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CompareProcessTest {
    @TempDir
    Path folder;

    private record Run(int status, String out, String err) {
    }

    private static Run run(Map<String, String> environment, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            // its processes take the same flags, and none of them lives long enough for the second compiler
            "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
            FabricTool.class.getName(), "compare"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            // a time-out interrupts this thread, which would not end a read
            CompletableFuture<String> out = readLater(process.getInputStream());
            CompletableFuture<String> err = readLater(process.getErrorStream());
            int status = process.waitFor();
            return new Run(status, out.get(), err.get());
        } finally {
            // not forcibly: it ends its own processes then
            process.destroy();
        }
    }

    private static CompletableFuture<String> readLater(InputStream stream) {
        return CompletableFuture.supplyAsync(() -> read(stream), task -> Thread.ofPlatform().daemon().start(task));
    }

    private static String read(InputStream stream) {
        try {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Without programs on the path, of which those that lay a cable are missing. */
    @Test
    void shouldMeasureEachKindOfCellAndLeaveOutWhatCannotBeRun() throws Exception {
        Run run = run(Map.of("PATH", folder.toString()), "--systems",
            "jfabric-invoker,jfabric-daemon-dedicated,hand-over,jfabric-packet-cable,bare-udp-cable",
            "--sizes", "64", "--rounds", "1",
            // no figures: a pass has to be long enough for a sample of the profiler or two, no longer
            "--slice-ms", "2", "--messages", "10000", "--json", "--report", folder.toString());

        assertEquals(0, run.status, run.err);
        assertEquals(1, run.out.lines().count(), run.out);
        Map<String, Object> json = JsonText.object(run.out);
        Set<String> seen = new HashSet<>();
        for (Object each : (List<?>) json.get("results")) {
            Map<?, ?> result = (Map<?, ?>) each;
            assertTrue((Double) result.get("median") > 0, result.toString());
            seen.add(result.get("system") + " " + result.get("metric"));
        }
        assertTrue(seen.containsAll(Set.of("jfabric-invoker halfRoundTrip", "jfabric-invoker messageRate",
            "jfabric-invoker bandwidth", "jfabric-invoker roundTripAtRateP99", "hand-over halfRoundTrip",
            "bare-hand-over halfRoundTrip", "hand-over roundTripAtRateP99", "jfabric-invoker memory",
            "jfabric-invoker cpuPerStreamedMessage", "jfabric-daemon-dedicated halfRoundTrip")), seen.toString());
        for (String system : List.of("jfabric-packet-cable", "bare-udp-cable")) {
            assertTrue(run.err.contains(system + " is left out: install Debian's iproute2"), run.err);
            assertFalse(seen.toString().contains(system), seen.toString());
        }
        assertEquals(40_000.0, json.get("messagesCompared"));
        assertEquals(6, ((List<?>) json.get("profiles")).size(), run.out);
        assertEquals(10_000.0, ((Map<?, ?>) json.get("garbageCollections")).get("messages"));
        for (String name : List.of("cpu", "kernel", "jdk", "commit", "version.jfabric-invoker", "version.aeron-ipc")) {
            assertTrue(((Map<?, ?>) json.get("environment")).containsKey(name), name);
        }
        for (String file : List.of("index.html", "compare.json", "readings.json", "jfabric-invoker-64.hlog")) {
            assertTrue(Files.size(folder.resolve(file)) > 0, file);
        }
    }

    /** It gives its process the options that it needs. */
    @Test
    void shouldMeasureAChronicleQueue() throws Exception {
        Run run = run(Map.of(), "--systems", "chronicle-queue", "--sizes", "64", "--full", "--rounds", "1",
            "--slice-ms", "2", "--messages", "0", "--log-folder", folder.toString());
        assertEquals(0, run.status, run.err);
        for (String metric : List.of("messageRate", "bandwidth", "timePerStreamedMessage")) {
            assertTrue(run.out.lines().anyMatch(line -> line.matches("chronicle-queue +" + metric + " .*")), run.out);
        }
        assertEquals(0, folder.toFile().list().length, "logs are left");
    }

    @Test
    void shouldRefuseASystemThatItDoesNotKnow() throws Exception {
        Run run = run(Map.of(), "--systems", "telepathy");
        assertEquals(2, run.status);
        assertTrue(run.err.contains("telepathy") && run.err.contains("jfabric-invoker"), run.err);
    }
}
