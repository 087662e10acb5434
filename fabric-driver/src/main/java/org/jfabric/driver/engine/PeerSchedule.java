package org.jfabric.driver.engine;

/**
 * The peers with something to do in this or the next cycle. Linked through the peers, so nothing is allocated.
 *
 * <p>Owner: progress agent.
 */
final class PeerSchedule {
    private PeerSends first;
    private PeerSends last;
    /** Peers with answers that are held back until the next poll. */
    private PeerRemote firstOwing;

    /** Asks for {@link PeerSends#flush()}; the peer is not in the list. */
    void add(PeerSends peer) {
        if (last == null) {
            first = peer;
        } else {
            last.nextScheduled(peer);
        }
        last = peer;
    }

    /** Holds an answer back: asks for {@link PeerRemote#settleInTurn()} at the begin of the next poll. */
    void owe(PeerRemote remote) {
        remote.nextOwing(firstOwing);
        firstOwing = remote;
    }

    /** Whether no peer waits for {@link #flush()}. */
    boolean isClear() {
        return first == null;
    }

    /** Whether answers are held back. */
    boolean owes() {
        return firstOwing != null;
    }

    /** Sends the answers that were held back for one poll. */
    void settle() {
        PeerRemote remote = firstOwing;
        firstOwing = null;
        while (remote != null) {
            remote = remote.settleInTurn();
        }
    }

    /** Serves the peers; those that schedule themselves again meanwhile are served in the next cycle. */
    int flush() {
        PeerSends peer = first;
        first = null;
        last = null;
        int work = 0;
        while (peer != null) {
            PeerSends next = peer.nextScheduled();
            work += peer.flush();
            peer = next;
        }
        return work;
    }

    /** A memory fault may have interrupted {@link #flush()}. */
    void clear() {
        first = null;
        last = null;
        firstOwing = null;
    }
}
