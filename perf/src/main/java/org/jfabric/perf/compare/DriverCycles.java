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
 * Reads from a daemon's {@code cnc} file how many duty cycles it has made. The daemon publishes the number only now and
 * then, while it is busy about every few milliseconds. So the difference of two readings is good enough if about half a
 * second or more lies between them.
 *
 * <p>Owner: one thread.
 */
final class DriverCycles implements AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment header;

    /** Maps the file. */
    DriverCycles(Path directory) {
        try (FileChannel file = FileChannel.open(
            directory.resolve(CncDescriptor.FILE_NAME), StandardOpenOption.READ)) {
            header = file.map(MapMode.READ_ONLY, 0, CncDescriptor.METADATA_OFFSET, arena);
        } catch (IOException ex) {
            arena.close();
            throw new UncheckedIOException(ex);
        }
    }

    /** Duty cycles from the daemon's start to the last time that it published them. */
    long now() {
        return header.get(ValueLayout.JAVA_LONG, CncDescriptor.CYCLES_OFFSET);
    }

    @Override
    public void close() {
        arena.close();
    }
}
