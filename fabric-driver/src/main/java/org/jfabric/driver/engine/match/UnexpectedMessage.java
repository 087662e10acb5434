package org.jfabric.driver.engine.match;

/**
 * A message that arrived before a receive for it; the engine's record of stored or announced messages extends it.
 *
 * <p>Its tag and source are set by {@link #arrived(long, int)} before it is passed to a {@link TagMatcher}. A record
 * may be reused when it is neither waiting nor claimed.
 *
 * <p>Owner: progress agent.
 */
public class UnexpectedMessage extends MatchNode {
    /** Second place of this message: among those of the same tag and source, for directed receives. */
    final SourceNode bySource = new SourceNode(this);

    private int source = TagMatcher.UNKNOWN_SOURCE;
    private boolean waiting;
    private boolean claimed;

    /** Creates a message that is held by no matcher. */
    public UnexpectedMessage() {
        keySource = TagMatcher.ANY_SOURCE;
    }

    /**
     * Sets the fields by which the message is matched.
     *
     * @param tag    any 64-bit value.
     * @param source peer index from 0, or {@link TagMatcher#UNKNOWN_SOURCE}.
     */
    public final void arrived(long tag, int source) {
        assert !waiting && !claimed : "message changed while held";
        assert source >= 0 || source == TagMatcher.UNKNOWN_SOURCE : "source " + source;
        this.tag = tag;
        this.source = source;
        bySource.tag = tag;
        bySource.keySource = source;
    }

    /** Tag as sent. Returns any 64-bit value. */
    public final long tag() {
        return tag;
    }

    /** Peer that sent the message. Returns the peer index, or {@link TagMatcher#UNKNOWN_SOURCE}. */
    public final int source() {
        return source;
    }

    /**
     * Position in arrival order; increases with each message that is added to one matcher. Returns the number from 1,
     * valid once held.
     */
    public final long sequence() {
        return sequence;
    }

    /** Whether the message waits for any receive that accepts it. */
    public final boolean isWaiting() {
        return waiting;
    }

    /** Whether the message is reserved for the operation that claimed it. */
    public final boolean isClaimed() {
        return claimed;
    }

    /**
     * Records the state of the message; if both are false, it is in no matcher.
     *
     * @param isClaimed held, but not found by searches.
     */
    final void held(boolean isWaiting, boolean isClaimed) {
        waiting = isWaiting;
        claimed = isClaimed;
    }

    /** The sender has a place in the address vector now. */
    final void learnSource(int newSource) {
        source = newSource;
        bySource.keySource = newSource;
    }

    /** Makes the sender unknown. */
    final void forgetSource() {
        source = TagMatcher.UNKNOWN_SOURCE;
        bySource.keySource = TagMatcher.UNKNOWN_SOURCE;
    }

    /** Place of a message in the table of tags with sources. */
    static final class SourceNode extends MatchNode {
        final UnexpectedMessage message;

        SourceNode(UnexpectedMessage message) {
            this.message = message;
        }
    }
}
