package org.jfabric.driver.engine.match;

import org.jfabric.driver.resource.FaultPoint;

import java.util.SplittableRandom;

/**
 * Posted receives of one matcher: a hash for exact tags, a list for wildcards; the posting sequence decides.
 *
 * <p>With receives of one exact kind, directed or any-source, the oldest of them is compared first. While messages come
 * in the order of posting there is no hash: it is built, once, when a message first does not match the oldest of
 * several receives, or when both kinds are posted. So an application that keeps the order has the cost of lists only,
 * however many receives it has posted; any other application has the cost of building the hash once.
 *
 * <p>Directed and any-source receives are different keys of the same hash. Each kind is counted, so a search skips a
 * kind of which none is posted: with receives of one exact kind it is a single lookup.
 *
 * <p>Owner: progress agent.
 */
final class PostedReceives {
    private final MatchTable exact;
    private final MatchList postingOrder = new MatchList();
    private PostedReceive firstExact;
    private PostedReceive wildcardHead;
    private PostedReceive wildcardTail;
    private int exactDirectedCount;
    private int exactAnySourceCount;
    private int wildcardCount;
    private boolean hashed;
    private long lastSequence;
    /** Counted where assertions are enabled, as in {@link MatchTable}. */
    private long firstComparisons;

    /**
     * Creates an empty set.
     *
     * @param capacity receives expected at most; sizes the hash.
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
            addExact(receive);
        }
    }

    /**
     * Oldest receive that accepts a message; it stays posted.
     *
     * @param source peer index, or {@link TagMatcher#UNKNOWN_SOURCE}.
     * @return the receive, or null if none accepts it.
     */
    PostedReceive find(long tag, int source) {
        PostedReceive oldest = firstExact == null ? null : findExact(tag, source);
        return wildcardCount == 0 ? oldest : olderWildcard(tag, source, oldest);
    }

    private PostedReceive findExact(long tag, int source) {
        // where both kinds are posted two are compared in the hash, and more than two are never compared
        if (exactAnySourceCount == 0 || exactDirectedCount == 0) {
            assert ++firstComparisons > 0;
            if (firstExact.accepts(tag, source)) {
                return firstExact;
            }
            if (exactAnySourceCount + exactDirectedCount == 1) {
                return null;
            }
        }
        if (!hashed) {
            hashAll();
        }
        return search(tag, source);
    }

    private void hashAll() {
        // a pending fault must not be raised while the hash is built
        FaultPoint.pass();
        hashed = true;
        for (PostedReceive receive = first(); receive != null; receive = next(receive)) {
            if (receive.ignore() == 0) {
                exact.add(receive);
            }
        }
    }

    private PostedReceive search(long tag, int source) {
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
        return oldest;
    }

    /** Removes a receive from any position, in constant time, except for wildcards after the oldest exact receive. */
    void remove(PostedReceive receive) {
        assert receive.isPosted() : "receive not posted";
        receive.posted(false);
        if (receive.ignore() != 0) {
            removeWildcard(receive);
        } else {
            removeExact(receive);
        }
        postingOrder.remove(receive);
    }

    /** Oldest posted receive. Returns the receive, or null if none is posted. */
    PostedReceive first() {
        return (PostedReceive) postingOrder.head();
    }

    /** Receive posted after another one. Returns the next younger one, or null after the youngest. */
    PostedReceive next(PostedReceive receive) {
        return (PostedReceive) receive.listNext;
    }

    /** Number of posted receives. */
    int size() {
        return postingOrder.size();
    }

    /** Number of posted receives with a non-zero ignore mask. */
    int wildcardCount() {
        return wildcardCount;
    }

    /**
     * The number of receives that were compared so far, not counting wildcards after the oldest receive. Returns a
     * count; 0 where assertions are disabled.
     */
    long comparisons() {
        return firstComparisons + exact.comparisons();
    }

    private void addExact(PostedReceive receive) {
        if (firstExact == null) {
            firstExact = receive;
        }
        if (hashed) {
            exact.add(receive);
        }
        countExact(receive, 1);
    }

    private void removeExact(PostedReceive receive) {
        if (receive == firstExact) {
            PostedReceive younger = next(receive);
            while (younger != null && younger.ignore() != 0) {
                younger = next(younger);
            }
            firstExact = younger;
        }
        if (hashed) {
            exact.remove(receive);
        }
        countExact(receive, -1);
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
