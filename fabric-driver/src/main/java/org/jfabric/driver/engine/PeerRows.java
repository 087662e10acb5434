package org.jfabric.driver.engine;


/**
 * Snapshot rows of a bounded number of peers; peers with waiting messages take precedence. Owner: progress agent.
 */
final class PeerRows {
    private final Row[] rows;
    private int size;
    private int peers;

    /** The snapshot of one peer. */
    static final class Row {
        Peer peer;
        int state;
        long stored;
        long announced;
        long unexpectedSinceNs;
        long directed;
        long directedSinceNs;
        long waiting;
        long waitingSinceNs;
        long untaken;
        long untakenSinceNs;
        long heldBytes;
        int heldMessages;
        long creditBytes;
        boolean backPressured;

        private void begin(PeerSends sends) {
            peer = sends.peer();
            state = PeerTable.state(peer);
            heldMessages = sends.receives().held().count();
            stored = 0;
            announced = 0;
            directed = 0;
            Outbox outbox = sends.outbox();
            waiting = outbox.waiting();
            waitingSinceNs = outbox.waitingSinceNs();
            untaken = outbox.announced();
            untakenSinceNs = outbox.announcedSinceNs();
            backPressured = outbox.isBackPressured();
            heldBytes = sends.receives().held().heldBytes();
            creditBytes = peer.credit().leftBytes();
        }

        private boolean isBusy() {
            return (directed | waiting | untaken | heldMessages) != 0;
        }

        void unexpected(boolean isAnnounced, long sinceNs) {
            if (stored + announced == 0 || sinceNs - unexpectedSinceNs < 0) {
                unexpectedSinceNs = sinceNs;
            }
            if (isAnnounced) {
                announced++;
            } else {
                stored++;
            }
        }

        void directed(long sinceNs) {
            if (directed == 0 || sinceNs - directedSinceNs < 0) {
                directedSinceNs = sinceNs;
            }
            directed++;
        }
    }

    PeerRows(int capacity) {
        rows = new Row[capacity];
        for (int i = 0; i < capacity; i++) {
            rows[i] = new Row();
        }
    }

    void clear() {
        for (int i = 0; i < size; i++) {
            rows[i].peer = null;
        }
        size = 0;
        peers = 0;
    }

    /** Adds a peer. It gets a row if one is free, or if it has waiting messages and another row's peer has none. */
    void add(PeerSends sends) {
        peers++;
        if (size < rows.length) {
            rows[size++].begin(sends);
        } else if (sends.receives().held().count() != 0 || sends.outbox().waiting() != 0
            || sends.outbox().announced() != 0) {
            int idle = idle();
            if (idle >= 0) {
                rows[idle].begin(sends);
            }
        }
    }

    /** The row of a peer, or null if it has none. */
    Row find(Peer peer) {
        int index = indexOf(peer);
        return index < 0 ? null : rows[index];
    }

    int indexOf(Object peer) {
        for (int i = 0; i < size; i++) {
            if (rows[i].peer == peer) {
                return i;
            }
        }
        return -1;
    }

    /** The row of the peer with that {@code fi_addr}, or null. */
    Row findSource(int source) {
        for (int i = 0; i < size; i++) {
            if (rows[i].peer.source() == source) {
                return rows[i];
            }
        }
        return null;
    }

    int size() {
        return size;
    }

    int peers() {
        return peers;
    }

    Row row(int index) {
        return rows[index];
    }

    private int idle() {
        for (int i = 0; i < size; i++) {
            if (!rows[i].isBusy()) {
                return i;
            }
        }
        return -1;
    }
}
