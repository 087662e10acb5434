package org.jfabric.simulation;

import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.info.FabricErrno;
import org.jfabric.simulation.model.ReceiveOrder;

/**
 * The messages of reliable endpoints: each comes at most once, a confirmed one is received, those of one sender match
 * receives in order, and none fails without a fault.
 */
final class Ledger extends Account {
    private static final int REMEMBERED = 512;

    /** Several links under one address. */
    private final boolean hasLinks;
    private final long[] remoteAddresses;
    private final Long2ObjectHashMap<ReceiveOrder> orders = new Long2ObjectHashMap<>();
    private Harm harm;
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
        super(nodes);
        hasLinks = Simulate.BEST.equals(link);
        remoteAddresses = new long[nodes];
    }

    /** A node can be reached from now on; what it had sent in an earlier life has no entries any more. */
    void onStart(Node node, String name, long remoteAddress) {
        int index = node.index();
        harm = node.simulation().harm();
        remoteAddresses[index] = remoteAddress;
        onStart(node, name);
        messages.values().removeIf(message ->
            message.from == index && message.isPending && message.fromLife < node.life()
                || message.to == index && !message.isPending);
    }

    long remoteAddress(int node) {
        return remoteAddresses[node];
    }

    /** Messages are sent again, of which none may fail. */
    void beginHealthy() {
        begin();
        isHealthy = true;
    }

    @Override
    void onPosted(Message message) {
        super.onPosted(message);
        sent++;
    }

    @Override
    Message onEntry(Node node, long id, int errno) {
        Message message = super.onEntry(node, id, errno);
        if (errno != 0) {
            String ended = message + " ended with " + FabricErrno.name(errno);
            require(!isHealthy, ended + " when all faults were over");
            require(FabricErrno.name(errno).indexOf(' ') < 0, ended + ", which is not documented");
            require(node.simulation().harm().explains(message.from, message.to),
                ended + ", and no fault has harmed either");
        }
        message.isSent = errno == 0;
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
        Message message = onReceived(node, id, lengthBytes, false);
        if (message == null) {
            // its send ended with an error, or its sender was killed, and it arrives all the same
            return;
        }
        require(!message.isReceived, () -> message + " was received twice");
        message.isReceived = true;
        if (!message.isPending) {
            messages.remove(id);
        }
        // to a client its driver may begin it when the address vector has the number of the next life already
        boolean isBetweenLives = message.toLife != node.life()
            && node.simulation().nodes().get(message.from) instanceof ClientNode;
        if (!isBetweenLives && !mayOvertake(message)) {
            String fault = orders.computeIfAbsent(pair(message, node.life()), pair -> new ReceiveOrder(REMEMBERED))
                .onMatched(id, receive);
            require(fault == null, () -> message + " is out of order: " + fault);
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
            .filter(message -> message.isPending && message.fromLife == life(message.from)).count();
    }

    /** The same without those of one node. */
    long pendingBut(int node) {
        return messages.values().stream().filter(message -> message.isPending && message.from != node
            && message.fromLife == life(message.from)).count();
    }

    /** Messages that have to arrive. */
    List<Message> missing(boolean hadFaults) {
        List<Message> missing = new ArrayList<>();
        for (Message message : messages.values()) {
            if (message.isSent && !message.isReceived && message.toLife == life(message.to)
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
            && message.fromLife == life(message.from)).toList();
    }
}
