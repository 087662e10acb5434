package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.Flags;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.SegmentChannel;
import org.jfabric.driver.link.TransmitOperation;

import java.util.Set;

/**
 * The sends to one peer that have not ended: those that wait for their turn, and those that the link or the peer has
 * yet to finish.
 *
 * <p>Owner: progress agent.
 */
final class Outbox {
    /** Sends that are looked at for an announced one; others are in the link's hands and soon gone. */
    private static final int OLDEST = 8;

    /** Most time that a short message waits for credit before it is announced; a peer that runs needs much less. */
    private static final long MAX_CREDIT_WAIT_NS = 10_000_000L;

    private final PeerContext context;
    private final OperationList pending = new OperationList();
    /** The oldest first, so that it is segmented first. */
    private final OperationList owned = new OperationList();
    /** Address of the counter that tells who holds us back; 0 while nobody does. */
    private long heldBackCounter;
    private int waiting;
    private int announced;
    private int segmenting;
    /** A short message has waited for credit since the last came. */
    private boolean awaitsCredit;
    /** Time of the cycle in which that began. */
    private long awaitsCreditSinceNs;

    Outbox(PeerContext context) {
        this.context = context;
    }

    /**
     * Whether no send waits for its turn.
     *
     * @return true if a new one may begin at once.
     */
    boolean isClear() {
        return pending.isEmpty();
    }

    /**
     * Whether a send must wait for the ends of earlier ones (FI_FENCE); nothing that was posted later is here yet.
     *
     * @param operation the oldest that has not begun.
     * @return true for a fenced one while an earlier one is outstanding.
     */
    boolean isFenced(TransmitOperation operation) {
        return (operation.flags & Flags.FENCE) != 0 && !owned.isEmpty();
    }

    /**
     * Whether one more message may be announced.
     *
     * @return true below the limit.
     */
    boolean canAnnounce() {
        return announced < context.settings().announcementLimit();
    }

    /**
     * Keeps an operation that the peer or the link has yet to finish.
     *
     * @param operation in no list.
     * @param newState  {@code IN_LINK}, {@code ANNOUNCED} or {@code AWAITING}.
     */
    void own(TransmitOperation operation, int newState) {
        operation.state = newState;
        owned.addLast(operation);
        if (newState == TransmitOperation.ANNOUNCED) {
            operation.sinceNs = context.nowNs();
            announced++;
        }
    }

    /**
     * Ends what {@link #own} began.
     *
     * @param operation kept here.
     */
    void disown(TransmitOperation operation) {
        owned.remove(operation);
        if (operation.state == TransmitOperation.ANNOUNCED || operation.state == TransmitOperation.SEGMENTING) {
            announced--;
        }
        if (operation.state == TransmitOperation.SEGMENTING) {
            segmenting--;
        }
    }

    /**
     * Takes a waiting send out, because it was cancelled.
     *
     * @param operation waiting here.
     */
    void remove(TransmitOperation operation) {
        pending.remove(operation);
        waiting--;
    }

    /**
     * Operations that the link or the peer has yet to finish.
     *
     * @return a count.
     */
    int owned() {
        return owned.size() + announced + segmenting;
    }

    /**
     * Sends that have not begun.
     *
     * @return a count.
     */
    int waiting() {
        return waiting;
    }

    /**
     * Since when the oldest of {@link #waiting()} waits.
     *
     * @return time of that cycle, 0 if none waits.
     */
    long waitingSinceNs() {
        return pending.isEmpty() ? 0 : pending.first().sinceNs;
    }

    /**
     * Whether the peer grants neither bytes nor announcements, so that sends wait.
     *
     * @return true while it does not.
     */
    boolean isHeldBack() {
        return heldBackCounter != 0;
    }

    /**
     * Messages that were announced and that the peer has not taken.
     *
     * @return a count.
     */
    int announced() {
        return announced;
    }

    /**
     * When the oldest of {@link #announced()} was announced.
     *
     * @return time of that cycle; 0 if there is none among the oldest sends that have begun.
     */
    long announcedSinceNs() {
        TransmitOperation operation = owned.first();
        for (int i = 0; i < OLDEST && operation != null; i++) {
            if (operation.state == TransmitOperation.ANNOUNCED || operation.state == TransmitOperation.SEGMENTING) {
                return operation.sinceNs;
            }
            operation = operation.next;
        }
        return 0;
    }

    void add(TransmitOperation operation) {
        operation.state = TransmitOperation.QUEUED;
        operation.sinceNs = context.nowNs();
        pending.addLast(operation);
        waiting++;
    }

    /**
     * Tells which operations are here.
     *
     * @param operations to add them to.
     */
    void addAll(Set<TransmitOperation> operations) {
        pending.addTo(operations);
        owned.addTo(operations);
    }

    /** The peer asks for a payload in segments; false if that operation was not announced. */
    boolean segment(TransmitOperation operation, long sink, long length) {
        if (operation.state != TransmitOperation.ANNOUNCED || length <= 0 || length > operation.length) {
            return false;
        }
        operation.sink = sink;
        operation.sent = 0;
        operation.segmentEnd = length;
        operation.state = TransmitOperation.SEGMENTING;
        segmenting++;
        return true;
    }

    boolean isSegmenting() {
        return segmenting != 0;
    }

    /** Sends segments, a bounded number; stops where room in the channel ends. */
    int flushSegments(Peer peer, SegmentChannel channel) {
        int budget = context.settings().segmentBurst();
        int work = 0;
        TransmitOperation operation = owned.first();
        while (operation != null && work < budget) {
            TransmitOperation next = operation.next;
            while (operation.state == TransmitOperation.SEGMENTING && work < budget) {
                int length = (int) Math.min(
                    operation.segmentEnd - operation.sent, channel.limits().segmentLimitBytes());
                if (channel.sendSegment(operation, length, peer.grant()) < 0) {
                    peer.grantNotSent();
                    return work;
                }
                work++;
                operation.sent += length;
                if (operation.sent == operation.segmentEnd) {
                    operation.state = TransmitOperation.ANNOUNCED;
                    segmenting--;
                }
            }
            operation = next;
        }
        return work;
    }

    /**
     * Whether a message that has no credit may be announced. A short one may only once the peer has taken all that was
     * sent and has still not granted enough, because messages wait there for receives. Until then the credit is on its
     * way, and to wait for it costs less than to have an announced payload fetched.
     *
     * @param peer   up.
     * @param length bytes.
     * @return true if there is nothing to wait for; else credit will come, or true a later time.
     */
    boolean mayAnnounce(Peer peer, long length) {
        if (!canAnnounce()) {
            return false;
        }
        if (!peer.isShort(length)) {
            return true;
        }
        // a wire without frames has no credit that a short message could lack
        FrameChannel channel = peer.frames();
        if (!awaitsCredit) {
            awaitsCredit = true;
            awaitsCreditSinceNs = context.nowNs();
            channel.markSent();
        }
        // a peer that is stopped takes nothing: nobody should spin for it
        return channel.isMarkTaken() || context.nowNs() - awaitsCreditSinceNs > MAX_CREDIT_WAIT_NS;
    }

    /** There is credit, or more of it; true if something waits. */
    boolean onCredit() {
        awaitsCredit = false;
        return !isClear();
    }

    /** Begins waiting sends in order; stops where credit, announcements or room in the channel end. */
    int flushPending(Peer peer) {
        int work = 0;
        while (!pending.isEmpty() && peer.isUp()) {
            TransmitOperation operation = pending.first();
            if (isFenced(operation)) {
                // the end of each earlier send brings us here again
                break;
            }
            if (!peer.canSendEager(operation.length) && !mayAnnounce(peer, operation.length)) {
                if (canAnnounce()) {
                    // credit comes, or the peer has taken what it would come for
                    peer.scheduleUnlessTold();
                    notHeldBack();
                } else {
                    heldBack(peer);
                }
                return work;
            }
            remove(operation);
            if (!context.sender().begin(peer, operation)) {
                pending.addFirst(operation);
                waiting++;
                peer.scheduleUnlessTold();
                return work;
            }
            work++;
        }
        notHeldBack();
        return work;
    }

    /** The peer grants neither bytes nor announcements: says so, in a counter that names both. */
    private void heldBack(Peer peer) {
        if (heldBackCounter == 0) {
            heldBackCounter = context.openHeldBackCounter(peer);
        }
        UnsafeApi.putLongRelease(null, heldBackCounter, waiting);
    }

    private void notHeldBack() {
        if (heldBackCounter != 0) {
            context.closeCounter(heldBackCounter);
            heldBackCounter = 0;
        }
    }

    void failAll(int errno) {
        while (!owned.isEmpty()) {
            TransmitOperation operation = owned.first();
            disown(operation);
            context.sender().fail(operation, errno);
        }
        while (!pending.isEmpty()) {
            TransmitOperation operation = pending.first();
            remove(operation);
            context.sender().fail(operation, errno);
        }
        notHeldBack();
    }

    void clear() {
        pending.clear();
        waiting = 0;
        owned.clear();
        notHeldBack();
    }
}
