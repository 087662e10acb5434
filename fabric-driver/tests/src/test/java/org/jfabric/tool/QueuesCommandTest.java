package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The command {@code fabric queues} against drivers and applications in processes of their own. */
@Timeout(120)
class QueuesCommandTest {
    private final ToolDirectory directory = new ToolDirectory();
    private final Path path = directory.driver("watched");

    @AfterEach
    void close() {
        directory.close();
    }

    @Tag("slow") // runs a program
    @Test
    void shouldShowWhatWaitsInADaemonForPeopleAndForPrograms() throws Exception {
        try (DriverProcess driver = DriverProcess.start(path, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
            TestProcess receiver = QueuesChild.start("receiver", path);
            TestProcess sender = QueuesChild.start("sender", path)) {
            String receiving = receiver.hear("says");
            String sending = sender.hear("says");
            receiver.say(sending);
            assertEquals("posted", receiver.hear("says"));
            sender.say(receiving);
            assertEquals("posted", sender.hear("says"));

            ToolRun text = ToolRun.of("queues", "--dir", path.toString());

            assertEquals(0, text.status(), text.err());
            String[] needed = {
                "driver " + path + ", process " + driver.process().pid() + ": 2 endpoints\n",
                receiving + " of client ",
                "  posted: 3 receives of 1,024, 0 more with the payload under way\n",
                "    tag 0x5 from any: 2 receives, 8,192 bytes, oldest ",
                "    tag 0x600 ignore 0xff from " + sending + " (fi_addr 0): 1 receive, 64 bytes, oldest ",
                "  unexpected: 3 messages stored, 300 bytes of a budget of ",
                "    tag 0x7 from " + sending + " (fi_addr 0): 3 stored, 300 bytes; 0 announced, 0 bytes; oldest ",
                "    tag 0x8 from " + sending + " (fi_addr 0): 0 stored, 0 bytes; 1 announced, 1,048,576 bytes",
                "      it waits for our receives: 3 stored, ",
                "      we wait for its messages: 1 directed receive for ",
                "      we wait for its receives: 1 announced message for "
            };
            for (String line : needed) {
                assertTrue(text.out().contains(line), line + " in\n" + text.out());
            }

            ToolRun json = ToolRun.of("queues", "--dir", path.toString(), "--json", "--watch=0.1", "--times", "3");

            assertEquals(0, json.status(), json.err());
            List<String> lines = json.out().lines().toList();
            assertEquals(3, lines.size());
            double before = 0;
            for (String line : lines) {
                Map<String, Object> object = JsonText.object(line);
                assertEquals((double) driver.process().pid(), object.get("pid"));
                Map<?, ?> waiting = endpoint(object, receiving);
                assertEquals(3.0, waiting.get("posted"));
                assertEquals(3.0, waiting.get("stored"));
                assertEquals(1.0, waiting.get("announced"));
                Map<?, ?> peer = (Map<?, ?>) ((List<?>) waiting.get("peers")).getFirst();
                assertEquals(sending, peer.get("address"));
                assertEquals(1.0, peer.get("directedReceives"));
                double age = (Double) peer.get("unexpectedNs");
                assertTrue(age > before, age + " after " + before);
                before = age;
                Map<?, ?> row = (Map<?, ?>) ((List<?>) endpoint(object, sending).get("peers")).getFirst();
                assertEquals(1.0, row.get("untakenSends"));
                assertEquals(false, row.get("holdsBack"));
            }
        }
    }

    private static Map<?, ?> endpoint(Map<String, Object> object, String address) {
        return (Map<?, ?>) ((List<?>) object.get("endpoints")).stream()
            .filter(each -> address.equals(((Map<?, ?>) each).get("address"))).findFirst().orElseThrow();
    }

    @Test
    void shouldLeaveNoFileBehind() throws Exception {
        try (FabricDriver driver = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(path).threadingMode(ThreadingMode.SHARED).build())) {
            for (int i = 0; i < 3; i++) {
                ToolRun run = ToolRun.of("queues", "--dir", path.toString());
                assertEquals(0, run.status(), run.err());
                assertEquals(
                    "driver " + driver.directory() + ", process " + ProcessHandle.current().pid() + ": 0 endpoints\n",
                    run.out());
            }
            try (var files = Files.list(path)) {
                assertFalse(files.anyMatch(file -> file.toString().endsWith(".view")));
            }
        }
    }

    @Test
    void shouldSayWhatIsMissingWhenNoDriverRunsThere() {
        ToolRun run = ToolRun.of("queues", "--dir", path.toString());
        assertEquals(1, run.status());
        assertEquals("", run.out());
        assertTrue(run.err().startsWith("fabric: No driver runs in " + path + ": "), run.err());
    }

    @Test
    void shouldSayThatAnEmbeddedDriverRunsNoCycles() {
        try (FabricDriver driver = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(path).threadingMode(ThreadingMode.INVOKER).build());
            Fabric fabric = driver.fabric()) {
            assertTrue(fabric.isOpen());
            ToolRun run = ToolRun.of("queues", "--dir", path.toString(), "--timeout", "0.5");

            assertEquals(1, run.status(), run.out());
            assertTrue(run.err().contains("mode INVOKER answers only while its application"), run.err());
        }
    }
}
