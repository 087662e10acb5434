package org.jfabric.ffi;

import org.jfabric.test.TestDirectory;

import java.nio.file.Path;

/** A fresh directory in shared memory with an open descriptor; deleted with everything in it. */
final class OpenDirectory implements AutoCloseable {
    final Path path;
    final int fd;

    OpenDirectory() {
        path = TestDirectory.create();
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
        TestDirectory.delete(path);
    }
}
