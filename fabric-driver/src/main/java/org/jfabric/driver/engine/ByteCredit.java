package org.jfabric.driver.engine;

/**
 * The byte credit between one local and one remote endpoint, both directions. A message costs its length, rounded up to
 * a multiple of 64 bytes, plus 64 bytes, so that empty messages are bounded too.
 *
 * <pre>
 *   sending      granted - spent                     bytes that may still be sent eagerly
 *   receiving    window + consumed                   the grant: total bytes that the peer may have sent
 *                held  &lt;= reserved                   bytes of the store's budget that its messages use
 * </pre>
 *
 * <p>It also counts the messages and their bytes, beyond the end of a channel: they change with the credit, in the same
 * line of memory, and both in one word, so that a message costs one addition. Owner: progress agent.
 */
final class ByteCredit {
    private static final int LINE = 64;
    private static final int LINE_SHIFT = 6;
    /** Counts have the bytes below and the messages above; more than either holds never comes between two readings. */
    private static final int MESSAGE_SHIFT = 40;
    private static final long ONE_MESSAGE = 1L << MESSAGE_SHIFT;

    // sending
    private long granted;
    private long spent;
    private long sent;

    // receiving
    private long received;
    private int epoch;
    /** What the peer may send beyond what was consumed. */
    private long window;
    /**
     * Bytes of the store's budget reserved for this peer: the window, and the messages stored from earlier channels.
     */
    private long reserved;
    /** Bytes reserved beyond the window, for a peer whose protocol has no credit. */
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
        sent(length);
    }

    /** Counts a message that was given to the link, or announced. */
    void sent(long length) {
        sent += ONE_MESSAGE + length;
    }

    /** Counts a message that arrived, or was announced. */
    void received(long length) {
        received += ONE_MESSAGE + length;
    }

    /** All sent messages; {@link #messages} and {@link #bytes} take the difference of two values apart. */
    long sent() {
        return sent;
    }

    /** As {@link #sent()}. */
    long received() {
        return received;
    }

    static long messages(long counted) {
        return counted >>> MESSAGE_SHIFT;
    }

    static long bytes(long counted) {
        return counted & ONE_MESSAGE - 1;
    }

    /** Sets unlimited send credit, for a wire without credit. Only the link bounds what is sent. */
    void unlimited() {
        granted = Long.MAX_VALUE >> 1;
    }

    long leftBytes() {
        return granted - spent;
    }

    /** Updates the grant from its low 32 bits; returns true if it has grown. */
    boolean onGrant(int grant) {
        int more = grant - (int) granted;
        if (more <= 0) {
            return false;
        }
        granted += more;
        return true;
    }

    /** Updates the grant from the low 16 bits of its value in lines of 64 bytes; returns true if it has grown. */
    boolean onGrantLines(int lines) {
        int more = (short) (lines - (int) (granted >>> LINE_SHIFT));
        if (more <= 0) {
            return false;
        }
        granted += (long) more << LINE_SHIFT;
        return true;
    }

    /** The low 32 bits of the grant, for the frame that is sent next. */
    int grant() {
        advertisedBefore = advertised;
        advertised = window + consumed;
        return (int) advertised;
    }

    /** The frame that should have carried the last grant was not accepted. */
    void grantNotSent() {
        advertised = advertisedBefore;
    }

    /** Returns whether the grant must be sent to the peer even without another frame to carry it. */
    boolean isGrantOwed() {
        long news = window + consumed - advertised;
        // half a window keeps the sender busy, and one grant covers many messages
        return news != 0 && news >= (window >> 1);
    }

    /** Returns whether the peer may send more than the last grant says. */
    boolean hasUnsentGrant() {
        return window + consumed != advertised;
    }

    long windowBytes() {
        return window;
    }

    /** Whether stored messages of this channel use half of the window. */
    boolean isHalfHeld() {
        return held - (reserved - window - extended) >= window >> 1;
    }

    /** Whether the window is too small for any message of that length. */
    boolean isTooSmallFor(long length) {
        return cost(length) > window;
    }

    /**
     * Changes the window.
     *
     * @param more bytes, reserved in the store's budget; negative to give bytes back to it, fewer if the peer has been
     *             granted them.
     */
    long resize(long more) {
        long change = Math.max(more, advertised - window - consumed);
        window += change;
        reserved += change;
        return change;
    }

    /** Returns the credit of a message that was matched when it arrived. */
    void passed(long length) {
        consumed += cost(length);
    }

    /** Accounts a stored message; returns false if the peer sent more than it was granted. */
    boolean hold(long length) {
        long cost = cost(length);
        if (held + cost > reserved) {
            return false;
        }
        held += cost;
        return true;
    }

    /** Returns whether a message fits into the reserved bytes of the store now. */
    boolean canHold(long length) {
        return held + cost(length) <= reserved;
    }

    /** Accounts a stored message of a peer without credit, even beyond the reservation. */
    void holdAnyway(long length) {
        held += cost(length);
    }

    /** Bytes stored beyond the reservation; 0 or less if everything fits. */
    long missingBytes() {
        return held - reserved;
    }

    /** Extends the reservation of a peer without credit. {@link #left} and {@link #end} return the extension. */
    void extend(long bytes) {
        reserved += bytes;
        extended += bytes;
    }

    /**
     * Accounts a message that has left the store. Returns the bytes to return to the store's budget: those of a message
     * from an earlier channel, or of the extension.
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

    /** Returns whether stored messages leave less than a quarter of the window free. */
    boolean isUsedUp() {
        return held != 0 && reserved - held < window >> 2;
    }

    /** Returns whether at least half of the window is free. */
    boolean isHalfFree() {
        return reserved - held >= window >> 1;
    }

    /** The number of channels that have ended; identifies the current one. */
    int epoch() {
        return epoch;
    }

    /** Begins a channel with this window, in bytes. */
    void begin(long newWindow) {
        window = newWindow;
        reserved += newWindow;
    }

    /**
     * Ends the channel. Returns the bytes to return to the store's budget; the bytes of stored messages are returned
     * when those leave.
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
