package org.jfabric;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.UseGuard;
import org.jfabric.client.WaitLine;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.info.CompletionFormat;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.stress.NativeMemory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Mode;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Signal;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Threads that sleep at the futex word of a completion queue until the driver writes an entry. */
public final class SleeperStress {
    private static final int CAPACITY = 2;

    private SleeperStress() {
    }

    /** A queue with its writer, and one thread that is about to sleep for it. */
    private static final class Queue {
        final long file = NativeMemory.allocate((int) CompletionQueueDescriptor.fileLength(CAPACITY));
        final CompletionWriter writer = new CompletionWriter(
            file, CAPACITY, new WaitPoint(file + CompletionQueueDescriptor.WAIT_OFFSET));
        final WaitLine line;
        final CompletionReader reader;
        private int seen;

        Queue() {
            MemorySegment memory = NativeMemory.segment(file, CompletionQueueDescriptor.fileLength(CAPACITY));
            line = new WaitLine(file + CompletionQueueDescriptor.WAIT_OFFSET, memory);
            reader = new CompletionReader(memory, CAPACITY, CompletionFormat.TAGGED, new CompletionCredits(
                CAPACITY, file + CompletionQueueDescriptor.RETIRED_OFFSET, new UseGuard("stress")),
                new DriverState(), false);
        }

        /** The sleeper's part in front of the sleep, in the order of {@link LineWait}; 1 if there is an entry. */
        int prepareToSleep() {
            seen = line.signal();
            line.announce(reader.wakeAt(1));
            return reader.isReady(1, 0) ? 1 : 0;
        }

        void write() {
            writer.success(0, 0, 1, 1, 1, 1, 1, 1, 1);
            writer.flush();
        }

        /** 1 if a sleep that has begun, or begins now, would not end. */
        int sleepsForEver(int found) {
            return found == 0 && line.signal() == seen ? 1 : 0;
        }
    }

    /** Either the sleeper finds the entry, or the driver finds the sleeper. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The entry is found.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "The sleeper is woken.")
    @Outcome(expect = FORBIDDEN, desc = "The sleeper sleeps beside its entry.")
    @State
    public static class NoWakeUpIsLost {
        private final Queue queue = new Queue();

        @Actor
        public void sleep(II_Result result) {
            result.r1 = queue.prepareToSleep();
        }

        @Actor
        public void write() {
            queue.write();
        }

        @Arbiter
        public void end(II_Result result) {
            result.r2 = queue.sleepsForEver(result.r1);
            NativeMemory.free(queue.file);
        }
    }

    /** The same, if another thread wakes all sleepers shortly before. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The entry is found.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "The sleeper is woken.")
    @Outcome(expect = FORBIDDEN, desc = "The sleeper sleeps beside its entry.")
    @State
    public static class NoWakeUpIsLostBehindAnother {
        private final Queue queue = new Queue();

        @Actor
        public void sleep(II_Result result) {
            result.r1 = queue.prepareToSleep();
        }

        @Actor
        public void wakeAndWrite() {
            queue.line.wakeAll();
            queue.write();
        }

        @Arbiter
        public void end(II_Result result) {
            result.r2 = queue.sleepsForEver(result.r1);
            NativeMemory.free(queue.file);
        }
    }

    /** A thread that really sleeps in the kernel, without a limit of time, is woken. */
    @JCStressTest(Mode.Termination)
    @Outcome(id = "TERMINATED", expect = ACCEPTABLE, desc = "The sleep ends.")
    @Outcome(id = "STALE", expect = FORBIDDEN, desc = "The sleep does not end.")
    @State
    public static class SleepEnds {
        private final Queue queue = new Queue();

        @Actor
        public void sleep() {
            while (queue.prepareToSleep() == 0) {
                queue.line.sleep(queue.seen, -1);
            }
        }

        @Signal
        public void write() {
            queue.write();
        }
    }
}
