package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.jfabric.driver.hostile.RecordedMemberMain.ReaderState;
import org.jfabric.driver.hostile.RecordedMemberMain.WriterState;
import org.jfabric.driver.kit.Effort;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A recorded group whose writer, readers and their drivers are killed at random moments, also when a reader is ahead of
 * the log. Each reader resumes at its place: it gets each message of the log once, and gaps only of what retention has
 * deleted; one that was ahead is refused with the end of the log, and goes back.
 * {@code -Dtest.jvm.args=-Djfabric.test.recordedKills=300} is for a long run.
 */
@Tag("hostile")
@Timeout(3600)
class RecordedKilledTest {
    private static final int KILLS = Integer.getInteger("jfabric.test.recordedKills", Effort.rounds(8, 300));
    private static final String[] READERS = {"alpha false", "beta false", "beta true"};

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path base = TestDirectory.create();
    /** Processes that have no role yet. */
    private final ArrayDeque<TestProcess> waiting = new ArrayDeque<>();
    private final Map<String, TestProcess> members = new HashMap<>();
    private final ReaderState[] readers = new ReaderState[READERS.length];
    private WriterState writer;

    @AfterEach
    void end() {
        waiting.forEach(TestProcess::close);
        members.values().forEach(TestProcess::close);
        TestDirectory.delete(base);
    }

    private void prepare() {
        waiting.add(TestJvm.start(RecordedMemberMain.class, base.toString(), Long.toString(random.nextLong())));
    }

    /** A process that waits gets that role. */
    private void begin(String role) {
        TestProcess process = waiting.remove();
        process.awaitLine("started");
        process.say(role);
        members.put(role, process);
        prepare();
    }

    private String state() {
        StringBuilder state = new StringBuilder("seed " + seed);
        members.forEach((role, process) -> state.append('\n').append(role).append(": ").append(process));
        return state.toString();
    }

    private void checkAlive() {
        assertTrue(members.values().stream().allMatch(TestProcess::isAlive), this::state);
    }

    private void awaitProgress() {
        long[] before = new long[readers.length];
        for (int i = 0; i < before.length; i++) {
            before[i] = readers[i].position();
        }
        Deadline.awaitParked(this::state, () -> {
            checkAlive();
            boolean all = true;
            for (int i = 0; i < before.length; i++) {
                // one that goes back is further, too
                all &= readers[i].position() != before[i];
            }
            return all;
        });
    }

    /** Waits a while for a reader to be ahead of the log. */
    private void awaitAhead(LogReader log) {
        long untilNs = System.nanoTime() + 100_000_000;
        while (System.nanoTime() < untilNs) {
            long written = log.written();
            for (ReaderState reader : readers) {
                if (reader.position() > written) {
                    return;
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, 3 << 20})
    void shouldGiveEachReaderEachMessageOnceWhoeverIsKilled(long retainBytes) throws IOException {
        System.out.println("seed " + seed);
        writer = new WriterState(base);
        List<String> roles = new ArrayList<>(List.of("driver alpha", "driver beta", "write " + retainBytes));
        for (int i = 0; i < READERS.length; i++) {
            readers[i] = new ReaderState(base, i);
            roles.add("read " + i + ' ' + READERS[i]);
        }
        for (int i = 0; i < 3; i++) {
            prepare();
        }
        roles.forEach(this::begin);
        awaitProgress();
        try (LogReader log = LogReader.open(RecordedMemberMain.log(base))) {
            for (int i = 0; i < KILLS / 2; i++) {
                if (random.nextInt(3) != 0) {
                    awaitProgress();
                }
                LockSupport.parkNanos(random.nextLong(100_000_000));
                String role = roles.get(random.nextInt(2) == 0 ? 0 : random.nextInt(roles.size()));
                if (role.equals("driver alpha") && random.nextBoolean()) {
                    awaitAhead(log);
                }
                checkAlive();
                members.remove(role).kill();
                begin(role);
            }
        }
        if (retainBytes != Long.MAX_VALUE) {
            Deadline.awaitParked("retention to delete a segment", () -> {
                checkAlive();
                return oldest() > 0;
            });
        }
        writer.stop();
        Deadline.awaitParked(this::state, () -> {
            checkAlive();
            long end = writer.end();
            boolean all = end != 0;
            for (ReaderState reader : readers) {
                all &= reader.position() == end;
            }
            return all;
        });
        compare(retainBytes);
    }

    private long oldest() {
        try (LogReader log = LogReader.open(RecordedMemberMain.log(base))) {
            return log.position();
        }
    }

    /** Each reader has seen what is in the log. */
    private void compare(long retainBytes) {
        long[] next = new long[1];
        StreamListener messages = new StreamListener() {
            @Override
            public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
                assertEquals(next[0]++, header.position());
                RecordedMemberMain.check(buffer, offset, length, header.position(), header.term());
                for (ReaderState reader : readers) {
                    int seen = reader.term(header.position());
                    assertTrue(seen == header.term() || seen == 0 && reader.gaps() > 0,
                        () -> header + " was seen in term " + seen + ", " + state());
                }
            }

            @Override
            public void onGap(long first, long last) {
                throw new AssertionError("a gap from " + first + " to " + last);
            }
        };
        try (LogReader log = LogReader.open(RecordedMemberMain.log(base))) {
            long oldest = log.position();
            next[0] = oldest;
            int read;
            do {
                read = log.poll(messages, 10_000);
            } while (read > 0);
            assertEquals(writer.end(), next[0], this::state);
            assertEquals(retainBytes == Long.MAX_VALUE, oldest == 0);
        }
        for (int i = 0; i < readers.length; i++) {
            System.out.println("reader " + i + ": " + next[0] + " messages, refused " + readers[i].refusals()
                + " times, " + readers[i].gaps() + " messages in gaps");
            assertTrue(retainBytes != Long.MAX_VALUE || readers[i].gaps() == 0, this::state);
        }
    }
}
