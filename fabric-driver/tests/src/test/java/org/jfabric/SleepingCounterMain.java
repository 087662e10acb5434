package org.jfabric;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.jfabric.client.DriverState;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.layout.WaitDescriptor;

/**
 * The waiting process of {@link CounterSleepAndWakeTest}: sleeps for each threshold, without a look before the sleep
 * and without any limit to it, and tells in a spare word of the file for which one it is about to wait.
 */
final class SleepingCounterMain {
    /** In the file, which nobody else uses; the test's own word. */
    static final int ROUND_OFFSET = 448;

    private static final long NO_SPIN_NS = 0;
    private static final long NO_LIMIT_NS = -1;

    private SleepingCounterMain() {
    }

    /** Operations counted in a round before the waiting thread must have been woken. */
    static int counts(long round) {
        return 1 + (int) (round % 3);
    }

    /** Whether the last one of them fails. */
    static boolean fails(long round) {
        return round % 5 == 4;
    }

    public static void main(String[] args) throws IOException {
        long rounds = Long.parseLong(args[1]);
        MemorySegment memory = SleepingReaderMain.map(Path.of(args[0]));
        Counter counter = new Counter(
            null, 1, 0, new CounterAttr().waitObject(WaitObject.UNSPEC), memory, new DriverState(), null, NO_SPIN_NS,
            NO_LIMIT_NS);
        long value = 0;
        for (long round = 0; round < rounds; round++) {
            boolean fails = fails(round);
            value += fails ? counts(round) - 1 : counts(round);
            // one that will not be reached: only the error ends the wait
            long threshold = fails ? value + 1 : value;
            // so that an announcement is one of this round, made after the wait looked at the error value
            UnsafeApi.putIntVolatile(null,
                memory.address() + CounterDescriptor.WAIT_OFFSET + WaitDescriptor.SLEEPERS_OFFSET, 0);
            UnsafeApi.putLongRelease(null, memory.address() + ROUND_OFFSET, round);
            int answer = counter.await(threshold, -1);
            if (answer != (fails ? -FabricErrno.EAVAIL : 0) || counter.read() != value) {
                System.out.println("round " + round + " answered " + answer + " with " + counter);
                System.exit(1);
            }
        }
        UnsafeApi.putLongRelease(null, memory.address() + ROUND_OFFSET, rounds);
        System.out.println("waited " + rounds);
    }
}
