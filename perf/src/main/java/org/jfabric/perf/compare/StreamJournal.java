package org.jfabric.perf.compare;

import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/** A recorded publication without readers, and the reader of its log. The driver is in mode INVOKER. */
final class StreamJournal implements Journal, StreamListener {
    private final SideSettings settings;
    private final FabricDriver driver;
    private final Fabric fabric;
    private final UnsafeBuffer payload;
    private Publication publication;
    private boolean synced;
    private int logs;
    private LogReader reader;
    private int taken;
    /** Never read. Without it the compiler would remove the access to the message. */
    private long seen;

    /** Starts the driver. */
    StreamJournal(SideSettings settings) {
        this.settings = settings;
        payload = new UnsafeBuffer(new byte[settings.sizeBytes()]);
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(settings.ownDirectory()).threadingMode(ThreadingMode.INVOKER).build());
        fabric = driver.fabric();
    }

    private Path log(int number) {
        return settings.onDisk().resolve("log-" + number);
    }

    @Override
    public void renew(boolean newSynced) {
        synced = newSynced;
        if (publication != null) {
            publication.close();
            // the driver still closes the last one
            Folders.delete(log(logs - 1));
        }
        logs++;
        publication = Publication.on(fabric, "jfabric://" + fabric.driverName() + "/log-" + logs)
            .recordIn(log(logs), new LogOptions().visibility(
                synced ? LogOptions.Visibility.SYNCED : LogOptions.Visibility.RING)).open();
    }

    @Override
    public void write() {
        int result;
        while ((result = publication.offer(payload, 0, settings.sizeBytes())) != 0) {
            Refusal.unlessAgain(result);
        }
    }

    @Override
    public void await() {
        while ((synced ? publication.synced() : publication.written()) < publication.position()) {
            Refusal.unlessAgain(publication.poll());
        }
    }

    @Override
    public void rewind() {
        if (reader != null) {
            reader.close();
        }
        reader = LogReader.open(log(logs));
    }

    @Override
    public int read(int most) {
        taken = 0;
        reader.poll(this, most);
        return taken;
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        taken++;
        seen += buffer.getByte(offset);
    }

    @Override
    public void close() {
        try {
            if (reader != null) {
                reader.close();
            }
            fabric.close();
        } finally {
            driver.close();
        }
    }
}
