package org.jfabric.perf.jmh;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A private folder for a benchmark's driver, in shared memory where there is some; deleted by {@link #close()}. */
public final class BenchmarkDirectory implements AutoCloseable {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final String PREFIX = "jfabric-perf-";

    private final Path path;

    /**
     * Makes the folder, readable for this user only.
     *
     * @throws IOException if it cannot be made.
     */
    public BenchmarkDirectory() throws IOException {
        path = Files.isWritable(SHARED_MEMORY)
            ? Files.createTempDirectory(SHARED_MEMORY, PREFIX) : Files.createTempDirectory(PREFIX);
    }

    /** The folder, absolute path. */
    public Path path() {
        return path;
    }

    @Override
    public void close() {
        try (Stream<Path> tree = Files.walk(path)) {
            List<Path> deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
            for (Path each : deepestFirst) {
                Files.deleteIfExists(each);
            }
        } catch (IOException ex) {
            throw new UncheckedIOException("the folder " + path + " cannot be deleted", ex);
        }
    }
}
