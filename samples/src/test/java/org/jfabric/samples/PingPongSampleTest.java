package org.jfabric.samples;

import org.jfabric.driver.FabricDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PingPongSampleTest {
    private final List<Process> processes = new ArrayList<>();
    private Path base;

    @BeforeEach
    void makeDirectory() throws IOException {
        Path shm = Path.of("/dev/shm");
        base = Files.isWritable(shm) ? Files.createTempDirectory(shm, "jfabric-samples-")
            : Files.createTempDirectory("jfabric-samples-");
    }

    @AfterEach
    void endProcesses() throws Exception {
        Collections.reverse(processes);
        for (Process process : processes) {
            process.destroy();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        }
        try (Stream<Path> paths = Files.walk(base)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    @Test
    void shouldAnswerEachMessageWhenPingFindsPongByItsService() throws Exception {
        waitFor(start(FabricDriver.class.getName()), "jfabric driver ready");
        BufferedReader pong = start("org.jfabric.samples.pingpong.Pong");
        waitFor(pong, "pong waits as jfabric://default/");

        BufferedReader ping = start("org.jfabric.samples.pingpong.Ping", "5");

        List<String> said = ping.lines().toList();
        assertEquals(List.of(
            "answer: ping message 1",
            "answer: ping message 2",
            "answer: ping message 3",
            "answer: ping message 4",
            "answer: ping message 5",
            "ping done"), said);
        waitFor(pong, "pong answered 5 messages");
        for (Process process : processes.subList(1, 3)) {
            assertTrue(process.waitFor(30, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue());
        }
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        String usage = said("abc");
        assertTrue(usage.contains("ping takes one argument") && usage.endsWith("given: abc"), usage);
        waitFor(start(FabricDriver.class.getName()), "jfabric driver ready");

        String alone = said();

        assertTrue(alone.contains("FI_ECONNREFUSED") && alone.endsWith("start it first."), alone);
        assertTrue(processes.get(2).waitFor(30, TimeUnit.SECONDS));
        assertEquals(1, processes.get(2).exitValue());
    }

    /** What ping says instead of its answers. */
    private String said(String... arguments) throws IOException {
        Process ping = start(ProcessBuilder.Redirect.PIPE, "org.jfabric.samples.pingpong.Ping", arguments);
        return String.join(" ", ping.errorReader().lines().toList());
    }

    private BufferedReader start(String mainClass, String... arguments) throws IOException {
        return start(ProcessBuilder.Redirect.INHERIT, mainClass, arguments).inputReader();
    }

    private Process start(ProcessBuilder.Redirect errors, String mainClass, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
            "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            "-Djfabric.dir.base=" + base,
            "-cp", System.getProperty("java.class.path"),
            mainClass));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectError(errors).start();
        processes.add(process);
        return process;
    }

    private static void waitFor(BufferedReader output, String begin) throws IOException {
        List<String> seen = new ArrayList<>();
        String line;
        while ((line = output.readLine()) != null) {
            seen.add(line);
            if (line.startsWith(begin)) {
                return;
            }
        }
        throw new AssertionError("ended without saying \"" + begin + "\": " + seen);
    }
}
