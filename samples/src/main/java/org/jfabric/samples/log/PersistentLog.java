package org.jfabric.samples.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.Messenger;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * A log in a file. A writer appends records by remote writes with {@code COMMIT_COMPLETE}: the entry of each says that
 * the record is on stable storage, so a record that was announced as committed is there after a power failure too. A
 * reader that comes late replays the log by remote reads. Run it again with the same file, and it continues.
 */
public final class PersistentLog {
    /** All sides know it; the sample {@code book} sends the key in a message. */
    static final long KEY = 44;
    static final long DEADLINE_NS = 60_000_000_000L;

    private static final long CAPACITY = 1 << 16;
    private static final int USUAL_COUNT = 5;

    private final Messenger writer;
    private final long to;
    private final RemoteRequest request = new RemoteRequest();

    private PersistentLog(Messenger writer, String owner) {
        this.writer = writer;
        this.to = writer.peer(owner).number();
    }

    /**
     * Runs it.
     *
     * @param args the file, on a disk, and how many records to append; without a file a new one in the working
     *             directory, which is deleted in the end.
     * @throws IOException if the file cannot be deleted.
     */
    public static void main(String[] args) throws IOException {
        Path file = Path.of(args.length > 0 ? args[0] : "jfabric-log-" + ProcessHandle.current().pid());
        int count = args.length > 1 ? Integer.parseInt(args[1]) : USUAL_COUNT;
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "log-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.SHARED).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Messenger owner = fabric.messenger().hints(new Info().caps(Flags.RMA)).open();
            owner.domain().allocatePersistent(file, CAPACITY * LogRecord.LENGTH,
                new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(KEY));

            Messenger appending = fabric.messenger().hints(new Info().caps(Flags.RMA | Flags.RMA_PMEM)).open();
            long found = new RemoteLogReader(appending, owner.address()).replay(CAPACITY, (number, text) -> { });
            System.out.println("found " + found + " records");
            PersistentLog log = new PersistentLog(appending, owner.address());
            for (long number = found + 1; number <= Math.min(found + count, CAPACITY); number++) {
                log.append(number, "order " + number);
                System.out.println("committed " + number);
                System.out.flush();
            }

            Messenger late = fabric.messenger().hints(new Info().caps(Flags.RMA)).open();
            String[] last = new String[1];
            long replayed =
                new RemoteLogReader(late, owner.address()).replay(CAPACITY, (number, text) -> last[0] = text);
            System.out.println("a late reader replayed " + replayed + " records, the last one is: " + last[0]);
        } finally {
            if (args.length == 0) {
                Files.delete(file);
            }
        }
    }

    private void append(long number, String text) {
        LogRecord.put(writer.memory().buffer(), 0, number, text);
        request.clear().memory(writer.memory().address(), LogRecord.LENGTH).destAddr(to)
            .remote((number - 1) * LogRecord.LENGTH, KEY).flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE);
        int result = writer.endpoint().remoteMemory().writemsg(request);
        if (result != 0) {
            throw new IllegalStateException(FabricErrno.describe(-result));
        }
        writer.await(1, DEADLINE_NS, entry -> { });
    }
}
