package org.jfabric.driver.stream.net;

/** Bytes that may be sent for requests of a peer: a bucket that fills once in a period. Owner: progress agent. */
final class Budget {
    private final long burst;
    private long left;
    private long filledNs;

    Budget(long burst, long nowNs) {
        this.burst = burst;
        left = burst;
        filledNs = nowNs;
    }

    /** Whether something is left. */
    boolean isThere(long nowNs, long periodNs) {
        long elapsedNs = nowNs - filledNs;
        if (left < burst && elapsedNs > 0) {
            // a double, because the product is too great for a long
            long more = elapsedNs >= periodNs ? burst : (long) ((double) burst * elapsedNs / periodNs);
            if (more > 0) {
                left = Math.min(burst, left + more);
                filledNs = nowNs;
            }
        } else {
            filledNs = nowNs;
        }
        return left > 0;
    }

    void take(long amount) {
        left -= amount;
    }
}
