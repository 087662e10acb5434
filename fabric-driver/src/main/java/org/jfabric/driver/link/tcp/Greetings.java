package org.jfabric.driver.link.tcp;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.info.FabricErrno;

/**
 * Incoming connections whose request has not arrived yet. When the limit is reached, a new connection replaces the
 * oldest one; otherwise many silent connections could keep out all others. If a host has its quota of them, its own
 * oldest connection is replaced, so that one host cannot displace the connections of others. If none has, new
 * connections wait in the kernel until the oldest has had {@link #GRACE_NS}: when thousands of peers connect at once,
 * as after the restart of a switch, each has time to send its request.
 *
 * <p>Owner: progress agent.
 */
final class Greetings {
    /** Divisor of the limit that gives the quota of one host. */
    private static final int QUOTA_DIVISOR = 4;
    /** Longer than a request takes over any distance, unless packets are lost. */
    private static final long GRACE_NS = 300_000_000L;

    private final int limit;
    private final int quota;
    /** The oldest first, which is the order of their deadlines. */
    private final List<TcpConnection> waiting = new ArrayList<>();
    private final Map<InetAddress, Integer> perHost = new HashMap<>();

    Greetings(int limit) {
        this.limit = limit;
        this.quota = Math.max(1, limit / QUOTA_DIVISOR);
    }

    /** The waiting connections, the oldest first. */
    List<TcpConnection> all() {
        return List.copyOf(waiting);
    }

    /**
     * Whether a new connection has to wait.
     *
     * @param newDeadlineNs deadline of a connection that is accepted now.
     */
    boolean isFull(long newDeadlineNs) {
        return waiting.size() >= limit && newDeadlineNs - waiting.getFirst().deadlineNs() < GRACE_NS
            && perHost.values().stream().noneMatch(count -> count >= quota);
    }

    /** Makes room for one more connection. Returns true if another connection was ended for it. */
    boolean makeRoom(InetAddress host) {
        if (waiting.size() < limit) {
            return false;
        }
        InetAddress greedy = perHost.getOrDefault(host, 0) >= quota ? host
            : perHost.entrySet().stream().filter(each -> each.getValue() >= quota).map(Map.Entry::getKey).findFirst()
                .orElse(host(waiting.getFirst()));
        waiting.stream().filter(each -> host(each).equals(greedy)).findFirst().orElseThrow()
            .end(FabricErrno.ECONNABORTED);
        return true;
    }

    void add(TcpConnection connection) {
        waiting.add(connection);
        perHost.merge(host(connection), 1, Integer::sum);
    }

    /** Removes a connection; false if it does not wait here. */
    boolean remove(TcpConnection connection) {
        if (!waiting.remove(connection)) {
            return false;
        }
        perHost.computeIfPresent(host(connection), (key, count) -> count == 1 ? null : count - 1);
        return true;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Ends the connections whose deadline has passed; returns their number. */
    int endLate(long nowNs) {
        int ended = 0;
        while (!waiting.isEmpty() && nowNs - waiting.getFirst().deadlineNs() > 0) {
            waiting.getFirst().end(FabricErrno.ETIMEDOUT);
            ended++;
        }
        return ended;
    }

    private static InetAddress host(TcpConnection connection) {
        return connection.peerName().inetAddress();
    }
}
