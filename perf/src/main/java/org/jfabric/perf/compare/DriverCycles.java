package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jfabric.layout.CncDescriptor;

/**
 * The duty cycles of a daemon as its {@code cnc} file says them, which it does every few milliseconds; over half a
 * second that is near enough. Owner: one thread.
 */
final class DriverCycles implements AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment header;

    /**
     * Maps the file.
     *
     * @param directory of the daemon.
     */
    DriverCycles(Path directory) {
        try (FileChannel file = FileChannel.open(
            directory.resolve(CncDescriptor.FILE_NAME), StandardOpenOption.READ)) {
            header = file.map(MapMode.READ_ONLY, 0, CncDescriptor.METADATA_OFFSET, arena);
        } catch (IOException ex) {
            arena.close();
            throw new UncheckedIOException(ex);
        }
    }

    /** Cycles since the daemon's start. */
    long now() {
        return header.get(ValueLayout.JAVA_LONG, CncDescriptor.CYCLES_OFFSET);
    }

    @Override
    public void close() {
        arena.close();
    }
}
