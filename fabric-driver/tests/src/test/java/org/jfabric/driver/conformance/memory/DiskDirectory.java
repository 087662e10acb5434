package org.jfabric.driver.conformance.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jfabric.test.TestDirectory;

/** A folder of a test on a disk: that of the build, since folders of tests are usually in shared memory. */
public final class DiskDirectory implements AutoCloseable {
    private final Path path;

    public DiskDirectory() {
        try {
            Path target = Files.createDirectories(Path.of(System.getProperty("basedir", "."), "target", "persistent"));
            path = Files.createTempDirectory(target, "test").toAbsolutePath();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    public Path file(String name) {
        return path.resolve(name);
    }

    @Override
    public void close() {
        TestDirectory.delete(path);
    }
}
