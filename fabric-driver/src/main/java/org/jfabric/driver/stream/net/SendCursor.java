package org.jfabric.driver.stream.net;

/** How far a stream was sent, to one reader or to a multicast group. Owner: progress agent. */
final class SendCursor {
    private static final long FIRST_HEARTBEAT_NS = 100_000;
    private static final long LONGEST_PAUSE_NS = 100_000_000;

    private long position;
    private int firstByte;
    private long pauseNs = FIRST_HEARTBEAT_NS;
    private long heartbeatNs;
    /** Losses before this place are no news. */
    private long lossPosition;
    private int lossByte;

    /** Position of the next message, or of the one whose fragments are being sent. */
    long position() {
        return position;
    }

    int firstByte() {
        return firstByte;
    }

    void set(long newPosition, int newFirstByte) {
        position = newPosition;
        firstByte = newFirstByte;
    }

    long lossPosition() {
        return lossPosition;
    }

    int lossByte() {
        return lossByte;
    }

    /** Losses up to a place are no news any more: they were seen, or are those for which the rate became less. */
    void lost(long place, int offset) {
        if (Gaps.isBefore(lossPosition, lossByte, place, offset)) {
            lossPosition = place;
            lossByte = offset;
        }
    }

    boolean isAt(SendCursor other) {
        return position == other.position && firstByte == other.firstByte;
    }

    /** Messages were sent: a lost one at the end is noticed by the next heartbeat. */
    void sent(long nowNs, long roundTripNs) {
        pauseNs = Math.max(roundTripNs / 2, FIRST_HEARTBEAT_NS);
        heartbeatNs = nowNs + pauseNs;
    }

    /** Whether a heartbeat is to be sent, of which the next one comes later. */
    boolean beats(long nowNs) {
        if (nowNs - heartbeatNs < 0) {
            return false;
        }
        pauseNs = Math.min(2 * pauseNs, Math.max(pauseNs, LONGEST_PAUSE_NS));
        heartbeatNs = nowNs + pauseNs;
        return true;
    }
}
