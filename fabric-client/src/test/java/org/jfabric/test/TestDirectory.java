package org.jfabric.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * Folders of tests for drivers and mapped files, in shared memory where there is any, with access for this user alone.
 * {@link TestLeftovers} deletes them when the tests have ended, however that happens.
 */
public final class TestDirectory {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    /** What holds the folders. */
    static final Path PARENT =
        Files.isWritable(SHARED_MEMORY) ? SHARED_MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
    /** Begin of their names; the number of the {@link TestLeftovers#session} and a hyphen follow. */
    static final String PREFIX = "jfabric-test";

    private TestDirectory() {
    }

    public static Path create() {
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        try {
            return Files.createTempDirectory(PARENT, PREFIX + TestLeftovers.session() + '-', mode);
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
