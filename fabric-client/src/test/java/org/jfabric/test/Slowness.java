package org.jfabric.test;

import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;

/**
 * How much slower this machine is at the moment than a quiet one: from 1 to {@link #MOST}.
 *
 * <p>The property says it, or it is measured once: two threads do a fixed piece of work and wait for each other after
 * each part of it, now by yielding, now parked, as tests and drivers do; the machine's load counts where it says more.
 * Processes that a test starts are told by the property, so that they do not measure the load that the test itself is.
 */
final class Slowness {
    static final String PROPERTY = "jfabric.test.slowness";
    static final double MOST = 10;

    private static final long WHOLE_NS = TimeUnit.MILLISECONDS.toNanos(25);
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(12);
    private static final int ROUNDS = 100;
    /** Of one round on a quiet machine, rounded up. */
    private static final double QUIET_ROUND_NS = 60_000;
    private static final byte[] WORK = new byte[1 << 17];
    private static final int WORK_PER_ROUND = 4;

    private Slowness() {
    }

    /** The factor of this process, which is also in the property from then on. */
    static double factor() {
        return Measured.FACTOR;
    }

    static double parse(String text) {
        double result = Double.parseDouble(text);
        if (!(result >= 1 && result <= 1000)) {
            throw new IllegalArgumentException(PROPERTY + " is from 1 to 1000, not " + text);
        }
        return result;
    }

    private static double factor(String given) {
        if (given != null) {
            return parse(given);
        }
        // the first time the code itself is cold; one of three may be disturbed by chance
        measure();
        double[] measured = {measure(), measure(), measure()};
        Arrays.sort(measured);
        double result = Math.round(10 * Math.max(measured[1], within(load()))) / 10.0;
        System.setProperty(PROPERTY, Double.toString(result));
        return result;
    }

    static double measure() {
        long begin = System.nanoTime();
        long end = begin + WHOLE_NS;
        Side own = new Side(Thread.currentThread());
        Side other = new Side(null);
        other.thread = new Thread("slowness") {
            @Override
            public void run() {
                for (int i = 1; i <= ROUNDS && other.round(i, own, end); i++) {
                    Thread.onSpinWait();
                }
            }
        };
        other.thread.setDaemon(true);
        other.thread.start();
        // the first round is that of loading and starting
        own.round(1, other, begin + START_NS);
        long started = System.nanoTime();
        int round = Math.max(1, Math.min(own.done, other.done));
        int done = 0;
        while (round < ROUNDS && own.round(round + 1, other, end)) {
            round++;
            done++;
        }
        return within((System.nanoTime() - started) / (Math.max(done, 1) * QUIET_ROUND_NS));
    }

    /**
     * Threads that want to run for each processor, over the last minute. A process that has just begun is preferred by
     * the scheduler, so that a short measurement on a busy machine may see nothing of what comes.
     */
    private static double load() {
        OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        return system.getSystemLoadAverage() / system.getAvailableProcessors();
    }

    static double within(double measured) {
        return Math.clamp(measured, 1, MOST);
    }

    /** A class of its own: the second thread of the measurement would wait for the end of its initialization. */
    private static final class Measured {
        static final double FACTOR = Slowness.factor(System.getProperty(PROPERTY));
    }

    private static final class Side {
        private final CRC32 sum = new CRC32();
        private Thread thread;
        private volatile int done;

        Side(Thread thread) {
            this.thread = thread;
        }

        /** Works, tells the other side, and waits until it has come as far. */
        boolean round(int number, Side other, long end) {
            for (int i = 0; i < WORK_PER_ROUND; i++) {
                sum.update(WORK, 0, WORK.length);
            }
            done = number;
            LockSupport.unpark(other.thread);
            while (other.done < number) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                if (number % 2 == 0) {
                    Thread.yield();
                } else {
                    LockSupport.parkNanos(left);
                }
            }
            return true;
        }
    }
}
