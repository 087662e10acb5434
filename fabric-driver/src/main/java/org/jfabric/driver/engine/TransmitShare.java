package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * What one peer may have of an endpoint's sends. While sends to a peer wait, it has at most as many as are free: so one
 * slow peer has half, a second one a quarter, and those to quick peers go on. Further messages to it are refused with
 * {@code -FI_EAGAIN}. An endpoint with one peer has no use for a share.
 *
 * <p>In a queue of requests nothing can be refused any more, so the destinations are written into its file, where the
 * client refuses. What it has posted before it reads them is accepted.
 *
 * <p>Owner: progress agent.
 */
final class TransmitShare {
    /** Of peers no more can be: each has more than all later ones and what is free. */
    private static final int MAX = RecordRingDescriptor.REFUSED_COUNT;

    private final TransmitPool pool;
    private final PeerTable peers;
    private final PeerSends[] slow = new PeerSends[MAX];
    private final long[] destinations = new long[MAX];
    private int count;
    /** Of the words in the queue's file; 0 if there is none. */
    private long address;

    TransmitShare(TransmitPool pool, PeerTable peers) {
        this.pool = pool;
        this.peers = peers;
        peers.share(this);
    }

    /** Writes the destinations into a queue's file from now on; 0 for the endpoint of a client without a queue. */
    void publish(long wordsAddress) {
        address = wordsAddress;
        if (address != 0) {
            for (int i = 0; i < MAX; i++) {
                write(i);
            }
        }
    }

    /** Whether a message to a destination is refused now. */
    boolean isUsedUp(long destAddr) {
        if (count == 0 || address != 0) {
            return false;
        }
        PeerSends to = peers.known(destAddr);
        return to != null && isUsedUp(to.peer());
    }

    /** Whether messages to any destination are refused now, here or by the client. */
    boolean isAnyUsedUp() {
        return count != 0;
    }

    /** Whether messages to a peer are refused now, here or by the client. */
    boolean isUsedUp(Peer peer) {
        for (int i = 0; i < count; i++) {
            if (slow[i].peer() == peer) {
                return true;
            }
        }
        return false;
    }

    void onWait(PeerSends to, long destAddr) {
        if (count < MAX && to.outbox().outstanding() > pool.free() && peers.hasSeveral()) {
            add(to, destAddr);
        }
    }

    private void add(PeerSends to, long destAddr) {
        for (int i = 0; i < count; i++) {
            // a peer may have several addresses
            if (slow[i] == to && destinations[i] == destAddr) {
                return;
            }
        }
        slow[count] = to;
        destinations[count] = destAddr;
        write(count++);
        to.peer().traffic().usedShare();
    }

    void onEnd() {
        if (count != 0) {
            review();
        }
    }

    private void review() {
        for (int i = count - 1; i >= 0; i--) {
            if (slow[i].outbox().outstanding() <= pool.free()) {
                remove(i);
            }
        }
    }

    /** An address is removed; the next one that is inserted gets its place, and has nothing to do with its peer. */
    void onRemoved(long fiAddr) {
        for (int i = count - 1; i >= 0; i--) {
            if (slow[i].peer().source() == fiAddr) {
                remove(i);
            }
        }
    }

    private void remove(int index) {
        count--;
        slow[index] = slow[count];
        destinations[index] = destinations[count];
        slow[count] = null;
        write(index);
        write(count);
    }

    private void write(int index) {
        if (address != 0) {
            // a client that reads a word too early or too late posts one message more or less
            UnsafeApi.putLongRelease(null, address + (long) index * Long.BYTES,
                slow[index] == null ? 0 : RecordRingDescriptor.refusedWord(destinations[index]));
        }
    }
}
