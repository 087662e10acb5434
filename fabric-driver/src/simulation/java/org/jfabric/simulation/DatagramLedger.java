package org.jfabric.simulation;

import java.util.HashMap;
import java.util.Map;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.link.udp.SimulatedDatagrams;
import org.jfabric.info.SocketName;

/**
 * Datagrams that all nodes have sent and received, beside what the network says of each copy: a copy that waits in the
 * socket of an endpoint has to be received once, and nothing else.
 */
final class DatagramLedger implements SimulatedDatagrams.Log {
    private static final int MOST_NODES = 8;

    /** A message that was accepted for sending. */
    static final class Message {
        final long id;
        final int from;
        final int fromLife;
        /** Node, or -1 for the group. */
        final int to;
        final int lengthBytes;
        /** Its sender has no entry yet, and lives. */
        boolean isPending;
        boolean isSent;

        Message(long id, int from, int fromLife, int to, int lengthBytes, boolean hasEntry) {
            this.id = id;
            this.from = from;
            this.fromLife = fromLife;
            this.to = to;
            this.lengthBytes = lengthBytes;
            this.isPending = hasEntry;
        }

        @Override
        public String toString() {
            return "datagram %d of %d bytes from node %d (life %d) to %s".formatted(
                id, lengthBytes, from, fromLife, to < 0 ? "the group" : "node " + to);
        }
    }

    private final Simulation simulation;
    private final int[] lives;
    private final String[] names;
    /** All that were ever accepted: late copies may arrive at any time. */
    private final Long2ObjectHashMap<Message> messages = new Long2ObjectHashMap<>();
    /** Copies that wait in sockets, by message and node. */
    private final Map<Long, Integer> waiting = new HashMap<>();
    /** The last message that a node has received of another. */
    private final Map<Long, Long> lastReceived = new HashMap<>();
    private int version;
    private long lastId;
    private boolean isActive = true;
    private AssertionError violation;
    long sent;
    long failed;
    long received;
    long lost;
    long doubled;
    /** A message was received behind one that its sender had sent later. */
    boolean wasOvertaken;

    DatagramLedger(Simulation simulation, int nodes) {
        this.simulation = simulation;
        lives = new int[nodes];
        names = new String[nodes];
    }

    /** A node can be reached from now on. */
    void onStart(Node node, String name) {
        lives[node.index()] = node.life();
        names[node.index()] = name;
        version++;
        waiting.keySet().removeIf(key -> key % MOST_NODES == node.index());
        messages.values().forEach(message ->
            message.isPending &= message.from != node.index() || message.fromLife == node.life());
    }

    int version() {
        return version;
    }

    String name(int node) {
        return names[node];
    }

    int life(int node) {
        return lives[node];
    }

    boolean isActive() {
        return isActive;
    }

    /** No further messages are sent. */
    void end() {
        isActive = false;
    }

    long nextId() {
        return ++lastId;
    }

    /** Before the call that posts it, which may send it; taken back with {@link #onRefused}. */
    void onPosted(Message message) {
        messages.put(message.id, message);
    }

    void onRefused(Message message) {
        Ledger.require(!message.isSent, message + " was sent although the call was refused");
        messages.remove(message.id);
    }

    /** The sender has read the entry of a message; errno 0 for success. */
    void onEntry(Node node, long id, int errno) {
        Message message = messages.get(id);
        Ledger.require(message != null && message.isPending && message.from == node.index()
            && message.fromLife == node.life(), "node " + node + " got a second or foreign entry for datagram " + id
            + ", " + message);
        message.isPending = false;
        failed += errno == 0 ? 0 : 1;
        Ledger.require(message.isSent == (errno == 0), message + " ended with errno " + errno
            + (message.isSent ? ", and was sent" : ", and was not sent"));
    }

    /** A message was received; the length is that of the message, also if the receive was shorter. */
    Message onReceived(Node node, long id, long lengthBytes, boolean isOfGroup) {
        Message message = messages.get(id);
        Ledger.require(message != null, "datagram " + id + " was never sent");
        Ledger.require(message.lengthBytes == lengthBytes, message + " was received with " + lengthBytes + " bytes");
        Ledger.require(message.to < 0 == isOfGroup && (isOfGroup || message.to == node.index()),
            message + " was received by node " + node.index() + (isOfGroup ? " in the group" : ""));
        Integer copies = waiting.get(key(id, node.index()));
        Ledger.require(copies != null, message + " was received more often than it arrived at node " + node.index());
        if (copies == 1) {
            waiting.remove(key(id, node.index()));
        } else {
            waiting.put(key(id, node.index()), copies - 1);
        }
        received++;
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
        Ledger.require(message != null, "the link has sent datagram " + id + ", which was never posted");
        switch (kind) {
            case SimulatedDatagrams.SENT -> {
                Ledger.require(!message.isSent, message + " was sent twice by the link");
                message.isSent = true;
                sent++;
            }
            case SimulatedDatagrams.ARRIVED -> waiting.merge(key(id, node(to)), 1, Integer::sum);
            case SimulatedDatagrams.LOST -> lost++;
            case SimulatedDatagrams.DOUBLED -> doubled++;
            default -> Ledger.require(kind.equals(SimulatedDatagrams.RECEIVED)
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
        return message.isPending || !message.isSent && message.fromLife == lives[message.from];
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
