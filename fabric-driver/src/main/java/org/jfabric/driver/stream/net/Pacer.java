package org.jfabric.driver.stream.net;

/**
 * The rate of a stream: a bucket of bytes that fills with time. If repairs are more than a share of what is sent the
 * path is taken to be full, and the rate becomes an eighth less than what was sent; else it grows again, up to the
 * limit.
 *
 * <p>Owner: progress agent.
 */
final class Pacer {
    private static final long NS_PER_SECOND = 1_000_000_000L;
    /** Repairs of a sixteenth of what is sent are the most that is no sign of a full path. */
    private static final int SHARE = 16;
    /** Losses of fewer bytes in an interval mean nothing. */
    private static final long FEW_BYTES = 16 << 10;
    private static final long SLOWEST = 1 << 20;
    private static final long SHORTEST_INTERVAL_NS = 1_000_000;

    private final long limit;
    private final long burstBytes;
    /** Bytes per second; {@link Long#MAX_VALUE} for no limit. */
    private long rate;
    private long tokens;
    private long filledNs;
    private long sentBytes;
    private long repairedBytes;
    /** Of a byte. */
    private double remainder;
    private long intervalBeganNs;

    /**
     * A full bucket.
     *
     * @param bytesPerSecond limit, 0 for none.
     */
    Pacer(long bytesPerSecond, long burstBytes, long nowNs) {
        limit = bytesPerSecond == 0 ? Long.MAX_VALUE : bytesPerSecond;
        rate = limit;
        this.burstBytes = burstBytes;
        tokens = burstBytes;
        filledNs = nowNs;
        intervalBeganNs = nowNs;
    }

    /** Fills the bucket, and reviews the rate once in a round trip. */
    void step(long nowNs, long roundTripNs) {
        long elapsedNs = nowNs - filledNs;
        filledNs = nowNs;
        if (rate != Long.MAX_VALUE && elapsedNs > 0) {
            double more = (double) elapsedNs * rate / NS_PER_SECOND + remainder;
            long whole = (long) more;
            remainder = more - whole;
            tokens = Math.min(burstBytes, tokens + whole);
        }
        long intervalNs = nowNs - intervalBeganNs;
        if (intervalNs >= Math.max(roundTripNs, SHORTEST_INTERVAL_NS)) {
            review(intervalNs);
            intervalBeganNs = nowNs;
        }
    }

    private void review(long intervalNs) {
        if (repairedBytes > Math.max(FEW_BYTES, sentBytes / SHARE)) {
            long measured = (long) ((double) sentBytes * NS_PER_SECOND / intervalNs);
            rate = Math.max(Math.min(SLOWEST, limit), Math.min(rate, measured) / 8 * 7);
        } else if (rate != limit) {
            // where there is no limit the rate is one no longer when it is beyond everything that is sent
            rate = rate + rate / 16 + 1;
            rate = rate >= limit || rate > 1L << 40 ? limit : rate;
        }
        sentBytes = 0;
        repairedBytes = 0;
    }

    boolean mayData() {
        return rate == Long.MAX_VALUE || tokens > 0;
    }

    /** Bytes have been sent. */
    void sent(int bytes) {
        tokens -= rate == Long.MAX_VALUE ? 0 : bytes;
        sentBytes += bytes;
    }

    /** Bytes have been sent again. */
    void repaired(int bytes) {
        sent(bytes);
        repairedBytes += bytes;
    }

    long bytesPerSecond() {
        return rate;
    }
}
