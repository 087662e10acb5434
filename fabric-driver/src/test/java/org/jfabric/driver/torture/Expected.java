package org.jfabric.driver.torture;

import java.util.Map;
import java.util.TreeMap;

/**
 * The conversations whose messages a worker receives: the last few of them. Those before were judged when their sender
 * was killed or had ended, and a worker that survives many others must not keep a mapped ledger of each.
 */
final class Expected {
    /** Messages of a killed sender may still come when the next one begins. */
    static final int KEPT = 3;

    private static final int RECEIVES_KEPT = 4 * TortureWorker.RECEIVES;

    private final TreeMap<Integer, Incoming> conversations = new TreeMap<>();

    /** What is received from one sender. */
    static final class Incoming {
        final Ledger ledger;
        /** Of the last messages: when the receive that took each was posted. */
        private final TreeMap<Long, Long> receives = new TreeMap<>();

        private Incoming(Ledger ledger) {
            this.ledger = ledger;
        }

        /** Entries may come in any order; but an earlier message takes a receive that was posted earlier. */
        String onMatched(long number, long receive) {
            receives.put(number, receive);
            Map.Entry<Long, Long> before = receives.lowerEntry(number);
            Map.Entry<Long, Long> after = receives.higherEntry(number);
            if (receives.size() > RECEIVES_KEPT) {
                receives.pollFirstEntry();
            }
            return before != null && before.getValue() > receive || after != null && after.getValue() < receive
                ? "message " + number + " took receive " + receive + ", between " + before + " and " + after : null;
        }
    }

    /** From now on messages of that one, whose number is greater than those before. */
    void listen(int conversation, Ledger ledger) {
        conversations.put(conversation, new Incoming(ledger));
        while (conversations.size() > KEPT) {
            conversations.pollFirstEntry().getValue().ledger.close();
        }
    }

    /** Null if nothing is expected of it. */
    Incoming get(int conversation) {
        return conversations.get(conversation);
    }
}
