package org.jfabric.simulation;

import java.util.HashMap;
import java.util.Map;
import org.jfabric.driver.link.udp.SimulatedDatagrams;
import org.jfabric.info.SocketName;

/**
 * The datagrams of all nodes, beside what the network says of each copy: a copy that waits in the socket of an endpoint
 * is received once, and nothing else is. They are never forgotten, because late copies may arrive at any time.
 */
final class DatagramLedger extends Account implements SimulatedDatagrams.Log {
    private static final int MOST_NODES = 8;

    private final Simulation simulation;
    /** Copies that wait in sockets, by message and node. */
    private final Map<Long, Integer> waiting = new HashMap<>();
    /** The last message that a node has received of another. */
    private final Map<Long, Long> lastReceived = new HashMap<>();
    private AssertionError violation;
    long lost;
    long doubled;
    /** A message was received behind one that its sender had sent later. */
    boolean wasOvertaken;

    DatagramLedger(Simulation simulation, int nodes) {
        super(nodes);
        this.simulation = simulation;
    }

    @Override
    void onStart(Node node, String name) {
        super.onStart(node, name);
        waiting.keySet().removeIf(key -> key % MOST_NODES == node.index());
        messages.values().forEach(message ->
            message.isPending &= message.from != node.index() || message.fromLife == node.life());
    }

    /** A message that was posted before its call, which may send it, was not accepted. */
    void onRefused(Message message) {
        require(!message.isSent, message + " was sent although the call was refused");
        messages.remove(message.id);
    }

    @Override
    Message onEntry(Node node, long id, int errno) {
        Message message = super.onEntry(node, id, errno);
        require(message.isSent == (errno == 0), () -> message + " ended with errno " + errno
            + (message.isSent ? ", and was sent" : ", and was not sent"));
        return message;
    }

    /** The length is that of the message, also if the receive was shorter. */
    @Override
    Message onReceived(Node node, long id, long lengthBytes, boolean isOfGroup) {
        Message message = super.onReceived(node, id, lengthBytes, isOfGroup);
        require(message != null, () -> "message " + id + " was received although its call was refused");
        require(waiting.containsKey(key(id, node.index())),
            () -> message + " was received more often than it arrived at node " + node.index());
        waiting.computeIfPresent(key(id, node.index()), (key, copies) -> copies == 1 ? null : copies - 1);
        if (!isOfGroup) {
            wasOvertaken |= lastReceived.merge(key(message.from, node.index()), id, Long::max) > id;
        }
        return message;
    }

    /** The driver that sends may catch what is thrown here, so that a program has to ask. */
    @Override
    public void note(String kind, SocketName from, SocketName to, long id) {
        try {
            onCopy(kind, to, id);
        } catch (AssertionError wrong) {
            violation = violation == null ? wrong : violation;
        }
    }

    /** Throws what the network's events have violated. */
    void requireNoViolation() {
        if (violation != null) {
            throw violation;
        }
    }

    private void onCopy(String kind, SocketName to, long id) {
        Message message = messages.get(id);
        require(message != null, "the link has sent message " + id + ", which was never posted");
        switch (kind) {
            case SimulatedDatagrams.SENT -> {
                require(!message.isSent, message + " was sent twice by the link");
                message.isSent = true;
                sent++;
            }
            case SimulatedDatagrams.ARRIVED -> waiting.merge(key(id, node(to)), 1, Integer::sum);
            case SimulatedDatagrams.LOST -> lost++;
            case SimulatedDatagrams.DOUBLED -> doubled++;
            default -> require(kind.equals(SimulatedDatagrams.RECEIVED)
                || kind.equals(SimulatedDatagrams.NO_ROOM), kind);
        }
    }

    private int node(SocketName to) {
        String host = to.inetAddress().getHostAddress();
        for (Node node : simulation.nodes()) {
            if (node.address().equals(host)) {
                return node.index();
            }
        }
        throw new AssertionError("no node has " + to);
    }

    private static long key(long id, int node) {
        return id * MOST_NODES + node;
    }

    /** Whether everything has its end: entries of sends, arrivals, and receives of what has arrived. */
    boolean isOver() {
        return waiting.isEmpty() && simulation.datagrams().nextEventNs() == Long.MAX_VALUE
            && messages.values().stream().noneMatch(this::isOpen);
    }

    /** Without an entry, or not sent although its sender lives. */
    private boolean isOpen(Message message) {
        return message.isPending || !message.isSent && message.fromLife == life(message.from);
    }

    @Override
    public String toString() {
        return "%d sent, %d received, %d lost, %d doubled".formatted(sent, received, lost, doubled);
    }

    /** What has no end, for failures. */
    String unfinished() {
        return messages.values().stream().filter(this::isOpen).limit(5).toList()
            + " have no entry or were not sent; arrived, but not received, are " + waiting.keySet().stream().limit(5)
            .map(key -> messages.get(key / MOST_NODES) + " at node " + key % MOST_NODES).toList();
    }
}
