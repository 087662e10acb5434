package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.BestChoice;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Reason;

/**
 * The peers of an endpoint that has an address for each of its links ({@link BestName}): for each peer its addresses by
 * the links that both have, the best one first, and which of them sends go to.
 *
 * <pre>
 *   first --could not be connected--> next --could not be connected--> ... --the last one--> the peer has failed
 *     ^                                 |
 *     +----- was up, and is lost -------+
 * </pre>
 *
 * <p>Each address is a {@link Peer} of its own, and all those of an endpoint have its {@code fi_addr} as source. A
 * message never asks here: the table of peers has the {@link Peer} of each {@code fi_addr}. Owner: progress agent,
 * unless a method says otherwise.
 */
final class PeerWays {
    private final BestName own;
    private final List<Way> ways;
    private final Map<String, Entry> byName = new HashMap<>();
    private final Map<String, Entry> byAddress = new HashMap<>();
    /** Whether two names have an address in common. */
    private boolean isShared;

    /** A peer in the address vector. */
    private static final class Entry {
        final String name;
        final int source;
        /** Its addresses by the links that can be tried. */
        final List<String> addresses;
        /** The errno of each attempt that has failed, else 0. */
        final int[] refusals;
        int current;

        Entry(String name, int source, List<String> addresses) {
            this.name = name;
            this.source = source;
            this.addresses = addresses;
            this.refusals = new int[addresses.size()];
        }
    }

    PeerWays(BestName own, List<Way> ways) {
        this.own = own;
        this.ways = ways;
    }

    /** An address was inserted into the address vector; does nothing for one that is not of several links. */
    void insert(int fiAddr, String name) {
        if (!BestName.isName(name) || byName.containsKey(name)) {
            return;
        }
        Entry entry = new Entry(name, fiAddr, choose(name));
        byName.put(name, entry);
        claim(entry);
    }

    private void claim(Entry entry) {
        for (String address : entry.addresses) {
            Entry first = byAddress.putIfAbsent(address, entry);
            isShared |= first != null && first != entry;
        }
    }

    /** An address was removed. */
    void remove(long fiAddr) {
        byName.values().removeIf(entry -> entry.source == fiAddr);
        byAddress.values().removeIf(entry -> entry.source == fiAddr);
        if (isShared) {
            isShared = false;
            byName.values().forEach(this::claim);
        }
    }

    /**
     * The addresses of a peer, the best one first.
     *
     * @param name any address, inserted or not.
     * @return of a name of several links those that can be tried; of every other the address itself.
     */
    List<String> addresses(String name) {
        Entry entry = byName.get(name);
        return entry != null ? entry.addresses : choose(name);
    }

    /** The address that sends to a peer go to now; the name itself if no link reaches it. */
    String current(String name) {
        Entry entry = byName.get(name);
        return entry == null || entry.addresses.isEmpty() ? name : entry.addresses.get(entry.current);
    }

    /** The {@code fi_addr} of the peer with that address by one of its links. */
    int source(String address) {
        Entry entry = byAddress.get(address);
        return entry == null ? Peer.UNKNOWN_SOURCE : entry.source;
    }

    /** A lost peer is to be connected again: the address to begin with; null if it is reached by one link only. */
    String again(String address) {
        Entry entry = byAddress.get(address);
        if (entry == null) {
            return null;
        }
        entry.current = 0;
        Arrays.fill(entry.refusals, 0);
        return entry.addresses.getFirst();
    }

    /**
     * A peer could not be connected.
     *
     * @param errno   positive fabric errno.
     * @return the address to be tried next; null if there is none.
     */
    String next(String address, int errno) {
        Entry entry = byAddress.get(address);
        if (entry == null || !entry.addresses.get(entry.current).equals(address)) {
            return null;
        }
        entry.refusals[entry.current] = errno;
        if (entry.current + 1 == entry.addresses.size()) {
            return null;
        }
        return entry.addresses.get(++entry.current);
    }

    /**
     * The errors of connections that were tried.
     *
     * @param name any address.
     */
    Map<String, Reason> refusals(String name) {
        Map<String, Reason> refusals = new HashMap<>();
        Entry entry = byName.get(name);
        for (Way way : entry == null ? List.<Way>of() : ways) {
            int tried = entry.addresses.indexOf(address(BestName.parse(name), way));
            if (tried >= 0 && entry.refusals[tried] != 0 && way.reaches(entry.addresses.get(tried))) {
                refusals.put(way.link().name(), new Reason("connection to " + entry.addresses.get(tried),
                    FabricErrno.name(entry.refusals[tried]), "one that the peer accepts",
                    "See the logs of both drivers"));
            }
        }
        return refusals;
    }

    /**
     * Why links cannot be tried for a peer. Any thread.
     *
     * @param name any address.
     * @return reason by name of the link; empty for addresses of one link.
     */
    Map<String, Reason> obstacles(String name) {
        Map<String, Reason> obstacles = new HashMap<>();
        BestName peer = BestName.isName(name) ? BestName.parse(name) : null;
        for (Way way : peer == null ? List.<Way>of() : ways) {
            Reason obstacle = BestChoice.obstacle(own, peer, way.link().name());
            if (obstacle != null) {
                obstacles.put(way.link().name(), obstacle);
            }
        }
        return obstacles;
    }

    /**
     * The addresses of a peer that can be tried, whether it was inserted or not. Any thread.
     *
     * @param name any address.
     * @return the best one first; of a name of one link itself.
     */
    List<String> choose(String name) {
        if (!BestName.isName(name)) {
            return List.of(name);
        }
        BestName peer = BestName.parse(name);
        List<String> addresses = new ArrayList<>();
        for (Way way : ways) {
            if (BestChoice.obstacle(own, peer, way.link().name()) == null) {
                String address = address(peer, way);
                // two links of one name serve the endpoints of this and of the other progress threads
                if (way.reaches(address) && !addresses.contains(address)) {
                    addresses.add(address);
                }
            }
        }
        return addresses;
    }

    private static String address(BestName peer, Way way) {
        String address = peer.way(way.link().name());
        return address == null ? peer.fabricName() : way.marked(address);
    }
}
