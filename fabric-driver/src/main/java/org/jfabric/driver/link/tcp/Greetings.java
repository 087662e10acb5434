package org.jfabric.driver.link.tcp;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.info.FabricErrno;

/**
 * Incoming connections whose request has not arrived yet. When the limit is reached, a new connection replaces the
 * oldest one; otherwise many silent connections could keep out all others. If the new connection's host already has its
 * quota of them, its own oldest connection is replaced, so that one host cannot displace the connections of others.
 *
 * <p>Owner: progress agent.
 */
final class Greetings {
    /** Divisor of the limit that gives the quota of one host. */
    private static final int QUOTA_DIVISOR = 4;

    private final int limit;
    /** The oldest first, which is the order of their deadlines. */
    private final List<TcpConnection> waiting = new ArrayList<>();
    private final Map<InetAddress, Integer> perHost = new HashMap<>();

    Greetings(int limit) {
        this.limit = limit;
    }

    /** The waiting connections, the oldest first. */
    List<TcpConnection> all() {
        return List.copyOf(waiting);
    }

    /** Makes room for one more connection. Returns true if another connection was ended for it. */
    boolean makeRoom(InetAddress host) {
        if (waiting.size() < limit) {
            return false;
        }
        boolean isItsOwnTurn = perHost.getOrDefault(host, 0) >= Math.max(1, limit / QUOTA_DIVISOR);
        TcpConnection oldest = waiting.getFirst();
        for (int i = 0; isItsOwnTurn && !host(oldest).equals(host); i++) {
            oldest = waiting.get(i);
        }
        oldest.end(FabricErrno.ECONNABORTED);
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
