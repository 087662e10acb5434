package org.jfabric.driver.engine;

/**
 * The traffic of one endpoint with one peer since the start, as plain fields that this thread alone uses; messages and
 * their bytes are counted in {@link ByteCredit}. {@link TrafficMeters} publishes all, ten times a second at most.
 *
 * <p>Owner: progress agent.
 */
final class Traffic {
    private final ByteCredit messages;
    private long unexpectedMessages;
    private long accesses;
    private long accessedBytes;
    private long errors;
    private long retries;
    private long creditWaits;
    private long usedShares;

    private final long[] published = new long[TrafficRow.COUNTERS.size()];
    /** Null before something is to be published, and if there are too many. */
    private TrafficRow row;
    /** Null before something is to be published. */
    private TrafficRow linkRow;

    Traffic(ByteCredit messages) {
        this.messages = messages;
    }

    /** A message came before its receive. */
    void unexpected() {
        unexpectedMessages++;
    }

    /** A read, write or atomic operation on the peer's memory has begun. */
    void accessed(long bytes) {
        accesses++;
        accessedBytes += bytes;
    }

    /** An operation ended with an error entry. */
    void failed() {
        errors++;
    }

    /** The channel was full. */
    void retried() {
        retries++;
    }

    /** Sends begin to wait because the peer has granted no more bytes or announcements. */
    void awaitsCredit() {
        creditWaits++;
    }

    /** The peer has its share of the endpoint's sends, so that more are refused. */
    void usedShare() {
        usedShares++;
    }

    /**
     * Takes the changes since the last call.
     *
     * @param changes in the order of {@link TrafficRow#COUNTERS}.
     * @return false if there are none.
     */
    boolean take(long[] changes) {
        long any = changeOfMessages(changes, 0, messages.sent()) | changeOfMessages(changes, 2, messages.received())
            | change(changes, 4, unexpectedMessages) | change(changes, 5, accesses)
            | change(changes, 6, accessedBytes) | change(changes, 7, errors)
            | change(changes, 8, retries) | change(changes, 9, creditWaits)
            | change(changes, 10, usedShares);
        return any != 0;
    }

    /** The number of messages, and their bytes behind it. */
    private long changeOfMessages(long[] changes, int index, long counted) {
        long change = change(changes, index, counted);
        changes[index] = ByteCredit.messages(change);
        changes[index + 1] = ByteCredit.bytes(change);
        return change;
    }

    private long change(long[] changes, int index, long value) {
        long change = value - published[index];
        published[index] = value;
        changes[index] = change;
        return change;
    }

    TrafficRow row() {
        return row;
    }

    void row(TrafficRow newRow) {
        row = newRow;
    }

    TrafficRow linkRow() {
        return linkRow;
    }

    void linkRow(TrafficRow newRow) {
        linkRow = newRow;
    }
}
