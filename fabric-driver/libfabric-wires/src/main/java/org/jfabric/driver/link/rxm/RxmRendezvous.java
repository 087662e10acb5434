package org.jfabric.driver.link.rxm;

import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;

import java.util.Arrays;

/**
 * The payloads of one channel that the peer may read, by the number that their announcements carry.
 *
 * <p>Owner: progress agent.
 */
final class RxmRendezvous {
    /** A payload that waits to be read. */
    static final class Exposed {
        final RemotePayload payload = new RemotePayload();
        private final int index;
        private int uses;
        private long operation;
        private long levels;
        private boolean taken;
        private Exposed next;

        private Exposed(int index) {
            this.index = index;
        }

        /** The number in the announcement and in the peer's confirmation. */
        long message() {
            return (long) uses << 32 | index;
        }

        long operation() {
            return operation;
        }

        /** Levels beside the link's own that the peer's confirmation reaches. */
        long levels() {
            return levels;
        }
    }

    private Exposed[] all = new Exposed[0];
    private Exposed free;

    Exposed take(TransmitOperation operation) {
        Exposed exposed = free;
        if (exposed == null) {
            int index = all.length;
            all = Arrays.copyOf(all, index + 1);
            exposed = new Exposed(index);
            all[index] = exposed;
        } else {
            free = exposed.next;
        }
        exposed.taken = true;
        exposed.operation = operation.id();
        exposed.levels = operation.isAcknowledged() ? operation.awaitedOfPeer() : 0;
        return exposed;
    }

    /** The payload with that number; null if there is none. */
    Exposed find(long message) {
        int index = (int) message;
        if (index < 0 || index >= all.length) {
            return null;
        }
        Exposed exposed = all[index];
        return exposed.taken && exposed.message() == message ? exposed : null;
    }

    void give(Exposed exposed) {
        exposed.taken = false;
        exposed.uses++;
        exposed.next = free;
        free = exposed;
    }
}
