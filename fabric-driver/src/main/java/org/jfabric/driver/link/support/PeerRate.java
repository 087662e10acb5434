package org.jfabric.driver.link.support;

/**
 * The rate at which messages of one peer are taken: bytes and messages for each second, with bursts of
 * {@link #BURST_NS}. Each message moves the time until which the peer has used up its share; while that time lies ahead
 * nothing more is taken.
 *
 * <p>Owner: progress agent.
 */
public final class PeerRate {
    /** A peer that was silent may send as much at once as in this time. */
    public static final long BURST_NS = 100_000_000L;

    private static final double SECOND_NS = 1e9;

    /**
     * The limits of each peer.
     *
     * @param bytesPerSecond    0 for none.
     * @param messagesPerSecond 0 for none.
     */
    public record Limits(long bytesPerSecond, long messagesPerSecond) {
        /** Whether nothing is limited. */
        public boolean areNone() {
            return bytesPerSecond == 0 && messagesPerSecond == 0;
        }

        /** The rate of a peer. Returns null if there is no limit. */
        public PeerRate newRate(long nowNs) {
            return areNone() ? null : new PeerRate(this, nowNs);
        }
    }

    private final double nsPerByte;
    private final double nsPerMessage;
    private long bytesUntilNs;
    private long messagesUntilNs;

    private PeerRate(Limits limits, long nowNs) {
        nsPerByte = limits.bytesPerSecond == 0 ? 0 : SECOND_NS / limits.bytesPerSecond;
        nsPerMessage = limits.messagesPerSecond == 0 ? 0 : SECOND_NS / limits.messagesPerSecond;
        bytesUntilNs = nowNs - BURST_NS;
        messagesUntilNs = bytesUntilNs;
    }

    /** Whether the peer has used up its share. */
    public boolean isOver(long nowNs) {
        return bytesUntilNs - nowNs > 0 || messagesUntilNs - nowNs > 0;
    }

    /** Something of the peer was taken. */
    public void charge(long bytes, long messages, long nowNs) {
        long begin = nowNs - BURST_NS;
        bytesUntilNs = (bytesUntilNs - begin > 0 ? bytesUntilNs : begin) + (long) (bytes * nsPerByte);
        messagesUntilNs = (messagesUntilNs - begin > 0 ? messagesUntilNs : begin) + (long) (messages * nsPerMessage);
    }
}
