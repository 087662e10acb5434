package org.jfabric.perf.compare;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.Histogram;
import org.jfabric.ffi.Affinity;

/**
 * The baseline of latency: two threads of one process hand one word, and with it one cache line, back and forth. No
 * message between two cores can be faster. Nothing of the message's size is copied.
 */
final class HandOverSide implements Side {
    /** In the middle of the array, so that no other object uses the line or its neighbours. */
    private static final int WORD = 64;
    private static final int WORDS = 128;

    private final SideSettings settings;
    private final AtomicLongArray line = new AtomicLongArray(WORDS);
    private Histogram distribution;

    HandOverSide(SideSettings settings) {
        this.settings = settings;
    }

    @Override
    public long run(Pass pass, long count) {
        line.set(WORD, 0);
        PortLoops ping = new PortLoops(new End(line, true));
        PortLoops pong = new PortLoops(new End(line, false));
        if (pass == Pass.PACED) {
            beside(settings.otherCpu(), () -> pong.pacedPong(count),
                () -> distribution = ping.pacedPing(count, SideSettings.INTERVAL_NS, 0));
            return ping.pacedNs();
        }
        return beside(settings.otherCpu(), () -> pong.exchangePong(count), () -> ping.exchangePing(count));
    }

    /** Runs two loops at once, and ends with both of them. Returns the nanoseconds of the latter. */
    static long beside(int otherCpu, Runnable answering, Runnable measuring) {
        CountDownLatch ready = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            try {
                Affinity.bind(otherCpu);
            } finally {
                ready.countDown();
            }
            answering.run();
        }, "hand-over-pong");
        thread.start();
        // the start of the thread is no part of the time, of which it would be most in a short block
        while (ready.getCount() > 0) {
            Thread.onSpinWait();
        }
        long begin = System.nanoTime();
        measuring.run();
        long elapsedNs = System.nanoTime() - begin;
        try {
            thread.join();
        } catch (InterruptedException ex) {
            throw new IllegalStateException("interrupted while the other thread answered", ex);
        }
        return elapsedNs;
    }

    @Override
    public Histogram distribution() {
        return distribution;
    }

    @Override
    public void close() {
        // The other thread ends with each pass; there is nothing else.
    }

    /** Each value is one more than the one before, and written by the end that saw it. */
    private static final class End implements Port {
        private final AtomicLongArray line;
        private boolean mine;
        private long value;
        private long received;

        End(AtomicLongArray line, boolean begins) {
            this.line = line;
            mine = begins;
        }

        @Override
        public boolean trySend() {
            if (!mine) {
                return false;
            }
            mine = false;
            value++;
            // release: as a message's publication would be, behind its payload
            line.setRelease(WORD, value);
            return true;
        }

        @Override
        public void poll() {
            if (!mine && line.getAcquire(WORD) == value + 1) {
                value++;
                received++;
                mine = true;
            }
        }

        @Override
        public long received() {
            return received;
        }
    }
}
