package org.jfabric.driver.engine;

/**
 * The byte credit between one local and one remote endpoint, both directions. A message costs its length, rounded up to
 * whole lines, and one line more, so that empty messages are bounded too.
 *
 * <pre>
 *   sending      granted - spent                     what may still be sent with its payload
 *   receiving    window + consumed                   what the peer may ever have sent: the grant
 *                held  &lt;= reserved                   what its unexpected messages take of the store's budget
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class ByteCredit {
    private static final int LINE = 64;
    private static final int LINE_SHIFT = 6;

    // sending
    private long granted;
    private long spent;

    // receiving
    private int epoch;
    /** First grant of this channel. */
    private long window;
    /** Bytes of the store's budget that are this peer's: the window and what is held from earlier channels. */
    private long reserved;
    /** What of it was given beyond the window, to a peer that knows no credit. */
    private long extended;
    private long held;
    private long consumed;
    private long advertised;
    private long advertisedBefore;

    static long cost(long length) {
        return LINE + ((length + (LINE - 1)) & -LINE);
    }

    boolean covers(long length) {
        return cost(length) <= granted - spent;
    }

    void spend(long length) {
        spent += cost(length);
    }

    /** The other side grants nothing, as its wire has no word for it: what is sent is bounded by the link alone. */
    void unlimited() {
        granted = Long.MAX_VALUE >> 1;
    }

    long leftBytes() {
        return granted - spent;
    }

    /** Takes the low 32 bits of a grant; true if it is more than before. */
    boolean onGrant(int grant) {
        int more = grant - (int) granted;
        if (more <= 0) {
            return false;
        }
        granted += more;
        return true;
    }

    /** Takes the low 16 bits of a grant in lines; true if it is more than before. */
    boolean onGrantLines(int lines) {
        int more = (short) (lines - (int) (granted >>> LINE_SHIFT));
        if (more <= 0) {
            return false;
        }
        granted += (long) more << LINE_SHIFT;
        return true;
    }

    /** The grant to send along, low 32 bits. */
    int grant() {
        advertisedBefore = advertised;
        advertised = window + consumed;
        return (int) advertised;
    }

    /** The frame that should have carried the last grant was not accepted. */
    void grantNotSent() {
        advertised = advertisedBefore;
    }

    /** Whether the peer should hear of its credit even if nothing else is to be told. */
    boolean isGrantOwed() {
        long news = window + consumed - advertised;
        // half a window keeps the sender going while one grant travels for many messages
        return news != 0 && news >= (window >> 1);
    }

    /** A message was matched at once. */
    void passed(long length) {
        consumed += cost(length);
    }

    /** Takes room in the store; false if the peer sends more than it was granted. */
    boolean hold(long length) {
        long cost = cost(length);
        if (held + cost > reserved) {
            return false;
        }
        held += cost;
        return true;
    }

    /** Whether a message has room in the store now. */
    boolean canHold(long length) {
        return held + cost(length) <= reserved;
    }

    /** Takes room for a message of a peer that knows no credit, whether there is any or not. */
    void holdAnyway(long length) {
        held += cost(length);
    }

    /** Bytes by which more is held than is reserved; 0 or less if there is room for all. */
    long missingBytes() {
        return held - reserved;
    }

    /** More of the store's budget for a peer that knows no credit; it comes back in {@link #left} or at the end. */
    void extend(long bytes) {
        reserved += bytes;
        extended += bytes;
    }

    /**
     * A message has left the store.
     *
     * @return bytes to give back to the store's budget: those of a message that came over an earlier channel, whose
     *     window was given back but for what it left.
     */
    long left(long length, int messageEpoch) {
        long cost = cost(length);
        held -= cost;
        if (messageEpoch == epoch) {
            consumed += cost;
            return extended == 0 ? 0 : shrink();
        }
        reserved -= cost;
        return cost;
    }

    private long shrink() {
        long spare = Math.max(0, Math.min(extended, reserved - held - window));
        extended -= spare;
        reserved -= spare;
        return spare;
    }

    long heldBytes() {
        return held;
    }

    long reservedBytes() {
        return reserved;
    }

    /** Whether what is held leaves the peer less than a quarter of what it may send at once. */
    boolean isUsedUp() {
        return held != 0 && reserved - held < window >> 2;
    }

    /** Whether the peer may send half of its window, or has none. */
    boolean isHalfFree() {
        return reserved - held >= window >> 1;
    }

    /** Counts the channels so far. */
    int epoch() {
        return epoch;
    }

    /** A channel begins with this window. */
    void begin(long newWindow) {
        window = newWindow;
        reserved += newWindow;
    }

    /**
     * A channel ends.
     *
     * @return bytes to give back to the store's budget; what messages hold of it follows when they leave.
     */
    long end() {
        epoch++;
        granted = 0;
        spent = 0;
        consumed = 0;
        advertised = 0;
        window = 0;
        extended = 0;
        long unused = reserved - held;
        reserved = held;
        return unused;
    }
}
