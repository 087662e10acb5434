package org.jfabric.driver.engine;

import org.agrona.collections.IntArrayList;
import org.agrona.collections.Object2IntHashMap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Peers by address. Each keeps its index while it is in the list. Owner: progress agent. */
final class PeerList {
    private static final int NONE = -1;

    private final Object2IntHashMap<String> slotByAddress = new Object2IntHashMap<>(NONE);
    private final IntArrayList freeSlots = new IntArrayList();
    private PeerSends[] peers = new PeerSends[16];
    private int slots;

    PeerSends find(String address) {
        int slot = slotByAddress.getValue(address);
        return slot == NONE ? null : peers[slot];
    }

    void add(PeerSends peer) {
        int slot = freeSlots.isEmpty() ? slots++ : freeSlots.popInt();
        if (slot == peers.length) {
            peers = Arrays.copyOf(peers, peers.length * 2);
        }
        peers[slot] = peer;
        slotByAddress.put(peer.peer().address(), slot);
    }

    /** Removes a peer; does nothing if another peer has its address. */
    void remove(PeerSends peer) {
        int slot = slotByAddress.getValue(peer.peer().address());
        if (slot != NONE && peers[slot] == peer) {
            slotByAddress.removeKey(peer.peer().address());
            peers[slot] = null;
            freeSlots.addInt(slot);
        }
    }

    boolean hasSeveral() {
        return slots - freeSlots.size() > 1;
    }

    /** The number of indices, those without a peer included. */
    int slots() {
        return slots;
    }

    /** The peer at an index, or null. */
    PeerSends get(int slot) {
        return peers[slot];
    }

    List<PeerSends> all() {
        List<PeerSends> all = new ArrayList<>();
        for (int i = 0; i < slots; i++) {
            if (peers[i] != null) {
                all.add(peers[i]);
            }
        }
        return all;
    }
}
