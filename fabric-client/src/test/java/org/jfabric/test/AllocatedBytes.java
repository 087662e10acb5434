package org.jfabric.test;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** What threads allocate, as the JVM counts it. */
public final class AllocatedBytes {
    private static final int ATTEMPTS = 50;

    private AllocatedBytes() {
    }

    /** The counters of threads; the test is skipped where the JVM has none. */
    public static ThreadMXBean threads() {
        assumeTrue(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
            && bean.isThreadAllocatedMemorySupported(), "this JVM does not count allocation per thread");
        return (ThreadMXBean) ManagementFactory.getThreadMXBean();
    }

    /** The same of the calling thread as {@link #least(LongSupplier, Runnable)}. */
    public static long least(Runnable measured) {
        return least(threads()::getCurrentThreadAllocatedBytes, measured);
    }

    /**
     * The least that one of many attempts allocates. A compiled method that replaces an interpreted one is charged to
     * the attempt in which that happens, and on a busy machine the compilers lag behind.
     */
    public static long least(LongSupplier allocatedBytes, Runnable measured) {
        allocatedBytes.getAsLong();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < ATTEMPTS && least != 0; attempt++) {
            long before = allocatedBytes.getAsLong();
            measured.run();
            least = Math.min(least, allocatedBytes.getAsLong() - before);
        }
        return least;
    }
}
