package org.jfabric;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.WaitObject;

/**
 * The reading process of {@link SleepAndWakeTest}: sleeps for each entry, without a look before the sleep and without
 * any limit to it.
 */
final class SleepingReaderMain {
    private static final long NO_SPIN_NS = 0;
    private static final long NO_LIMIT_NS = -1;

    private SleepingReaderMain() {
    }

    public static void main(String[] args) throws IOException {
        int capacity = Integer.parseInt(args[1]);
        long entriesToRead = Long.parseLong(args[2]);
        CompletionQueue queue = new CompletionQueue(null, 1, 0,
            new CompletionQueueAttr().size(capacity).format(CompletionFormat.TAGGED).waitObject(WaitObject.UNSPEC),
            map(Path.of(args[0])), capacity, new DriverState(), null, NO_SPIN_NS, NO_LIMIT_NS);
        queue.onEndpointEnabled();
        UnsafeBuffer entries = new UnsafeBuffer(new byte[4 * 48]);
        for (long next = 0; next < entriesToRead;) {
            int read = queue.sread(entries, 0, 4, 0, -1);
            if (read < 1) {
                System.out.println("sread answered " + read + " in front of entry " + next);
                System.exit(1);
            }
            for (int i = 0; i < read; i++, next++) {
                if (entries.getLong(i * 48) != next || entries.getLong(i * 48 + 40) != ~next) {
                    System.out.println("entry " + next + " shows context " + entries.getLong(i * 48) + " and tag "
                        + entries.getLong(i * 48 + 40));
                    System.exit(1);
                }
            }
        }
        System.out.println("read " + entriesToRead);
    }

    static MemorySegment map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), Arena.ofAuto());
        }
    }
}
