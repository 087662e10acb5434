package org.jfabric.simulation.model;

import java.util.Map;
import java.util.TreeMap;

/**
 * The receives that the last messages of one sender to one receiver have matched: an earlier message matches an earlier
 * receive, in whatever order their entries are read.
 */
public final class ReceiveOrder {
    private final int kept;
    private final TreeMap<Long, Long> receives = new TreeMap<>();

    /** Remembers that many messages. */
    public ReceiveOrder(int kept) {
        this.kept = kept;
    }

    /**
     * Notes that a message has matched a receive.
     *
     * @param message number in the order of sending.
     * @param receive number in the order of posting.
     * @return what is wrong; null if nothing is.
     */
    public String onMatched(long message, long receive) {
        Map.Entry<Long, Long> before = receives.lowerEntry(message);
        Map.Entry<Long, Long> after = receives.higherEntry(message);
        receives.put(message, receive);
        if (receives.size() > kept) {
            receives.pollFirstEntry();
        }
        return before != null && before.getValue() > receive || after != null && after.getValue() < receive
            ? "message " + message + " matched receive " + receive + ", between " + before + " and " + after : null;
    }
}
