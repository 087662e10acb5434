package org.jfabric.perf.compare;

import java.nio.file.Path;
import java.util.List;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.SyncMode;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;

/** A Chronicle Queue: its files are mapped, so that what is written is in the page cache at once. */
final class ChronicleJournal implements Journal {
    /** What its page asks for with a newer JDK, and no messages to its makers. */
    static final Launch LAUNCH = new Launch(List.of(
        "-Dchronicle.analytics.disable=true",
        "-Dslf4j.internal.verbosity=ERROR",
        "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
        "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
        "--add-opens=java.base/java.io=ALL-UNNAMED",
        "--add-opens=java.base/java.util=ALL-UNNAMED"), null, false, false);

    private final SideSettings settings;
    private final Bytes<?> message;
    private int logs;
    private ChronicleQueue queue;
    private ExcerptAppender appender;
    private ExcerptTailer tailer;
    private boolean synced;
    /** Never read. Without it the compiler would remove the access to the message. */
    private long seen;

    ChronicleJournal(SideSettings settings) {
        this.settings = settings;
        message = Bytes.allocateElasticDirect(settings.sizeBytes());
        for (int i = 0; i < settings.sizeBytes(); i++) {
            message.writeByte((byte) 0);
        }
    }

    @Override
    public void renew(boolean newSynced) {
        synced = newSynced;
        close();
        Folders.delete(log());
        logs++;
        queue = SingleChronicleQueueBuilder.binary(log()).syncMode(synced ? SyncMode.SYNC : SyncMode.NONE).build();
        appender = queue.createAppender();
    }

    /** Of the library; unknown if the jar does not say it. */
    static String version() {
        String version = ChronicleQueue.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }

    private Path log() {
        return settings.onDisk().resolve("log-" + logs);
    }

    @Override
    public void write() {
        appender.writeBytes(message);
        if (synced) {
            appender.sync();
        }
    }

    @Override
    public void await() {
        // each write has waited
    }

    @Override
    public void rewind() {
        if (tailer != null) {
            tailer.close();
        }
        tailer = queue.createTailer();
    }

    @Override
    public int read(int most) {
        for (int i = 0; i < most; i++) {
            try (DocumentContext document = tailer.readingDocument()) {
                if (!document.isPresent()) {
                    return i;
                }
                Bytes<?> bytes = document.wire().bytes();
                seen += bytes.readByte(bytes.readPosition());
            }
        }
        return most;
    }

    @Override
    public void close() {
        if (tailer != null) {
            tailer.close();
            tailer = null;
        }
        if (queue != null) {
            appender.close();
            queue.close();
            queue = null;
        }
    }
}
