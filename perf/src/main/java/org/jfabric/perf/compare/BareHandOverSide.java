package org.jfabric.perf.compare;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The floor of latency: two threads of one process that hand a word to each other, each in a cache line of its own, by
 * nothing but a release store and acquire loads.
 */
final class BareHandOverSide implements Side {
    private static final int CHUNK = 64;
    /** Far from each other and from the ends of the array, so that no other object uses the lines or neighbours. */
    private static final int THERE = 64;
    private static final int BACK = 192;
    private static final int WORDS = 256;

    private final SideSettings settings;
    private final AtomicLongArray lines = new AtomicLongArray(WORDS);
    private long exchanged;

    BareHandOverSide(SideSettings settings) {
        this.settings = settings;
    }

    @Override
    public long run(Pass pass, long count) {
        long first = exchanged;
        long end = exchanged += count;
        return HandOverSide.beside(settings.otherCpu(), () -> {
            for (long done = first; done < end; done += CHUNK) {
                answer(lines, done, Math.min(end, done + CHUNK));
            }
        }, () -> {
            for (long done = first; done < end; done += CHUNK) {
                begin(lines, done, Math.min(end, done + CHUNK));
            }
        });
    }

    private static void begin(AtomicLongArray lines, long from, long to) {
        for (long value = from + 1; value <= to; value++) {
            lines.setRelease(THERE, value);
            while (lines.getAcquire(BACK) != value) {
                // the loop is what is measured: a pause in it would be part of the time
            }
        }
    }

    private static void answer(AtomicLongArray lines, long from, long to) {
        for (long value = from + 1; value <= to; value++) {
            while (lines.getAcquire(THERE) != value) {
                // as above
            }
            lines.setRelease(BACK, value);
        }
    }

    @Override
    public void close() {
        // The other thread ends with each pass; there is nothing else.
    }
}
