package org.jfabric.driver.stream.record;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import java.nio.channels.FileChannel;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.log.LogStateDecoder;
import org.jfabric.codec.log.LogStateEncoder;
import org.jfabric.layout.LogDescriptor;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/** Messages whose contents follow from position and term, and what else tests of logs share. */
final class LogKit {
    static final int SEGMENT = LogDescriptor.MIN_SEGMENT;
    private static final int LONG = SEGMENT / 8;

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[LONG]);

    static LogOptions options() {
        return new LogOptions().segmentLengthBytes(SEGMENT);
    }

    /** Appends the next message. Returns the answer. */
    int append(LogWriter writer) {
        long position = writer.position();
        int length = length(position);
        fill(buffer, position, length);
        return writer.append(position, timeNs(position), position * 3, writer.term(), ~position, buffer, 0, length);
    }

    void append(LogWriter writer, int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(0, append(writer));
        }
    }

    static long timeNs(long position) {
        return 1_000_000 * position;
    }

    /** Most are short; some are empty, and one in a hundred is long. */
    static int length(long position) {
        SplittableRandom random = new SplittableRandom(position);
        return random.nextInt(100) == 0 ? random.nextInt(LONG / 4) : random.nextInt(200);
    }

    private static void fill(UnsafeBuffer to, long position, int length) {
        for (int i = 0; i < length; i++) {
            to.putByte(i, (byte) (position * 31 + i));
        }
    }

    static void check(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        long position = header.position();
        assertEquals(length(position), length, header::toString);
        assertEquals(timeNs(position), header.timeNs(), header::toString);
        assertEquals(position * 3, header.flags(), header::toString);
        assertEquals(header.term(), header.tag(), header::toString);
        assertEquals(~position, header.data(), header::toString);
        for (int i = 0; i < length; i++) {
            if (buffer.getByte(offset + i) != (byte) (position * 31 + i)) {
                throw new AssertionError("byte " + i + " of " + header);
            }
        }
    }

    /** Checks that messages come in order; takes gaps down. */
    static final class Check implements StreamListener {
        final List<String> gaps = new ArrayList<>();
        long next;
        int term;

        Check(long next) {
            this.next = next;
        }

        @Override
        public void onMessage(DirectBuffer message, int offset, int length, StreamHeader header) {
            assertEquals(next, header.position());
            LogKit.check(message, offset, length, header);
            next++;
            term = header.term();
        }

        @Override
        public void onGap(long firstPosition, long lastPosition) {
            assertEquals(next, firstPosition);
            // two in a row are one
            boolean isMore = !gaps.isEmpty() && gaps.getLast().endsWith("-" + (firstPosition - 1));
            String first = isMore ? gaps.removeLast().split("-")[0] : Long.toString(firstPosition);
            gaps.add(first + "-" + lastPosition);
            next = lastPosition + 1;
        }
    }

    /** Segments of a folder, oldest first. */
    static List<Path> segments(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(each -> each.toString().endsWith(".seg")).sorted().toList();
        }
    }

    static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path each : files.toList()) {
                Files.copy(each, to.resolve(each.getFileName()));
            }
        }
    }

    /** Makes the state of a log one of another run of the system: only what was synced is known to be there. */
    static void cutPower(Path folder) throws IOException {
        try (FileChannel file = FileChannel.open(folder.resolve("log"),
            StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.allocate(LogStateDecoder.BLOCK_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
            file.read(bytes, LogDescriptor.STATE_OFFSET);
            bytes.putLong(LogStateEncoder.bootIdLowEncodingOffset(), 7);
            bytes.putInt(0, LogDescriptor.checksum(new CRC32C(), bytes, 4, bytes.capacity()));
            bytes.clear();
            file.write(bytes, LogDescriptor.STATE_OFFSET);
        }
    }

    static void change(Path file, long offset, byte... to) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(to), offset);
        }
    }
}
