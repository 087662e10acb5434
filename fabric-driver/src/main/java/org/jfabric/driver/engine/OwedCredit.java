package org.jfabric.driver.engine;

/**
 * The peers to which credit may have to be sent, because a message of them was taken and perhaps no message carries the
 * credit of it back soon.
 *
 * <p>Owner: progress agent.
 */
final class OwedCredit {
    /** How long credit waits at most for a message that carries it, while cycles are run. */
    private static final long LEAST_PERIOD_NS = 1_000_000;

    private PeerReceives first;
    private long sentNs;

    /** Adds a peer that is not in the list; returns the one that is behind it now. */
    PeerReceives add(PeerReceives peer) {
        PeerReceives next = first;
        first = peer;
        return next;
    }

    /**
     * Sends credit that no message has carried, so that a peer that waits for it continues soon where a slow
     * application takes one message at a time; in each whole cycle.
     */
    void send(long nowNs) {
        if (first == null || nowNs - sentNs < LEAST_PERIOD_NS) {
            return;
        }
        sentNs = nowNs;
        PeerReceives peer = first;
        first = null;
        while (peer != null) {
            peer = peer.sendCredit();
        }
    }

    /** A memory fault may have interrupted {@link #send}. */
    void clear() {
        first = null;
    }
}
