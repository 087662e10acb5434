package org.jfabric.driver.engine;

import org.jfabric.client.LentMessages;
import org.jfabric.client.LentRing;
import org.jfabric.client.MessageLender;
import org.jfabric.client.PeekFlags;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.Words;

/**
 * Receives into the endpoint's own slab (FI_BUFFERED_RECV of fi_msg(3)): untagged messages need no receive; for tagged
 * messages a receive specifies the tag and nothing else. Each message takes a cell, and its completion entry hands the
 * cell to the application.
 *
 * <pre>
 *   free --- a message or its prefix ----------> filling, ready --- its entry ---> out
 *    ^                                                                      | returned: the cell had the whole message
 *    |                                                                      | claimed: into a buffer of the client
 *    '----------------------------------------------------------------------' discarded
 * </pre>
 *
 * <p>A message that is not longer than the limit is received like one for an ordinary receive, with the cell as its
 * buffer. Most untagged messages take a shorter path without a receive record ({@link #takeWhole}). Of a longer message
 * only a prefix is copied into the cell; the message itself is claimed in the matcher, as by a peek, and stays in the
 * store or at its sender, with its credit, until it is fetched or discarded.
 *
 * <p>A plain untagged message may also be lent ({@link #lend}): it stays in the ring in which it arrived, and the call
 * that runs the duty cycle delivers it in place. It has no cell and no entry, and its bytes are returned as credit to
 * the sender immediately.
 *
 * <p>Entries of untagged messages of one sender are written in the order of their arrival ({@link CellOrder}).
 *
 * <p><b>Back-pressure.</b> An untagged message takes a slot of the driver's quota in the completion queue; a tagged
 * message uses the slot of its receive. Without a free cell or slot the message stays unexpected, and so do all later
 * messages, so that none overtakes another. Receives that are posted in this state are queued in the matcher. Longer
 * messages also wait until the end of the duty cycle, because they must be stored or announced first. All waiting
 * messages are matched again, in the order of their arrival, when cells were returned or entries were read.
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
    private final DriverQuota quota;
    private final SlabCells cells;
    private final boolean mayOverrun;
    private final int limitBytes;
    private final int leastBytes;
    private final LentCells lentCells;
    /** Untagged messages wait for a cell or a slot. */
    private boolean untaggedWait;
    /** Tagged messages that a posted receive accepts wait for a cell. */
    private boolean taggedWait;
    /** {@link DriverQuota#waits()} was called, because a message waits for a slot or a cell. */
    private boolean registered;
    private boolean matching;
    /** Whether tagged messages are matched first. The two kinds alternate, so that neither starves. */
    private boolean taggedFirst;
    /** Cells of untagged messages without an entry; each has a slot of the driver's quota. */
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
        this.quota = entries.driverQuota();
        SlabMemory slab = settings.slab();
        this.cells = new SlabCells(slab, entries.completionIndex());
        this.mayOverrun = settings.mayOverrun();
        this.limitBytes = slab.limitBytes();
        this.leastBytes = slab.leastBytes();
        this.lentCells = new LentCells(cells, slab, ends, waiting.pulls(), quota);
        quota.open(this);
    }

    /**
     * Copies a complete untagged message into a cell and writes its entry, without a receive record. Most messages take
     * this path: nothing waits, and no cell is being filled.
     */
    @Override
    boolean takeWhole(PeerReceives from, long flags, long data, long address, int length) {
        if ((flags & Flags.TAGGED) != 0 || length > limitBytes || isBlocked() || order.first() != null
            || !from.entryOrder().isEmpty()) {
            return false;
        }
        if (flags == Flags.MSG && lend(from, address, length)) {
            return true;
        }
        if (!cells.hasFree() || !mayOverrun && !quota.hasFree()) {
            return false;
        }
        SlabCell cell = cells.take();
        Words.copy(address, cell.address, length);
        FaultPoint.pass();
        cell.set(from, flags & ReceiveOperation.MESSAGE_BITS, 0, data, length);
        if ((flags & ReceiveOperation.OF_FEW) != 0) {
            cell.set(from.position(), from.timeNs());
        }
        from.passed(length);
        if (!mayOverrun) {
            quota.takeAndUse();
        }
        show(cell, true);
        return true;
    }

    /** Leaves a message in the ring in which it arrived, to be delivered by the call that runs this cycle. */
    private boolean lend(PeerReceives from, long address, int length) {
        LentMessages lent = entries.lentNow();
        FrameChannel frames = from.peer().frames();
        if (lent == null || frames == null) {
            return false;
        }
        LentRing ring = frames.lentRing();
        if (ring == null) {
            return false;
        }
        MessageLender lender = from.lender();
        if (lender == null) {
            lender = new Lender(from);
            from.lender(lender);
        }
        if (!lent.lend(lender, ring, address, length, entries.source(from))) {
            return false;
        }
        entries.lent(length);
        from.passed(length);
        return true;
    }

    /**
     * Copies a lent message that the application keeps into a cell. Returns the cell's context, or 0 if no cell is
     * free.
     */
    private long keep(PeerReceives from, long address, int length) {
        if (!cells.hasFree()) {
            return 0;
        }
        SlabCell cell = cells.take();
        Words.copy(address, cell.address, length);
        FaultPoint.pass();
        cell.set(from, Flags.MSG, 0, 0, length);
        cell.state = SlabCell.OUT;
        return cells.context(cell);
    }

    /** Shows an announced message to the client where it lies. */
    @Override
    boolean takeLent(PeerReceives from, long flags, long tag, long data, RemotePayload payload) {
        boolean isTagged = (flags & Flags.TAGGED) != 0;
        ReceiveOperation posted = isTagged ? (ReceiveOperation) tagged.findPosted(tag, from.peer().source()) : null;
        if (isTagged && posted == null || isBlocked() || !hasRoom(isTagged) || !lentCells.reserve(from, payload)) {
            return false;
        }
        if (!from.held().announced()) {
            from.held().lentLeft(payload.lengthBytes());
            return false;
        }
        ReceiveOperation operation = open(posted, from, 0);
        lentCells.open(operation.cell, from, payload);
        operation.message(from, flags & ReceiveOperation.MESSAGE_BITS, tag, data, payload.lengthBytes());
        ends.end(operation);
        return true;
    }

    @Override
    boolean hasShown(PeerReceives from) {
        return order.oldest(from) == null;
    }

    @Override
    void failPeer(PeerReceives from, int errno) {
        lentCells.failPeer(from, errno);
    }

    /** The returned receive has a cell as its buffer. */
    @Override
    ReceiveOperation arrive(PeerReceives from, long flags, long tag, long length) {
        boolean isTagged = (flags & Flags.TAGGED) != 0;
        ReceiveOperation posted = null;
        if (isTagged) {
            posted = (ReceiveOperation) tagged.findPosted(tag, from.peer().source());
            if (posted == null) {
                return null;
            }
        }
        // a longer message is in no list yet: its prefix is delivered once it is stored or announced
        if (isBlocked() || length > limitBytes || !hasRoom(isTagged)) {
            hold(isTagged);
            return null;
        }
        return open(posted, from, limitBytes);
    }

    /** Posts a tag; everything else of the receive is ignored. An untagged receive is refused. */
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
        if (message == null || isBlocked() || !canTake(message, true)) {
            tagged.post(receive);
            if (message != null) {
                hold(true);
            }
            return;
        }
        take(tagged, message, receive);
    }

    /** The memory of a receive that claims nothing is ignored. */
    @Override
    void postUnregistered(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        if ((receive.flags & PeekFlags.ANY) == 0) {
            post(receive, srcAddr, tag, ignore);
        } else {
            claim(receive, tag, false);
        }
    }

    @Override
    void found(ReceiveOperation peek, long buf) {
        ordinary.found(peek, buf);
    }

    @Override
    void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        claim(receive, tag, true);
    }

    /**
     * Fetches or discards the message under a context that an entry gave. A claim into memory that is not registered
     * ends with FI_EFAULT and discards the message, because its context is no longer valid.
     *
     * @param operation   not posted; memory of one piece is still to be attached.
     * @param isThere     false if the pieces of its buffer are not registered.
     */
    private void claim(ReceiveOperation operation, long slabContext, boolean isThere) {
        // one message is received here, whatever other flags a faulty client sets
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
        if (cell.isLent) {
            lentCells.fetch(operation, cell);
            return;
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
            cell.from, discards ? cell.flags : cell.flags | Flags.CLAIM, cell.tag, cell.data, cell.length);
        operation.messagePosition = cell.position;
        operation.messageTimeNs = cell.timeNs;
        if (!discards) {
            operation.place(0, cell.address, operation.placedBytes());
        }
        cells.give(cell);
        ends.end(operation);
    }

    /**
     * Frees cells whose messages were used in place. A context is ignored if it names no cell, or a cell with the
     * prefix of a message that is still to be claimed or discarded.
     */
    @Override
    void giveBack(long[] contexts, int count) {
        for (int i = 0; i < count; i++) {
            SlabCell cell = cells.find(contexts[i]);
            if (cell != null && cell.message == null) {
                free(cell);
            }
        }
    }

    /** Frees a cell without a message that stays somewhere else. */
    private void free(SlabCell cell) {
        if (cell.isLent) {
            lentCells.giveBack(cell);
        } else {
            cells.give(cell);
        }
    }

    @Override
    public int retry() {
        lentCells.retry();
        if (matching || !isBlocked()) {
            return 0;
        }
        int before = waiting.count();
        matching = true;
        matchIfRoom(taggedFirst);
        matchIfRoom(!taggedFirst);
        matching = false;
        if (isBlocked()) {
            askAgain();
        } else if (registered) {
            registered = false;
            quota.waitsNoMore();
        }
        int matched = Math.max(0, before - waiting.count());
        if (matched != 0) {
            taggedFirst = !taggedFirst;
        }
        return matched;
    }

    /**
     * The message of a receive, or its prefix, is in the cell. Writes the entry that hands the cell to the application,
     * in the order of {@link CellOrder}.
     */
    @Override
    void complete(ReceiveOperation operation) {
        SlabCell cell = operation.cell;
        cell.set(operation.from, operation.messageFlags, operation.messageTag, operation.messageData,
            operation.messageLength);
        if ((operation.messageFlags & ReceiveOperation.OF_FEW) != 0) {
            cell.set(operation.messagePosition, operation.messageTimeNs);
        }
        // from here on only the cell represents the message; its sender is notified even if the entry is written later
        operation.reported = true;
        if (operation.isOfDriver) {
            cell.state = SlabCell.READY;
            showReady(cell.from);
        } else {
            // the tag identifies the message of a tagged receive, so these entries may be written in any order
            show(cell, false);
        }
    }

    /** The message of a receive is lost: a tagged receive ends with an error, an untagged message leaves no trace. */
    @Override
    void fail(ReceiveOperation operation, long placed, int errno) {
        SlabCell cell = operation.cell;
        if (cell == null) {
            // a memory fault occurred before it had a cell, or after the cell was returned
            operation.reported = true;
            if (!operation.isOfDriver) {
                entries.error(operation, 0, errno);
            }
            return;
        }
        StoredMessage message = cell.message;
        PeerReceives from = cell.from;
        operation.cell = null;
        operation.reported = true;
        if (operation.isOfDriver) {
            leave(cell);
        }
        free(cell);
        if (message != null && message.isClaimed()) {
            waiting.giveUp(message);
        }
        if (operation.isOfDriver) {
            showReady(from);
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

    /** Writes the entries of one sender's untagged messages, up to the first one whose cell is still being filled. */
    private void showReady(PeerReceives from) {
        SlabCell cell = order.oldest(from);
        while (cell != null && cell.state == SlabCell.READY) {
            SlabCell next = order.next(cell);
            show(cell);
            cell = next;
        }
    }

    private void show(SlabCell cell) {
        order.remove(cell);
        if (!mayOverrun) {
            quota.use();
        }
        show(cell, true);
    }

    private void show(SlabCell cell, boolean ofShare) {
        // set before the entry is written: after a memory fault in between the cell must not be handed out twice
        cell.state = SlabCell.OUT;
        entries.buffered(cell, cells.context(cell), ofShare);
    }

    /** Gives up the slot of an untagged message that will have no entry. */
    private void leave(SlabCell cell) {
        order.remove(cell);
        if (!mayOverrun) {
            quota.giveBack(1);
        }
    }

    /** Frees cells whose filling was interrupted by a memory fault. */
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
            } else if (cell.state == SlabCell.READY && order.oldest(cell.from) == cell) {
                show(cell);
            }
            cell = next;
        }
        for (int i = 0; i < filling.length; i++) {
            if (cells.get(i).state == SlabCell.FILLING && !filling[i]) {
                free(cells.get(i));
            }
        }
        // the fault may have interrupted the matching of waiting messages
        matching = false;
        hold(true);
        hold(false);
    }

    @Override
    void close() {
        quota.close(this, mayOverrun ? 0 : order.size(), registered);
        registered = false;
        untaggedWait = false;
        taggedWait = false;
    }

    private boolean hasRoom(boolean isTagged) {
        return cells.hasFree() && (isTagged || pool.hasOfDriver() && (mayOverrun || quota.hasFree()));
    }

    /** The prefix of a longer message that streams into the store is delivered once the message is complete. */
    private boolean canTake(StoredMessage message, boolean isTagged) {
        return hasRoom(isTagged) && (message.length <= limitBytes || message.state != StoredMessage.FILLING);
    }

    /**
     * A longer message of a stream is shown when it is stored, and all others wait behind the oldest one. That one must
     * not wait for room that those behind it have, or for more than the whole budget. It is stored in any case, if the
     * client has no longer message yet that it could claim or discard; so this is one for each kind of messages.
     */
    @Override
    boolean mustStore(StoredMessage paused) {
        boolean isTagged = (paused.flags & Flags.TAGGED) != 0;
        return paused.length > limitBytes && hasRoom(isTagged) && paused == oldest(isTagged) && !hasLonger();
    }

    /** The waiting message that is matched next. */
    private StoredMessage oldest(boolean isTagged) {
        TagMatcher matcher = isTagged ? tagged : untagged;
        StoredMessage message = (StoredMessage) matcher.firstUnexpected();
        while (isTagged && message != null && matcher.findPosted(message.tag(), message.source()) == null) {
            message = (StoredMessage) matcher.nextUnexpected(message);
        }
        return message;
    }

    /** Whether the prefix of a longer message is in a cell. */
    private boolean hasLonger() {
        for (int i = 0; i < cells.size(); i++) {
            if (cells.get(i).message != null) {
                return true;
            }
        }
        return false;
    }

    private boolean isBlocked() {
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

    /**
     * If a cell or slot is missing, the client is asked to wake the driver. Otherwise a longer message waits for the
     * end of the cycle, or for its bytes.
     */
    private void askAgain() {
        if (registered) {
            return;
        }
        if (untaggedWait && !hasRoom(false) || !cells.hasFree()) {
            registered = true;
            quota.waits();
        } else {
            quota.askAgain();
        }
    }

    /** Gives a posted receive a cell, or makes a record with a cell for an untagged message. */
    private ReceiveOperation open(ReceiveOperation posted, PeerReceives from, int bytes) {
        ReceiveOperation operation = posted;
        SlabCell cell = cells.take();
        if (posted == null) {
            if (!mayOverrun) {
                quota.take();
            }
            cell.from = from;
            order.add(cell);
            operation = pool.takeOfDriver();
            operation.posted(Flags.MSG | Flags.COMPLETION, 0, 0, 0);
        } else {
            tagged.cancel(posted);
        }
        // the buffer that the client named is not used
        operation.releaseMemory();
        // set before the mode: this mode ends a receive by its cell
        operation.cell = cell;
        operation.mode = this;
        operation.address = cell.address;
        operation.length = bytes;
        return operation;
    }

    /** Matches the waiting messages of one kind again, if there is a free cell and slot. */
    private void matchIfRoom(boolean isTagged) {
        if (isTagged && taggedWait && hasRoom(true)) {
            // before the scan: a message that arrives during the scan sets the flag again
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

    /** Returns false if one of them still has to wait. */
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
        if (message.isLent && lentCells.reserve(message.from, message.payload)) {
            ReceiveOperation operation = open(posted, message.from, 0);
            WaitingMessages.describe(operation, message);
            lentCells.open(operation.cell, message.from, message.payload);
            waiting.passOn(message);
            ends.end(operation);
            return;
        }
        if (message.length <= limitBytes) {
            ReceiveOperation operation = open(posted, message.from, limitBytes);
            matcher.removeUnexpected(message);
            waiting.deliver(operation, message);
            return;
        }
        ReceiveOperation operation = open(posted, message.from, leastBytes);
        matcher.claim(message);
        operation.cell.message = message;
        waiting.deliverBegin(operation, message);
    }

    /** Lends the messages of one peer. */
    private final class Lender extends MessageLender {
        private final PeerReceives from;

        Lender(PeerReceives from) {
            super(entries.completionIndex());
            this.from = from;
        }

        @Override
        public long keep(long address, int length) {
            return BufferedReceives.this.keep(from, address, length);
        }
    }
}
