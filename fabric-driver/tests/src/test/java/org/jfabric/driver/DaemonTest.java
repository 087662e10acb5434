package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.ffi.DatagramListener;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A driver as a service: started by a manager, configured by environment and file, with a log. */
@Tag("slow")
@Timeout(120)
class DaemonTest {
    private final Path folder = TestDirectory.create();
    private final Path directory = folder.resolve("driver");
    private final List<String> notes = new ArrayList<>();

    @AfterEach
    void delete() {
        TestDirectory.delete(folder);
    }

    private TestProcess start(Map<String, String> environment, String... arguments) {
        ProcessBuilder builder = new ProcessBuilder(TestJvm.command(
            List.of("-Xmx256m", "jfabric.dir.base=" + folder, "jfabric.dir.name=driver"), FabricDriver.class,
            arguments));
        builder.environment().putAll(environment);
        return TestProcess.start(builder);
    }

    private void await(DatagramListener manager, String note) {
        Deadline.await(note, () -> {
            notes.addAll(manager.take());
            return notes.stream().anyMatch(each -> each.startsWith(note));
        }, () -> notes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "DEDICATED"})
    void shouldNotifyItsManager(String mode) {
        String socket = "@jfabric-daemon-" + ProcessHandle.current().pid() + mode;
        try (DatagramListener manager = new DatagramListener(socket);
            TestProcess daemon = start(Map.of(
                "NOTIFY_SOCKET", socket, "WATCHDOG_USEC", "400000", "JFABRIC_THREADING_MODE", mode))) {
            await(manager, "READY=1\nSTATUS=0 clients in " + directory);
            try (Fabric fabric = Fabric.connect(new FabricConfig().directory(directory))) {
                assertTrue(fabric.isOpen());
                await(manager, "STATUS=1 client in ");
            }
            await(manager, "STATUS=0 clients in ");
            notes.clear();
            for (int i = 0; i < 3; i++) {
                await(manager, "WATCHDOG=1");
                notes.remove("WATCHDOG=1");
            }
            daemon.process().destroy();
            await(manager, "STOPPING=1\nSTATUS=a signal came");
            assertEquals(0, daemon.ended().status());
        }
    }

    @Test
    void shouldSayWhyItEndsByItself() throws IOException {
        String socket = folder.resolve("notify").toString();
        try (DatagramListener manager = new DatagramListener(socket);
            TestProcess daemon = start(Map.of("NOTIFY_SOCKET", socket))) {
            await(manager, "READY=1");
            Files.move(directory, folder.resolve("moved"));
            await(manager, "STOPPING=1\nSTATUS=" + directory + " was deleted");
            assertEquals(1, daemon.ended().status());
        }
    }

    @Test
    void shouldBeConfiguredByFileAndEnvironment() throws IOException {
        Path file = Files.writeString(folder.resolve("p"), "jfabric.queue.txSize=64\njfabric.queue.rxSize=64\n");
        try (TestProcess daemon = start(Map.of("JFABRIC_CONFIG", file.toString(), "JFABRIC_QUEUE_RX_SIZE", "128"))) {
            daemon.awaitLine("jfabric driver ready");
            String output = daemon.output();
            assertTrue(output.matches("(?s).*txSize += 64 +file " + file + ";.*"), output);
            assertTrue(output.matches("(?s).*rxSize += 128 +environment variable JFABRIC_QUEUE_RX_SIZE;.*"), output);
            daemon.process().destroy();
            assertEquals(0, daemon.ended().status());
        }
        try (TestProcess refused = start(Map.of("JFABRIC_QUEUE_TX_SISE", "64"))) {
            assertEquals(1, refused.ended().status());
            assertTrue(refused.output().contains("nearest known name is JFABRIC_QUEUE_TX_SIZE"), refused.output());
        }
    }

    @Test
    void shouldLogClientsThatComeLeaveAndDie() throws IOException {
        Path log = folder.resolve("log");
        try (TestProcess daemon = start(Map.of(
            "JFABRIC_LOG_TARGET", "FILE", "JFABRIC_LOG_FILE", log.toString(), "JFABRIC_LOG_FORMAT", "JSON"))) {
            daemon.awaitLine("jfabric driver ready");
            Fabric.connect(new FabricConfig().directory(directory).clientName("quotes")).close();
            // as the kernel closes the socket of a killed process
            ControlClient dying = new ControlClient(directory, Thread::onSpinWait);
            dying.close();
            Path newest = folder.resolve("log.0");
            Deadline.await("three events of clients", () -> lines(newest).stream()
                .anyMatch(each -> each.contains("\"client-died\"")), () -> lines(newest));
            daemon.process().destroy();
            assertEquals(0, daemon.ended().status());
            String pid = ",\"pid\":" + ProcessHandle.current().pid() + ",";
            List<String> expected = List.of(
                "\"event\":\"driver-ready\",\"text\":\"" + directory,
                "\"event\":\"client-came\",\"client\":1" + pid + "\"name\":\"quotes\"",
                "\"event\":\"client-left\",\"client\":1" + pid + "\"name\":\"quotes\"",
                "\"event\":\"client-came\",\"client\":2" + pid,
                "\"level\":\"WARNING\",\"event\":\"client-died\",\"client\":2" + pid,
                "\"event\":\"driver-closing\"", "\"event\":\"driver-closed\"");
            List<String> found = lines(newest);
            assertEquals(expected.size(), found.size(), found::toString);
            for (int i = 0; i < expected.size(); i++) {
                assertTrue(found.get(i).contains(expected.get(i)), expected.get(i) + " in " + found.get(i));
                assertTrue(found.get(i).startsWith("{\"time\":\"20"), found.get(i));
            }
        }
    }

    @Test
    void shouldLogToTheStandardErrorUnlessItIsSetToSomethingElse() {
        try (TestProcess daemon = start(Map.of())) {
            daemon.awaitLine("20");
            assertTrue(daemon.output().contains(" INFO driver-ready: " + directory), daemon.output());
            daemon.process().destroy();
            assertEquals(0, daemon.ended().status());
        }
        try (TestProcess refused = start(Map.of(
            "JFABRIC_LOG_TARGET", "FILE", "JFABRIC_LOG_FILE", folder.resolve("missing/log").toString()))) {
            assertEquals(1, refused.ended().status());
            assertTrue(refused.output().contains("there is no folder " + folder.resolve("missing")), refused.output());
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException ex) {
            return List.of(ex.toString());
        }
    }
}
