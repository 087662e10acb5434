package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.metrics.MetricsSnapshot;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.LogDisk;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.FullDisk;
import org.jfabric.stream.Publication;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.tool.CncView;
import org.jfabric.tool.GroupView;
import org.jfabric.tool.ToolRun;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Recorded groups of a driver whose disk is full: what the writer sees, and what the tools show. */
@Timeout(60)
class RecordingFaultTest {
    private static final String GROUP = "jfabric://alpha/quotes";
    private static final int LENGTH = 1000;

    private final Path base = TestDirectory.create();
    private final Path folder = base.resolve("log");
    private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[LENGTH]);
    private volatile boolean isFull;
    private volatile boolean isBroken;

    private final class Disk extends LogDisk {
        @Override
        public int write(int fd, long address, long lengthBytes, long offset) {
            return isBroken ? -FabricErrno.EIO : super.write(fd, address, lengthBytes, offset);
        }

        @Override
        public int reserve(int fd, long lengthBytes) {
            return isFull ? -FabricErrno.ENOSPC : super.reserve(fd, lengthBytes);
        }
    }

    private final class Surroundings extends Environment {
        private final LogDisk disk = new Disk();

        @Override
        public LogDisk logDisk() {
            return disk;
        }
    }

    @AfterEach
    void delete() {
        TestDirectory.delete(base);
    }

    private FabricDriver launch() {
        DriverConfig config = DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.SHARED).set("jfabric.shm.groupRingLengthBytes", "64k").build();
        return FabricDriver.launch(config, LinkProviders.enabled(config), false, new Surroundings());
    }

    private Publication publish(Fabric fabric, FullDisk policy) {
        return Publication.on(fabric, GROUP)
            .recordIn(folder, new LogOptions().segmentLengthBytes(1 << 20).whenFull(policy)).open();
    }

    private String tool(String... args) {
        ToolRun run = ToolRun.of(args);
        assertEquals(0, run.status(), run::err);
        return run.out();
    }

    private GroupView.Recording recording() {
        return groups().getFirst().recording();
    }

    private List<GroupView> groups() {
        try (CncView view = CncView.open(base.resolve("alpha"))) {
            return GroupView.of(MetricsSnapshot.of(view.counters()).stream(), System.currentTimeMillis());
        }
    }

    @ParameterizedTest
    @EnumSource(FullDisk.class)
    void shouldShowHowFarAGroupIsRecordedAndThatTheDiskIsFull(FullDisk policy) {
        String happens = policy == FullDisk.WAIT ? "the writer waits" : "messages are left out";
        String alpha = base.resolve("alpha").toString();
        try (FabricDriver driver = launch(); Fabric fabric = driver.fabric();
            Publication publication = publish(fabric, policy)) {
            isFull = true;
            Deadline.await("what is shown of a full disk", () -> {
                write(publication, 2000);
                GroupView.Recording shown = recording();
                long written = publication.written();
                long left = 2000 - written;
                // a segment of 1 MiB; messages that wait for room have no position yet
                return written > 900 && written < 1100 && happens.equals(shown.problem())
                    && shown.written() == written && shown.synced() == publication.synced()
                    && shown.diskBytes() == 1 << 20 && (policy == FullDisk.WAIT
                        ? shown.dropped() == 0 && shown.lag() > 30 : shown.dropped() == left && shown.lag() == left);
            }, () -> publication + " " + recording());
            long written = publication.written();

            String text = tool("queues", "--dir", alpha);
            assertTrue(text.contains("\n    recorded in " + folder + ": written to " + written + ", synced to "
                + publication.synced() + ", 1 MiB on the disk; the disk is full: " + happens + ", "), text);
            String frame = tool("top", "--once", "--interval", "0.1", "--width", "150", "--dir", alpha);
            assertTrue(frame.matches("(?s).*\n  log " + folder + " +" + written + " .*\n      synced to "
                + publication.synced() + ", 1 MiB on the disk; the disk is full: " + happens + "\n.*"), frame);

            isFull = false;
            Deadline.await("a recorder that has caught up", () -> {
                write(publication, 3000);
                return recording().written() == 3000;
            }, () -> publication + " " + recording());
            assertNull(recording().problem());
            assertTrue(recording().diskBytes() >= 2 << 20, () -> recording().toString());
            String errors = tool("errors", "--dir", alpha);
            assertTrue(errors.contains("the disk has no room for message " + written + " of group " + GROUP), errors);
        }
    }

    /** Nothing is under way when the disk fails, so that only the next message can show it. */
    @Test
    void shouldEndTheWriterWithTheErrorOfTheDisk() {
        try (FabricDriver driver = launch(); Fabric fabric = driver.fabric();
            Publication publication = publish(fabric, FullDisk.WAIT)) {
            Deadline.await("10 messages", () -> {
                write(publication, 10);
                return publication.written() == 10;
            }, publication::toString);
            isBroken = true;
            Deadline.await("one more", () -> publication.offer(bytes, 0, LENGTH) == 0, publication::toString);
            Deadline.await("the end of the group", () -> groups().isEmpty(), publication::toString);
            int[] result = new int[1];
            Deadline.await("an error", () -> {
                result[0] = publication.offer(bytes, 0, LENGTH);
                return result[0] != 0 && result[0] != -FabricErrno.EAGAIN;
            }, publication::toString);
            assertEquals(-FabricErrno.EIO, result[0], () -> FabricErrno.name(-result[0]));
        }
    }

    private void write(Publication publication, long until) {
        boolean isTaken = true;
        while (isTaken && publication.position() < until) {
            isTaken = publication.offer(bytes, 0, LENGTH) == 0;
        }
    }
}
