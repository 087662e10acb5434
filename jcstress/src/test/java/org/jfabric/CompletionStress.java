package org.jfabric;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.UseGuard;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.info.CompletionFormat;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.stress.NativeMemory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** Completion queues and counters: the driver's writer and the client's reader of the same file. */
public final class CompletionStress {
    private static final int CAPACITY = 2;

    private CompletionStress() {
    }

    private static long queueFile() {
        return NativeMemory.allocate((int) CompletionQueueDescriptor.fileLength(CAPACITY));
    }

    private static CompletionCredits credits(long file, int share) {
        return new CompletionCredits(
            share, file + CompletionQueueDescriptor.RETIRED_OFFSET, new UseGuard("stress"));
    }

    private static CompletionReader reader(long file, CompletionCredits credits) {
        MemorySegment memory = NativeMemory.segment(file, CompletionQueueDescriptor.fileLength(CAPACITY));
        return new CompletionReader(memory, CAPACITY, CompletionFormat.TAGGED, credits, new DriverState(), false);
    }

    /** Who sees an entry sees all of its fields. */
    @JCStressTest
    @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "There is no entry yet.")
    @Outcome(id = "1, 2, 3, 4", expect = ACCEPTABLE, desc = "The entry is whole.")
    @Outcome(expect = FORBIDDEN, desc = "The entry is there and its fields are not.")
    @State
    public static class EntryIsWhole {
        private final long file = queueFile();
        private final CompletionWriter writer = new CompletionWriter(file, CAPACITY, null);
        private final CompletionReader reader = reader(file, credits(file, CAPACITY));

        @Actor
        public void write() {
            writer.success(0, 0, 2, 1, 3, 1, 1, 1, 4);
        }

        @Actor
        public void read(IIII_Result result) {
            CompletionHandler handler = entry -> {
                result.r2 = (int) entry.opContext();
                result.r3 = (int) entry.len();
                result.r4 = (int) entry.srcAddr();
            };
            result.r1 = Math.max(0, reader.handle(handler, 1));
        }

        @Arbiter
        public void end(IIII_Result result) {
            NativeMemory.free(file);
        }
    }

    /** Who sees an error entry sees its cell, too. */
    @JCStressTest
    @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "There is no entry yet.")
    @Outcome(id = "1, 2, 3, 4", expect = ACCEPTABLE, desc = "The entry and its cell are whole.")
    @Outcome(expect = FORBIDDEN, desc = "The entry is there and a field is not.")
    @State
    public static class ErrorIsWhole {
        private final long file = queueFile();
        private final CompletionWriter writer = new CompletionWriter(file, CAPACITY, null);
        private final CompletionReader reader = reader(file, credits(file, CAPACITY));
        private final CompletionError error = new CompletionError();

        @Actor
        public void write() {
            writer.error(0, 0, 2, 1, 0, 0, 0, 1, 1, 3, 4, 4, null);
        }

        @Actor
        public void read(IIII_Result result) {
            if (reader.readErr(error) == 1) {
                result.r1 = 1;
                result.r2 = (int) error.opContext();
                result.r3 = (int) error.olen();
                result.r4 = error.err();
            }
        }

        @Arbiter
        public void end(IIII_Result result) {
            NativeMemory.free(file);
        }
    }

    /** A slot that a submission may take again is one that the driver finds free: the queue never overruns. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Each entry had its slot and its fields.")
    @Outcome(expect = FORBIDDEN, desc = "The queue overran, or an entry had fields of another one.")
    @State
    public static class CreditIsASlot {
        private static final int OPERATIONS = 12;
        private static final int MOST_TRIES = 400;

        private final long file = queueFile();
        private final CompletionCredits credits = credits(file, CAPACITY);
        private final CompletionWriter writer = new CompletionWriter(file, CAPACITY, null);
        private final CompletionReader reader = reader(file, credits);
        private int read;
        private int wrong;

        @Actor
        public void submit() {
            int tries = MOST_TRIES;
            for (int i = 0; i < OPERATIONS && tries > 0;) {
                if (!credits.available()) {
                    tries--;
                    Thread.onSpinWait();
                    continue;
                }
                credits.take();
                if (i % 4 == 3) {
                    writer.retire();
                    writer.flush();
                } else {
                    writer.success(0, 0, i, 1, i, i, i, i, i);
                }
                i++;
            }
        }

        @Actor
        public void read() {
            CompletionHandler handler = entry -> {
                int expected = read + read / 3;
                wrong |= entry.opContext() != expected || entry.srcAddr() != expected ? 1 : 0;
                read++;
            };
            for (int tries = MOST_TRIES; tries > 0 && read < OPERATIONS * 3 / 4; tries--) {
                if (reader.handle(handler, CAPACITY) < 0) {
                    Thread.onSpinWait();
                }
            }
        }

        @Arbiter
        public void end(II_Result result) {
            result.r1 = UnsafeApi.getInt(file + CompletionQueueDescriptor.STATE_OFFSET);
            result.r2 = wrong;
            NativeMemory.free(file);
        }
    }

    /** Who sees that an operation was counted sees the errors of the same batch, too. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Nothing is counted yet.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The error is there first.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Both are there.")
    @Outcome(expect = FORBIDDEN, desc = "The success is there and the error before it is not.")
    @State
    public static class ErrorsAreCountedFirst {
        private final long file = NativeMemory.allocate(CounterDescriptor.FILE_LENGTH);
        private final CounterWriter writer = new CounterWriter(file, null, false);
        private final CounterValues values = new CounterValues(
            NativeMemory.segment(file, CounterDescriptor.FILE_LENGTH), false, false);

        @Actor
        public void count() {
            writer.error();
            writer.success(1);
            writer.flush();
        }

        @Actor
        public void read(II_Result result) {
            result.r1 = (int) values.read();
            result.r2 = (int) values.readErr();
        }

        @Arbiter
        public void end(II_Result result) {
            NativeMemory.free(file);
        }
    }

    /** Two progress threads that count in one file lose nothing. */
    @JCStressTest
    @Outcome(id = "8, 8", expect = ACCEPTABLE, desc = "All are counted.")
    @Outcome(expect = FORBIDDEN, desc = "A count is lost.")
    @State
    public static class ThreadsCountTogether {
        private static final int EACH = 4;

        private final long file = NativeMemory.allocate(CounterDescriptor.FILE_LENGTH);
        private final CounterWriter first = new CounterWriter(file, null, false);
        private final CounterWriter second = new CounterWriter(file, null, false);
        private final CounterValues values = new CounterValues(
            NativeMemory.segment(file, CounterDescriptor.FILE_LENGTH), false, false);

        /** Before the actors. */
        public ThreadsCountTogether() {
            first.shareCount();
            second.shareCount();
        }

        private static void count(CounterWriter writer) {
            for (int i = 0; i < EACH; i++) {
                writer.error();
                writer.success(1);
                writer.flush();
            }
        }

        @Actor
        public void countHere() {
            count(first);
        }

        @Actor
        public void countThere() {
            count(second);
        }

        @Arbiter
        public void end(II_Result result) {
            result.r1 = (int) values.read();
            result.r2 = (int) values.readErr();
            NativeMemory.free(file);
        }
    }
}
