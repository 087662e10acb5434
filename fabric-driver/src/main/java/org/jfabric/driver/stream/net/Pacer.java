package org.jfabric.driver.stream.net;

/**
 * The rate of a stream: a bucket of bytes that fills with time. It begins with a burst in a round trip, and is twice
 * what arrives. If losses are more than a share of what is sent the path is taken to be full, and the rate becomes an
 * eighth less than what arrives; from then on it grows by a sixteenth in a round trip, up to the limit, and stays near
 * what arrives. That is what readers report: what they miss would say it late, and not of what is still under way.
 *
 * <p>Owner: progress agent.
 */
final class Pacer {
    private static final long NS_PER_SECOND = 1_000_000_000L;
    /** Losses of a sixteenth of what is sent are the most that is no sign of a full path. */
    private static final int SHARE = 16;
    /** Losses of fewer bytes in an interval mean nothing. */
    private static final long FEW_BYTES = 16 << 10;
    private static final long SLOWEST = 1 << 20;
    private static final long SHORTEST_INTERVAL_NS = 1_000_000;
    /** The rate is ahead of what arrives by a quarter of it at most. */
    private static final int AHEAD = 4;
    /** After so many intervals without such losses it grows by a quarter. */
    private static final int MANY_INTERVALS = 16;

    private final long limit;
    private final long burstBytes;
    /** Bytes per second. */
    private long rate;
    private long tokens;
    private long filledNs;
    /** Of a byte. */
    private double remainder;
    private long intervalBeganNs;
    private long slowerNs;
    private long quietIntervals;
    private long sentBytes;
    /** Those of the interval before. */
    private long lastBytes;
    private long lostBytes;
    private long arrivedPerSecond;
    private long mostArrivedPerSecond;
    /** No loss has said how much the path carries. */
    private boolean isStarting = true;

    /**
     * A full bucket.
     *
     * @param bytesPerSecond limit, 0 for none.
     */
    Pacer(long bytesPerSecond, long burstBytes, long nowNs) {
        limit = bytesPerSecond == 0 ? Long.MAX_VALUE : bytesPerSecond;
        this.burstBytes = burstBytes;
        tokens = burstBytes;
        filledNs = nowNs;
        intervalBeganNs = nowNs;
        slowerNs = nowNs;
    }

    /** Fills the bucket, and reviews the rate once in a round trip. */
    void step(long nowNs, long roundTripNs) {
        long elapsedNs = nowNs - filledNs;
        filledNs = nowNs;
        if (elapsedNs > 0) {
            double more = (double) elapsedNs * rate / NS_PER_SECOND + remainder;
            long whole = (long) Math.min(more, burstBytes);
            remainder = more - whole;
            tokens = Math.min(burstBytes, tokens + whole);
        }
        long intervalNs = Math.max(roundTripNs, SHORTEST_INTERVAL_NS);
        if (isStarting) {
            long burstPerSecond = (long) ((double) burstBytes * NS_PER_SECOND / intervalNs);
            rate = Math.min(limit, Math.max(burstPerSecond, 2 * mostArrivedPerSecond));
        }
        if (nowNs - intervalBeganNs >= intervalNs) {
            if (!isStarting && rate <= arrivedPerSecond + arrivedPerSecond / AHEAD) {
                rate = Math.min(limit, rate + rate / (quietIntervals < MANY_INTERVALS ? SHARE : AHEAD) + 1);
            }
            quietIntervals++;
            begin(nowNs);
        }
    }

    private void begin(long nowNs) {
        intervalBeganNs = nowNs;
        lastBytes = sentBytes;
        sentBytes = 0;
        lostBytes = 0;
    }

    boolean mayData() {
        return tokens > 0;
    }

    /** Bytes have been sent. */
    void sent(int bytes) {
        tokens -= bytes;
        sentBytes += bytes;
    }

    /** So much arrives, at all readers. */
    void arrived(long newArrivedPerSecond) {
        arrivedPerSecond = newArrivedPerSecond;
        mostArrivedPerSecond = Math.max(mostArrivedPerSecond, arrivedPerSecond);
    }

    /**
     * A reader misses bytes that were sent since the rate became less.
     *
     * @return whether the rate has become less again.
     */
    boolean lost(long bytes, long nowNs) {
        lostBytes += bytes;
        if (lostBytes <= Math.max(FEW_BYTES, Math.max(lastBytes, sentBytes) / SHARE)) {
            return false;
        }
        rate = Math.max(Math.min(SLOWEST, limit), Math.clamp(arrivedPerSecond, rate / 2, rate) / 8 * 7);
        isStarting = false;
        begin(nowNs);
        slowerNs = nowNs;
        quietIntervals = 0;
        return true;
    }

    /** Whether something was sent since the rate became less. */
    boolean isNews(long sentNs) {
        return sentNs - slowerNs > 0;
    }

    long bytesPerSecond() {
        return rate;
    }
}
