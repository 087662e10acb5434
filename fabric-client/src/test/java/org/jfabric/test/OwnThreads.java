package org.jfabric.test;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Runs a test in a group of threads of its own: threads that it starts, and those that these start, are in it, and no
 * threads of tests that run at the same time or before.
 */
public final class OwnThreads {
    private final ThreadGroup group = new ThreadGroup("threads of a test");

    private OwnThreads() {
    }

    /** Runs it to its end, and throws what it has thrown. */
    public static void run(Consumer<OwnThreads> body) {
        OwnThreads threads = new OwnThreads();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread runner = new Thread(threads.group, () -> body.accept(threads), "test");
        runner.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));
        runner.start();
        try {
            runner.join();
        } catch (InterruptedException e) {
            runner.interrupt();
            throw new AssertionError("interrupted while a test ran in threads of its own", e);
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get().getMessage(), failure.get());
        }
    }

    /** Names of those that are alive and whose names begin so. */
    public List<String> named(String begin) {
        // the count is an estimate, so there is room for more
        Thread[] threads = new Thread[2 * group.activeCount() + 64];
        int count = group.enumerate(threads);
        return Arrays.stream(threads, 0, count).map(Thread::getName).filter(name -> name.startsWith(begin)).toList();
    }
}
