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
        DriverConfig config = builder().build();
        assertEquals(64L << 10, Sizing.tqLengthBytes(config, 256));
        assertEquals(128L << 10, Sizing.tqLengthBytes(config, 342));
        assertEquals(128L << 10, Sizing.rqLengthBytes(config, 1024));
        assertEquals(4L << 10, Sizing.rqLengthBytes(config, 1));
        assertEquals(1L << 30, Sizing.tqLengthBytes(
            builder().set(QueueConfig.INJECT_SIZE_BYTES, 4096).build(), 1 << 20));
    }

    @Test
    void shouldTakeQueueLengthsWhenTheyAreSet() {
        DriverConfig config = builder()
            .set("jfabric.queue.tqLengthBytes", "16k").set("jfabric.queue.rqLengthBytes", "32k").build();
        assertEquals(16L << 10, Sizing.tqLengthBytes(config, 256));
        assertEquals(32L << 10, Sizing.rqLengthBytes(config, 1024));
    }

    @Test
    void shouldGiveTheDriverItsShareOfTheCompletionQueue() {
        DriverConfig config = builder().build();
        assertEquals(16, Sizing.cqDriverShare(config, 1));
        assertEquals(16, Sizing.cqDriverShare(config, 64));
        assertEquals(384, Sizing.cqDriverShare(config, 1536));
        assertEquals(32, Sizing.cqRingEntries(config, 1));
        assertEquals(32, Sizing.cqRingEntries(config, 16));
        assertEquals(2048, Sizing.cqRingEntries(config, 1536));
        DriverConfig fixed = builder().set("jfabric.queue.cqDriverShare", "16").build();
        assertEquals(16, Sizing.cqDriverShare(fixed, 1536));
        assertEquals(4096, Sizing.cqRingEntries(fixed, 2048));
    }

    @Test
    void shouldHoldAllOperationsOfADefaultEndpointInADefaultCompletionQueue() {
        DriverConfig config = builder().build();
        assertTrue(config.get(QueueConfig.CQ_SIZE)
            >= config.get(QueueConfig.TX_SIZE) + config.get(QueueConfig.RX_SIZE));
    }

    @Test
    void shouldSumNamedParts() {
        DriverConfig config = builder().build();
        Sizing.Need one = Sizing.forDefaultClients(config, 1);
        assertEquals(3 * one.totalBytes(), Sizing.forDefaultClients(config, 3).totalBytes());
        assertEquals(0, Sizing.forDefaultClients(config, 0).totalBytes());
        assertEquals(one.totalBytes(), one.parts().stream().mapToLong(Sizing.Part::bytes).sum());
        assertEquals(4096 + 2048 * 192, Sizing.cqFileBytes(config, 1536));
        for (Sizing.Part part : one.plus(Sizing.forDriver(config)).parts()) {
            assertEquals(0, part.bytes() % Sizing.PAGE_BYTES, part.name());
        }
    }

    @Test
    void shouldNotCountShmRingsWhenTheLinkIsOff() {
        DriverConfig with = builder().build();
        DriverConfig without = builder().set("jfabric.link.enabled", "loopback").build();
        assertEquals(
            Sizing.forDefaultClients(with, 2).totalBytes() - 2 * Sizing.shmRingFileBytes(with),
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
