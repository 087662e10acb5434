package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Path;
import org.jfabric.client.Attachment;
import org.jfabric.client.EmbeddedDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.layout.FileType;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class PreparedSleepTest {
    private static final int LENGTH = 64;

    @TempDir
    private Path folder;

    /** Between the cycle in front of the sleep and the sleep; nothing else would wake the one that sleeps. */
    @Test
    @Timeout(60)
    void shouldNotSleepBesideACommandThatAnotherThreadHasPosted() {
        DriverConfig config = DriverConfig.builder()
            .directory(folder.resolve("driver")).threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config)) {
            EmbeddedDriver embedded = driver.embedded();
            Attachment attachment = embedded.attach();
            int directory = Libc.openDirectory(driver.directory());
            try (MappedFile control = MappedFile.open(
                directory, FileType.CONTROL.fileName(attachment.controlFile()), false, LENGTH)) {
                Deadline.await("a driver that may sleep", () -> {
                    embedded.cycle(64);
                    return embedded.prepareSleep();
                }, () -> "it has work");
                embedded.cancelSleep();
                RecordProducer commands = new RecordProducer(
                    control.address() + RecordRingDescriptor.HEADER_LENGTH, attachment.commandRingLength(),
                    control.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET);
                commands.commit(commands.claim(LENGTH), LENGTH, Integer.MAX_VALUE);
                assertFalse(embedded.prepareSleep());
            } finally {
                Libc.close(directory);
            }
        }
    }
}
