package org.jfabric.driver.progress;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * The progress threads of a driver, and how many endpoints each of them serves.
 *
 * <p>Regions, counters, address vectors and clients exist once for each thread, so that no thread reads what another
 * one writes. Changes of these are queued for all threads in one step, and so in the same order everywhere; numbers
 * that each thread assigns for itself are then the same.
 *
 * <p>Owner: conductor.
 */
public final class ProgressThreads {
    private final List<ProgressThread> threads;
    private final int[] endpoints;

    /**
     * The threads of a driver without endpoints.
     *
     * @param threads by number; at least one.
     */
    public ProgressThreads(List<ProgressThread> threads) {
        this.threads = List.copyOf(threads);
        this.endpoints = new int[threads.size()];
    }

    /** The number of threads. Returns 1 or more. */
    public int count() {
        return endpoints.length;
    }

    /**
     * One thread.
     *
     * @param index its number, from 0.
     */
    public ProgressThread get(int index) {
        return threads.get(index);
    }

    /** The thread whose listener has a connection request. */
    public int ofRequest(long requestId) {
        return (int) Long.remainderUnsigned(requestId, endpoints.length);
    }

    /** The thread with the fewest endpoints; of several the one with the lowest number. */
    public int leastUsed() {
        int least = 0;
        for (int i = 1; i < endpoints.length; i++) {
            if (endpoints[i] < endpoints[least]) {
                least = i;
            }
        }
        return least;
    }

    /**
     * Counts endpoints.
     *
     * @param change how many there are more, or less.
     */
    public void addEndpoints(int index, int change) {
        endpoints[index] += change;
    }

    /**
     * Has a change made on each thread.
     *
     * @param ended  called on the conductor once all have made it, with the first failure or null.
     */
    public void executeAll(IntConsumer change, Consumer<Throwable> ended) {
        Changes changes = new Changes(threads.size(), ended);
        for (ProgressThread thread : threads) {
            thread.proxy().execute(changes.new One(thread.index(), change));
        }
    }

    /** One change for each thread. */
    private static final class Changes {
        private final Consumer<Throwable> ended;
        private int left;
        private Throwable failure;

        Changes(int count, Consumer<Throwable> ended) {
            this.left = count;
            this.ended = ended;
        }

        void onEnded(Throwable cause) {
            if (failure == null) {
                failure = cause;
            }
            if (--left == 0) {
                ended.accept(failure);
            }
        }

        private final class One extends ProgressCommand {
            private final int index;
            private final IntConsumer change;

            One(int index, IntConsumer change) {
                this.index = index;
                this.change = change;
            }

            @Override
            protected void onProgress() {
                change.accept(index);
            }

            @Override
            protected void onDone() {
                onEnded(null);
            }

            @Override
            protected void onFailed(Throwable cause) {
                onEnded(cause);
            }
        }
    }
}
