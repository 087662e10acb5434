package org.jfabric.ffi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A fresh directory in shared memory with an open descriptor; deleted with everything in it. */
final class TestDirectory implements AutoCloseable {
    final Path path;
    final int fd;

    TestDirectory() {
        try {
            Path shm = Path.of("/dev/shm");
            path = Files.isWritable(shm) ? Files.createTempDirectory(shm, "jfabric-ffi-") :
                Files.createTempDirectory("jfabric-ffi-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        fd = Libc.openDirectory(path);
        if (fd < 0) {
            throw new NativeCallException("openDirectory", -fd, path.toString());
        }
    }

    Path path(String name) {
        return path.resolve(name);
    }

    @Override
    public void close() {
        Libc.close(fd);
        try (Stream<Path> paths = Files.walk(path)) {
            List<Path> deepestFirst = paths.sorted(Comparator.reverseOrder()).toList();
            for (Path each : deepestFirst) {
                Files.delete(each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
