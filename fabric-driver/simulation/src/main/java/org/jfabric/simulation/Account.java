package org.jfabric.simulation;

import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The messages of all nodes, against which each entry is checked: each message has one entry at its sender, and is
 * received where it was sent to and with its length. Subclasses add what the service of their link promises.
 */
abstract class Account {
    /** A message that was accepted for sending. */
    static final class Message {
        final long id;
        final int from;
        final int fromLife;
        /** Node, or -1 for the group. */
        final int to;
        final int toLife;
        final int lengthBytes;
        /** Its sender has no entry yet, and lives. */
        boolean isPending = true;
        /** Success means that the peer has it. */
        boolean isConfirmed;
        boolean isSent;
        boolean isReceived;

        Message(long id, Node from, int to, int toLife, int lengthBytes) {
            this.id = id;
            this.from = from.index();
            this.fromLife = from.life();
            this.to = to;
            this.toLife = toLife;
            this.lengthBytes = lengthBytes;
        }

        @Override
        public String toString() {
            return "message %d of %d bytes from node %d (life %d) to %s".formatted(id, lengthBytes, from, fromLife,
                to < 0 ? "the group" : "node " + to + " (life " + toLife + ')');
        }
    }

    final Long2ObjectHashMap<Message> messages = new Long2ObjectHashMap<>();
    private final int[] lives;
    private final String[] names;
    private int version;
    private long lastId;
    private boolean isActive = true;
    long sent;
    long failed;
    long received;

    Account(int nodes) {
        lives = new int[nodes];
        names = new String[nodes];
    }

    /** A node can be reached from now on. */
    void onStart(Node node, String name) {
        lives[node.index()] = node.life();
        names[node.index()] = name;
        version++;
    }

    /** Changes with each start of a node. */
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

    /** Messages are sent again. */
    void begin() {
        isActive = true;
    }

    long nextId() {
        return ++lastId;
    }

    void onPosted(Message message) {
        messages.put(message.id, message);
    }

    /** The sender has read the entry of a message; errno 0 for success. */
    Message onEntry(Node node, long id, int errno) {
        Message message = messages.get(id);
        require(message != null && message.isPending && message.from == node.index()
            && message.fromLife == node.life(),
            () -> "node " + node + " got a second or foreign entry for message " + id + ", " + message);
        message.isPending = false;
        failed += errno == 0 ? 0 : 1;
        return message;
    }

    /** A message has arrived whole, or as the begin of one of that length. Null if it is not known any more. */
    Message onReceived(Node node, long id, long lengthBytes, boolean isOfGroup) {
        require(id > 0 && id <= lastId, () -> "message " + id + " was never sent");
        Message message = messages.get(id);
        if (message != null) {
            require(message.lengthBytes == lengthBytes, () -> message + " arrived with " + lengthBytes + " bytes");
            require(message.to < 0 == isOfGroup && (isOfGroup || message.to == node.index()),
                () -> message + " arrived at node " + node + (isOfGroup ? " in the group" : ""));
            received++;
        }
        return message;
    }

    static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    /** For every message: to put the text together takes longer than the comparison. */
    static void require(boolean holds, Supplier<String> otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise.get());
        }
    }
}
