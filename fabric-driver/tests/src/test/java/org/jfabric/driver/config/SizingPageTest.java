package org.jfabric.driver.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** The lengths of shared files that the page names are those of the default configuration. */
class SizingPageTest {
    private static final Path PAGE = Path.of("..", "docs", "sizing.md");

    private final DriverConfig config = DriverConfig.builder().systemProperties(new Properties()).build();
    private final String page = read();

    private static String read() {
        try {
            return Files.readString(PAGE);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String kib(long bytes) {
        assertEquals(0, bytes % 1024, bytes + " bytes");
        return bytes / 1024 + " KiB";
    }

    /** Columns of the only row that begins so. */
    private String[] row(String begin) {
        String[] rows = page.lines().filter(line -> line.startsWith("| " + begin)).toArray(String[]::new);
        assertEquals(1, rows.length, begin);
        return rows[0].split(" \\| ");
    }

    @Test
    void shouldNameTheDefaultLengthOfEachFile() {
        long record = Sizing.forDriver(config).parts().stream().filter(part -> part.name().startsWith("record"))
            .mapToLong(Sizing.Part::bytes).sum();
        assertEquals(kib(record), row("`record`")[2]);
        assertEquals(kib(Sizing.forDriver(config).totalBytes() - record), row("`cnc`")[2]);
        assertEquals(kib(Sizing.ctlFileBytes(config)), row("`.ctl`")[2]);
        assertEquals(kib(Sizing.tqFileBytes(config, config.get(QueueConfig.TX_SIZE))), row("`.tq`")[2]);
        assertEquals(kib(Sizing.rqFileBytes(config, config.get(QueueConfig.RX_SIZE))), row("`.rq`")[2]);
        assertEquals(kib(Sizing.cqFileBytes(config, config.get(QueueConfig.CQ_SIZE))), row("`.cq`")[2]);
        assertEquals(kib(Sizing.shmRingFileBytes(config)), row("`.ring`")[2]);
        assertTrue(page.contains(kib(Sizing.mrFileBytes(4 << 20)) + " for 4 MiB"));
    }

    @Test
    void shouldNameTheNeedOfADriverWithOneClient() {
        String need = kib(Sizing.forDriver(config).plus(Sizing.forDefaultClients(config, 1)).totalBytes());
        assertTrue(page.contains("A driver with one such client takes " + need), need);
    }

    @Test
    void shouldNameTheLengthsOfSmallerAndLargerQueues() {
        assertQueues("64 sends", 64, 64, 96);
        assertQueues("256 sends", config.get(QueueConfig.TX_SIZE), config.get(QueueConfig.RX_SIZE),
            config.get(QueueConfig.CQ_SIZE));
        assertQueues("4,096 sends", 4096, 16384, 20480);
    }

    private void assertQueues(String begin, int sends, int receives, int entries) {
        String[] row = row(begin);
        assertEquals(kib(Sizing.tqFileBytes(config, sends)), row[1]);
        assertEquals(kib(Sizing.rqFileBytes(config, receives)), row[2]);
        assertEquals(kib(Sizing.cqFileBytes(config, entries)) + " |", row[3]);
    }
}
