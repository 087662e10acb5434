package org.jfabric.simulation;

import java.util.SplittableRandom;
import org.agrona.DirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/**
 * A reader of a group, which has stored its next position whenever it is killed. It reads in bursts, and leaves now and
 * then.
 */
abstract class BurstReader implements StreamListener {
    private static final int LEAVES = 2048;
    private static final int PAUSES = 64;

    final Node node;
    final int number;
    final SplittableRandom random;
    private final int burst;
    private final long pollNs;
    private final long longestPauseNs;
    Subscription subscription;
    private int openedLife;
    /** Its errno, if the last poll has said that the group has ended: another poll might continue it. */
    private int ended;
    /** Position of the next message. */
    long next;
    private long idleUntilNs;

    /**
     * A reader without a subscription.
     *
     * @param pollNs it polls so often although nothing happens.
     */
    BurstReader(Node node, int number, long pollNs, long longestPauseNs) {
        this.node = node;
        this.number = number;
        this.pollNs = pollNs;
        this.longestPauseNs = longestPauseNs;
        random = node.random().split();
        burst = 1 << random.nextInt(6);
    }

    /** Whether messages are written, so that it may rest and leave. */
    abstract boolean isActive();

    /** Whether its group ends for good. */
    abstract boolean isClosing();

    /** Opens the subscription, if that is possible; returns the work done. */
    abstract int open();

    /** Something was read, or could not be. */
    abstract void onPolled();

    /** The group has ended. */
    abstract void onEnd(int errno);

    abstract void check(DirectBuffer buffer, int offset, int length, StreamHeader header);

    abstract void checkGap(long first, long last);

    /** Makes a step; returns the work done. */
    int run() {
        Simulation simulation = node.simulation();
        if (subscription != null && openedLife != node.life()) {
            forget();
        }
        if (idleUntilNs > simulation.nanoTime() && isActive()) {
            node.wakeAt(idleUntilNs);
            return 0;
        }
        if (subscription == null) {
            if (isClosing()) {
                return 0;
            }
            openedLife = node.life();
            ended = 0;
            return open();
        }
        node.wakeAt(simulation.nanoTime() + pollNs);
        int result = poll();
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            node.simulation().note("end", node, number, -result);
            onEnd(-result);
            return 1;
        }
        if (isActive() && random.nextInt(PAUSES) == 0) {
            idle(longestPauseNs >> random.nextInt(10));
        }
        if (isActive() && random.nextInt(LEAVES) == 0) {
            close();
        }
        return Math.max(0, result);
    }

    /** Reads, without another call. */
    int poll() {
        if (ended != 0) {
            return -ended;
        }
        int result = subscription.poll(this, 1 + random.nextInt(burst));
        ended = result < 0 && result != -FabricErrno.EAGAIN ? -result : 0;
        Account.require(subscription.position() == next, this + " is at " + subscription.position());
        onPolled();
        return result;
    }

    /** Reads while another node waits, unless it rests. */
    void pollOnly() {
        if (isOpen() && idleUntilNs <= node.simulation().nanoTime()) {
            poll();
        }
    }

    /** It was killed with its process, and so are its descriptors. */
    private void forget() {
        if (!(node instanceof ClientNode)) {
            subscription.close();
        }
        subscription = null;
    }

    void idle(long mostNs) {
        idleUntilNs = node.simulation().nanoTime() + 1 + random.nextLong(mostNs);
    }

    void close() {
        subscription.close();
        subscription = null;
        idle(longestPauseNs >> random.nextInt(10));
    }

    boolean isOpen() {
        return subscription != null && openedLife == node.life();
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        Account.require(header.position() == next, this + " got " + header.position());
        check(buffer, offset, length, header);
        node.simulation().note("message", node, number, next);
        next++;
    }

    @Override
    public void onGap(long firstPosition, long lastPosition) {
        node.simulation().note("gap", node, firstPosition, lastPosition);
        Account.require(firstPosition == next && lastPosition >= firstPosition,
            this + " got a gap from " + firstPosition + " to " + lastPosition);
        next = lastPosition + 1;
        checkGap(firstPosition, lastPosition);
    }

    @Override
    public String toString() {
        return "reader " + number + " of " + node + " before " + next + (isOpen() ? "" : ", closed");
    }
}
