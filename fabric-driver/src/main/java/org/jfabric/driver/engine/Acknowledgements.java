package org.jfabric.driver.engine;

import org.jfabric.info.Flags;

/**
 * The acknowledgements that are still to be sent to one peer: levels that its messages have reached, and the answer to
 * its fence.
 *
 * <p>An acknowledgement is sent immediately if the channel accepts it. Otherwise it is queued here, in order, and the
 * peer is polled in each duty cycle until the queue is empty. The queue holds at most one acknowledgement and one fence
 * answer for each outstanding send of the peer. The memory grows to the greatest number ever queued and does not
 * shrink.
 *
 * <p>Owner: progress agent.
 */
final class Acknowledgements {
    /** Twice what the greatest tx_attr.size allows: one for the message and one for its fence. */
    private static final int LIMIT = 1 << 17;

    private final PeerReceives from;
    /** Pairs of operation id and (levels, errno). */
    private final GrowingQueue waiting = new GrowingQueue(2);
    private long fenceOperation;
    private int fenceRemaining;
    private int fenceErrno;

    Acknowledgements(PeerReceives from) {
        this.from = from;
    }

    /**
     * Acknowledges a message of the peer. Does nothing if the peer is down.
     *
     * @param errno     0, or a positive fabric errno if they will never be reached.
     */
    void send(long operation, long levels, int errno) {
        if (!from.peer().isUp()) {
            return;
        }
        int at = waiting.add();
        waiting.set(at, operation);
        waiting.set(at + 1, levels << Integer.SIZE | errno);
        // queued first: if an access to shared memory fails now, the recovery flushes all peers and sends it
        if (waiting.count() > 1 || !flush()) {
            from.peer().schedule();
        }
    }

    /**
     * Answers the peer's fence once the messages that it sent before are matched.
     *
     * @param messages  number of messages that are not matched yet; {@link #leftFence} is called for each.
     */
    void fence(long operation, int messages) {
        if (messages == 0) {
            send(operation, Flags.FENCE, 0);
        } else if (fenceRemaining != 0) {
            from.peer().violation("fenced an operation before its last fence was answered");
        } else {
            fenceOperation = operation;
            fenceRemaining = messages;
            fenceErrno = 0;
        }
    }

    /**
     * Counts one message that the fence waits for as matched, or as lost.
     *
     * @param errno 0, or the positive fabric errno of the loss.
     */
    void leftFence(int errno) {
        if (errno != 0) {
            fenceErrno = errno;
        }
        if (--fenceRemaining == 0) {
            send(fenceOperation, Flags.FENCE, fenceErrno);
        }
    }

    /** Sends the queued acknowledgements; returns false if the channel became full before the queue was empty. */
    boolean flush() {
        while (waiting.count() != 0) {
            int at = waiting.first();
            long facts = waiting.get(at + 1);
            if (!trySend(waiting.get(at), facts >>> Integer.SIZE, (int) facts)) {
                if (waiting.count() > LIMIT) {
                    from.peer().violation(
                        "does not take the acknowledgements of more messages than it may have outstanding");
                }
                return false;
            }
            if (waiting.count() == 0) {
                // the channel went down inside the call, which cleared the queue
                return true;
            }
            waiting.removeFirst();
        }
        return true;
    }

    /** Drops everything that is queued, because the channel is down. */
    void clear() {
        waiting.clear();
        fenceRemaining = 0;
    }

    private boolean trySend(long operation, long levels, int errno) {
        if (from.peer().frames().acknowledge(operation, levels, errno, from.grant()) < 0) {
            from.grantNotSent();
            return false;
        }
        return true;
    }
}
