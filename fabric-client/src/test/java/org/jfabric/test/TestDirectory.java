package org.jfabric.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.stream.Stream;

/** Folders of tests for drivers and mapped files: in shared memory where there is any, and for nobody else. */
public final class TestDirectory {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    private TestDirectory() {
    }

    public static Path create() {
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        try {
            return Files.isWritable(SHARED_MEMORY) ? Files.createTempDirectory(SHARED_MEMORY, "jfabric-test", mode)
                : Files.createTempDirectory("jfabric-test", mode);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Deletes it with all that is in it, which drivers that end meanwhile may delete as well. */
    public static void delete(Path tree) {
        try (Stream<Path> files = Files.walk(tree)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
