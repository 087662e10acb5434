package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.stream.LogOptions;
import org.jfabric.driver.stream.record.LogWriter;
import org.jfabric.info.Flags;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LogCommandTest {
    private static final int CHANGES = 200;
    private static final long SECOND = 1_000_000_000L;

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path base = TestDirectory.create();
    private final Path folder = base.resolve("quotes");
    private final LogOptions options = new LogOptions().segmentLengthBytes(1 << 20);

    @AfterEach
    void after() {
        TestDirectory.delete(base);
    }

    private void write(int count) {
        UnsafeBuffer text = new UnsafeBuffer("bid 101.25".getBytes(StandardCharsets.US_ASCII));
        try (LogWriter writer = LogWriter.open(folder, "quotes", options)) {
            for (int i = 0; i < count; i++) {
                assertEquals(0, writer.append(writer.position(), i * SECOND, 0, 7, 9, text, 0, 10));
            }
        }
    }

    private static ToolRun run(String... args) {
        ToolRun run = ToolRun.of(Stream.concat(Stream.of("log"), Stream.of(args)).toArray(String[]::new));
        assertEquals("", run.err());
        return run;
    }

    @Test
    void shouldShowWhatThereIs() {
        write(3);
        assertEquals(folder + "  group 'quotes', positions 0 to 3, 1 MiB\n", run("list", base.toString()).out());
        String info = run("info", folder.toString()).out();
        assertTrue(info.contains("group        quotes\n") && info.contains("term         1\n")
            && info.contains("end          3\n") && info.contains("writer       none; closed\n"), info);
        assertEquals("1  1970-01-01T00:00:01Z  term 1, tag 7, data 9, 10 bytes  bid 101.25\n",
            run("print", folder.toString(), "--from", "1", "--count", "1").out());
        assertEquals("2  1970-01-01T00:00:02Z  term 1, tag 7, data 9, 10 bytes  bid 101.25\n",
            run("print", folder.toString(), "--since", "1970-01-01T00:00:01.5Z").out());
        assertEquals("3 messages, 0 in gaps, end at position 3\nterm 1 from position 0\nnothing is wrong\n",
            run("verify", folder.toString()).out());
        try (LogWriter writer = LogWriter.open(folder, "quotes", options)) {
            assertTrue(run("info", folder.toString()).out()
                .contains("writer       process " + ProcessHandle.current().pid()), () -> "" + writer.position());
        }
    }

    @Test
    void shouldExportMessagesAndGapsAsPackets() throws IOException {
        long atNs = 1_764_403_200_123_456_789L;
        int length = 300_000;
        byte[] bytes = new byte[length];
        new Random(7).nextBytes(bytes);
        long oldest;
        try (LogWriter writer = LogWriter.open(folder, "quotes", options.segmentLengthBytes(4 << 20))) {
            for (int i = 0; i < 30; i++) {
                int each = i == 29 ? length : i == 28 ? 0 : 150_001;
                assertEquals(0, writer.append(i, atNs + i, Flags.TAGGED, -1, i, new UnsafeBuffer(bytes), 0, each));
            }
            writer.retain(27);
            oldest = writer.oldest();
        }
        assertTrue(oldest > 1 && oldest <= 27, () -> "oldest " + oldest);
        Path file = base.resolve("quotes.pcapng");
        assertEquals(30 - oldest + " messages of group 'quotes' are in " + file + "\n",
            run("export", folder.toString(), "--from", "1", "--to", file.toString()).out());
        PacketFileReader packets = PacketFileReader.of(file);
        assertEquals("quotes", packets.interfaceName);
        assertEquals(147, packets.linkType);
        PacketFileReader.Packet gap = packets.all.removeFirst();
        assertEquals("gap from 1 to " + (oldest - 1), gap.comment());
        assertEquals(0, gap.originalLength());
        assertEquals(30 - oldest, packets.all.size());
        for (int i = 0; i < packets.all.size(); i++) {
            PacketFileReader.Packet packet = packets.all.get(i);
            long position = oldest + i;
            String comment = "position " + position + ", term 1, tag 18446744073709551615, data " + position
                + ", flags 0x" + Long.toHexString(Flags.TAGGED);
            assertEquals(position == 29 ? comment + ", the first 262144 bytes" : comment, packet.comment());
            assertEquals(BigInteger.valueOf(atNs + position), packet.timeNs());
            int all = position == 29 ? length : position == 28 ? 0 : 150_001;
            assertEquals(all, packet.originalLength());
            assertArrayEquals(Arrays.copyOf(bytes, Math.min(all, 262_144)), packet.bytes());
        }
        ToolRun again = ToolRun.of("log", "export", folder.toString(), "--to", file.toString());
        assertTrue(again.status() == 1 && again.err().contains("name a file that is not there yet"), again.err());
        assertTrue(ToolRun.of("log", "export", folder.toString()).err().contains("with --to"));
    }

    @Test
    void shouldExportWhatWasAskedFor() throws IOException {
        write(9);
        Path file = base.resolve("some");
        run("export", folder.toString(), "--since", "1970-01-01T00:00:03.5Z", "--count", "2", "--to", file.toString());
        assertEquals(List.of("position 4, term 1, tag 7, data 9, flags 0x0 bid 101.25",
            "position 5, term 1, tag 7, data 9, flags 0x0 bid 101.25"), PacketFileReader.of(file).all.stream()
                .map(each -> each.comment() + ' ' + new String(each.bytes(), StandardCharsets.US_ASCII)).toList());
    }

    @Test
    void shouldSayWhyNothingCanBeShown() {
        ToolRun none = ToolRun.of("log", "info", base.toString());
        assertEquals(1, none.status());
        assertTrue(none.err().contains("cannot be opened as a log"), none.err());
        write(1);
        assertTrue(ToolRun.of("log", "print", folder.toString(), "--since", "noon").err().contains("is no time"));
        assertTrue(ToolRun.of("log", "print", folder.toString(), "--from", "5").err().contains("ends at position 1"));
    }

    @Test
    void shouldFindWhateverByteWasChanged() throws IOException {
        write(28_000);
        List<Path> files;
        try (Stream<Path> listed = Files.list(folder)) {
            files = listed.sorted().toList();
        }
        assertEquals(0, run("verify", folder.toString()).status());
        for (int i = 0; i < CHANGES; i++) {
            Path file = files.get(random.nextInt(2));
            byte[] good = Files.readAllBytes(file);
            // headers and records; the index is only a hint
            int offset = random.nextInt(10) == 0 ? random.nextInt(56) : 4096 + random.nextInt(good.length / 2);
            byte[] changed = good.clone();
            changed[offset] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, changed);
            ToolRun run = run("verify", folder.toString());
            assertEquals(1, run.status(), () -> file + " at " + offset + ", seed " + seed);
            assertTrue(run.out().contains(file + " at offset "), run.out());
            Files.write(file, good);
        }
        Path foreign = Files.writeString(folder.resolve("note"), "mine");
        assertTrue(run("verify", folder.toString()).out().contains(foreign + " is no file of this log"));
        Files.delete(foreign);
        Files.delete(files.get(0));
        assertTrue(run("verify", folder.toString()).out().contains(files.get(0) + " is missing"));
    }
}
