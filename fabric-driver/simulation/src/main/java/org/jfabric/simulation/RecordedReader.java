package org.jfabric.simulation;

import java.util.SplittableRandom;
import org.agrona.DirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/**
 * A reader of a recorded group, which has stored its next position whenever it is killed. It reads in bursts, leaves
 * now and then, and continues where it was, or begins anew.
 */
final class RecordedReader implements StreamListener {
    private static final int LEAVES = 2048;
    private static final int PAUSES = 64;
    private static final long LONGEST_PAUSE_NS = 4_000_000;
    private static final long AGAIN_NS = 200_000;
    /** A reader polls although nothing happens. */
    private static final long POLL_NS = 10_000;

    private final Node node;
    private final int number;
    private final RecordedLedger ledger;
    private final SplittableRandom random;
    private final int burst;
    private Subscription subscription;
    private int openedLife;
    private int opening;
    /** Whether it has a place to go on from. */
    private boolean hasPlace;
    private int term;
    private long next;
    /** Of the last message since it has begun anew; 0 for none. */
    private int lastTerm;
    private long last;
    private long idleUntilNs;

    RecordedReader(Node node, int number, RecordedLedger ledger) {
        this.node = node;
        this.number = number;
        this.ledger = ledger;
        random = node.random().split();
        burst = 1 << random.nextInt(6);
    }

    /** Makes a step; returns the work done. */
    int run() {
        Simulation simulation = node.simulation();
        if (subscription != null && openedLife != node.life()) {
            // it was killed with its process, and so are its descriptors
            subscription.close();
            subscription = null;
        }
        if (idleUntilNs > simulation.nanoTime() && ledger.isActive) {
            node.wakeAt(idleUntilNs);
            return 0;
        }
        if (subscription == null) {
            return ledger.isClosing ? 0 : open();
        }
        node.wakeAt(simulation.nanoTime() + POLL_NS);
        int result = subscription.poll(this, 1 + random.nextInt(burst));
        Account.require(subscription.position() == next, this + " is at " + subscription.position());
        term = subscription.next().term();
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            onEnd(-result);
            return 1;
        }
        if (ledger.isActive && random.nextInt(PAUSES) == 0) {
            idle(LONGEST_PAUSE_NS >> random.nextInt(10));
        }
        if (ledger.isActive && random.nextInt(LEAVES) == 0) {
            close();
        }
        return Math.max(0, result);
    }

    private void idle(long mostNs) {
        idleUntilNs = node.simulation().nanoTime() + 1 + random.nextLong(mostNs);
    }

    private int open() {
        Subscription.Builder builder = Subscription.on(node.fabric(), RecordedTraffic.GROUP);
        boolean isAnew = !hasPlace || ledger.isActive && random.nextInt(8) == 0;
        boolean isOldest = isAnew && random.nextInt(3) != 0;
        if (!isAnew) {
            builder.from(ledger.place(term, next));
        } else if (isOldest) {
            builder.fromOldest();
        }
        try {
            openedLife = node.life();
            opening = ledger.openings();
            long before = ledger.end();
            subscription = builder.open();
            node.simulation().note(isAnew ? "reads" : "reads on", node, number, subscription.position());
            long at = subscription.position();
            Account.require(isAnew || at == next, this + " was opened at " + at);
            Account.require(!isOldest || at == ledger.oldest(), at + " is not the oldest one, " + ledger.oldest());
            Account.require(!isAnew || isOldest || at >= 0 && at <= Math.max(before, ledger.end()) + 1,
                at + " is not what comes next, " + ledger.end());
            if (isAnew) {
                next = at;
                lastTerm = 0;
            }
            hasPlace = true;
            term = subscription.next().term();
        } catch (FabricException refusal) {
            subscription = null;
            node.simulation().note("refused", node, number, refusal.errno());
            onRefused(refusal, isAnew);
        }
        return 1;
    }

    private void onRefused(FabricException refusal, boolean isAnew) {
        ledger.refused++;
        idle(AGAIN_NS);
        var replaced = isAnew ? null : ledger.replaced(term);
        if (replaced != null && replaced.position() < next && refusal.errno() == FabricErrno.EINVAL) {
            // the log has lost what was seen: the application goes back
            Account.require(refusal.getMessage().contains("from position " + replaced.position()),
                "replaced at " + replaced + ", and was refused with " + refusal);
            term = replaced.term();
            next = replaced.position();
            lastTerm = 0;
            return;
        }
        boolean isAway = refusal.errno() == FabricErrno.ECONNREFUSED || refusal.errno() == FabricErrno.EHOSTUNREACH
            || refusal.errno() == FabricErrno.ECONNRESET || refusal.errno() == FabricErrno.ETIMEDOUT;
        if (!isAway && !node.isKilled() && !node.faults().explains(refusal.errno())) {
            throw new AssertionError(this + " was refused from " + (isAnew ? "anew" : term + ", " + next), refusal);
        }
    }

    private void onEnd(int errno) {
        node.simulation().note("end", node, number, errno);
        boolean mayDie = node.simulation().harm().explains(0, node.index());
        Account.require(errno == FabricErrno.ESHUTDOWN || mayDie
            && (errno == FabricErrno.ECONNRESET || errno == FabricErrno.EIO), this + " has ended with "
            + FabricErrno.name(errno));
        if (errno == FabricErrno.ESHUTDOWN) {
            ledger.onLeft(this, opening, next);
        }
        close();
    }

    void close() {
        Account.require(subscription.next().equals(ledger.place(term, next)), "next is " + subscription.next());
        subscription.close();
        subscription = null;
        idle(LONGEST_PAUSE_NS >> random.nextInt(10));
    }

    /** Whether it has seen all, at the end. */
    boolean isDone() {
        return subscription != null && openedLife == node.life() && next == ledger.end();
    }

    boolean isOpen() {
        return subscription != null && openedLife == node.life();
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        Account.require(header.position() == next, this + " got " + header.position());
        ledger.check(buffer, offset, length, header, lastTerm == 0 ? header.term() : lastTerm, last);
        ledger.onSeen(header);
        lastTerm = header.term();
        last = next;
        next++;
        node.simulation().note("message", node, number, last);
    }

    @Override
    public void onGap(long firstPosition, long lastPosition) {
        node.simulation().note("gap", node, firstPosition, lastPosition);
        Account.require(firstPosition == next && lastPosition >= firstPosition,
            this + " got a gap from " + firstPosition + " to " + lastPosition);
        next = lastPosition + 1;
        ledger.checkGap(firstPosition, lastPosition, term);
    }

    @Override
    public String toString() {
        return "reader " + number + " of " + node + " before " + next;
    }
}
