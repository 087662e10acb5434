package org.jfabric.driver.hostile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.Visibility;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/**
 * A process that becomes what the first line of its input says: a driver, the writer of a recorded group, or a reader.
 * Writer and readers open everything again whenever a driver is gone. What they know stands in a mapped file, which
 * outlives them. A message consists of its position, its term, and bytes that follow from both.
 */
final class RecordedMemberMain {
    static final String GROUP = "jfabric://alpha/quotes";

    private final Path base;
    private final SplittableRandom random;

    private RecordedMemberMain(Path base, long seed) {
        this.base = base;
        this.random = new SplittableRandom(seed);
    }

    /** State of the writer. */
    static final class WriterState {
        private static final int WRITTEN = 0;
        private static final int STOP = 8;
        private static final int END = 16;
        /** For each term whether its readers may be ahead of the log. */
        private static final int RING = 64;
        private final UnsafeBuffer words;

        WriterState(Path base) throws IOException {
            words = map(base.resolve("writer"), 1 << 16);
        }

        long written() {
            return words.getLongVolatile(WRITTEN);
        }

        /** No more messages are written. */
        void stop() {
            words.putLongVolatile(STOP, 1);
        }

        /** Position behind the last message, once it has stopped; else 0. */
        long end() {
            return words.getLongVolatile(END);
        }

        boolean mayBeAhead(int term) {
            return words.getByteVolatile(RING + term) != 0;
        }
    }

    /** What a reader has seen: the term of each message, and the place of the next one. */
    static final class ReaderState {
        /** Term and position in one word, so that a kill leaves both of one moment. */
        private static final int PLACE = 0;
        private static final int LOG_ID = 8;
        private static final int REFUSALS = 24;
        private static final int GAPS = 32;
        private static final int TERMS = 64;
        private static final int TERM_SHIFT = 48;
        private final UnsafeBuffer words;

        ReaderState(Path base, int reader) throws IOException {
            words = map(base.resolve("reader-" + reader), 1 << 28);
        }

        long position() {
            return words.getLongVolatile(PLACE) & (1L << TERM_SHIFT) - 1;
        }

        int term(long position) {
            return words.getInt(index(position));
        }

        /** How often it was refused because it had seen what the log has lost. */
        long refusals() {
            return words.getLongVolatile(REFUSALS);
        }

        /** Messages in gaps. */
        long gaps() {
            return words.getLongVolatile(GAPS);
        }

        private static int index(long position) {
            return Math.toIntExact(TERMS + position * Integer.BYTES);
        }

        private LogPosition place() {
            int term = (int) (words.getLongVolatile(PLACE) >>> TERM_SHIFT);
            return term == 0 ? null
                : new LogPosition(new UUID(words.getLong(LOG_ID), words.getLong(LOG_ID + 8)), term, position());
        }

        private void place(LogPosition place) {
            words.putLong(LOG_ID, place.logId().getMostSignificantBits());
            words.putLong(LOG_ID + 8, place.logId().getLeastSignificantBits());
            words.putLongVolatile(PLACE, (long) place.term() << TERM_SHIFT | place.position());
        }

        private void count(int word, long more) {
            words.putLongVolatile(word, words.getLong(word) + more);
        }
    }

    private static UnsafeBuffer map(Path file, long length) throws IOException {
        try (FileChannel channel = FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
            MappedByteBuffer bytes = channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
            return new UnsafeBuffer(bytes.order(ByteOrder.nativeOrder()));
        }
    }

    public static void main(String[] args) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("started");
        String[] words = input.readLine().split(" ");
        RecordedMemberMain member = new RecordedMemberMain(Path.of(args[0]), Long.parseLong(args[1]));
        switch (words[0]) {
            case "driver" -> {
                System.setProperty("jfabric.dir.base", args[0]);
                System.setProperty("jfabric.dir.name", words[1]);
                System.setProperty("jfabric.shm.groupRingLengthBytes", "64k");
                FabricDriver.main(new String[0]);
            }
            case "write" -> member.write(Long.parseLong(words[1]));
            default -> member.read(Integer.parseInt(words[1]), words[2], Boolean.parseBoolean(words[3]));
        }
    }

    static Path log(Path base) {
        return base.resolve("log");
    }

    private Fabric connect(String driver) {
        return Fabric.connect(new FabricConfig().directory(base.resolve(driver)));
    }

    private static void retryAfter(FabricException away, int... refusals) {
        for (int refusal : refusals) {
            if (away.errno() == refusal) {
                throw away;
            }
        }
        LockSupport.parkNanos(5_000_000);
    }

    // ---- writer ----

    private void write(long retainBytes) throws IOException {
        WriterState state = new WriterState(base);
        while (state.end() == 0) {
            LogOptions options = new LogOptions().segmentLengthBytes(1 << 20).retainBytes(retainBytes)
                .visibility(Visibility.values()[random.nextInt(Visibility.values().length)]);
            try (Fabric fabric = connect("alpha");
                Publication publication = Publication.on(fabric, GROUP).recordIn(log(base), options).open()) {
                LogPosition next = publication.next();
                System.out.println("writes from " + next + ", " + options.visibility());
                require(next.position() >= state.written(), "the log has lost messages before " + state.written());
                if (options.visibility() == Visibility.RING) {
                    state.words.putByteVolatile(WriterState.RING + next.term(), (byte) 1);
                }
                write(publication, state);
            } catch (FabricException e) {
                retryAfter(e, FabricErrno.EINVAL, FabricErrno.EIO);
            }
        }
    }

    private void write(Publication publication, WriterState state) {
        UnsafeBuffer message = new UnsafeBuffer(new byte[4096]);
        while (state.words.getLongVolatile(WriterState.STOP) == 0) {
            for (int left = random.nextInt(1000); left > 0;) {
                int length = 16 + (random.nextInt(100) == 0 ? random.nextInt(4000) : random.nextInt(100));
                fill(message, publication.next(), length);
                int result = publication.offer(message, 0, length);
                if (result == 0) {
                    left--;
                } else if (result != -FabricErrno.EAGAIN) {
                    return;
                }
            }
            state.words.putLongVolatile(WriterState.WRITTEN, publication.written());
            LockSupport.parkNanos(random.nextLong(40_000_000));
            if (publication.poll() != 0) {
                return;
            }
        }
        while (publication.poll() == 0) {
            state.words.putLongVolatile(WriterState.END, publication.position());
            LockSupport.parkNanos(1_000_000);
        }
        throw new AssertionError("nobody was killed any more");
    }

    static void fill(MutableDirectBuffer message, LogPosition place, int length) {
        message.putLong(0, place.position());
        message.putLong(8, place.term());
        for (int i = 16; i < length; i++) {
            message.putByte(i, (byte) (place.position() + i));
        }
    }

    /** A message is what the writer has written with that position in that term. */
    static void check(DirectBuffer buffer, int offset, int length, long position, int term) {
        require(buffer.getLong(offset) == position && buffer.getLong(offset + 8) == term,
            "message " + buffer.getLong(offset) + " of term " + buffer.getLong(offset + 8) + " instead of " + position
                + " of term " + term);
        for (int i = 16; i < length; i++) {
            require(buffer.getByte(offset + i) == (byte) (position + i), "byte " + i + " of message " + position);
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    // ---- reader ----

    private void read(int reader, String driver, boolean isSlow) throws IOException {
        ReaderState state = new ReaderState(base, reader);
        WriterState writer = new WriterState(base);
        while (true) {
            LogPosition place = state.place();
            try (Fabric fabric = connect(driver)) {
                Subscription.Builder builder = Subscription.on(fabric, GROUP);
                try (Subscription subscription = (place == null ? builder.fromOldest() : builder.from(place)).open()) {
                    read(subscription, state, isSlow);
                } catch (FabricException e) {
                    retryAfter(e, FabricErrno.EIO, place == null ? FabricErrno.EINVAL : 0);
                    if (e.errno() == FabricErrno.EINVAL) {
                        goBack(e.getMessage(), place, state, writer);
                    }
                }
            } catch (FabricException e) {
                retryAfter(e);
            }
        }
    }

    private static void goBack(String refusal, LogPosition place, ReaderState state, WriterState writer) {
        Matcher end = Pattern.compile("gone on from position (\\d+) in a later term").matcher(refusal);
        require(end.find(), refusal);
        long position = Long.parseLong(end.group(1));
        require(position < place.position(), refusal);
        require(writer.mayBeAhead(place.term()), "readers of that term are never ahead of the log: " + refusal);
        System.out.println(refusal);
        state.count(ReaderState.REFUSALS, 1);
        state.place(place.at(position));
    }

    private void read(Subscription subscription, ReaderState state, boolean isSlow) {
        Messages messages = new Messages(state, subscription.position());
        int result = 0;
        while (result >= 0 || result == -FabricErrno.EAGAIN) {
            result = subscription.poll(messages, 1 + random.nextInt(32));
            if (result > 0) {
                require(subscription.position() == messages.next, subscription + ", shown up to " + messages.next);
                state.place(subscription.next());
            }
            if (isSlow && random.nextInt(20) == 0) {
                LockSupport.parkNanos(random.nextLong(10_000_000));
            } else if (result < 0) {
                LockSupport.parkNanos(20_000);
            }
        }
    }

    /** Messages of one subscription: each follows the one before. */
    private final class Messages implements StreamListener {
        private final ReaderState state;
        private long next;
        private int term;

        Messages(ReaderState state, long next) {
            this.state = state;
            this.next = next;
            LogPosition place = state.place();
            require(place == null || place.position() == next, "begins at " + next + " instead of " + place);
            term = place == null ? 1 : place.term();
        }

        @Override
        public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
            require(header.position() == next, header + " instead of " + next);
            require(header.term() >= term, header + " behind term " + term);
            term = header.term();
            check(buffer, offset, length, next, term);
            state.words.putInt(ReaderState.index(next), term);
            next++;
        }

        @Override
        public void onGap(long first, long last) {
            require(first == next && last >= first, "gap " + first + " to " + last + " at " + next);
            try (LogReader log = LogReader.open(log(base))) {
                require(log.position() > last, "gap " + first + " to " + last + ", but the log has " + log.position());
            }
            next = last + 1;
            state.count(ReaderState.GAPS, last - first + 1);
        }
    }
}
