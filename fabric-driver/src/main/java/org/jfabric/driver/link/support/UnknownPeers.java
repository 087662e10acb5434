package org.jfabric.driver.link.support;

import org.agrona.UnsafeApi;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.TcpConfig;

/**
 * Limits the connections of one endpoint with peers that its address vector does not hold: in total, and for each host.
 * Otherwise any host that can reach the port could use up descriptors and memory that other peers need. Peers in the
 * address vector are not counted.
 *
 * <p>Owner: progress agent.
 */
public final class UnknownPeers {
    /**
     * The limits.
     *
     * @param total   connections of one endpoint, 0 for none.
     */
    public record Limits(int total, int perHost) {

        /** Those of endpoints over tcp and rxm. */
        public static Limits of(DriverConfig config) {
            return new Limits(config.get(TcpConfig.UNKNOWN_PEER_LIMIT), config.get(TcpConfig.UNKNOWN_PEERS_PER_HOST));
        }
    }

    private final Limits limits;
    private final LongSupplier refusals;
    private final Map<InetAddress, Integer> perHost = new HashMap<>();
    private int total;

    /**
     * Makes an object without connections.
     *
     * @param refusals returns the native address of the counter of refused requests; called at the first refusal.
     */
    public UnknownPeers(Limits limits, LongSupplier refusals) {
        this.limits = limits;
        this.refusals = refusals;
    }

    /** Whether one more connection could be admitted. */
    public boolean hasPlace(InetAddress host) {
        return total < limits.total && perHost.getOrDefault(host, 0) < limits.perHost;
    }

    /**
     * Whether the end of one admitted connection would make room for another.
     *
     * @param host   host of the other peer, for which there is no room.
     * @return false if there would still be no room.
     */
    public boolean couldLeaveTo(InetAddress holder, InetAddress host) {
        return holder.equals(host) || perHost.getOrDefault(host, 0) < limits.perHost;
    }

    /**
     * Admits one more connection, if the limits allow it. Returns false if it must be refused; the refusal is counted.
     */
    public boolean admit(InetAddress host) {
        if (!hasPlace(host)) {
            long counter = refusals.getAsLong();
            UnsafeApi.putLongRelease(null, counter, UnsafeApi.getLong(counter) + 1);
            return false;
        }
        total++;
        perHost.merge(host, 1, Integer::sum);
        return true;
    }

    /** An admitted connection has ended, or its peer has become known. */
    public void leave(InetAddress host) {
        total--;
        perHost.computeIfPresent(host, (key, count) -> count == 1 ? null : count - 1);
    }
}
