package org.jfabric.driver.engine.match;

import java.security.SecureRandom;
import java.util.SplittableRandom;

/**
 * Matches arriving messages with posted receives for one receive context, by libfabric's rules (fi_tagged(3),
 * Description).
 *
 * <p>A message is delivered to the oldest receive that accepts it; a receive takes the oldest message that it accepts.
 * The engine maintains one invariant: a message is only {@link #addUnexpected added} when no posted receive accepts it,
 * so that a message and a receive for it never both wait. Untagged messages use an instance of their own with tag 0 and
 * ignore 0.
 *
 * <p>Costs: messages in the order of posting, and receives in the order of arrival, match by one comparison with the
 * oldest entry. The first that is out of order builds a hash of all waiting entries, once; from then on an exact tag is
 * found by a lookup, for any source or for one source. A lookup compares at most one entry, and an exact match at most
 * two. Receives with ignored bits are searched in a list, and search the unexpected messages in arrival order. Nothing
 * allocates, except when a hash grows.
 *
 * <p>A receive or message belongs to at most one matcher at a time. Cursors ({@link #firstPosted},
 * {@link #firstUnexpected}, …) need no allocation; take the next element before removing the current one.
 *
 * <p>Owner: progress agent.
 */
public final class TagMatcher {
    /** Source of a receive that accepts messages of every peer, known or not (FI_ADDR_UNSPEC). */
    public static final int ANY_SOURCE = -1;

    /** Source of a message whose sender is not in the address vector; only any-source receives accept it. */
    public static final int UNKNOWN_SOURCE = -2;

    private final PostedReceives posted;
    private final UnexpectedMessages unexpected;
    private final boolean directed;

    /**
     * Creates an empty matcher. Its hashes are sized here. With more different keys than that they grow, which
     * allocates and places all keys again.
     *
     * @param postedCapacity     greatest expected number of posted receives with different tags and sources.
     * @param unexpectedCapacity greatest expected number of stored messages with different tags and sources.
     * @param directed           whether sources of receives are compared (FI_DIRECTED_RECV); if not, they are ignored,
     *                           and messages are not indexed by source.
     */
    public TagMatcher(int postedCapacity, int unexpectedCapacity, boolean directed) {
        // a peer that could predict them could choose tags that collide in the hashes
        SplittableRandom seeds = new SplittableRandom(new SecureRandom().nextLong());
        this.posted = new PostedReceives(postedCapacity, seeds);
        this.unexpected = new UnexpectedMessages(unexpectedCapacity, directed, seeds);
        this.directed = directed;
    }

    /**
     * The match rule: tags that are equal in all bits that are not ignored, and the requested source, or any.
     *
     * @param receiveSource peer index or {@link #ANY_SOURCE}.
     * @param messageSource peer index or {@link #UNKNOWN_SOURCE}.
     * @return true if the receive accepts the message.
     */
    public static boolean accepts(
        long receiveTag, long ignore, int receiveSource, long messageTag, int messageSource) {
        return ((receiveTag ^ messageTag) & ~ignore) == 0
            && (receiveSource == ANY_SOURCE || receiveSource == messageSource);
    }

    /**
     * Takes the oldest unexpected message that the receive accepts, or posts the receive if there is none.
     *
     * @param receive not posted.
     * @return the message, now held by the caller, the receive not being posted; or null, the receive being posted.
     */
    public UnexpectedMessage postReceive(PostedReceive receive) {
        UnexpectedMessage message = takeUnexpected(receive);
        if (message == null) {
            posted.add(receive);
        }
        return message;
    }

    /**
     * Posts a receive, whether or not it accepts messages that wait.
     *
     * <p>For multi-receive buffers, which take one message after the other until they are full, and for receives posted
     * after them while messages wait for slots in completion queues.
     *
     * @param receive not posted.
     */
    public void post(PostedReceive receive) {
        if (!directed) {
            receive.acceptAnySource();
        }
        posted.add(receive);
    }

    /**
     * Takes the oldest unexpected message that the receive accepts, without ever posting the receive.
     *
     * @param receive not posted.
     * @return the message, now held by the caller, or null.
     */
    public UnexpectedMessage takeUnexpected(PostedReceive receive) {
        if (!directed) {
            receive.acceptAnySource();
        }
        if (unexpected.size() == 0) {
            return null;
        }
        UnexpectedMessage message = unexpected.peek(receive.tag, receive.ignore(), receive.keySource);
        if (message != null) {
            unexpected.remove(message);
        }
        return message;
    }

    /**
     * Takes the oldest receive that accepts an arriving message.
     *
     * @param source peer index or {@link #UNKNOWN_SOURCE}.
     * @return the receive, no longer posted; or null, and the caller keeps the message by {@link #addUnexpected}.
     */
    public PostedReceive arrive(long tag, int source) {
        PostedReceive receive = posted.find(tag, source);
        if (receive != null) {
            posted.remove(receive);
        }
        return receive;
    }

    /**
     * Finds the oldest receive that accepts an arriving message and leaves it posted, in its place.
     *
     * <p>For multi-receive buffers, which stay posted while they have space, and to check for a receive before its
     * payload is read.
     *
     * @param source peer index or {@link #UNKNOWN_SOURCE}.
     * @return the receive, still posted, or null.
     */
    public PostedReceive findPosted(long tag, int source) {
        return posted.find(tag, source);
    }

    /**
     * Keeps a message for which {@link #arrive} found no receive, as the youngest.
     *
     * @param message held by no matcher.
     */
    public void addUnexpected(UnexpectedMessage message) {
        unexpected.add(message);
    }

    /**
     * Finds the oldest waiting message that a receive would accept and leaves it there.
     *
     * @param ignore bits of the tag that are not compared.
     * @param source peer index or {@link #ANY_SOURCE}.
     * @return the message, or null (FI_ENOMSG); claimed messages are not found.
     */
    public UnexpectedMessage peek(long tag, long ignore, int source) {
        assert source >= ANY_SOURCE : "source " + source;
        return unexpected.peek(tag, ignore, directed ? source : ANY_SOURCE);
    }

    /**
     * Reserves a message for the caller: no receive and no peek finds it any more.
     *
     * <p>The engine records which operation claimed it, and so may fetch or discard it.
     *
     * @param message waiting here, usually just found by {@link #peek}.
     */
    public void claim(UnexpectedMessage message) {
        unexpected.claim(message);
    }

    /**
     * Removes a message, waiting or claimed, because it was fetched, discarded or lost.
     *
     * @param message in this matcher or in none.
     * @return false if it was neither waiting nor claimed, and nothing changed.
     */
    public boolean removeUnexpected(UnexpectedMessage message) {
        if (!message.isWaiting() && !message.isClaimed()) {
            return false;
        }
        unexpected.remove(message);
        return true;
    }

    /**
     * Withdraws a posted receive, in constant time, except for wildcards after the oldest exact one.
     *
     * @param receive posted here or not posted.
     * @return false if it was not posted, usually because it was matched before, and nothing changed.
     */
    public boolean cancel(PostedReceive receive) {
        if (!receive.isPosted()) {
            return false;
        }
        posted.remove(receive);
        return true;
    }

    /**
     * Next receive directed at a peer, so that a dead peer's receives can be cancelled and completed with an error.
     *
     * @param after  receive of this matcher after which to search, still posted; null to begin with the oldest.
     * @return the next one in posting order, or null.
     */
    public PostedReceive nextDirected(PostedReceive after, int source) {
        PostedReceive receive = after == null ? posted.first() : posted.next(after);
        while (receive != null && receive.keySource != source) {
            receive = posted.next(receive);
        }
        return receive;
    }

    /**
     * Sets the source of a message, because its sender was inserted into the address vector: receives directed at that
     * place accept it from now on. None can be posted yet, because the place was not valid.
     *
     * @param message of an unknown source, waiting or claimed; those of one sender are given in the order of arrival.
     */
    public void learnSource(UnexpectedMessage message, int source) {
        unexpected.learnSource(message, source);
    }

    /**
     * Makes the sender of a peer's unexpected messages unknown, before its index may be reused for another peer.
     * Returns the number of messages changed, waiting and claimed.
     */
    public int forgetSource(int source) {
        return unexpected.forgetSource(source);
    }

    /** Oldest posted receive. Returns the receive, or null. */
    public PostedReceive firstPosted() {
        return posted.first();
    }

    /** Next receive in posting order. Returns the next younger one, or null. */
    public PostedReceive nextPosted(PostedReceive receive) {
        return posted.next(receive);
    }

    /** Oldest waiting message. Returns the message, or null. */
    public UnexpectedMessage firstUnexpected() {
        return unexpected.first();
    }

    /** Message claimed longest ago. Returns the message, or null. */
    public UnexpectedMessage firstClaimed() {
        return unexpected.firstClaimed();
    }

    /**
     * Next message of the same state: by arrival if waiting, by time of claim if claimed. Returns the next one, or
     * null.
     */
    public UnexpectedMessage nextUnexpected(UnexpectedMessage message) {
        return unexpected.next(message);
    }

    /** Number of posted receives. */
    public int postedCount() {
        return posted.size();
    }

    /**
     * Number of posted receives with ignored tag bits; while it is 0 no list is searched.
     */
    public int wildcardCount() {
        return posted.wildcardCount();
    }

    /** Number of waiting messages. Claimed ones are not included. */
    public int unexpectedCount() {
        return unexpected.size();
    }

    /** Number of claimed messages. */
    public int claimedCount() {
        return unexpected.claimedCount();
    }
}
