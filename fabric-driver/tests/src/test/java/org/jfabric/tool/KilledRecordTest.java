package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.layout.EventRecordDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The record of a driver that was killed: before and after the next one starts in its directory, and when it ends. */
@Tag("slow") // runs daemons
class KilledRecordTest {
    private static final String[] QUICK = {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"};

    private final ToolDirectory directory = new ToolDirectory();
    private final Path path = directory.driver("killed");

    @AfterEach
    void close() {
        directory.close();
    }

    private String record() {
        return ToolRun.of("record", "--dir", path.toString()).out();
    }

    private void attach(String name) {
        Fabric.connect(new FabricConfig().directory(path).clientName(name)).close();
        Deadline.await("the driver has seen " + name + " leave",
            () -> record().matches("(?s).*client-left [^\\n]*: " + name + ": .*"), this::record);
    }

    @Test
    void shouldStayReadableUntilItIsCleaned() {
        try (DriverProcess first = DriverProcess.start(path, QUICK)) {
            attach("orders");
            first.kill();
        }
        String dead = record();
        assertTrue(dead.contains(", killed, ") && dead.contains(": orders: it has closed"), dead);
        try (DriverProcess second = DriverProcess.start(path, QUICK)) {
            attach("quotes");
            assertTrue(second.process().isAlive(), second::output);
            String both = record();
            List<String> heads = both.lines().filter(line -> line.contains(": process ")).toList();
            assertEquals(2, heads.size(), both);
            assertTrue(heads.getFirst().startsWith(path.resolve("record.previous") + ":")
                && heads.getFirst().contains(", killed, "), both);
            assertTrue(heads.getLast().startsWith(path.resolve("record") + ":")
                && heads.getLast().contains(", running, "), both);
            assertTrue(both.indexOf("orders: it has closed") < both.indexOf(heads.getLast()), both);
            assertTrue(both.indexOf("quotes: it has closed") > both.indexOf(heads.getLast()), both);
        }
        assertFalse(Files.exists(path.resolve(EventRecordDescriptor.FILE_NAME)), "of a driver that closed");
        assertTrue(record().contains("orders: it has closed"), this::record);
        assertEquals(path + ": would be removed",
            ToolRun.of("clean", "--dry-run", "--dir", path.toString()).out().strip());
        assertEquals(path + ": removed", ToolRun.of("clean", "--dir", path.toString()).out().strip());
        assertFalse(Files.exists(path));
    }
}
