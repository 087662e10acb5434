package org.jfabric.driver.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SizingTest {

    private static final long SMALL_TMPFS_BYTES = 64L << 20;

    @TempDir
    private Path folder;

    private static DriverConfig.Builder builder() {
        return DriverConfig.builder().systemProperties(new Properties());
    }

    @Test
    void shouldFitSmallTmpfsWithDefaults() {
        DriverConfig config = builder().build();
        long needBytes = Sizing.forDriver(config).plus(Sizing.forDefaultClients(config, 1)).totalBytes();
        assertTrue(needBytes < SMALL_TMPFS_BYTES / 2, "needs " + needBytes);
        assertNull(Sizing.shortage(config, SMALL_TMPFS_BYTES));
    }

    @Test
    void shouldDeriveQueueLengthsFromSizes() {
        QueueConfig queue = builder().build().queue();
        assertEquals(64L << 10, queue.tqLengthBytes(256));
        assertEquals(128L << 10, queue.tqLengthBytes(342));
        assertEquals(128L << 10, queue.rqLengthBytes(1024));
        assertEquals(4L << 10, queue.rqLengthBytes(1));
        assertEquals(1L << 30, builder().set(QueueConfig.INJECT_SIZE_BYTES, 4096L).build().queue()
            .tqLengthBytes(1 << 20));
    }

    @Test
    void shouldTakeQueueLengthsWhenTheyAreSet() {
        QueueConfig queue = builder()
            .set("jfabric.queue.tqLengthBytes", "16k").set("jfabric.queue.rqLengthBytes", "32k").build().queue();
        assertEquals(16L << 10, queue.tqLengthBytes(256));
        assertEquals(32L << 10, queue.rqLengthBytes(1024));
    }

    @Test
    void shouldGiveTheDriverItsShareOfTheCompletionQueue() {
        QueueConfig queue = builder().build().queue();
        assertEquals(16, queue.cqDriverShare(1));
        assertEquals(16, queue.cqDriverShare(64));
        assertEquals(384, queue.cqDriverShare(1536));
        assertEquals(32, queue.cqRingEntries(1));
        assertEquals(32, queue.cqRingEntries(16));
        assertEquals(2048, queue.cqRingEntries(1536));
        QueueConfig fixed = builder().set("jfabric.queue.cqDriverShare", "16").build().queue();
        assertEquals(16, fixed.cqDriverShare(1536));
        assertEquals(4096, fixed.cqRingEntries(2048));
    }

    @Test
    void shouldHoldAllOperationsOfADefaultEndpointInADefaultCompletionQueue() {
        QueueConfig queue = builder().build().queue();
        assertTrue(queue.cqSize() >= queue.txSize() + queue.rxSize());
    }

    @Test
    void shouldSumNamedParts() {
        DriverConfig config = builder().build();
        Sizing.Need one = Sizing.forDefaultClients(config, 1);
        assertEquals(3 * one.totalBytes(), Sizing.forDefaultClients(config, 3).totalBytes());
        assertEquals(0, Sizing.forDefaultClients(config, 0).totalBytes());
        assertEquals(one.totalBytes(), one.parts().stream().mapToLong(Sizing.Part::bytes).sum());
        assertEquals(4096 + 2048 * 192, Sizing.cqFileBytes(config.queue(), 1536));
        for (Sizing.Part part : one.plus(Sizing.forDriver(config)).parts()) {
            assertEquals(0, part.bytes() % Sizing.PAGE_BYTES, part.name());
        }
    }

    @Test
    void shouldNotCountShmRingsWhenTheLinkIsOff() {
        DriverConfig with = builder().build();
        DriverConfig without = builder().set("jfabric.link.enabled", "loopback").build();
        assertEquals(
            Sizing.forDefaultClients(with, 2).totalBytes() - 2 * Sizing.shmRingFileBytes(with.shm()),
            Sizing.forDefaultClients(without, 2).totalBytes());
    }

    @Test
    void shouldSayWhatIsNeededWhatIsThereAndWhatToDo() {
        DriverConfig config = builder().directory(folder.resolve("tiny")).build();
        long needBytes = Sizing.forDriver(config).totalBytes() + Sizing.reserveFreeBytes(config);
        assertNull(Sizing.shortage(config, needBytes));
        String text = Sizing.shortage(config, needBytes - 1);
        for (String part : new String[]{
            Quantity.describeBytes(needBytes), Quantity.describeBytes(needBytes - 1),
            folder.resolve("tiny").toString(), "by 1 bytes", "jfabric.dir.base", "mr: registered memory: 4.0 MiB"}) {
            assertTrue(text.contains(part), () -> "no \"" + part + "\" in: " + text);
        }
    }

    @Test
    void shouldKeepTheReserveFreeWhenItIsSet() {
        DriverConfig config = builder().set("jfabric.dir.reserveFreeBytes", "1 GiB").build();
        assertEquals(1L << 30, Sizing.reserveFreeBytes(config));
        String text = Sizing.shortage(config, SMALL_TMPFS_BYTES);
        assertTrue(text.contains("jfabric.dir.reserveFreeBytes: 1.0 GiB"), text);
        assertNull(Sizing.shortage(
            builder().set("jfabric.dir.reserveFreeBytes", "0").build(), Sizing.forDriver(config).totalBytes()));
    }

    @Test
    void shouldAskTheNearestExistingFolderForFreeBytes() throws IOException {
        assertTrue(Sizing.availableBytes(folder.resolve("not/yet/there")) > 0);
    }
}
