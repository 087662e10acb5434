package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.client.LentMessages;
import org.jfabric.client.LentRing;
import org.jfabric.client.MessageLender;
import org.jfabric.client.PeekFlags;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.layout.Words;

/**
 * Receives into the endpoint's own slab (FI_BUFFERED_RECV of fi_msg(3)): untagged messages need no receive, for
 * tagged ones a receive gives the tag and nothing else. Each message takes a cell, and its entry hands the cell out.
 *
 * <pre>
 *   free --- a message, whole or its begin ---> filling, ready --- its entry ---> out
 *    ^                                                                      | given back: the whole message was there
 *    |                                                                      | claimed: into a buffer of the client
 *    '----------------------------------------------------------------------' discarded
 * </pre>
 *
 * <p>A message that is not longer than the limit goes the same ways as one for an ordinary receive, with the cell as
 * its buffer; most untagged ones take a shorter way and need no record of a receive ({@link #takeWhole}). Of a longer
 * one only the begin goes there; the message itself is claimed in the matcher, as a peek does it, and stays in the
 * store or at its sender, with its credit, until it is fetched or discarded.
 *
 * <p>A plain untagged message may also be lent ({@link #lend}): it stays in the ring in which it came, and is shown by
 * the call that runs the cycle. It has no cell and no entry, and its bytes are credit for the sender at once.
 *
 * <p>Entries of untagged messages of one sender are written in the order of their arrival ({@link CellOrder}).
 *
 * <p><b>Holding back.</b> An untagged message takes a slot of the driver's share of the completion queue, a tagged one
 * uses that of its receive. Without a cell, or without a slot, the message stays unexpected, and so do all later ones,
 * so that none passes another; receives that are posted meanwhile stand behind in the matcher. Longer messages wait
 * here for the end of the cycle too, because they have to be stored or announced first. All are matched anew, in the
 * order of their arrival, when cells came back or entries were read.
 *
 * <p>Owner: progress agent.
 */
final class BufferedReceives extends ReceiveMode {
    private final OrdinaryReceives ordinary;
    private final RegionTable regions;
    private final ReceivePool pool;
    private final ReceiveEntries entries;
    private final WaitingMessages waiting;
    private final Sources sources;
    private final TagMatcher tagged;
    private final TagMatcher untagged;
    private final DriverShare share;
    private final SlabCells cells;
    private final boolean mayOverrun;
    private final int limitBytes;
    private final int leastBytes;
    /** Untagged messages wait that could be taken if there is room. */
    private boolean untaggedWait;
    /** Tagged messages wait that could be taken if there is a cell: receives accept them. */
    private boolean taggedWait;
    /** The share knows that something waits for room in its queue or in the slab. */
    private boolean told;
    private boolean matching;
    /** Who goes first takes what there is: in turn, so that neither kind waits for ever. */
    private boolean taggedFirst;
    /** Each of them has a slot of the driver's share. */
    private final CellOrder order = new CellOrder();

    BufferedReceives(
        OrdinaryReceives ordinary, EndpointSettings settings, RegionTable regions, ReceivePool pool,
        ReceiveEntries entries, EndedReceives ends, WaitingMessages waiting, Sources sources) {
        super(ends);
        this.ordinary = ordinary;
        this.regions = regions;
        this.pool = pool;
        this.entries = entries;
        this.waiting = waiting;
        this.sources = sources;
        this.tagged = waiting.tagged();
        this.untagged = waiting.untagged();
        this.share = entries.driverShare();
        ReceiveSlab slab = settings.slab();
        this.cells = new SlabCells(slab, entries.completionIndex());
        this.mayOverrun = settings.mayOverrun();
        this.limitBytes = slab.limitBytes();
        this.leastBytes = slab.leastBytes();
        share.open(this);
    }

    /**
     * Puts an untagged message that is here as a whole straight into a cell and hands it out, without a record of its
     * own: most messages, when nothing waits and nothing is on its way into a cell.
     */
    @Override
    boolean takeWhole(Peer peer, long flags, long data, long address, int length) {
        if ((flags & Flags.TAGGED) != 0 || length > limitBytes || isHeldBack() || order.first() != null
            || !peer.entryOrder().isEmpty()) {
            return false;
        }
        if (flags == Flags.MSG && lend(peer, address, length)) {
            return true;
        }
        if (!cells.hasFree() || !mayOverrun && !share.hasFree()) {
            return false;
        }
        SlabCell cell = cells.take();
        Words.copy(address, cell.address, length);
        FaultPoint.pass();
        cell.set(peer, flags & ReceiveOperation.MESSAGE_BITS, 0, data, length);
        peer.passed(length);
        if (!mayOverrun) {
            share.takeAndUse();
        }
        show(cell, true);
        return true;
    }

    /** Leaves a message in the ring in which it came, for the call that runs this cycle. */
    private boolean lend(Peer peer, long address, int length) {
        LentMessages lent = entries.lentNow();
        FrameChannel frames = peer.frames();
        if (lent == null || frames == null) {
            return false;
        }
        LentRing ring = frames.lentRing();
        if (ring == null) {
            return false;
        }
        MessageLender lender = peer.lender();
        if (lender == null) {
            lender = new Lender(peer);
            peer.lender(lender);
        }
        if (!lent.lend(lender, ring, address, length, entries.source(peer))) {
            return false;
        }
        entries.lent();
        peer.passed(length);
        return true;
    }

    /** A lent message is to stay: it moves into a cell, as if it had come there; 0 if none is free. */
    private long keep(Peer peer, long address, int length) {
        if (!cells.hasFree()) {
            return 0;
        }
        SlabCell cell = cells.take();
        Words.copy(address, cell.address, length);
        FaultPoint.pass();
        cell.set(peer, Flags.MSG, 0, 0, length);
        cell.state = SlabCell.OUT;
        return cells.context(cell);
    }

    /** The receive has a cell for its buffer. */
    @Override
    ReceiveOperation arrive(Peer peer, long flags, long tag, long length) {
        boolean isTagged = (flags & Flags.TAGGED) != 0;
        ReceiveOperation posted = null;
        if (isTagged) {
            posted = (ReceiveOperation) tagged.findPosted(tag, peer.source());
            if (posted == null) {
                return null;
            }
        }
        // a longer one is in no list yet: its begin is shown once it is stored or announced
        if (isHeldBack() || length > limitBytes || !hasRoom(isTagged)) {
            hold(isTagged);
            return null;
        }
        return open(posted, peer, limitBytes);
    }

    /** Posts a tag: nothing else of the receive counts. An untagged one has no use. */
    @Override
    void post(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        int source = sources.find(srcAddr);
        receive.flags &= ~Flags.MULTI_RECV;
        if ((receive.flags & Flags.TAGGED) == 0) {
            ends.fail(receive, 0, FabricErrno.EOPNOTSUPP);
            return;
        } else if (source == TagMatcher.UNKNOWN_SOURCE) {
            ends.fail(receive, 0, FabricErrno.EINVAL);
            return;
        }
        receive.accept(tag, ignore, source);
        StoredMessage message = (StoredMessage) tagged.peek(receive.tag(), receive.ignore(), receive.source());
        if (message == null || isHeldBack() || !canTake(message, true)) {
            tagged.post(receive);
            if (message != null) {
                hold(true);
            }
            return;
        }
        take(tagged, message, receive);
    }

    /** The memory of a receive that claims nothing does not count. */
    @Override
    void postUnregistered(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        if ((receive.flags & PeekFlags.ANY) == 0) {
            post(receive, srcAddr, tag, ignore);
        } else {
            claim(receive, tag, false);
        }
    }

    @Override
    void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        claim(receive, tag, true);
    }

    /**
     * Fetches or discards the message under a context that an entry gave. A claim into memory that is not registered
     * ends with FI_EFAULT and gives the message up: its client knows no context any more under which to ask again.
     *
     * @param operation   not posted; memory of one piece is still to be attached.
     * @param slabContext from the entry.
     * @param isThere     false if its pieces are not registered.
     */
    private void claim(ReceiveOperation operation, long slabContext, boolean isThere) {
        // one message is received here, whatever else a broken client asks for
        operation.flags &= ~Flags.MULTI_RECV;
        SlabCell cell = cells.find(slabContext);
        if ((operation.flags & Flags.PEEK) != 0) {
            ends.fail(operation, 0, FabricErrno.EBADFLAGS);
            return;
        } else if (cell == null || ((cell.flags ^ operation.flags) & Flags.TAGGED) != 0) {
            ends.fail(operation, 0, FabricErrno.EINVAL);
            return;
        }
        boolean discards = (operation.flags & Flags.DISCARD) != 0;
        if (discards) {
            operation.endErrno = 0;
        } else if (!isThere || operation.pieces == null && !operation.attach(regions)) {
            operation.endErrno = FabricErrno.EFAULT;
            operation.flags |= Flags.DISCARD;
            discards = true;
        }
        if (cell.message != null) {
            StoredMessage message = cell.message;
            cells.give(cell);
            if (!discards) {
                message.flags |= Flags.CLAIM;
            }
            waiting.fetch(operation, message);
            return;
        }
        operation.message(
            cell.peer, discards ? cell.flags : cell.flags | Flags.CLAIM, cell.tag, cell.data, cell.length);
        if (!discards) {
            operation.place(0, cell.address, operation.placedBytes());
        }
        cells.give(cell);
        ends.end(operation);
    }

    /**
     * Takes back cells whose messages were used in place; a context that names none, or the begin of a message that is
     * still to be claimed or discarded, changes nothing.
     */
    @Override
    void giveBack(long[] contexts, int count) {
        for (int i = 0; i < count; i++) {
            SlabCell cell = cells.find(contexts[i]);
            if (cell != null && cell.message == null) {
                cells.give(cell);
            }
        }
    }

    @Override
    int retry() {
        if (matching || !isHeldBack()) {
            return 0;
        }
        int before = waiting.count();
        matching = true;
        matchIfRoom(taggedFirst);
        matchIfRoom(!taggedFirst);
        matching = false;
        if (isHeldBack()) {
            askAgain();
        } else if (told) {
            told = false;
            share.waitsNoMore();
        }
        int matched = Math.max(0, before - waiting.count());
        if (matched != 0) {
            taggedFirst = !taggedFirst;
        }
        return matched;
    }

    /** The message of a receive is in its cell, or its begin: hands the cell out, in its turn. */
    @Override
    void complete(ReceiveOperation operation) {
        SlabCell cell = operation.cell;
        cell.set(operation.peer, operation.messageFlags, operation.messageTag, operation.messageData,
            operation.messageLength);
        // from here on the cell alone stands for the message: its sender is told, whenever the turn of the entry comes
        operation.reported = true;
        if (operation.isOfDriver) {
            cell.state = SlabCell.READY;
            showReady(cell.peer);
        } else {
            // which message a tagged receive got is known by its tag: entries may come in any order
            show(cell, false);
        }
    }

    /** The message of a receive is lost: a tagged receive ends with an error, an untagged message leaves no trace. */
    @Override
    void fail(ReceiveOperation operation, long placed, int errno) {
        SlabCell cell = operation.cell;
        if (cell == null) {
            // a memory fault came before it had one, or behind its return
            operation.reported = true;
            if (!operation.isOfDriver) {
                entries.error(operation, 0, errno);
            }
            return;
        }
        StoredMessage message = cell.message;
        Peer peer = cell.peer;
        operation.cell = null;
        operation.reported = true;
        if (operation.isOfDriver) {
            leave(cell);
        }
        cells.give(cell);
        if (message != null && message.isClaimed()) {
            waiting.giveUp(message);
        }
        if (operation.isOfDriver) {
            showReady(peer);
        } else {
            entries.error(operation, 0, errno);
        }
    }

    @Override
    void release(ReceiveOperation operation) {
        if (!operation.isOfDriver) {
            operation.mode = ordinary;
        }
        ordinary.release(operation);
    }

    /** Writes the entries of one sender's untagged messages, as far as none in front is still on its way. */
    private void showReady(Peer peer) {
        SlabCell cell = order.oldest(peer);
        while (cell != null && cell.state == SlabCell.READY) {
            SlabCell next = order.next(cell);
            show(cell);
            cell = next;
        }
    }

    private void show(SlabCell cell) {
        order.remove(cell);
        if (!mayOverrun) {
            share.use();
        }
        show(cell, true);
    }

    private void show(SlabCell cell, boolean ofShare) {
        // before the entry: after a memory fault in between nobody may take the cell a second time
        cell.state = SlabCell.OUT;
        entries.buffered(cell, cells.context(cell), ofShare);
    }

    /** An untagged message will have no entry. */
    private void leave(SlabCell cell) {
        order.remove(cell);
        if (!mayOverrun) {
            share.giveBack(1);
        }
    }

    /** Finds cells that nothing fills any more. */
    @Override
    void recover() {
        boolean[] filling = new boolean[cells.size()];
        for (int i = 0, size = pool.size(); i < size; i++) {
            ReceiveOperation operation = pool.get(i);
            if (operation.state != ReceiveState.FREE && operation.cell != null) {
                filling[operation.cell.index] = true;
            }
        }
        SlabCell cell = order.first();
        while (cell != null) {
            SlabCell next = cell.nextTaken;
            if (cell.state == SlabCell.FILLING && !filling[cell.index]) {
                leave(cell);
            } else if (cell.state == SlabCell.READY && order.oldest(cell.peer) == cell) {
                show(cell);
            }
            cell = next;
        }
        for (int i = 0; i < filling.length; i++) {
            if (cells.get(i).state == SlabCell.FILLING && !filling[i]) {
                cells.give(cells.get(i));
            }
        }
        // who looked for messages may not have come to the end
        matching = false;
        hold(true);
        hold(false);
    }

    @Override
    void close() {
        share.close(this, mayOverrun ? 0 : order.size(), told);
        told = false;
        untaggedWait = false;
        taggedWait = false;
    }

    private boolean hasRoom(boolean isTagged) {
        return cells.hasFree() && (isTagged || pool.hasOfDriver() && (mayOverrun || share.hasFree()));
    }

    /** Of a message that streams into the store the begin is shown when it is whole. */
    private boolean canTake(StoredMessage message, boolean isTagged) {
        return hasRoom(isTagged) && (message.length <= limitBytes || message.state != StoredMessage.FILLING);
    }

    private boolean isHeldBack() {
        return matching || untaggedWait || taggedWait;
    }

    private void hold(boolean isTagged) {
        if (isTagged) {
            taggedWait = true;
        } else {
            untaggedWait = true;
        }
        askAgain();
    }

    /** The client is told if room is missing; else a longer message waits for the cycle's end, or for its bytes. */
    private void askAgain() {
        if (told) {
            return;
        }
        if (untaggedWait && !hasRoom(false) || !cells.hasFree()) {
            told = true;
            share.waits();
        } else {
            share.askAgain();
        }
    }

    /** Gives a receive a cell; without one a record for an untagged message. */
    private ReceiveOperation open(ReceiveOperation posted, Peer peer, int bytes) {
        ReceiveOperation operation = posted;
        SlabCell cell = cells.take();
        if (posted == null) {
            if (!mayOverrun) {
                share.take();
            }
            cell.peer = peer;
            order.add(cell);
            operation = pool.takeOfDriver();
            operation.posted(Flags.MSG | Flags.COMPLETION, 0, 0, 0);
        } else {
            tagged.cancel(posted);
        }
        // whatever buffer a client named
        operation.releaseMemory();
        // before the mode: how it ends by that is up to the cell
        operation.cell = cell;
        operation.mode = this;
        operation.address = cell.address;
        operation.length = bytes;
        return operation;
    }

    /** Matches the waiting messages of one kind anew; without room nothing is looked at. */
    private void matchIfRoom(boolean isTagged) {
        if (isTagged && taggedWait && hasRoom(true)) {
            // before the look: what arrives meanwhile is behind its end
            taggedWait = false;
            if (!match(tagged, true)) {
                taggedWait = true;
            }
        } else if (!isTagged && untaggedWait && hasRoom(false)) {
            untaggedWait = false;
            if (!match(untagged, false)) {
                untaggedWait = true;
            }
        }
    }

    /** False if one of them has to wait on. */
    private boolean match(TagMatcher matcher, boolean isTagged) {
        StoredMessage message = (StoredMessage) matcher.firstUnexpected();
        while (message != null) {
            StoredMessage next = (StoredMessage) matcher.nextUnexpected(message);
            long nextSequence = next == null ? 0 : next.sequence();
            ReceiveOperation posted = isTagged
                ? (ReceiveOperation) matcher.findPosted(message.tag(), message.source()) : null;
            if (!isTagged || posted != null) {
                if (!canTake(message, isTagged)) {
                    return false;
                }
                take(matcher, message, posted);
                if (next != null && (!next.isWaiting() || next.sequence() != nextSequence)) {
                    // its peer went down meanwhile, and the record may be in use again
                    next = (StoredMessage) matcher.firstUnexpected();
                }
            }
            message = next;
        }
        return true;
    }

    private void take(TagMatcher matcher, StoredMessage message, ReceiveOperation posted) {
        if (message.length <= limitBytes) {
            ReceiveOperation operation = open(posted, message.peer, limitBytes);
            matcher.removeUnexpected(message);
            waiting.deliver(operation, message);
            return;
        }
        ReceiveOperation operation = open(posted, message.peer, leastBytes);
        matcher.claim(message);
        operation.cell.message = message;
        waiting.deliverBegin(operation, message);
    }

    /** Lends the messages of one peer. */
    private final class Lender extends MessageLender {
        private final Peer peer;

        Lender(Peer peer) {
            super(entries.completionIndex());
            this.peer = peer;
        }

        @Override
        public long keep(long address, int length) {
            return BufferedReceives.this.keep(peer, address, length);
        }
    }
}
