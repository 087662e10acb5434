package org.jfabric.driver.stream.net;

/** The measured round trip of a path. Owner: progress agent. */
final class RoundTrip {
    /** Assumed before the first measurement. */
    static final long UNKNOWN_NS = 1_000_000;
    /** A longer one is a clock that was set. */
    private static final long LONGEST_NS = 60_000_000_000L;

    private long smoothedNs;
    private long deviationNs;

    void add(long sampleNs) {
        if (sampleNs < 0 || sampleNs > LONGEST_NS) {
            return;
        }
        long sample = Math.max(1, sampleNs);
        if (smoothedNs == 0) {
            smoothedNs = sample;
            deviationNs = sample / 4;
        } else {
            deviationNs += (Math.abs(sample - smoothedNs) - deviationNs) / 4;
            smoothedNs = Math.max(1, smoothedNs + (sample - smoothedNs) / 8);
        }
    }

    /** Mean of the last ones. */
    long smoothedNs() {
        return smoothedNs == 0 ? UNKNOWN_NS : smoothedNs;
    }

    /**
     * After this time an answer is overdue: the mean and four deviations. On a path that never deviates a deviation is
     * taken for a sixteenth of the mean, or every answer would be overdue in the moment in which it comes.
     */
    long timeoutNs() {
        return smoothedNs() + Math.max(4 * deviationNs, smoothedNs() / 4);
    }
}
