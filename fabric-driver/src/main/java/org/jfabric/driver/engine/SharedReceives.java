package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * The receives of a shared receive context: a message to any endpoint that is bound to it takes one (fi_endpoint(3),
 * Shared Contexts). The entry goes to the queue of that endpoint.
 *
 * <p>When a receive is posted it is not known in which queue its entry will be, so the client reserves no slot. A
 * message takes a slot of the driver's quota in its endpoint's queue before it takes a receive. Without a free slot it
 * stays unexpected although a receive accepts it, and so do all later messages to that endpoint, so that none overtakes
 * another. Messages to the other endpoints are not held back.
 *
 * <p>A receive that ends without a message, because it is cancelled or its buffer is not registered, has its entry in
 * the queue of the endpoint that was bound first; without any endpoint it has none.
 *
 * <p>Owner: progress agent.
 */
final class SharedReceives extends ReceiveMode {
    private final OrdinaryReceives ordinary;
    private final ReceivePool pool;
    private final WaitingMessages waiting;
    private final Sources sources;
    private final Peeks peeks;
    private final List<Bound> all = new ArrayList<>();
    /** Ended without a message; their entries wait for a slot. */
    private final List<ReceiveOperation> unreported = new ArrayList<>();
    /** Peeks and claims for whose entries there is no slot. */
    private final List<Postponed> postponed = new ArrayList<>();
    private boolean matching;

    SharedReceives(
        OrdinaryReceives ordinary, ReceivePool pool, EndedReceives ends, WaitingMessages waiting, Sources sources,
        Peeks peeks) {
        super(ends);
        this.ordinary = ordinary;
        this.pool = pool;
        this.waiting = waiting;
        this.sources = sources;
        this.peeks = peeks;
    }

    Bound bind(
        ReceiveEntries entries, LongPredicate valid, Supplier<List<PeerReceives>> peers, boolean isSelective,
        boolean mayOverrun) {
        Bound bound = new Bound(entries, valid, peers, isSelective, mayOverrun);
        all.add(bound);
        sources.valid(all.getFirst().valid);
        return bound;
    }

    /** Unbinds an endpoint whose peers are closed: its messages are dropped, the receives stay. */
    void unbind(Bound bound) {
        waiting.drop(bound);
        all.remove(bound);
        bound.quota.close(bound, bound.slots, bound.blocked);
        bound.slots = 0;
        bound.blocked = false;
        bound.closed = true;
        sources.valid(all.isEmpty() ? null : all.getFirst().valid);
        report();
        repeat();
    }

    List<PeerReceives> peers() {
        List<PeerReceives> peers = new ArrayList<>();
        all.forEach(bound -> peers.addAll(bound.peers.get()));
        return peers;
    }

    @Override
    void post(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        if (!ordinary.accept(receive, srcAddr, tag, ignore)) {
            return;
        }
        if (receive.isBuffer()) {
            ends.fail(receive, 0, FabricErrno.EBADFLAGS);
            return;
        }
        TagMatcher matcher = waiting.matcher(receive.flags);
        StoredMessage message;
        do {
            message = matcher.unexpectedCount() == 0 ? null
                : (StoredMessage) matcher.peek(receive.tag(), receive.ignore(), receive.source());
        } while (message != null && waiting.holdBack(message));
        if (message == null) {
            matcher.post(receive);
        } else if (message.from.bound().takeSlot()) {
            matcher.removeUnexpected(message);
            waiting.deliver(receive, message);
        } else {
            // perhaps it accepts a message to another endpoint, too
            matcher.post(receive);
            match();
        }
    }

    @Override
    void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        StoredMessage message = peeks.target(receive, srcAddr, tag, ignore);
        Bound bound = reporter(message == null ? null : message.from);
        if (bound == null) {
            ordinary.peek(receive, srcAddr, tag, ignore);
        } else if (!bound.takeSlotOrBlock()) {
            receive.state = ReceiveState.POSTED;
            postponed.add(new Postponed(receive, receive.id, srcAddr, tag, ignore));
        } else {
            int held = bound.slots;
            ordinary.peek(receive, srcAddr, tag, ignore);
            if (bound.slots == held && (receive.state == ReceiveState.FREE || unreported.contains(receive))) {
                // it has ended without a message, which takes a slot by itself, now or when there is one
                bound.giveBackSlot();
            }
        }
    }

    /** Executes the peeks that had to wait; those for which there is still no slot wait again. */
    private int repeat() {
        int count = postponed.size();
        for (int i = 0; i < count; i++) {
            Postponed next = postponed.removeFirst();
            if (next.receive.id == next.id) {
                peek(next.receive, next.srcAddr, next.tag, next.ignore);
            }
        }
        return count - postponed.size();
    }

    /** The endpoint whose queue gets an entry: that of the message, or else the first one; null if there is none. */
    private Bound reporter(PeerReceives from) {
        return from != null && !from.bound().closed ? from.bound() : all.isEmpty() ? null : all.getFirst();
    }

    @Override
    ReceiveOperation arrive(PeerReceives from, long flags, long tag, long length) {
        Bound bound = from.bound();
        if (bound.takeSlot()) {
            ReceiveOperation receive = ordinary.arrive(from, flags, tag, length);
            if (receive == null) {
                bound.giveBackSlot();
            }
            return receive;
        }
        boolean isTagged = (flags & Flags.TAGGED) != 0;
        if (waiting.matcher(flags).findPosted(isTagged ? tag : 0, from.peer().source()) != null) {
            bound.block();
        }
        return null;
    }

    @Override
    void complete(ReceiveOperation receive) {
        receive.from.bound().complete(receive);
    }

    @Override
    void found(ReceiveOperation peek, long buf) {
        peek.from.bound().found(peek, buf);
    }

    @Override
    void fail(ReceiveOperation receive, long placed, int errno) {
        Bound bound = reporter(receive.from);
        if (bound == null) {
            receive.reported = true;
        } else {
            bound.fail(receive, placed, errno);
        }
    }

    @Override
    void release(ReceiveOperation receive) {
        ordinary.release(receive);
    }

    /** Ends a receive that has no message; it is in no matcher. */
    @Override
    void cancel(ReceiveOperation receive, int errno) {
        if (all.isEmpty() || all.getFirst().takeSlot()) {
            ends.reportFailure(receive, 0, errno);
        } else if (!unreported.contains(receive)) {
            receive.endErrno = errno;
            receive.state = ReceiveState.POSTED;
            unreported.add(receive);
            all.getFirst().block();
        }
    }

    @Override
    public int retry() {
        return match();
    }

    @Override
    void recover() {
        matching = false;
        unreported.removeIf(receive -> receive.state == ReceiveState.FREE || receive.reported);
        postponed.removeIf(next -> next.receive.id != next.id);
        for (Bound bound : all) {
            bound.recover();
        }
    }

    /** Matches the waiting messages again, the oldest first; those without a free slot stay. */
    private int match() {
        if (matching) {
            return 0;
        }
        matching = true;
        for (Bound bound : all) {
            bound.unblock();
        }
        int matched = report() + repeat() + match(waiting.tagged()) + match(waiting.untagged());
        matching = false;
        return matched;
    }

    private int match(TagMatcher matcher) {
        int matched = 0;
        StoredMessage message = (StoredMessage) matcher.firstUnexpected();
        while (message != null && matcher.postedCount() != 0) {
            StoredMessage next = (StoredMessage) matcher.nextUnexpected(message);
            long nextSequence = next == null ? 0 : next.sequence();
            ReceiveOperation receive = (ReceiveOperation) matcher.findPosted(message.tag(), message.source());
            if (receive != null && !waiting.holdBack(message) && message.from.bound().takeSlotOrBlock()) {
                matcher.cancel(receive);
                matcher.removeUnexpected(message);
                waiting.deliver(receive, message);
                matched++;
                if (next != null && (!next.isWaiting() || next.sequence() != nextSequence)) {
                    // its peer went down meanwhile, and the record may be in use again
                    next = (StoredMessage) matcher.firstUnexpected();
                }
            }
            message = next;
        }
        return matched;
    }

    /** Writes the entries of receives without a message for which there are slots now. */
    private int report() {
        int reported = 0;
        while (!unreported.isEmpty() && (all.isEmpty() || all.getFirst().takeSlotOrBlock())) {
            ReceiveOperation receive = unreported.removeFirst();
            ends.reportFailure(receive, 0, receive.endErrno);
            reported++;
        }
        return reported;
    }

    /** A peek with its arguments; the id is that of the record's use. */
    private record Postponed(ReceiveOperation receive, long id, long srcAddr, long tag, long ignore) {
    }

    /** One endpoint that is bound to the context: where the entries of its messages go. */
    final class Bound implements QuotaMember {
        private final ReceiveEntries entries;
        private final LongPredicate valid;
        private final Supplier<List<PeerReceives>> peers;
        private final DriverQuota quota;
        private final boolean isSelective;
        private final boolean mayOverrun;
        private boolean blocked;
        private boolean closed;
        /** Slots of the driver's quota that are taken for receives that have not ended. */
        private int slots;

        Bound(
            ReceiveEntries entries, LongPredicate valid, Supplier<List<PeerReceives>> peers, boolean isSelective,
            boolean mayOverrun) {
            this.entries = entries;
            this.valid = valid;
            this.peers = peers;
            this.isSelective = isSelective;
            this.mayOverrun = mayOverrun;
            this.quota = entries.driverQuota();
            quota.open(this);
        }

        @Override
        public int retry() {
            return blocked && (mayOverrun || quota.hasFree()) ? match() : 0;
        }

        /** Writes the entries of the endpoint. */
        ReceiveEntries entries() {
            return entries;
        }

        /** Takes the slot of a message's entry; false if none is free, or if earlier messages wait for one. */
        private boolean takeSlot() {
            if (blocked || !mayOverrun && !quota.take()) {
                return false;
            }
            slots++;
            return true;
        }

        private boolean takeSlotOrBlock() {
            boolean isTaken = takeSlot();
            if (!isTaken) {
                block();
            }
            return isTaken;
        }

        private void giveBackSlot() {
            slots--;
            if (!mayOverrun) {
                quota.giveBack(1);
            }
        }

        private void block() {
            if (!blocked) {
                blocked = true;
                quota.waits();
            }
        }

        private void unblock() {
            if (blocked) {
                blocked = false;
                quota.waitsNoMore();
            }
        }

        private void complete(ReceiveOperation receive) {
            if ((receive.flags & Flags.DISCARD) != 0 && receive.endErrno == 0) {
                found(receive, 0);
                return;
            }
            receive.flags = receive.flags & ~Flags.DISCARD | (isSelective ? 0 : Flags.COMPLETION);
            if (!entries.hasEntry(receive)) {
                giveBackSlot();
            } else {
                useSlot();
            }
            entries.completeShared(receive);
        }

        private void found(ReceiveOperation peek, long buf) {
            useSlot();
            entries.foundShared(peek, buf);
        }

        private void fail(ReceiveOperation receive, long placed, int errno) {
            useSlot();
            entries.errorOfShared(receive, placed, errno);
        }

        private void useSlot() {
            slots--;
            if (!mayOverrun) {
                quota.use();
            }
        }

        /** The receives that were being processed have ended; counts the slots again. */
        private void recover() {
            int inUse = 0;
            for (int i = 0, size = pool.size(); i < size; i++) {
                ReceiveOperation receive = pool.get(i);
                boolean isMatched = receive.state != ReceiveState.FREE && receive.from != null && !receive.reported;
                inUse += isMatched && receive.from.bound() == this ? 1 : 0;
            }
            if (!mayOverrun) {
                quota.giveBack(slots - inUse);
            }
            slots = inUse;
            // the fault may have interrupted the matching of waiting messages
            block();
        }
    }
}
