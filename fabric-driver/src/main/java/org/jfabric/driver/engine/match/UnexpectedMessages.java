package org.jfabric.driver.engine.match;

import org.jfabric.driver.resource.FaultPoint;

import java.util.SplittableRandom;

/**
 * Messages without a receive, in arrival order, with hashes by tag and by tag and source.
 *
 * <p>The oldest message is compared first; searches with ignored bits continue in the order of arrival. Other searches
 * are one lookup: in one hash if they specify a source, in another if they do not. Each hash is built once, when the
 * first search needs it, so an application that takes messages in the order of arrival has no cost of hashing.
 *
 * <p>Claimed messages are removed from all of these and are in a list of their own.
 *
 * <p>Owner: progress agent.
 */
final class UnexpectedMessages {
    private final MatchList arrivalOrder = new MatchList();
    private final MatchList claimed = new MatchList();
    private final MatchTable byTag;
    private final MatchTable bySource;
    private boolean hashedByTag;
    private boolean hashedBySource;
    private long lastSequence;
    /** Counted where assertions are enabled, as in {@link MatchTable}. */
    private long firstComparisons;

    /**
     * Creates an empty store.
     *
     * @param capacity messages expected at most; sizes the hashes.
     */
    UnexpectedMessages(int capacity, boolean directed, SplittableRandom seeds) {
        byTag = new MatchTable(capacity, seeds);
        bySource = directed ? new MatchTable(capacity, seeds) : null;
    }

    /**
     * Adds a message as the youngest.
     *
     * @param message held nowhere.
     */
    void add(UnexpectedMessage message) {
        assert !message.isWaiting() && !message.isClaimed() : "message added twice";
        message.sequence = ++lastSequence;
        message.held(true, false);
        arrivalOrder.append(message);
        if (hashedByTag) {
            byTag.add(message);
        }
        if (hashedBySource && message.source() >= 0) {
            bySource.add(message.bySource);
        }
    }

    /**
     * Oldest message that a receive would accept; it stays.
     *
     * @param ignore bits of the tag that are not compared.
     * @param source peer index or {@link TagMatcher#ANY_SOURCE}.
     * @return the message, or null if none waits.
     */
    UnexpectedMessage peek(long tag, long ignore, int source) {
        UnexpectedMessage first = first();
        if (first == null) {
            return null;
        }
        assert ++firstComparisons > 0;
        if (TagMatcher.accepts(tag, ignore, source, first.tag, first.source())) {
            return first;
        }
        if (arrivalOrder.size() == 1) {
            return null;
        }
        if (ignore != 0) {
            return peekWildcard(next(first), tag, ignore, source);
        }
        if (source == TagMatcher.ANY_SOURCE) {
            if (!hashedByTag) {
                hashByTag();
            }
            return (UnexpectedMessage) byTag.find(tag, TagMatcher.ANY_SOURCE);
        }
        if (!hashedBySource) {
            hashBySource();
        }
        UnexpectedMessage.SourceNode node = (UnexpectedMessage.SourceNode) bySource.find(tag, source);
        return node == null ? null : node.message;
    }

    /** Removes a message, waiting or claimed, in constant time. */
    void remove(UnexpectedMessage message) {
        if (message.isClaimed()) {
            claimed.remove(message);
        } else {
            removeWaiting(message);
        }
        message.held(false, false);
    }

    /** Hides a message from all searches until it is removed. */
    void claim(UnexpectedMessage message) {
        removeWaiting(message);
        claimed.append(message);
        message.held(false, true);
    }

    /**
     * Gives a message of an unknown sender its source, as the youngest of that source.
     *
     * @param message held here, waiting or claimed.
     */
    void learnSource(UnexpectedMessage message, int source) {
        assert message.source() == TagMatcher.UNKNOWN_SOURCE : "source " + message.source();
        message.learnSource(source);
        if (hashedBySource && message.isWaiting()) {
            bySource.add(message.bySource);
        }
    }

    /**
     * Makes the sender of a source's messages unknown, because its index may be reused for another peer. Returns the
     * number of messages changed, claimed ones included.
     */
    int forgetSource(int source) {
        int count = 0;
        for (UnexpectedMessage message = first(); message != null; message = next(message)) {
            if (message.source() == source) {
                if (hashedBySource) {
                    bySource.remove(message.bySource);
                }
                message.forgetSource();
                count++;
            }
        }
        for (UnexpectedMessage message = firstClaimed(); message != null; message = next(message)) {
            if (message.source() == source) {
                message.forgetSource();
                count++;
            }
        }
        return count;
    }

    /** Oldest waiting message. Returns the message, or null if none waits. */
    UnexpectedMessage first() {
        return (UnexpectedMessage) arrivalOrder.head();
    }

    /** Message claimed longest ago. Returns the message, or null if none is claimed. */
    UnexpectedMessage firstClaimed() {
        return (UnexpectedMessage) claimed.head();
    }

    /**
     * Message after another one of the same state: by arrival if waiting, by time of claim if claimed. Returns the next
     * one, or null after the last.
     */
    UnexpectedMessage next(UnexpectedMessage message) {
        return (UnexpectedMessage) message.listNext;
    }

    /** Number of waiting messages. */
    int size() {
        return arrivalOrder.size();
    }

    /** Number of claimed messages. */
    int claimedCount() {
        return claimed.size();
    }

    /**
     * The number of messages that were compared by lookups so far. Returns a count; 0 where assertions are disabled.
     */
    long comparisons() {
        return firstComparisons + byTag.comparisons() + (bySource == null ? 0 : bySource.comparisons());
    }

    private void hashByTag() {
        // a pending fault must not be raised while the hash is built
        FaultPoint.pass();
        hashedByTag = true;
        for (UnexpectedMessage message = first(); message != null; message = next(message)) {
            byTag.add(message);
        }
    }

    private void hashBySource() {
        FaultPoint.pass();
        hashedBySource = true;
        for (UnexpectedMessage message = first(); message != null; message = next(message)) {
            if (message.source() >= 0) {
                bySource.add(message.bySource);
            }
        }
    }

    private UnexpectedMessage peekWildcard(UnexpectedMessage from, long tag, long ignore, int source) {
        UnexpectedMessage message = from;
        while (message != null && !TagMatcher.accepts(tag, ignore, source, message.tag, message.source())) {
            message = next(message);
        }
        return message;
    }

    private void removeWaiting(UnexpectedMessage message) {
        assert message.isWaiting() : "message not waiting";
        arrivalOrder.remove(message);
        if (hashedByTag) {
            byTag.remove(message);
        }
        if (hashedBySource && message.source() >= 0) {
            bySource.remove(message.bySource);
        }
    }
}
