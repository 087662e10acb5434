package org.jfabric.perf.compare;

import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.archive.Archive;
import io.aeron.archive.ArchiveThreadingMode;
import io.aeron.archive.ArchivingMediaDriver;
import io.aeron.archive.client.AeronArchive;
import io.aeron.archive.client.ArchiveException;
import io.aeron.archive.status.RecordingPos;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.tool.ToolException;

/**
 * An exclusive publication over shared memory that an archive in another process records, and its replay. Media driver
 * and archive have a thread each, which rests for up to a millisecond when there is nothing to do.
 */
final class ArchiveJournal implements Journal, FragmentHandler {
    /** Longest message that is one fragment. */
    static final int MOST_BYTES = 32_768;

    private static final String CHANNEL = "aeron:ipc?term-length=16m";
    private static final String CONTROL = "aeron:ipc";
    private static final int STREAM = 1001;
    private static final int REPLAY_STREAM = 1002;
    private static final int CONTROL_STREAM = 100;
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final long PAUSE_NS = 1_000_000;

    private final SideSettings settings;
    private final AeronArchive archive;
    private final UnsafeBuffer message;
    private ExclusivePublication publication;
    private int recordedPosition;
    private long recording;
    private Subscription replay;
    /** Never read. Without it the compiler would remove the access to the message. */
    private long seen;

    ArchiveJournal(SideSettings settings) {
        this.settings = settings;
        message = new UnsafeBuffer(new byte[settings.sizeBytes()]);
        archive = AeronArchive.connect(new AeronArchive.Context()
            .aeronDirectoryName(driverDirectory(settings))
            .controlRequestChannel(CONTROL).controlRequestStreamId(CONTROL_STREAM)
            .controlResponseChannel(CONTROL));
    }

    private static String driverDirectory(SideSettings settings) {
        return settings.directory().resolve(SideRole.DRIVER.text()).toString();
    }

    /** The media driver with its archive, for another process. */
    static final class Driver implements Side {
        private final ArchivingMediaDriver driver;

        Driver(SideSettings settings) {
            driver = ArchivingMediaDriver.launch(
                AeronPort.driverContext(driverDirectory(settings)).threadingMode(ThreadingMode.SHARED)
                    .sharedIdleStrategy(new BackoffIdleStrategy()),
                new Archive.Context().aeronDirectoryName(driverDirectory(settings))
                    .archiveDir(settings.onDisk().resolve("archive").toFile())
                    .threadingMode(ArchiveThreadingMode.SHARED)
                    .idleStrategySupplier(BackoffIdleStrategy::new)
                    .archiveClientContext(new AeronArchive.Context().controlResponseChannel(CONTROL))
                    .controlChannelEnabled(false).localControlChannel(CONTROL).localControlStreamId(CONTROL_STREAM)
                    .recordingEventsEnabled(false).replicationChannel("aeron:udp?endpoint=127.0.0.1:0"));
        }

        @Override
        public long run(Pass pass, long count) {
            throw new IllegalStateException("A driver takes part in no pass.");
        }

        @Override
        public void close() {
            driver.close();
        }
    }

    @Override
    public void renew(boolean synced) {
        if (publication != null) {
            archive.stopRecording(publication);
            publication.close();
            purge();
        }
        publication = archive.addRecordedExclusivePublication(CHANNEL, STREAM);
        CountersReader counters = archive.context().aeron().countersReader();
        long deadline = System.nanoTime() + TIMEOUT_NS;
        while ((recordedPosition = RecordingPos.findCounterIdBySession(counters, publication.sessionId(),
            archive.archiveId()))
            == CountersReader.NULL_COUNTER_ID || !publication.isConnected()) {
            pause(deadline, "did not begin to record");
        }
        recording = RecordingPos.getRecordingId(counters, recordedPosition);
    }

    /** The archive ends a recording some time after the call. */
    private void purge() {
        long deadline = System.nanoTime() + TIMEOUT_NS;
        while (true) {
            try {
                archive.purgeRecording(recording);
                return;
            } catch (ArchiveException ex) {
                pause(deadline, "did not end a recording (" + ex.getMessage() + ')');
            }
        }
    }

    private static void pause(long deadline, String what) {
        if (System.nanoTime() - deadline > 0) {
            throw new ToolException("Aeron's archive " + what + " within 10 s.");
        }
        LockSupport.parkNanos(PAUSE_NS);
    }

    @Override
    public void write() {
        while (publication.offer(message, 0, settings.sizeBytes()) < 0) {
            if (publication.isClosed()) {
                throw new ToolException("Aeron's publication was closed.");
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public void await() {
        CountersReader counters = archive.context().aeron().countersReader();
        while (counters.getCounterValue(recordedPosition) < publication.position()) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void rewind() {
        if (replay != null) {
            replay.close();
        }
        replay = archive.replay(recording, 0, publication.position(), CHANNEL, REPLAY_STREAM);
    }

    @Override
    public int read(int most) {
        return replay.poll(this, most);
    }

    @Override
    public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
        seen += buffer.getByte(offset);
    }

    @Override
    public void close() {
        archive.close();
    }
}
