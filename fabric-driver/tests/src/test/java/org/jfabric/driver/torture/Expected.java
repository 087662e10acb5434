package org.jfabric.driver.torture;

import java.util.TreeMap;
import org.jfabric.simulation.model.ReceiveOrder;

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
        final ReceiveOrder order = new ReceiveOrder(RECEIVES_KEPT);

        private Incoming(Ledger ledger) {
            this.ledger = ledger;
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
