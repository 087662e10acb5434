package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.tool.doctor.Grade;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DoctorCommandTest {
    private final ToolDirectory directory = new ToolDirectory();
    private final Path path = directory.driver("examined");

    @AfterEach
    void delete() {
        directory.close();
    }

    /** The grade of one check. */
    private static Map<?, ?> check(Map<String, Object> report, String name) {
        return ((List<?>) report.get("checks")).stream().map(each -> (Map<?, ?>) each)
            .filter(each -> name.equals(each.get("check"))).findFirst().orElseThrow();
    }

    private Map<String, Object> examine(int expected, String... more) {
        String[] args = new String[3 + more.length];
        System.arraycopy(new String[] {"doctor", "--json", "--dir=" + path}, 0, args, 0, 3);
        System.arraycopy(more, 0, args, 3, more.length);
        ToolRun run = ToolRun.of(args);
        Map<String, Object> report = JsonText.object(run.out());
        int status = DoctorCommand.status(Grade.valueOf((String) report.get("grade")));
        assertEquals(status, run.status(), run.out());
        assertTrue(expected < 0 || expected == status, run.out());
        return report;
    }

    @Test
    void shouldExamineADriverThatRunsAndOneThatDoesNot() {
        assertTrue(check(examine(-1), "java").get("seen").toString().contains("no driver runs"));
        try (FabricDriver driver = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(path).threadingMode(ThreadingMode.SHARED).build())) {
            Map<String, Object> report = examine(-1);
            assertEquals("OK", check(report, "leftovers").get("grade"));
            assertEquals("OK", check(report, "links").get("grade"), report::toString);
            // the driver is in this process, which is a test
            assertTrue(check(report, "java").get("seen").toString().contains("the driver "), report::toString);
            assertTrue(driver.isRunning());
        }
    }

    @Test
    void shouldFindLeftoversAndPrintTheCommandThatRemovesThemWithoutRunningIt() throws IOException {
        try (FabricDriver driver = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(path).threadingMode(ThreadingMode.INVOKER).build())) {
            Path dead = Files.createDirectory(directory.driver("dead"));
            Files.setPosixFilePermissions(dead, Files.getPosixFilePermissions(path));
            Files.copy(driver.directory().resolve("driver.marker"), dead.resolve("driver.marker"));
            Files.writeString(dead.resolve("1.mr"), "of a client");
        }
        ToolRun fix = ToolRun.of("doctor", "--fix", "--dir", path.toString());
        assertTrue(fix.out().contains("\n./fabric clean --dir " + directory.driver("dead") + "\n"), fix.out());
        assertTrue(fix.out().lines().allMatch(line -> line.startsWith("#") || !line.startsWith("OK")), fix.out());
        assertTrue(fix.status() == 3 || fix.status() == 4, fix.out());
        assertTrue(Files.exists(directory.driver("dead").resolve("1.mr")));
    }

    @Test
    void shouldTryAFileInTheFolderOfARecordingAndLeaveNothing() throws IOException {
        Path logs = Files.createDirectories(directory.driver("logs"));
        Path log = logs.resolve("not").resolve("there");
        Map<?, ?> found = check(examine(-1, "--log-folder", log.toString()), "recording");
        String free = " MiB free in " + logs.toRealPath() + " on ";
        assertTrue(found.get("seen").toString().contains(free), found::toString);
        assertTrue(found.get("seen").toString().contains(", a sync takes "), found::toString);
        try (Stream<Path> files = Files.list(logs)) {
            assertEquals(List.of(), files.toList());
        }
        Map<?, ?> none = check(examine(4, "--log-folder", "/proc/self/logs"), "recording");
        assertTrue(none.get("remedy").toString().startsWith("No log can be written here: making a file failed: "),
            none::toString);
    }

    @Test
    void shouldReportWrongOptionsAsAnErrorAndGoOn() {
        Map<String, Object> report = examine(4, "--set", "jfabric.queue.txSise=3");
        assertTrue(check(report, "configuration").get("seen").toString().contains("jfabric.queue.txSize"));
        assertTrue(((List<?>) report.get("checks")).size() > 10);
    }

    @Test
    void shouldHaveAStatusOfItsOwnForWarningsAndErrors() {
        assertEquals(List.of(0, 0, 3, 4), List.of(Grade.values()).stream().map(DoctorCommand::status).toList());
        ToolRun help = ToolRun.of("doctor", "--help");
        assertTrue(help.out().contains("Exit status: 0"), help.out());
    }
}
