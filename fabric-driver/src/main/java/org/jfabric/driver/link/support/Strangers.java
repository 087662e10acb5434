package org.jfabric.driver.link.support;

import org.agrona.UnsafeApi;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Connections of one endpoint with peers that its address vector does not hold: so many in all and from one host, and
 * no more, so that whoever can reach the port cannot use up descriptors and memory that the others need. Peers that the
 * application knows are not counted.
 *
 * <p>Owner: progress agent.
 */
public final class Strangers {
    /**
     * How many there may be.
     *
     * @param total   of one endpoint, 0 for none.
     * @param perHost of those, from one address.
     */
    public record Limits(int total, int perHost) {
    }

    private final Limits limits;
    private final LongSupplier refusals;
    private final Map<InetAddress, Integer> perHost = new HashMap<>();
    private int total;

    /**
     * Nobody yet.
     *
     * @param limits   how many there may be.
     * @param refusals gives the native address of the counter of those that were one too many; asked when the first is.
     */
    public Strangers(Limits limits, LongSupplier refusals) {
        this.limits = limits;
        this.refusals = refusals;
    }

    /**
     * Whether one more could be admitted.
     *
     * @param host that it would come from.
     * @return false if all places that it could have are taken.
     */
    public boolean hasPlace(InetAddress host) {
        return total < limits.total && perHost.getOrDefault(host, 0) < limits.perHost;
    }

    /**
     * Whether one that was admitted could leave a place to another.
     *
     * @param holder host of the one that was admitted.
     * @param host   of the other, which has no place.
     * @return false if it would still have none.
     */
    public boolean couldLeaveTo(InetAddress holder, InetAddress host) {
        return holder.equals(host) || perHost.getOrDefault(host, 0) < limits.perHost;
    }

    /**
     * One more asks for a connection.
     *
     * @param host that it comes from.
     * @return false if it is to be refused, which is counted.
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

    /**
     * One that was admitted has left, or has become known.
     *
     * @param host as admitted.
     */
    public void leave(InetAddress host) {
        total--;
        perHost.computeIfPresent(host, (key, count) -> count == 1 ? null : count - 1);
    }
}
