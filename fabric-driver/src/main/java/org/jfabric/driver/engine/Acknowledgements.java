package org.jfabric.driver.engine;

import org.jfabric.Flags;

import java.util.Arrays;

/**
 * What one peer has yet to be told of its own messages: levels that they have reached, and the answer to its fence.
 *
 * <p>An acknowledgement goes at once if the channel takes it; until then it waits here, in order, and the peer is
 * looked at in each cycle until all have gone. They are as many at most as the peer has sends outstanding. Memory grows
 * to the greatest number that ever waited.
 *
 * <p>Owner: progress agent.
 */
final class Acknowledgements {
    /** Twice what the greatest tx_attr.size allows: one for the message and one for its fence. */
    private static final int LIMIT = 1 << 17;
    private static final int WORDS = 2;

    private final Peer peer;
    /** Pairs of operation id and (levels, errno); a ring whose length is a power of two. */
    private long[] waiting = new long[0];
    private int head;
    private int count;
    private long fenceOperation;
    private int fenceRemaining;
    private int fenceErrno;

    Acknowledgements(Peer peer) {
        this.peer = peer;
    }

    /**
     * Tells the peer what its message has reached; to a peer that is gone nothing is told.
     *
     * @param operation the peer's id of the operation.
     * @param levels    reached.
     * @param errno     0, or why they never will be.
     */
    void send(long operation, long levels, int errno) {
        if (!peer.isUp()) {
            return;
        }
        if (count * WORDS == waiting.length) {
            grow();
        }
        int index = (head + count) * WORDS & (waiting.length - 1);
        waiting[index] = operation;
        waiting[index + 1] = levels << Integer.SIZE | errno;
        count++;
        // noted first: if an access to shared memory fails meanwhile, it goes when all peers are looked at afterwards
        if (count > 1 || !flush()) {
            peer.schedule();
        }
    }

    /**
     * The peer asks to be told when messages that it sent before are matched.
     *
     * @param operation its id of the fenced operation.
     * @param messages  how many are not matched yet, each of which will call {@link #leftFence}.
     */
    void fence(long operation, int messages) {
        if (messages == 0) {
            send(operation, Flags.FENCE, 0);
        } else if (fenceRemaining != 0) {
            peer.violation("fenced an operation before its last fence was answered");
        } else {
            fenceOperation = operation;
            fenceRemaining = messages;
            fenceErrno = 0;
        }
    }

    /**
     * A message that the fence waits for was matched, or is lost.
     *
     * @param errno 0, or why it is lost.
     */
    void leftFence(int errno) {
        if (errno != 0) {
            fenceErrno = errno;
        }
        if (--fenceRemaining == 0) {
            send(fenceOperation, Flags.FENCE, fenceErrno);
        }
    }

    /** Sends what waits; false if the channel was full before all had gone. */
    boolean flush() {
        while (count != 0) {
            int index = head * WORDS;
            long facts = waiting[index + 1];
            if (!trySend(waiting[index], facts >>> Integer.SIZE, (int) facts)) {
                if (count > LIMIT) {
                    peer.violation("does not take the acknowledgements of more messages than it may have outstanding");
                }
                return false;
            }
            if (count == 0) {
                // the channel went down inside of the call, and with it what waited
                return true;
            }
            head = head + 1 & waiting.length / WORDS - 1;
            count--;
        }
        return true;
    }

    /** The channel is gone, and with it whom to tell. */
    void clear() {
        head = 0;
        count = 0;
        fenceRemaining = 0;
    }

    private boolean trySend(long operation, long levels, int errno) {
        if (peer.frames().acknowledge(operation, levels, errno, peer.grant()) < 0) {
            peer.grantNotSent();
            return false;
        }
        return true;
    }

    private void grow() {
        int length = waiting.length;
        long[] longer = Arrays.copyOf(waiting, Math.max(16 * WORDS, length * 2));
        int fromHead = length - head * WORDS;
        System.arraycopy(waiting, head * WORDS, longer, 0, fromHead);
        System.arraycopy(waiting, 0, longer, fromHead, head * WORDS);
        waiting = longer;
        head = 0;
    }
}
