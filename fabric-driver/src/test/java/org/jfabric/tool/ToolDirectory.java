package org.jfabric.tool;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A private folder for drivers, deleted with everything in it. */
final class ToolDirectory implements AutoCloseable {
    final Path base;

    ToolDirectory() {
        try {
            Path shm = Path.of("/dev/shm");
            base = Files.isWritable(shm) ? Files.createTempDirectory(shm, "jfabric-tooltest-")
                : Files.createTempDirectory("jfabric-tooltest-");
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    Path driver(String name) {
        return base.resolve(name);
    }

    @Override
    public void close() {
        try (Stream<Path> paths = Files.walk(base)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
