package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Files that {@code fabric clean} removes, and files that it leaves. */
@Isolated("sets a system property")
class CleanCommandTest {
    private static final String BASE = "jfabric.dir.base";

    /** The same files as those of a driver that was killed: nothing holds the lock. */
    private static void copy(Path driver, Path dead) throws IOException {
        makeFolder(dead);
        try (Stream<Path> files = Files.list(driver)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, dead.resolve(file.getFileName()));
            }
        }
    }

    private static void makeFolder(Path folder) throws IOException {
        Files.createDirectory(
            folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void shouldCleanTheOtherFoldersWhenOneCannotBeCleaned() throws IOException {
        String before = System.getProperty(BASE);
        try (ToolDirectory folders = new ToolDirectory()) {
            Path source = folders.driver("running");
            try (FabricDriver running = FabricDriver.launchEmbedded(
                DriverConfig.builder().directory(source).threadingMode(ThreadingMode.INVOKER).build())) {
                copy(running.directory(), folders.driver("broken"));
                copy(running.directory(), folders.driver("dead"));
            }
            Files.delete(folders.driver("broken").resolve("driver.lock"));
            makeFolder(folders.driver("broken").resolve("driver.lock"));
            System.setProperty(BASE, folders.base.toString());
            ToolRun clean = ToolRun.of("clean");
            assertEquals(1, clean.status(), clean::out);
            assertTrue(clean.out().contains(folders.driver("dead") + ": removed"), () -> clean.out() + clean.err());
            assertTrue(clean.out().contains(folders.driver("broken") + ": EISDIR"), clean::out);
            assertFalse(Files.exists(folders.driver("dead")));
        } finally {
            restore(before);
        }
    }

    private static void restore(String before) {
        if (before == null) {
            System.clearProperty(BASE);
        } else {
            System.setProperty(BASE, before);
        }
    }

    @Test
    void shouldRemoveWhatKilledDriversLeftAndNothingElse() throws IOException {
        String before = System.getProperty(BASE);
        try (ToolDirectory folders = new ToolDirectory(); FabricDriver running = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(folders.driver("running")).threadingMode(ThreadingMode.INVOKER).build())) {
            copy(running.directory(), folders.driver("dead"));
            copy(running.directory(), folders.driver("mixed"));
            Files.writeString(folders.driver("mixed").resolve("notes"), "of the user");
            makeFolder(folders.driver("user"));
            Files.writeString(folders.driver("user").resolve("1.mr"), "of the user");
            Files.createSymbolicLink(folders.driver("link"), folders.driver("running"));
            List<String> ofRunning = names(running.directory());
            System.setProperty(BASE, folders.base.toString());

            ToolRun dry = ToolRun.of("clean", "--dry-run");
            assertEquals(0, dry.status(), dry::err);
            assertEquals(List.of(
                folders.driver("dead") + ": would be removed",
                folders.driver("link") + ": no driver's folder of this user, left as it is",
                folders.driver("mixed")
                    + ": the driver's files would be removed; its error log or files of others stay",
                folders.driver("running") + ": a driver runs there, left as it is",
                folders.driver("user") + ": no driver's folder of this user, left as it is"),
                dry.out().lines().toList());
            assertTrue(names(folders.driver("dead")).size() >= 3, () -> "a dry run has removed files");
            assertEquals(ofRunning, names(running.directory()));

            Map<String, Object> json = JsonText.object(ToolRun.of("clean", "--dry-run", "--json").out());
            assertEquals(true, json.get("dryRun"));
            assertEquals(List.of("REMOVED", "NOT_OURS", "EMPTIED", "RUNNING", "NOT_OURS"),
                ((List<?>) json.get("folders")).stream().map(each -> ((Map<?, ?>) each).get("result")).toList());

            ToolRun clean = ToolRun.of("clean");

            assertEquals(0, clean.status(), clean::err);
            assertEquals(List.of(
                folders.driver("dead") + ": removed",
                folders.driver("link") + ": no driver's folder of this user, left as it is",
                folders.driver("mixed") + ": the driver's files were removed; error logs or files of others stay",
                folders.driver("running") + ": a driver runs there, left as it is",
                folders.driver("user") + ": no driver's folder of this user, left as it is"),
                clean.out().lines().toList());
            assertFalse(Files.exists(folders.driver("dead")));
            assertEquals(List.of("driver.marker", "notes"), names(folders.driver("mixed")));
            assertEquals(ofRunning, names(running.directory()));
            assertEquals("of the user", Files.readString(folders.driver("user").resolve("1.mr")));
            running.cycle();

            ToolRun missing = ToolRun.of("clean", "--dir", folders.driver("nowhere").toString());
            assertEquals(1, missing.status());
            assertTrue(missing.err().contains("there is no directory " + folders.driver("nowhere")), missing.err());
            ToolRun empty = ToolRun.of("clean", "--dir", "");
            assertTrue(empty.status() != 0 && empty.err().contains("is an empty text"), empty.err());
        } finally {
            restore(before);
        }
    }
}
