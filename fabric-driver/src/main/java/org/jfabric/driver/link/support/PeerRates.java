package org.jfabric.driver.link.support;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * The rates of the peers of a link by their hosts: all connections with one address have one share. Whoever ends a
 * connection and begins another one still has used up what it has used up.
 *
 * <p>Owner: progress agent.
 */
public final class PeerRates {
    private static final class Entry {
        private final PeerRate rate;
        private int users;

        private Entry(PeerRate rate) {
            this.rate = rate;
        }
    }

    private final PeerRate.Limits limits;
    private final Map<InetAddress, Entry> byHost = new HashMap<>();
    /** Entries without a user that have used up their share. */
    private int left;

    /**
     * Without peers.
     *
     * @param limits of each of them, at least one of them not 0.
     */
    public PeerRates(PeerRate.Limits limits) {
        this.limits = limits;
    }

    /** The rate for a new connection. */
    public PeerRate take(InetAddress host, long nowNs) {
        if (left > 0) {
            byHost.values().removeIf(entry -> entry.users == 0 && !entry.rate.isOver(nowNs));
            left = (int) byHost.values().stream().filter(entry -> entry.users == 0).count();
        }
        Entry entry = byHost.computeIfAbsent(host, each -> new Entry(limits.newRate(nowNs)));
        left -= entry.users == 0 && entry.rate.isOver(nowNs) ? 1 : 0;
        entry.users++;
        return entry.rate;
    }

    /** A connection has ended. */
    public void give(InetAddress host, long nowNs) {
        Entry entry = byHost.get(host);
        if (--entry.users > 0) {
            return;
        }
        if (entry.rate.isOver(nowNs)) {
            left++;
        } else {
            byHost.remove(host);
        }
    }

    /** Number of hosts, those with connections, and those that have used up their share. */
    public int size() {
        return byHost.size();
    }
}
