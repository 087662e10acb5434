package org.jfabric.driver.engine;

import java.util.Set;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.SegmentChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.Stage;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.WaitLabel;

/**
 * The sends to one peer that have not ended: queued sends, and sends that the link or the peer has not finished yet.
 *
 * <p>Owner: progress agent.
 */
final class Outbox {
    /** Number of sends that are searched for an announced one; the others are in the link and will end soon. */
    private static final int OLDEST = 8;

    /** Longest time that a short message waits for credit before it is announced; a running peer needs much less. */
    private static final long MAX_CREDIT_WAIT_NS = 10_000_000L;
    /** Shorter waits for credit are no event. */
    private static final long LEAST_WAIT_NS = 100_000L;

    private final PeerContext context;
    private final Sender sender;
    private final OperationList pending = new OperationList();
    /** The oldest first, so that it is segmented first. */
    private final OperationList owned = new OperationList();
    /** Address of the counter that shows back-pressure by this peer; 0 without back-pressure. */
    private long backPressureCounter;
    private int waiting;
    /** Remote accesses among them. */
    private int waitingAccesses;
    private int announced;
    private int segmenting;
    /** Remote accesses that are outstanding. */
    private int accesses;
    /** Remote reads and writes that are outstanding and that later operations must not overtake. */
    private int reads;
    private int barriers;
    /** Outstanding remote reads that later messages and writes may overtake, because the wire offers no more. */
    private int freeReads;
    /** Outstanding atomic operations whose old values come back. */
    private int fetches;
    /** A short message has been waiting since the last grant. */
    private boolean awaitsCredit;
    /** Time of the cycle in which that began. */
    private long awaitsCreditSinceNs;
    /** Whether a wait for credit is timed. */
    private boolean isWaiting;
    private long waitingSinceNs;

    Outbox(PeerContext context, Sender sender) {
        this.context = context;
        this.sender = sender;
    }

    /** Returns whether no send is queued. */
    boolean isClear() {
        return (waiting | reads | barriers) == 0;
    }

    /**
     * Returns whether an operation must wait for outstanding remote accesses, {@link RemoteSends}.
     *
     * @param operation the oldest that has not begun.
     * @return true while it must.
     */
    boolean mustWait(TransmitOperation operation) {
        return (reads | barriers) != 0 && (barriers != 0 || !operation.isRead())
            || operation.isFetch() && (freeReads != 0 || fetches >= AtomicForm.MAX_FETCHES);
    }

    /** The oldest write whose success is answered by a count; null if there is none. */
    TransmitOperation firstCounted() {
        TransmitOperation operation = owned.first();
        while (operation != null && !operation.isCounted) {
            operation = operation.next;
        }
        return operation;
    }

    /** Whether a remote access is outstanding that the peer has yet to answer. */
    boolean hasAccesses() {
        return accesses != 0;
    }

    /**
     * Returns whether a new remote access may begin immediately.
     *
     * @param operation in no list.
     * @return true if nothing that was posted before keeps it waiting.
     */
    boolean mayBegin(TransmitOperation operation) {
        return pending.isEmpty() && !mustWait(operation) && !isFenced(operation);
    }

    /**
     * Returns whether a send must wait for earlier ones to end (FI_FENCE). No later send has begun yet.
     *
     * @param operation the oldest that has not begun.
     * @return true for a fenced one while an earlier one is outstanding.
     */
    boolean isFenced(TransmitOperation operation) {
        return (operation.flags & Flags.FENCE) != 0 && !owned.isEmpty();
    }

    /** Whether one more message may be announced. */
    boolean canAnnounce() {
        return announced < context.settings().announcementLimit();
    }

    /**
     * Adds an operation that the peer or the link has to finish.
     *
     * @param operation in no list.
     * @param newState  {@code IN_LINK}, {@code ANNOUNCED}, {@code AWAITING} or {@code REMOTE}.
     */
    void own(TransmitOperation operation, int newState) {
        operation.state = newState;
        owned.addLast(operation);
        if (newState == TransmitOperation.ANNOUNCED) {
            operation.sinceNs = context.nowNs();
            announced++;
        } else if (newState == TransmitOperation.REMOTE) {
            operation.sinceNs = context.nowNs();
            countAccess(operation, 1);
        }
    }

    private void countAccess(TransmitOperation operation, int change) {
        accesses += change;
        if (operation.isFetch()) {
            fetches += change;
        }
        if (!operation.isBarrier) {
            freeReads += operation.isRead() ? change : 0;
        } else if (operation.isRead()) {
            reads += change;
        } else {
            barriers += change;
        }
    }

    /** Removes an operation that {@link #own} has added. */
    void disown(TransmitOperation operation) {
        owned.remove(operation);
        if (operation.state == TransmitOperation.ANNOUNCED || operation.state == TransmitOperation.SEGMENTING) {
            announced--;
        }
        if (operation.state == TransmitOperation.SEGMENTING) {
            segmenting--;
        } else if (operation.state == TransmitOperation.REMOTE) {
            countAccess(operation, -1);
        }
    }

    /** Removes a queued send. */
    void remove(TransmitOperation operation) {
        pending.remove(operation);
        operation.sampledNs = 0;
        waiting--;
        waitingAccesses -= operation.isRemote() ? 1 : 0;
    }

    /** The number of operations that have not ended. */
    int outstanding() {
        return waiting + owned.size();
    }

    /** The number of operations that the link or the peer has not finished, weighted by their state. */
    int owned() {
        return owned.size() + announced + segmenting;
    }

    /** Sends that have not begun, without remote accesses. */
    int waiting() {
        return waiting - waitingAccesses;
    }

    /**
     * The time at which the oldest of {@link #waiting()} was queued. Returns the time of that duty cycle in
     * nanoseconds; 0 if there is none among the oldest operations that wait.
     */
    long waitingSinceNs() {
        TransmitOperation operation = pending.first();
        for (int i = 0; i < OLDEST && operation != null; i++) {
            if (!operation.isRemote()) {
                return operation.sinceNs;
            }
            operation = operation.next;
        }
        return 0;
    }

    /** Returns whether sends wait because the peer grants neither bytes nor announcements. */
    boolean isBackPressured() {
        return backPressureCounter != 0;
    }

    /** The number of announced messages that the peer has not fetched. */
    int announced() {
        return announced;
    }

    /**
     * The time at which the oldest of {@link #announced()} was announced. Returns the time of that duty cycle in
     * nanoseconds; 0 if there is none among the oldest sends that have begun.
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
        if (pending.isEmpty()) {
            // the sends that waited last may have been cancelled
            isWaiting = false;
        }
        operation.state = TransmitOperation.QUEUED;
        operation.sinceNs = context.nowNs();
        operation.sampledNs = sender.endSample();
        pending.addLast(operation);
        waiting++;
        waitingAccesses += operation.isRemote() ? 1 : 0;
    }

    /** Queues an operation again that has begun and must begin once more, before all others. */
    void addFirst(TransmitOperation operation) {
        operation.state = TransmitOperation.QUEUED;
        operation.sinceNs = context.nowNs();
        putFirst(operation);
    }

    private void putFirst(TransmitOperation operation) {
        pending.addFirst(operation);
        waiting++;
        waitingAccesses += operation.isRemote() ? 1 : 0;
    }

    void addAll(Set<TransmitOperation> operations) {
        pending.addTo(operations);
        owned.addTo(operations);
    }

    /**
     * Begins to send a payload in segments, as the peer requested; returns false if the operation was not announced.
     */
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

    /** Sends a bounded number of segments; stops when the channel is full. */
    int flushSegments(PeerSends to, SegmentChannel channel) {
        int budget = context.settings().segmentBurst();
        int work = 0;
        TransmitOperation operation = owned.first();
        while (operation != null && work < budget) {
            TransmitOperation next = operation.next;
            while (operation.state == TransmitOperation.SEGMENTING && work < budget) {
                int length = (int) Math.min(
                    operation.segmentEnd - operation.sent, channel.limits().segmentLimitBytes());
                if (channel.sendSegment(operation, length, to.grant()) < 0) {
                    to.grantNotSent();
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
     * Returns whether a message without credit may be announced. A short message may be announced only if the peer has
     * taken everything that was sent and has still not granted enough, because messages wait there for receives. Until
     * then a grant is in flight, and waiting for it costs less than fetching an announced payload.
     *
     * @return true to announce it now; false to wait for credit and ask again.
     */
    boolean mayAnnounce(PeerSends to, long length) {
        if (!canAnnounce()) {
            return false;
        }
        if (!to.isShort(length)) {
            return true;
        }
        // a wire without frames has no credit that a short message could lack
        FrameChannel channel = to.frames();
        if (!awaitsCredit) {
            awaitsCredit = true;
            awaitsCreditSinceNs = context.nowNs();
            timeWait();
            to.peer().traffic().awaitsCredit();
            channel.markSent();
        }
        // a stopped peer takes nothing, and must not keep the duty cycle spinning
        return channel.isMarkTaken() || context.nowNs() - awaitsCreditSinceNs > MAX_CREDIT_WAIT_NS;
    }

    /** The peer has granted credit; returns true if a send is queued. */
    boolean onCredit() {
        awaitsCredit = false;
        return !isClear();
    }

    /** Begins queued sends in order; stops when credit, announcements or space in the channel are used up. */
    int flushPending(PeerSends to) {
        int work = 0;
        while (!pending.isEmpty() && to.isUp()) {
            TransmitOperation operation = pending.first();
            if (isFenced(operation) || mustWait(operation)) {
                // the end of each earlier operation schedules this again
                break;
            }
            if (mustWaitForPeer(to, operation)) {
                if (canAnnounce()) {
                    // the peer grants credit or takes what was sent
                    to.scheduleUnlessNotified();
                    clearBackPressure();
                } else {
                    showBackPressure(to);
                }
                return work;
            }
            long sampledNs = operation.sampledNs;
            remove(operation);
            if (isWaiting) {
                endWait(to);
            }
            if (!sender.begin(to, operation)) {
                operation.sampledNs = sampledNs;
                putFirst(operation);
                to.scheduleUnlessNotified();
                return work;
            }
            if (sampledNs != 0) {
                context.stages().record(Stage.ENGINE_TO_WIRE, System.nanoTime() - sampledNs);
            }
            work++;
        }
        clearBackPressure();
        return work;
    }

    private boolean mustWaitForPeer(PeerSends to, TransmitOperation operation) {
        if (AcknowledgedSends.isLent(to, operation)) {
            return !canAnnounce();
        }
        return !operation.isRemote() && !to.canSendEager(operation.length) && !mayAnnounce(to, operation.length);
    }

    /** Shows back-pressure by the peer in a counter whose label names both endpoints. */
    private void showBackPressure(PeerSends to) {
        if (backPressureCounter == 0) {
            backPressureCounter = context.openWaitCounter(to.peer(), WaitLabel.CREDIT);
            to.peer().traffic().awaitsCredit();
            timeWait();
            context.onCreditWaitBegan(to.peer(), waiting);
        }
        UnsafeApi.putLongRelease(null, backPressureCounter, waiting);
    }

    private void timeWait() {
        if (!isWaiting) {
            isWaiting = true;
            // the time of the cycle is too old for short waits
            waitingSinceNs = System.nanoTime();
        }
    }

    private void endWait(PeerSends to) {
        isWaiting = false;
        long ns = System.nanoTime() - waitingSinceNs;
        if (ns >= LEAST_WAIT_NS) {
            context.onCreditWaitEnded(to.peer(), ns, waiting);
        }
    }

    private void clearBackPressure() {
        if (backPressureCounter != 0) {
            context.closeCounter(backPressureCounter);
            backPressureCounter = 0;
        }
    }

    /**
     * Hands all sends to the outbox of another way to the same endpoint, in their order. None has begun.
     *
     * @param other gets them behind its own.
     */
    void moveTo(Outbox other, PeerSends to) {
        while (!pending.isEmpty()) {
            TransmitOperation operation = pending.first();
            long sampledNs = operation.sampledNs;
            remove(operation);
            operation.sampledNs = sampledNs;
            operation.peer = to;
            other.pending.addLast(operation);
            other.waiting++;
            other.waitingAccesses += operation.isRemote() ? 1 : 0;
        }
        isWaiting = false;
        clearBackPressure();
    }

    void failAll(int errno) {
        while (!owned.isEmpty()) {
            TransmitOperation operation = owned.first();
            disown(operation);
            sender.fail(operation, errno);
        }
        while (!pending.isEmpty()) {
            TransmitOperation operation = pending.first();
            remove(operation);
            sender.fail(operation, errno);
        }
        isWaiting = false;
        clearBackPressure();
    }

    void clear() {
        pending.clear();
        waiting = 0;
        waitingAccesses = 0;
        accesses = 0;
        reads = 0;
        freeReads = 0;
        barriers = 0;
        fetches = 0;
        owned.clear();
        isWaiting = false;
        clearBackPressure();
    }
}
