package org.jfabric.perf.compare;

import java.util.Locale;

/** The state of the host while a round measured a cell, by the hand-overs of a cache line before and after it. */
enum RoundState {
    /** The hand-overs are short enough and alike: the round counts for targets. */
    VALID,
    /** Alike, but longer than is allowed. */
    SLOW,
    /** Too different: the host changed its state in between. */
    CHANGED,
    /** A hand-over was not measured. */
    UNKNOWN;

    /** Hand-overs of one state are within this factor of each other. */
    static final double MOST_CHANGE = 1.3;

    /**
     * Judges a round.
     *
     * @param mostNs    longest hand-over that is valid.
     * @param handOvers of all cells that are compared; null for a cell without.
     * @return the state of all together.
     */
    static RoundState of(double mostNs, HandOvers... handOvers) {
        double least = Double.MAX_VALUE;
        double most = 0;
        for (HandOvers each : handOvers) {
            if (each == null || Double.isNaN(each.meanNs())) {
                return UNKNOWN;
            }
            least = Math.min(least, Math.min(each.beforeNs(), each.afterNs()));
            most = Math.max(most, Math.max(each.beforeNs(), each.afterNs()));
        }
        return most > least * MOST_CHANGE ? CHANGED : most > mostNs ? SLOW : VALID;
    }

    /** Name in texts and JSON. */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
