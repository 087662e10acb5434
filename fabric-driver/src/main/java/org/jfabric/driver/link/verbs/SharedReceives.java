package org.jfabric.driver.link.verbs;

import org.agrona.collections.Int2ObjectHashMap;
import org.jfabric.FabricErrno;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.ReceiveRequests;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.ffi.WorkCompletions;

/**
 * The receives that all connections of one device take from (a shared receive queue), so that memory does not grow with
 * the number of peers. A peer that finds none is told so by the card, and tries again for ever.
 *
 * <p>Messages that the engine has no place for stay in their slots. A card cannot refuse messages of one connection
 * only: when hardly a slot is left, all peers wait, and if it stays so for the time that is configured, the connection
 * that holds most is ended, and its slots are free for the others.
 *
 * <p>Opened and closed on the resource thread, else owned by the progress agent.
 */
final class SharedReceives {
    /** In the upper half of the numbers of their work requests, where others have that of their connection. */
    static final int NUMBER = Integer.MAX_VALUE;

    /** Of the slots, so many are too few for all peers. */
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
    private final Ibverbs verbs;
    private final long holdLimitNs;
    private final PinnedMemory memory;
    private final Int2ObjectHashMap<VerbsConnection> byNumber = new Int2ObjectHashMap<>();
    private long queue;
    private Slots slots;
    private boolean isShort;
    private long shortSinceNs;

    /**
     * Receives, all of them posted.
     *
     * @param link     of the connections.
     * @param device   opened.
     * @param settings with more than 0 shared receives.
     * @throws org.jfabric.FabricException if the device cannot; nothing is left then.
     */
    SharedReceives(VerbsLink link, VerbsDevice device, VerbsSettings settings) {
        this.link = link;
        this.verbs = link.libraries().ibverbs();
        this.holdLimitNs = settings.sharedHoldLimitNs();
        this.memory = new PinnedMemory(verbs, device.domain(), settings.sharedPinnedBytes());
        try {
            int count = settings.sharedReceives();
            queue = VerbsDevice.checked("ibv_create_srq of " + count + " receives (jfabric.verbs.sharedReceives)",
                verbs.createSharedQueue(device.domain(), count));
            int bytes = settings.receiveBytes();
            slots = new Slots(device.path(), queue, new ReceiveRequests(count,
                (long) NUMBER << Integer.SIZE | ConnectionResources.RECEIVE, memory.address(), bytes, memory.key()),
                count, memory, bytes);
            VerbsDevice.checked("ibv_post_srq_recv", slots.postAll());
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** What queue pairs are made with. */
    long queue() {
        return queue;
    }

    ReceiveSlots slots() {
        return slots;
    }

    /** A connection takes from them. */
    void add(VerbsConnection connection) {
        byNumber.put(verbs.queuePairNumber(connection.queuePair()), connection);
    }

    /** It does not any more. */
    void remove(VerbsConnection connection) {
        byNumber.remove(verbs.queuePairNumber(connection.queuePair()));
    }

    void onCompletion(WorkCompletions completions, int entry) {
        VerbsConnection connection = byNumber.get(completions.queuePairNumber(entry));
        if (connection != null) {
            connection.onCompletion(completions, entry);
        } else {
            // its connection was not waited for any longer
            slots.flushed();
            slots.give((int) completions.id(entry) & ~ConnectionResources.RECEIVE);
        }
    }

    /** Posts slots again, many with one call, and sees to it that some are left; 0 if there was nothing to do. */
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
            greatest.giveUp(FabricErrno.ENOBUFS, "its messages wait in " + greatest.held() + " of " + slots.count()
                + " receives that all peers share, and " + slots.withCard() + " are left, for more than "
                + holdLimitNs / 1_000_000 + " ms: post receives for its messages, or raise "
                + "jfabric.engine.unexpectedBudgetBytes or jfabric.verbs.sharedReceives");
        }
    }

    /** Gives everything back; again does nothing. No queue pair uses them any more. */
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
