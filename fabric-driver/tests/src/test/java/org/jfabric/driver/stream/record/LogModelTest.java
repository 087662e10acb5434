package org.jfabric.driver.stream.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogReader;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A log beside a naive one: what was written, in which term, and from where on it is kept. */
@Timeout(120)
class LogModelTest {
    private static final int STEPS = Integer.getInteger("jfabric.test.logSteps", 4000);

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path folder = TestDirectory.create();
    private final LogKit kit = new LogKit();
    /** Term of each message that was taken. */
    private final List<Integer> terms = new ArrayList<>();
    private final List<Reading> readings = new ArrayList<>();
    private long flushed;
    private LogWriter writer;

    /** A reader, and what it must see next. */
    private final class Reading {
        final LogReader reader = LogReader.open(folder);
        final LogKit.Check check;

        Reading() {
            long from = random.nextLong(flushed + 1);
            if (random.nextInt(3) == 0 && writer.oldest() < flushed) {
                from = Math.max(writer.oldest(), from);
                reader.fromTime(LogKit.timeNs(from) - random.nextInt(2) * 10);
            } else {
                reader.from(from);
            }
            assertEquals(from, reader.position());
            check = new LogKit.Check(from);
        }

        void poll() {
            int most = 1 + random.nextInt(300);
            long before = check.next;
            int gaps = check.gaps.size();
            int count = reader.poll(check, most);
            boolean hasGap = check.gaps.size() > gaps;
            assertTrue(count == most || check.next == flushed, () -> "at " + check.next + " of " + flushed);
            assertTrue(hasGap || check.next == before + count);
            if (hasGap) {
                // only what retention has deleted, up to what it had left when the reader came there
                String[] gap = check.gaps.getLast().split("-");
                assertTrue(Long.parseLong(gap[1]) < writer.oldest(), () -> check.gaps + ", kept " + writer.oldest());
            }
            if (count > 0) {
                assertEquals(terms.get((int) check.next - 1), check.term);
            }
            assertEquals(check.next, reader.position());
        }
    }

    @AfterEach
    void after() {
        readings.forEach(each -> each.reader.close());
        writer.close();
        TestDirectory.delete(folder);
    }

    @Test
    void shouldReadWhatWasWritten() {
        System.out.println("seed " + seed);
        LogOptions options = LogKit.options();
        writer = LogWriter.open(folder, "model", options);
        int term = 1;
        for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(40)) {
                case 0 -> {
                    writer.close();
                    flushed = terms.size();
                    writer = LogWriter.open(folder, "model", options);
                }
                case 1 -> {
                    // as by a kill: what was not flushed is gone
                    writer.release();
                    long written = writer.written();
                    writer = LogWriter.open(folder, "model", options);
                    assertEquals(written, writer.position());
                    terms.subList((int) written, terms.size()).clear();
                    flushed = written;
                    term++;
                }
                case 2 -> assertEquals(0, writer.retain(random.nextLong(terms.size() + 1L)));
                case 3 -> {
                    assertEquals(0, writer.sync());
                    assertEquals(terms.size(), writer.synced());
                }
                case 4, 5, 6, 7 -> {
                    assertEquals(0, writer.flush());
                    assertEquals(terms.size(), writer.written());
                }
                case 8 -> readings.add(new Reading());
                case 9 -> {
                    if (!readings.isEmpty()) {
                        readings.remove(random.nextInt(readings.size())).reader.close();
                    }
                }
                case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 -> {
                    if (!readings.isEmpty()) {
                        readings.get(random.nextInt(readings.size())).poll();
                    }
                }
                default -> {
                    int count = random.nextInt(60);
                    kit.append(writer, count);
                    for (int i = 0; i < count; i++) {
                        terms.add(term);
                    }
                }
            }
            assertEquals(terms.size(), writer.position());
            assertEquals(term, writer.term());
            flushed = writer.written();
        }
        assertTrue(terms.size() > STEPS);
    }
}
