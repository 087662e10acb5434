package org.jfabric.simulation;

import org.agrona.DirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.Subscription;

/** A reader of a recorded group. It continues where it was, or begins anew. */
final class RecordedReader extends BurstReader {
    private static final long LONGEST_PAUSE_NS = 4_000_000;
    private static final long AGAIN_NS = 200_000;
    private static final long POLL_NS = 10_000;

    private final RecordedLedger ledger;
    private int opening;
    /** Whether it has a place to go on from. */
    private boolean hasPlace;
    private int term;
    /** Of the last message since it has begun anew; 0 for none. */
    private int lastTerm;
    private long last;

    RecordedReader(Node node, int number, RecordedLedger ledger) {
        super(node, number, POLL_NS, LONGEST_PAUSE_NS);
        this.ledger = ledger;
    }

    @Override
    boolean isActive() {
        return ledger.isActive;
    }

    @Override
    boolean isClosing() {
        return ledger.isClosing;
    }

    @Override
    void onPolled() {
        term = subscription.next().term();
    }

    @Override
    int open() {
        Subscription.Builder builder = Subscription.on(node.fabric(), RecordedTraffic.GROUP);
        boolean isAnew = !hasPlace || ledger.isActive && random.nextInt(8) == 0;
        boolean isOldest = isAnew && random.nextInt(3) != 0;
        if (!isAnew) {
            builder.from(ledger.place(term, next));
        } else if (isOldest) {
            builder.fromOldest();
        }
        try {
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

    @Override
    void onEnd(int errno) {
        boolean mayDie = node.simulation().harm().explains(0, node.index());
        Account.require(errno == FabricErrno.ESHUTDOWN || mayDie
            && (errno == FabricErrno.ECONNRESET || errno == FabricErrno.EIO), this + " has ended with "
            + FabricErrno.name(errno));
        if (errno == FabricErrno.ESHUTDOWN) {
            ledger.onLeft(this, opening, next);
        }
        close();
    }

    @Override
    void close() {
        Account.require(subscription.next().equals(ledger.place(term, next)), "next is " + subscription.next());
        super.close();
    }

    /** Whether it has seen all, at the end. */
    boolean isDone() {
        return isOpen() && next == ledger.end();
    }

    @Override
    void check(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        ledger.check(buffer, offset, length, header, lastTerm == 0 ? header.term() : lastTerm, last);
        ledger.onSeen(header);
        lastTerm = header.term();
        last = next;
    }

    @Override
    void checkGap(long first, long lastLost) {
        ledger.checkGap(first, lastLost, term);
    }
}
