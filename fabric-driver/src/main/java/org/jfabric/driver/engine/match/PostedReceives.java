package org.jfabric.driver.engine.match;

import java.util.SplittableRandom;

/**
 * Posted receives of one matcher: a hash for exact tags, a list for wildcards; the posting sequence decides.
 *
 * <p>Directed and any-source receives are different keys of the same hash. Each kind is counted, so a search looks
 * only where something is posted: with receives of one exact kind it is a single look-up.
 *
 * <p>Owner: progress agent.
 */
final class PostedReceives {
    private final MatchTable exact;
    private final MatchList postingOrder = new MatchList();
    private PostedReceive wildcardHead;
    private PostedReceive wildcardTail;
    private int exactDirectedCount;
    private int exactAnySourceCount;
    private int wildcardCount;
    private long lastSequence;

    /**
     * Creates an empty set.
     *
     * @param capacity receives expected at most; sizes the hash.
     * @param seeds    of the hash.
     */
    PostedReceives(int capacity, SplittableRandom seeds) {
        exact = new MatchTable(capacity, seeds);
    }

    /**
     * Adds a receive as the youngest.
     *
     * @param receive not posted.
     */
    void add(PostedReceive receive) {
        assert !receive.isPosted() : "receive posted twice";
        receive.sequence = ++lastSequence;
        receive.posted(true);
        postingOrder.append(receive);
        if (receive.ignore() != 0) {
            addWildcard(receive);
        } else {
            exact.add(receive);
            countExact(receive, 1);
        }
    }

    /**
     * Oldest receive that accepts a message; it stays posted.
     *
     * @param tag    of the message.
     * @param source peer index, or {@link TagMatcher#UNKNOWN_SOURCE}.
     * @return the receive, or null if none accepts it.
     */
    PostedReceive find(long tag, int source) {
        PostedReceive oldest = null;
        if (exactAnySourceCount > 0) {
            oldest = (PostedReceive) exact.find(tag, TagMatcher.ANY_SOURCE);
        }
        if (exactDirectedCount > 0 && source >= 0) {
            PostedReceive directed = (PostedReceive) exact.find(tag, source);
            if (oldest == null || directed != null && directed.sequence < oldest.sequence) {
                oldest = directed;
            }
        }
        return wildcardCount == 0 ? oldest : olderWildcard(tag, source, oldest);
    }

    /**
     * Removes a receive wherever it stands, in constant time.
     *
     * @param receive posted here.
     */
    void remove(PostedReceive receive) {
        assert receive.isPosted() : "receive not posted";
        receive.posted(false);
        postingOrder.remove(receive);
        if (receive.ignore() != 0) {
            removeWildcard(receive);
        } else {
            exact.remove(receive);
            countExact(receive, -1);
        }
    }

    /**
     * Oldest posted receive.
     *
     * @return the receive, or null if none is posted.
     */
    PostedReceive first() {
        return (PostedReceive) postingOrder.head();
    }

    /**
     * Receive posted after another one.
     *
     * @param receive posted here.
     * @return the next younger one, or null after the youngest.
     */
    PostedReceive next(PostedReceive receive) {
        return (PostedReceive) receive.listNext;
    }

    /**
     * Number of posted receives.
     *
     * @return zero or more.
     */
    int size() {
        return postingOrder.size();
    }

    /**
     * Number of posted receives with a non-zero ignore mask.
     *
     * @return zero or more.
     */
    int wildcardCount() {
        return wildcardCount;
    }

    /**
     * Exact receives that were compared so far.
     *
     * @return a count; 0 where assertions are disabled.
     */
    long comparisons() {
        return exact.comparisons();
    }

    private void countExact(PostedReceive receive, int delta) {
        if (receive.keySource == TagMatcher.ANY_SOURCE) {
            exactAnySourceCount += delta;
        } else {
            exactDirectedCount += delta;
        }
    }

    /** The list is in posting order, so the search ends where it becomes younger than the best exact receive. */
    private PostedReceive olderWildcard(long tag, int source, PostedReceive oldestExact) {
        long limit = oldestExact == null ? Long.MAX_VALUE : oldestExact.sequence;
        for (PostedReceive receive = wildcardHead; receive != null; receive = receive.wildcardNext) {
            if (receive.sequence > limit) {
                break;
            }
            if (receive.accepts(tag, source)) {
                return receive;
            }
        }
        return oldestExact;
    }

    private void addWildcard(PostedReceive receive) {
        PostedReceive last = wildcardTail;
        if (last == null) {
            wildcardHead = receive;
        } else {
            receive.wildcardPrev = last;
            last.wildcardNext = receive;
        }
        wildcardTail = receive;
        wildcardCount++;
    }

    private void removeWildcard(PostedReceive receive) {
        PostedReceive older = receive.wildcardPrev;
        PostedReceive younger = receive.wildcardNext;
        if (older == null) {
            wildcardHead = younger;
        } else {
            older.wildcardNext = younger;
            receive.wildcardPrev = null;
        }
        if (younger == null) {
            wildcardTail = older;
        } else {
            younger.wildcardPrev = older;
            receive.wildcardNext = null;
        }
        wildcardCount--;
    }
}
