package org.jfabric.driver.engine.match;

/**
 * Links and key that a record needs to be in a {@link MatchTable} and in a {@link MatchList}.
 *
 * <p>All links are null while the record has no neighbours. A record without neighbours is therefore added and removed
 * without storing a single link, which keeps the collector's store barriers off the usual path.
 *
 * <p>Owner: progress agent.
 */
abstract class MatchNode {
    /** Slot of a node that is not the oldest of its key, or is in no table. */
    static final int NO_SLOT = -1;

    /** Tag, compared in full by the table. */
    long tag;

    /** Position in posting or arrival order; unique and increasing within one list. */
    long sequence;

    /** Second half of the table key: a peer index, or {@link TagMatcher#ANY_SOURCE}. */
    int keySource;

    /** Slot of the table, for the oldest node of a key; {@link #NO_SLOT} for all others. */
    int slot = NO_SLOT;

    /** Next younger node of the same key, the oldest after the youngest; null while alone. */
    MatchNode sameNext;

    /** Next older node of the same key, the youngest before the oldest; null while alone. */
    MatchNode samePrev;

    MatchNode listNext;

    /** Next older node of the list. */
    MatchNode listPrev;
}
