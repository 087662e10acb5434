package org.jfabric.tool;

import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jfabric.info.FabricErrno;

/**
 * The passes of one side, around the loops of {@link PingPongLoop}. Owner: the application's thread.
 */
public final class PingPongPasses {
    /** Rounds in one call: few enough for the compiler to see many calls, many enough for the calls to cost nothing. */
    private static final int CHUNK = 64;
    private static final long HIGHEST_NS = 100_000_000_000L;
    private static final int DIGITS = 3;

    private final PingPongFabric fabric;
    private final PingPongLoop loop;
    private final long sizeBytes;
    private final AtomicLong progress;
    /** Null unless outliers are to be explained. */
    private OutlierProbe probe;

    /**
     * Prepares the passes.
     *
     * @param spinning  true to keep the core while waiting.
     * @param progress  receives the number of round trips, now and then.
     */
    public PingPongPasses(
        PingPongFabric fabric, long peer, long sizeBytes, boolean spinning, AtomicLong progress) {
        this.fabric = fabric;
        this.sizeBytes = sizeBytes;
        this.progress = progress;
        loop = new PingPongLoop(fabric.endpoint(), fabric.queue(), peer,
            fabric.receiveRegion().address(0), fabric.sendRegion().address(0), sizeBytes, spinning);
    }

    /**
     * Explains outliers of the next pass with clocks.
     *
     * @param period      round trips after which both sides sample their threads.
     */
    void explain(long thresholdNs, long period) {
        probe = new OutlierProbe(thresholdNs, period);
    }

    /** Ends what {@link #explain} has begun. */
    String report() {
        String report = probe.report();
        probe.close();
        probe = null;
        return report;
    }

    /** Posts the receive for the first message of a pass. */
    public void arm() {
        check(loop.arm());
    }

    /** Runs an invoked driver's cycle. */
    public void cycle() {
        check(loop.cycle());
    }

    /**
     * Runs a pass of the side that begins. Returns its result: messages compared; or nanoseconds, and for CLOCKED the
     * distribution of the round trips.
     */
    public String ping(PingPongPhase phase, long count) {
        return switch (phase) {
            case VERIFY -> Long.toString(verifyPing(count));
            case WARM, TIMED -> Long.toString(time(count));
            case CLOCKED -> clocked(count);
        };
    }

    /** Runs a pass of the side that answers; {@link #arm()} comes before it. */
    public String pong(PingPongPhase phase, long count) {
        if (phase == PingPongPhase.VERIFY) {
            return Long.toString(verifyPong(count));
        }
        long chunk = chunk();
        for (long done = 0; done < count; done += chunk) {
            long left = count - done;
            check(loop.pong(Math.min(chunk, left), left <= chunk));
            if (probe != null) {
                probe.sample();
            }
        }
        return "0";
    }

    private long chunk() {
        return probe == null ? CHUNK : probe.period();
    }

    private long time(long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            check(loop.ping(Math.min(CHUNK, count - done)));
            progress.setOpaque(done);
        }
        return System.nanoTime() - begin;
    }

    private String clocked(long count) {
        Histogram roundTrips = new Histogram(HIGHEST_NS, DIGITS);
        long begin = System.nanoTime();
        long chunk = chunk();
        for (long done = 0; done < count; done += chunk) {
            long rounds = Math.min(chunk, count - done);
            if (probe == null) {
                check(loop.ping(rounds, roundTrips));
            } else {
                clockedChunk(rounds, roundTrips);
            }
            progress.setOpaque(done);
        }
        long elapsedNs = System.nanoTime() - begin;
        return elapsedNs + " " + roundTrips.getValueAtPercentile(50) + " " + roundTrips.getValueAtPercentile(99)
            + " " + roundTrips.getValueAtPercentile(99.9) + " " + roundTrips.getValueAtPercentile(99.99)
            + " " + roundTrips.getMaxValue();
    }

    private void clockedChunk(long rounds, Histogram roundTrips) {
        // not measured: the other side may still be sampling
        check(loop.ping(1));
        probe.sample();
        check(loop.ping(rounds - 1, roundTrips, probe));
        probe.sample();
    }

    private long verifyPing(long count) {
        for (long i = 0; i < count; i++) {
            PingPongContents.fill(fabric.sendRegion().segment(), sizeBytes, 2 * i);
            arm();
            check(loop.postSend());
            compare(2 * i + 1);
            progress.setOpaque(i);
        }
        return count;
    }

    private long verifyPong(long count) {
        for (long i = 0; i < count; i++) {
            compare(2 * i);
            if (i < count - 1) {
                arm();
            }
            PingPongContents.fill(fabric.sendRegion().segment(), sizeBytes, 2 * i + 1);
            check(loop.postSend());
        }
        return count;
    }

    private void compare(long message) {
        check(loop.await());
        if (loop.lastLength() != sizeBytes) {
            throw new ToolException("Message " + message + " arrived with " + loop.lastLength() + " bytes instead of "
                + sizeBytes + "; this is a defect of JFabric, please report it.");
        }
        long position = PingPongContents.mismatch(fabric.receiveRegion().segment(), sizeBytes, message);
        if (position >= 0) {
            int seen = fabric.receiveRegion().segment().get(ValueLayout.JAVA_BYTE, position) & 0xFF;
            throw new ToolException(String.format("Byte %d of message %d is 0x%02x instead of 0x%02x; this is a defect"
                + " of JFabric, please report it.", position, message, seen,
                PingPongContents.expected(sizeBytes, message, position)));
        }
    }

    private void check(int result) {
        if (result != 0) {
            throw new ToolException(result == -FabricErrno.EAVAIL ? fabric.failure()
                : "A transfer was refused with " + FabricErrno.name(-result) + " ("
                + FabricErrno.describe(-result) + ").");
        }
    }
}
