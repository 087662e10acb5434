package org.jfabric.driver.link.verbs;

import org.agrona.collections.Int2ObjectHashMap;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.ReceiveRequests;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.info.FabricErrno;

/**
 * The shared receive queue of all connections of one protection domain, so that memory does not grow with the number of
 * peers. If no receive is left, the card answers the peer with "receiver not ready", and the peer's card retries
 * without limit.
 *
 * <p>Messages that the engine has no room for stay in their slots. A card cannot refuse the messages of one connection
 * only: when few slots are left, all peers wait. If that lasts for the configured time, the connection that occupies
 * most slots is closed, and its slots become free for the others.
 *
 * <p>Opened and closed on the resource thread, otherwise owned by the progress agent.
 */
final class SharedReceiveQueue {
    /** If at most one slot in this number is posted, too few are left for all peers. */
    private static final int FEW = 8;

    /** The slots. */
    private static final class Slots extends ReceiveSlots {
        private final VerbsDataPath path;
        private final long queue;

        Slots(VerbsDataPath path, long queue, ReceiveRequests requests, int count, PinnedMemory memory, int bytes) {
            super(requests, count, memory.address(), bytes);
            this.path = path;
            this.queue = queue;
        }

        @Override
        int post(long request) {
            return path.postSharedReceive(queue, request);
        }
    }

    private final VerbsLink link;
    private final int number;
    private final Ibverbs verbs;
    private final long holdLimitNs;
    private final PinnedMemory memory;
    private final Int2ObjectHashMap<VerbsConnection> byNumber = new Int2ObjectHashMap<>();
    private long queue;
    private Slots slots;
    private boolean isShort;
    private long shortSinceNs;

    /**
     * Makes the queue and posts all its receives.
     *
     * @param domain that is open, of a link with more than 0 shared receives.
     * @param number upper half of the ids of their work requests, in place of a connection's number.
     * @throws org.jfabric.info.FabricException if the device cannot make it; all has been freed then.
     */
    SharedReceiveQueue(VerbsLink link, ProtectionDomain domain, int number) {
        VerbsSettings settings = link.settings();
        VerbsDevice device = domain.device();
        this.link = link;
        this.number = number;
        this.verbs = link.libraries().ibverbs();
        this.holdLimitNs = settings.sharedHoldLimitNs();
        this.memory = new PinnedMemory(verbs, domain.pointer(), settings.sharedPinnedBytes());
        try {
            int count = settings.sharedReceives();
            queue = VerbsDevice.checked("ibv_create_srq of " + count + " receives (jfabric.verbs.sharedReceives)",
                verbs.createSharedQueue(domain.pointer(), count));
            int bytes = settings.receiveBytes();
            slots = new Slots(device.path(), queue, new ReceiveRequests(count,
                (long) number << Integer.SIZE | ConnectionResources.RECEIVE, memory.address(), bytes, memory.key()),
                count, memory, bytes);
            VerbsDevice.checked("ibv_post_srq_recv", slots.postAll());
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    int number() {
        return number;
    }

    /** The shared receive queue that queue pairs are made with. */
    long queue() {
        return queue;
    }

    ReceiveSlots slots() {
        return slots;
    }

    /** Adds a connection that uses the queue. */
    void add(VerbsConnection connection) {
        byNumber.put(verbs.queuePairNumber(connection.queuePair()), connection);
    }

    void remove(VerbsConnection connection) {
        byNumber.remove(verbs.queuePairNumber(connection.queuePair()));
    }

    void onCompletion(WorkCompletions completions, int entry) {
        VerbsConnection connection = byNumber.get(completions.queuePairNumber(entry));
        if (connection != null) {
            connection.onCompletion(completions, entry);
        } else {
            // its connection was freed without waiting for its last receive
            slots.flushed();
            slots.give((int) completions.id(entry) & ~ConnectionResources.RECEIVE);
        }
    }

    /** Posts slots again, many with one call, and enforces the limit on waiting messages; 0 if there was no work. */
    int poll(boolean isQuiet) {
        int posted = slots.poll(isQuiet);
        if (slots.withCard() > slots.count() / FEW) {
            isShort = false;
        } else if (!isShort) {
            isShort = true;
            shortSinceNs = link.services().nowNs();
        } else if (link.services().nowNs() - shortSinceNs > holdLimitNs) {
            isShort = false;
            endGreatest();
        }
        return posted;
    }

    private void endGreatest() {
        VerbsConnection greatest = null;
        for (VerbsConnection connection : byNumber.values()) {
            if (connection.held() > (greatest == null ? 0 : greatest.held())) {
                greatest = connection;
            }
        }
        if (greatest != null) {
            greatest.giveUp(FabricErrno.ENOBUFS, "its messages occupy " + greatest.held() + " of " + slots.count()
                + " shared receives, and " + slots.withCard() + " are left, for more than "
                + holdLimitNs / 1_000_000 + " ms: post receives for its messages, or raise "
                + "jfabric.engine.unexpectedBudgetBytes or jfabric.verbs.sharedReceives");
        }
    }

    /** Frees everything; idempotent. No queue pair uses the queue any more. */
    void close() {
        if (queue > 0) {
            verbs.destroySharedQueue(queue);
            queue = 0;
        }
        if (slots != null) {
            slots.close();
            slots = null;
        }
        memory.close();
    }
}
