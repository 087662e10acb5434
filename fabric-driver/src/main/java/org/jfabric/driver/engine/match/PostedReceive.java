package org.jfabric.driver.engine.match;

/**
 * A receive that waits, or will wait, for a message; the engine's receive record extends it.
 *
 * <p>Its tag, ignored bits and source are set by {@link #accept(long, long, int)} before it is passed to a {@link
 * TagMatcher} and do not change until it is matched or cancelled. A record may be reused when it is no longer posted.
 *
 * <p>Owner: progress agent.
 */
public class PostedReceive extends MatchNode {
    /** Next younger wildcard receive; wildcards are in a list of their own besides the posting order. */
    PostedReceive wildcardNext;

    /** Next older wildcard receive. */
    PostedReceive wildcardPrev;

    private long ignore;
    private boolean posted;

    /** Creates a receive that is not posted and accepts tag 0 of any source. */
    public PostedReceive() {
        keySource = TagMatcher.ANY_SOURCE;
    }

    /**
     * Sets the messages that this receive accepts.
     *
     * @param tag    any 64-bit value; bits set in {@code ignore} have no meaning but are kept.
     * @param ignore bits of the tag that are not compared; 0 demands equality, -1 accepts every tag.
     * @param source peer index from 0, or {@link TagMatcher#ANY_SOURCE}.
     */
    public final void accept(long tag, long ignore, int source) {
        assert !posted : "receive changed while posted";
        assert source >= TagMatcher.ANY_SOURCE : "source " + source;
        this.tag = tag;
        this.ignore = ignore;
        this.keySource = source;
    }

    /** Tag as given, unmasked. Returns any 64-bit value. */
    public final long tag() {
        return tag;
    }

    /** Bits of the tag that are not compared. Returns any 64-bit value. */
    public final long ignore() {
        return ignore;
    }

    /** Peer from which this receive accepts messages. Returns the peer index, or {@link TagMatcher#ANY_SOURCE}. */
    public final int source() {
        return keySource;
    }

    /**
     * Position in posting order; increases with each receive that is posted to one matcher. Returns the number from 1,
     * valid once posted.
     */
    public final long sequence() {
        return sequence;
    }

    /** Whether the receive is waiting in a matcher. */
    public final boolean isPosted() {
        return posted;
    }

    /**
     * The match rule: equal after clearing the ignored bits on both sides, and an acceptable source.
     *
     * @param messageSource peer index, or {@link TagMatcher#UNKNOWN_SOURCE}.
     * @return true if this receive accepts the message.
     */
    public final boolean accepts(long messageTag, int messageSource) {
        return TagMatcher.accepts(tag, ignore, keySource, messageTag, messageSource);
    }

    /**
     * Records that the receive entered or left a matcher.
     *
     * @param value true while posted.
     */
    final void posted(boolean value) {
        posted = value;
    }

    /** Drops the source, for endpoints that do not compare it. */
    final void acceptAnySource() {
        keySource = TagMatcher.ANY_SOURCE;
    }
}
