package org.jfabric.perf.compare;

import org.HdrHistogram.Histogram;

/**
 * The timed loops over a {@link Port}. Nothing in here allocates, takes a lock or reads a clock, but for the paced
 * pass, which is about clocks. Owner: one thread.
 */
final class PortLoops {
    /** Messages in one call: often enough for the compiler to notice, rarely enough not to cost anything. */
    static final int CHUNK = 64;
    /** Receives that both sides keep posted allow for no more. */
    private static final int PACED_WINDOW = 48;
    private static final long HIGHEST_NS = 100_000_000_000L;
    private static final int DIGITS = 3;

    private final Port port;
    private long seen;
    private long pacedNs;

    PortLoops(Port port) {
        this.port = port;
    }

    /** Sends, takes the answer, and so on. Returns the nanoseconds. */
    long exchangePing(long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            pingChunk((int) Math.min(CHUNK, count - done));
        }
        return System.nanoTime() - begin;
    }

    /** Takes a message, answers it, and so on. */
    void exchangePong(long count) {
        for (long done = 0; done < count; done += CHUNK) {
            pongChunk((int) Math.min(CHUNK, count - done));
        }
    }

    /** Sends messages, then waits for the word that all have arrived. Returns the nanoseconds. */
    long streamPing(long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            sendChunk((int) Math.min(CHUNK, count - done));
        }
        await(1);
        return System.nanoTime() - begin;
    }

    /** Takes messages and says at the end that all have arrived. */
    void streamPong(long count) {
        await(count);
        sendChunk(1);
    }

    /** Sends bursts of messages, each after the answer to the one before. Returns the nanoseconds. */
    long burstPing(long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            sendChunk((int) Math.min(CHUNK, count - done));
            await(1);
        }
        return System.nanoTime() - begin;
    }

    /**
     * Sends bursts of messages, each after the answer to the one before. Returns the nanoseconds that the calls took
     * for each burst, without the wait for the answers.
     */
    Histogram writePing(long count) {
        Histogram bursts = new Histogram(HIGHEST_NS, DIGITS);
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            long burst = System.nanoTime();
            sendChunk(CHUNK);
            bursts.recordValue(Math.min(System.nanoTime() - burst, HIGHEST_NS));
            await(1);
        }
        pacedNs = System.nanoTime() - begin;
        return bursts;
    }

    /** Takes bursts of messages, and answers each by one; other than with {@link #burstPong} all are whole ones. */
    void writePong(long count) {
        for (long done = 0; done < count; done += CHUNK) {
            await(CHUNK);
            sendChunk(1);
        }
    }

    /**
     * Sends at a fixed rate, whether or not the messages before have arrived, then waits for the word that all have.
     *
     * @return nanoseconds from the time at which each message should have been sent until it was.
     */
    Histogram pacedWrites(long count, long intervalNs) {
        Histogram writes = new Histogram(HIGHEST_NS, DIGITS);
        long begin = System.nanoTime() + intervalNs;
        for (long i = 0; i < count; i++) {
            long dueNs = begin + i * intervalNs;
            while (System.nanoTime() - dueNs < 0) {
                Thread.onSpinWait();
            }
            send();
            writes.recordValue(Math.clamp(System.nanoTime() - dueNs, 0, HIGHEST_NS));
            port.poll();
        }
        await(1);
        pacedNs = System.nanoTime() - begin;
        return writes;
    }

    /** Takes bursts of messages, and answers each by one. */
    void burstPong(long count) {
        for (long done = 0; done < count; done += CHUNK) {
            await(Math.min(CHUNK, count - done));
            sendChunk(1);
        }
    }

    /**
     * Sends at a fixed rate and measures each answer from the time at which its message should have been sent, so that
     * a stall is seen in all messages that it delays.
     *
     * @param from       number of the first message whose answer is in the distribution.
     */
    Histogram pacedPing(long count, long intervalNs, long from) {
        Histogram answers = new Histogram(HIGHEST_NS, DIGITS);
        long begin = System.nanoTime() + intervalNs;
        long base = seen;
        long sent = 0;
        long answered = 0;
        while (answered < count) {
            long dueNs = begin + sent * intervalNs;
            if (sent < count && sent - answered < PACED_WINDOW && System.nanoTime() - dueNs >= 0 && port.trySend()) {
                sent++;
            }
            port.poll();
            long arrived = port.received() - base;
            if (arrived > answered) {
                record(answers, arrived, Math.max(from, answered), begin, intervalNs);
                answered = arrived;
            } else {
                Thread.onSpinWait();
            }
        }
        seen = port.received();
        pacedNs = System.nanoTime() - begin;
        return answers;
    }

    /**
     * Duration of the last pass with a distribution in nanoseconds: of a paced one more than its count over its rate if
     * the rate was not kept.
     */
    long pacedNs() {
        return pacedNs;
    }

    private static void record(Histogram answers, long arrived, long answered, long begin, long intervalNs) {
        long now = System.nanoTime();
        for (long i = answered; i < arrived; i++) {
            answers.recordValue(Math.clamp(now - (begin + i * intervalNs), 0, HIGHEST_NS));
        }
    }

    /** Answers each message; other than {@link #exchangePong} it does not mind if several come at once. */
    void pacedPong(long count) {
        long answered = 0;
        long base = seen;
        while (answered < count) {
            port.poll();
            long arrived = port.received() - base;
            if (answered == arrived) {
                Thread.onSpinWait();
            }
            while (answered < arrived && port.trySend()) {
                answered++;
            }
        }
        seen += count;
    }

    private void pingChunk(int count) {
        for (int i = 0; i < count; i++) {
            send();
            await(1);
        }
    }

    private void pongChunk(int count) {
        for (int i = 0; i < count; i++) {
            await(1);
            send();
        }
    }

    private void sendChunk(int count) {
        for (int i = 0; i < count; i++) {
            send();
        }
    }

    private void send() {
        while (!port.trySend()) {
            port.poll();
        }
    }

    private void await(long count) {
        long wanted = seen + count;
        while (port.received() < wanted) {
            port.poll();
        }
        seen = wanted;
    }
}
