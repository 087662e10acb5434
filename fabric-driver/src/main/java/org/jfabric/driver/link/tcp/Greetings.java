package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Connections that have come and have not said yet whose they are. There is always room for one more, or a crowd that
 * says nothing would keep out those with something to say: the oldest makes it, that of the newcomer's own host if this
 * has its share, so that one host drives out only its own.
 *
 * <p>Owner: progress agent.
 */
final class Greetings {
    /** Part of all that one host may have before it has to make room itself. */
    private static final int SHARE_OF_HOST = 4;

    private final int limit;
    /** The oldest first, which is the order of their deadlines. */
    private final List<TcpConnection> waiting = new ArrayList<>();
    private final Map<InetAddress, Integer> perHost = new HashMap<>();

    Greetings(int limit) {
        this.limit = limit;
    }

    /** Those that wait, the oldest first. */
    List<TcpConnection> all() {
        return List.copyOf(waiting);
    }

    /**
     * Makes room for one more.
     *
     * @param host that it comes from.
     * @return true if another one had to end for it.
     */
    boolean makeRoom(InetAddress host) {
        if (waiting.size() < limit) {
            return false;
        }
        boolean isItsOwnTurn = perHost.getOrDefault(host, 0) >= Math.max(1, limit / SHARE_OF_HOST);
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

    /** False if it is not one of these. */
    boolean remove(TcpConnection connection) {
        if (!waiting.remove(connection)) {
            return false;
        }
        perHost.computeIfPresent(host(connection), (key, count) -> count == 1 ? null : count - 1);
        return true;
    }

    /** Ends those whose time is over; how many. */
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
