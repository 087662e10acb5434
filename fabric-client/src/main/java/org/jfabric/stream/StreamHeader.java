package org.jfabric.stream;

import org.jfabric.MulticastReader;
import org.jfabric.info.Flags;

/**
 * Position, time and tag of a message of a {@link Subscription} or a {@link LogReader}. One object is used for all
 * messages. Owner: the thread that polls.
 *
 * <p>The identity of a message is the id of the log, the term and the position. A term begins whenever a log is opened
 * that was not closed: messages that were seen before may be lost then, and others have their positions.
 */
public final class StreamHeader {
    private static final long OF_SENDS = Flags.TAGGED | Flags.MSG | Flags.REMOTE_CQ_DATA;

    long position;
    int term;
    long timeNs;
    long flags;
    long tag;
    long data;

    /** Has flags, tag and data of a message in a ring, which few ask for; null of a log. */
    private final MulticastReader inRing;

    /** Of messages in a log. */
    StreamHeader() {
        this(null);
    }

    /** Of messages that a reader has found. */
    StreamHeader(MulticastReader inRing) {
        this.inRing = inRing;
    }

    /**
     * Number of the message in its stream.
     *
     * @return 0, 1, 2 …
     */
    public long position() {
        return position;
    }

    /**
     * The term in which it was written.
     *
     * @return from 1.
     */
    public int term() {
        return term;
    }

    /**
     * When it was recorded, nanoseconds since 1970; never less than that of the message before.
     *
     * @return by the clock of the writer's host; 0 of a message that was not read from a log.
     */
    public long timeNs() {
        return timeNs;
    }

    /**
     * When it arrived at this host, of a subscription with {@link Subscription.Builder#timestamps}; as
     * {@link MulticastReader#timeNs()}.
     *
     * @return nanoseconds of the clock that was asked for; 0 if it is not known, and of a log.
     */
    public long arrivedNs() {
        return inRing == null ? 0 : inRing.timeNs();
    }

    /**
     * Flags of the send, see {@link Flags}.
     *
     * @return {@code TAGGED} or {@code MSG}, and {@code REMOTE_CQ_DATA} where it has data.
     */
    public long flags() {
        return inRing == null ? flags : inRing.flags() & OF_SENDS;
    }

    /**
     * The tag.
     *
     * @return 0 for an untagged message.
     */
    public long tag() {
        return inRing == null ? tag : inRing.tag();
    }

    /**
     * Remote CQ data.
     *
     * @return 0 for none.
     */
    public long data() {
        return inRing == null ? data : inRing.data();
    }

    @Override
    public String toString() {
        return "position " + position + ", term " + term + ", time " + timeNs + " ns";
    }
}
