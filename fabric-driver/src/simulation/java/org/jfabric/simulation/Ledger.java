package org.jfabric.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.info.FabricErrno;

/** What all nodes have sent and received, against which each event is checked. */
final class Ledger {
    private static final int REMEMBERED = 512;

    /** A message that was accepted for sending. */
    static final class Message {
        final long id;
        final int from;
        final int fromLife;
        final int to;
        final int toLife;
        final int lengthBytes;
        /** Success means that the peer has it. */
        final boolean isConfirmed;
        /** Its sender has no entry yet, and lives. */
        boolean isPending = true;
        boolean isSent;
        boolean isReceived;

        Message(long id, int from, int fromLife, int to, int toLife, int lengthBytes, boolean isConfirmed) {
            this.id = id;
            this.from = from;
            this.fromLife = fromLife;
            this.to = to;
            this.toLife = toLife;
            this.lengthBytes = lengthBytes;
            this.isConfirmed = isConfirmed;
        }

        @Override
        public String toString() {
            return "message %d of %d bytes from node %d (life %d) to node %d (life %d)".formatted(
                id, lengthBytes, from, fromLife, to, toLife);
        }
    }

    /** Several links under one address. */
    private final boolean hasLinks;
    private final int[] lives;
    private final String[] names;
    private final long[] remoteAddresses;
    private final Long2ObjectHashMap<Message> messages = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<TreeMap<Long, Long>> orders = new Long2ObjectHashMap<>();
    private Harm harm;
    private int version;
    private long lastId;
    private boolean isActive = true;
    long sent;
    long failed;
    long received;
    long accesses;
    /** How often a sample has found a peer by the next link, and by the first one again. */
    long fallBacks;
    long returns;
    private final Long2ObjectHashMap<Boolean> byFirst = new Long2ObjectHashMap<>();
    /** Objects that could not be opened, because a fault has taken what they need. */
    long refused;
    /** All faults are over, and what they had begun has ended: nothing fails any more. */
    private boolean isHealthy;

    Ledger(int nodes, String link) {
        hasLinks = Simulate.BEST.equals(link);
        lives = new int[nodes];
        names = new String[nodes];
        remoteAddresses = new long[nodes];
    }

    /** A node can be reached from now on; what it had sent in an earlier life has no entries any more. */
    void onStart(Node node, String name, long remoteAddress) {
        int index = node.index();
        harm = node.simulation().harm();
        lives[index] = node.life();
        names[index] = name;
        remoteAddresses[index] = remoteAddress;
        version++;
        messages.values().removeIf(message ->
            message.from == index && message.isPending && message.fromLife < node.life()
                || message.to == index && !message.isPending);
    }

    int version() {
        return version;
    }

    String name(int node) {
        return names[node];
    }

    long remoteAddress(int node) {
        return remoteAddresses[node];
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

    /** Messages are sent again, of which none may fail. */
    void beginHealthy() {
        isActive = true;
        isHealthy = true;
    }

    long nextId() {
        return ++lastId;
    }

    void onPosted(Message message) {
        messages.put(message.id, message);
        sent++;
    }

    /** The sender has read the entry of a message; errno 0 for success. */
    Message onEntry(Node node, long id, int errno) {
        Message message = messages.get(id);
        require(message != null && message.isPending && message.from == node.index()
            && message.fromLife == node.life(),
            () -> "node " + node + " got a second or foreign entry for message " + id + ", " + message);
        require(errno == 0 || !isHealthy, () -> message + " ended with " + FabricErrno.name(errno)
            + " when all faults were over");
        require(errno == 0 || FabricErrno.name(errno).indexOf(' ') < 0, () -> message + " ended with "
            + FabricErrno.name(errno) + ", which is not documented");
        require(errno == 0 || node.simulation().harm().explains(message.from, message.to),
            () -> message + " ended with " + FabricErrno.name(errno) + ", and no fault has harmed either");
        message.isPending = false;
        message.isSent = errno == 0;
        failed += errno == 0 ? 0 : 1;
        if (message.isReceived || errno != 0) {
            messages.remove(id);
        }
        return message;
    }

    /** The link that sends to the peer of a message go by, of an endpoint with several. */
    void onPath(Message message, String link) {
        boolean isFirst = !"tcp".equals(link);
        long peer = (long) message.from << 8 | message.to;
        Boolean before = byFirst.put(peer, Boolean.valueOf(isFirst));
        fallBacks += before != null && before && !isFirst ? 1 : 0;
        returns += before != null && !before && isFirst ? 1 : 0;
    }

    /** A message has arrived whole, in a receive with a number. */
    void onReceived(Node node, long id, long lengthBytes, long receive) {
        Message message = messages.get(id);
        if (message == null) {
            // its send ended with an error, or its sender was killed, and it arrives all the same
            require(id > 0 && id <= lastId, "message " + id + " was never sent");
            return;
        }
        require(!message.isReceived, () -> message + " was received twice");
        require(message.to == node.index(), () -> message + " arrived at node " + node);
        require(message.lengthBytes == lengthBytes, () -> message + " arrived with " + lengthBytes + " bytes");
        message.isReceived = true;
        received++;
        if (message.toLife != node.life() && node.simulation().nodes().get(message.from) instanceof ClientNode) {
            // the driver has begun it when its number in the address vector was that of the next life already
            if (!message.isPending) {
                messages.remove(id);
            }
            return;
        }
        if (mayOvertake(message)) {
            if (!message.isPending) {
                messages.remove(id);
            }
            return;
        }
        TreeMap<Long, Long> order = orders.computeIfAbsent(
            pair(message, node.life()), pair -> new TreeMap<>());
        var before = order.lowerEntry(receive);
        var after = order.higherEntry(receive);
        require(before == null || before.getValue() < id, () -> message + " came behind message "
            + (before == null ? 0 : before.getValue()));
        require(after == null || after.getValue() > id, () -> message + " came before message "
            + (after == null ? 0 : after.getValue()));
        order.put(receive, id);
        if (order.size() > REMEMBERED) {
            order.pollFirstEntry();
        }
        if (!message.isPending) {
            messages.remove(id);
        }
    }

    /** With several links messages by the next one can overtake what the lost one has brought and was not read yet. */
    private boolean mayOvertake(Message message) {
        return hasLinks && harm.breaks(message.from, message.to);
    }

    /**
     * Both ends and their lives. A message that was sent between two lives of its receiver comes in the later one, in
     * which the numbers of receives begin again.
     */
    private static long pair(Message message, int toLife) {
        return (((long) message.from << 8 | message.to) << 24 | message.fromLife) << 24 | toLife;
    }

    /** Messages whose senders have no entry yet. */
    long pending() {
        return messages.values().stream()
            .filter(message -> message.isPending && message.fromLife == lives[message.from]).count();
    }

    /** The same without those of one node. */
    long pendingBut(int node) {
        return messages.values().stream().filter(message -> message.isPending && message.from != node
            && message.fromLife == lives[message.from]).count();
    }

    /** Messages that have to arrive. */
    List<Message> missing(boolean hadFaults) {
        List<Message> missing = new ArrayList<>();
        for (Message message : messages.values()) {
            if (message.isSent && !message.isReceived && message.toLife == lives[message.to]
                && (!hadFaults || message.isConfirmed && !mayBeLost(message))) {
                missing.add(message);
            }
        }
        return missing;
    }

    /** A receive whose own memory fails ends with an error, of which the sender is not notified. */
    private boolean mayBeLost(Message message) {
        return harm != null && harm.of(message.to).contains(Fault.Kind.MEMORY);
    }

    List<Message> unfinished() {
        return messages.values().stream().filter(message -> message.isPending
            && message.fromLife == lives[message.from]).toList();
    }

    static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    /** For every message: to put the text together takes longer than the comparison. */
    private static void require(boolean holds, Supplier<String> otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise.get());
        }
    }
}
