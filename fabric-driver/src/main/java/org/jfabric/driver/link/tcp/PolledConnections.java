package org.jfabric.driver.link.tcp;

import java.util.Arrays;

/**
 * Connections that are polled in turn. Each is in one such list at most.
 *
 * <p>Owner: progress agent.
 */
final class PolledConnections {
    private final int mostPerPoll;
    private TcpConnection[] connections = new TcpConnection[8];
    private int count;
    /** Index of the connection that had the last turn. */
    private int last;

    /**
     * An empty list.
     *
     * @param mostPerPoll so many connections have their turn in one poll of the link, so that the clients and other
     *                    peers of a driver with thousands of busy connections have theirs.
     */
    PolledConnections(int mostPerPoll) {
        this.mostPerPoll = mostPerPoll;
    }

    int size() {
        return count;
    }

    TcpConnection at(int index) {
        return connections[index];
    }

    /** Connections that have their turn in one poll. */
    int turns() {
        return Math.min(count, mostPerPoll);
    }

    /** Whether one poll leaves out some connections. */
    boolean hasMoreThanTurns() {
        return count > mostPerPoll;
    }

    /** The connection whose turn it is; null if none is left. */
    TcpConnection next() {
        // downwards, because the last connection takes the place of one that leaves
        if (last == 0 || last > count) {
            last = count;
        }
        return last == 0 ? null : connections[--last];
    }

    /** Takes a connection, from another list if it is in one. */
    void take(TcpConnection connection) {
        if (connection.polledIn == this) {
            return;
        }
        if (connection.polledIn != null) {
            connection.polledIn.remove(connection);
        }
        if (count == connections.length) {
            connections = Arrays.copyOf(connections, 2 * count);
        }
        connection.polledIn = this;
        connection.polledAt = count;
        connections[count++] = connection;
    }

    /** Removes a connection that is in this list. */
    void remove(TcpConnection connection) {
        TcpConnection moved = connections[--count];
        connections[connection.polledAt] = moved;
        moved.polledAt = connection.polledAt;
        connections[count] = null;
        connection.polledIn = null;
    }
}
