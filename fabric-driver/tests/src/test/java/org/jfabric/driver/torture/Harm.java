package org.jfabric.driver.torture;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A kind of what a {@link World} does to processes. */
enum Harm {
    KILL, STOP, ORDER, DRIVER, VANDAL, DESCRIPTORS, FLOOD, DISK;

    /**
     * Which ones, and how often.
     *
     * @param kinds      that are done.
     * @param pauseMs    longest time between two of them.
     * @param stopLeastNs shortest time for which a process is stopped; 0 for the usual ones, most of which are short.
     * @param stopMostNs longest time.
     */
    record Plan(Set<Harm> kinds, int pauseMs, long stopLeastNs, long stopMostNs) {
        static final Plan USUAL = new Plan(EnumSet.allOf(Harm.class), 300, 0, 0);

        Plan {
            if (!kinds.contains(KILL) && !kinds.contains(STOP) && !kinds.contains(ORDER)) {
                // these are possible in each cell
                throw new IllegalArgumentException("one of kill, stop and order must be among " + kinds);
            }
        }

        /** With stops of {@code A-B} seconds. */
        Plan stops(String seconds) {
            String[] ends = seconds.split("-", 2);
            long least = Math.round(Double.parseDouble(ends[0]) * TimeUnit.SECONDS.toNanos(1));
            long most = Math.round(Double.parseDouble(ends[ends.length - 1]) * TimeUnit.SECONDS.toNanos(1));
            if (least <= 0 || most < least) {
                throw new IllegalArgumentException("not a range of seconds: " + seconds);
            }
            return new Plan(kinds, pauseMs, least, most);
        }
    }

    static Harm parse(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }
}
