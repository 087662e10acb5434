package org.jfabric.tool;

import org.jfabric.test.TestDirectory;

import java.nio.file.Path;

/** A private folder for drivers, deleted with everything in it. */
final class ToolDirectory implements AutoCloseable {
    final Path base;

    ToolDirectory() {
        base = TestDirectory.create();
    }

    Path driver(String name) {
        return base.resolve(name);
    }

    @Override
    public void close() {
        TestDirectory.delete(base);
    }
}
