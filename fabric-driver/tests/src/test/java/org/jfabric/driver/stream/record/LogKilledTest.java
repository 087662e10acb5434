package org.jfabric.driver.stream.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.driver.kit.Effort;
import org.jfabric.stream.LogReader;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Writers that are killed at random moments, with a reader beside them: nothing is lost that was said to be written,
 * nothing that was seen, and nothing torn is shown. {@code -Dtest.jvm.args=-Djfabric.test.logKills=300} is for a long
 * run.
 */
@Tag("hostile")
@Timeout(3600)
class LogKilledTest {
    private static final int KILLS = Integer.getInteger("jfabric.test.logKills", Effort.rounds(10, 100));

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path base = TestDirectory.create();
    private final Path folder = base.resolve("log");

    /** Writes until it is killed; says how far it is in a file that outlives it. */
    static final class Main {
        private Main() {
        }

        public static void main(String[] args) throws Exception {
            LogKit kit = new LogKit();
            try (FileChannel file = FileChannel.open(Path.of(args[1]), StandardOpenOption.READ,
                StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
                // at once when the one before it is dead
                System.out.println("started");
                System.out.flush();
                System.in.read();
                MappedByteBuffer written = file.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES);
                LogWriter writer = LogWriter.open(
                    Path.of(args[0]), "quotes", LogKit.options().retainBytes(6L * LogKit.SEGMENT));
                System.out.println("ready " + writer.position() + ' ' + writer.term());
                System.out.flush();
                SplittableRandom random = new SplittableRandom(writer.position());
                while (true) {
                    kit.append(writer, random.nextInt(50));
                    if (writer.flush() != 0 || random.nextInt(100) == 0 && writer.sync() != 0) {
                        throw new IllegalStateException("the log has ended");
                    }
                    written.putLong(0, writer.written());
                }
            }
        }
    }

    @AfterEach
    void after() {
        TestDirectory.delete(base);
    }

    private TestProcess start(Path said) {
        return TestJvm.start(Main.class, folder.toString(), said.toString());
    }

    @Test
    void shouldLoseNothingThatWasWritten() throws Exception {
        System.out.println("seed " + seed);
        Path said = base.resolve("said");
        long before = 0;
        LogReader reader = null;
        TestProcess next = null;
        LogKit.Check check = new LogKit.Check(0);
        try (FileChannel file = FileChannel.open(said, StandardOpenOption.READ, StandardOpenOption.WRITE,
            StandardOpenOption.CREATE)) {
            file.write(ByteBuffer.allocate(Long.BYTES), 0);
            next = start(said);
            for (int round = 1; round <= KILLS; round++) {
                try (TestProcess process = next) {
                    next = start(said);
                    process.awaitLine("started");
                    process.say("go");
                    String[] ready = process.hear("ready").split(" ");
                    assertTrue(Long.parseLong(ready[0]) >= before, ready[0] + " of " + before + ", seed " + seed);
                    assertEquals(round, Integer.parseInt(ready[1]));
                    // on a busy machine retention may have deleted its begin by now: a gap
                    reader = reader == null ? LogReader.open(folder).from(0) : reader;
                    Deadline end = Deadline.usual();
                    long untilNs = System.nanoTime() + random.nextLong(60_000_000);
                    while (System.nanoTime() < untilNs && !end.isOver()) {
                        reader.poll(check, 1000);
                    }
                    LockSupport.parkNanos(random.nextLong(2_000_000));
                    process.kill();
                }
                ByteBuffer written = ByteBuffer.allocate(Long.BYTES);
                file.read(written, 0);
                before = Math.max(written.getLong(0), check.next);
                while (reader.poll(check, 1000) > 0) {
                    Thread.onSpinWait();
                }
                assertTrue(check.next >= before, check.next + " of " + before + ", seed " + seed);
                before = check.next;
            }
        } finally {
            next.close();
            if (reader != null) {
                reader.close();
            }
        }
        assertTrue(before > 0);
    }
}
