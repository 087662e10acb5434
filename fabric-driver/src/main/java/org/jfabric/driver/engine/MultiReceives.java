package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.engine.match.TagMatcher;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Buffers that take many untagged messages (FI_MULTI_RECV): messages are packed in them, each with an entry of its own,
 * until the free room falls below what the receive demands; then an entry of its own releases the buffer.
 *
 * <pre>
 *   buffer   | part | part |  part  | free room      |    posted while the free room is enough
 *             0      ^8     ^8       ^ used                parts start at multiples of 8
 * </pre>
 *
 * <p>A <em>part</em> ({@link MultiPart}) is the record of one message in a buffer ({@link MultiBuffer}); it goes the
 * same ways as a receive. Parts may end out of order, their entries are written in the order of the buffer, the release
 * is last. A message that does not fit in the room that others left ends the buffer and goes to the next receive that
 * accepts it, or waits for one; only a message that is longer than a whole buffer is truncated. All other receives of
 * the endpoint are ordinary.
 *
 * <p><b>Holding back.</b> Each part takes a slot of the driver's share of the completion queue. Without one, or without
 * a record, the message stays unexpected although a receive accepts it, and so do all later ones for such buffers, so
 * that none passes another. Receives that are posted meanwhile stand behind in the matcher. When there is room again
 * the waiting messages are matched in the order of their arrival.
 *
 * <p>Owner: progress agent.
 */
final class MultiReceives extends ReceiveMode {
    /** A message behind another one starts at an address that is a multiple of this. */
    static final int ALIGNMENT_BYTES = 8;
    /** So many messages of an endpoint may be on their way into buffers at once. */
    static final int PARTS = 64;

    private final OrdinaryReceives ordinary;
    private final ReceivePool pool;
    private final ReceiveEntries entries;
    private final WaitingMessages waiting;
    private final TagMatcher matcher;
    private final DriverShare share;
    private final boolean mayOverrun;
    /** Buffers that take messages. */
    private int posted;
    private boolean heldBack;
    /** A receive has left, or the matching was interrupted: look again whether or not there are slots. */
    private boolean lookAgain;
    private boolean matching;
    /** Slots of the driver's share that parts will use. */
    private int slots;

    MultiReceives(
        OrdinaryReceives ordinary, boolean mayOverrun, ReceivePool pool, ReceiveEntries entries, EndedReceives ends,
        WaitingMessages waiting) {
        super(ends);
        this.ordinary = ordinary;
        this.pool = pool;
        this.entries = entries;
        this.waiting = waiting;
        this.matcher = waiting.untagged();
        this.share = entries.driverShare();
        this.mayOverrun = mayOverrun;
        share.open(this);
    }

    @Override
    void post(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        if (!ordinary.accept(receive, srcAddr, tag, ignore)) {
            return;
        }
        boolean isTagged = (receive.flags & Flags.TAGGED) != 0;
        if (receive.isBuffer()) {
            if (isTagged || receive.pieces != null) {
                // parts lie one behind the other, so a buffer is of one piece
                ends.fail(receive, 0, FabricErrno.EBADFLAGS);
            } else {
                postBuffer((MultiBuffer) receive, ignore);
            }
        } else if (isTagged || !heldBack) {
            ordinary.match(receive);
        } else {
            matcher.post(receive);
            match();
        }
    }

    /** Posts a buffer; whatever a client wrote as least free room, it only ends the buffer sooner or later. */
    private void postBuffer(MultiBuffer buffer, long minFree) {
        buffer.mode = this;
        buffer.state = ReceiveState.BUFFER;
        buffer.used = 0;
        buffer.minFree = minFree;
        buffer.endErrno = 0;
        posted++;
        matcher.post(buffer);
        if (heldBack) {
            match();
        } else {
            takeUnexpected(buffer);
        }
    }

    @Override
    void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        ordinary.peek(receive, srcAddr, tag, ignore);
    }

    /** As the superclass has it; the receive is a part if an untagged message goes into a buffer. */
    @Override
    ReceiveOperation arrive(Peer peer, long flags, long tag, long length) {
        if ((flags & Flags.TAGGED) != 0 || posted == 0 && !heldBack) {
            return ordinary.arrive(peer, flags, tag, length);
        }
        if (heldBack && (lookAgain || hasRoom())) {
            // Behind those that wait, which are matched once this arrival is dealt with: it is in no list yet, and what
            // is in hand can be only one message.
            return null;
        }
        return find(peer.source(), length);
    }

    @Override
    int retry() {
        return heldBack && (lookAgain || hasRoom()) ? match() : 0;
    }

    /** The message of a part is placed; its entry follows those of the parts in front of it. */
    @Override
    void complete(ReceiveOperation part) {
        end((MultiPart) part, 0, 0);
    }

    /** The message of a part is lost. */
    @Override
    void fail(ReceiveOperation part, long placed, int errno) {
        end((MultiPart) part, placed, errno);
    }

    /** Nothing uses the part any more but for its entry; or the last of a buffer is over. */
    @Override
    void release(ReceiveOperation receive) {
        if (receive instanceof MultiPart part) {
            part.released = true;
            if (part.written || part.buffer == null) {
                give(part);
            }
        } else {
            receive.mode = ordinary;
            ordinary.release(receive);
        }
    }

    /** Ends a buffer early; what is on its way into it ends first. */
    @Override
    void cancel(ReceiveOperation receive, int errno) {
        if (!(receive instanceof MultiBuffer buffer)) {
            super.cancel(receive, errno);
        } else if (buffer.state == ReceiveState.BUFFER) {
            buffer.endErrno = errno;
            leave(buffer);
        } else if (buffer.state == ReceiveState.ENDING) {
            writeEntries(buffer);
        } else {
            buffer.endErrno = errno;
            finish(buffer);
        }
    }

    /** Finds what was in hand. */
    @Override
    void recover() {
        posted = 0;
        Set<MultiPart> listed = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0, size = pool.size(); i < size; i++) {
            if (pool.get(i) instanceof MultiBuffer buffer && isInUse(buffer)) {
                if (buffer.state == ReceiveState.ENDING) {
                    matcher.cancel(buffer);
                } else {
                    posted++;
                }
                writeEntries(buffer);
                for (MultiPart part = buffer.firstPart; part != null; part = part.nextPart) {
                    listed.add(part);
                }
            }
        }
        for (int i = 0, size = pool.size(); i < size; i++) {
            if (pool.get(i) instanceof MultiPart part && part.state != ReceiveState.FREE && !part.written
                && !listed.contains(part)) {
                give(part);
            }
        }
        if (!mayOverrun) {
            share.giveBack(slots - listed.size());
            slots = listed.size();
        }
        boolean interrupted = matching;
        matching = false;
        if (posted != 0 || interrupted) {
            // who looked for messages that posted receives accept may not have come to the end
            hold();
            lookAgain = true;
        }
    }

    @Override
    void close() {
        share.close(this, slots, heldBack);
        slots = 0;
        heldBack = false;
    }

    private static boolean isInUse(MultiBuffer buffer) {
        return buffer.state == ReceiveState.BUFFER || buffer.state == ReceiveState.ENDING;
    }

    /** While nothing is held back no other receive accepts a waiting message. */
    private void takeUnexpected(MultiBuffer buffer) {
        while (buffer.isPosted() && !heldBack) {
            StoredMessage message = (StoredMessage) matcher.peek(0, 0, buffer.source());
            if (message == null) {
                return;
            }
            ReceiveOperation receive = find(message.source(), message.length);
            if (receive != null) {
                matcher.removeUnexpected(message);
                waiting.deliver(receive, message);
            }
        }
    }

    /** Matches the waiting messages anew, the oldest first; those that still find no room stay. */
    private int match() {
        if (matching) {
            return 0;
        }
        matching = true;
        lookAgain = false;
        heldBack = false;
        share.waitsNoMore();
        int matched = 0;
        StoredMessage message = (StoredMessage) matcher.firstUnexpected();
        // while only buffers are posted and there is no room, none of the messages behind can be matched
        while (message != null && !(heldBack && posted == matcher.postedCount())) {
            StoredMessage next = (StoredMessage) matcher.nextUnexpected(message);
            long nextSequence = next == null ? 0 : next.sequence();
            ReceiveOperation receive = find(message.source(), message.length);
            if (receive != null) {
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
        matching = false;
        return matched;
    }

    private ReceiveOperation find(int source, long length) {
        while (true) {
            ReceiveOperation receive = (ReceiveOperation) matcher.findPosted(0, source);
            if (receive == null) {
                return null;
            }
            if (receive.mode != this) {
                matcher.cancel(receive);
                return receive;
            }
            if (heldBack || !hasRoom()) {
                hold();
                return null;
            }
            // a message that is longer than an untouched buffer would fit nowhere: it is truncated
            MultiBuffer buffer = (MultiBuffer) receive;
            if (buffer.used == 0 || length <= buffer.length - buffer.used) {
                return place(buffer, length);
            }
            leave(buffer);
        }
    }

    private boolean hasRoom() {
        return pool.hasOfDriver() && (mayOverrun || share.hasFree());
    }

    private void hold() {
        if (!heldBack) {
            heldBack = true;
            share.waits();
        }
    }

    private MultiPart place(MultiBuffer buffer, long length) {
        if (!mayOverrun) {
            share.take();
            slots++;
        }
        MultiPart part = (MultiPart) pool.takeOfDriver();
        part.state = ReceiveState.POSTED;
        part.flags = buffer.flags & ~Flags.MULTI_RECV;
        part.context = buffer.context;
        part.buf = buffer.buf + buffer.used;
        part.address = buffer.address + buffer.used;
        part.length = Math.min(length, buffer.length - buffer.used);
        // what is reported if it fails before it has a message
        part.message(null, Flags.MSG, 0, 0, 0);
        part.endErrno = 0;
        part.nextPart = null;
        part.buffer = buffer;
        if (buffer.firstPart == null) {
            buffer.firstPart = part;
        } else {
            buffer.lastPart.nextPart = part;
        }
        buffer.lastPart = part;
        long end = part.address + part.length;
        long aligned = (end + (ALIGNMENT_BYTES - 1)) & -ALIGNMENT_BYTES;
        buffer.used = Math.min(buffer.length, aligned - buffer.address);
        if (buffer.length - buffer.used < buffer.minFree) {
            leave(buffer);
        }
        return part;
    }

    private void leave(MultiBuffer buffer) {
        buffer.state = ReceiveState.ENDING;
        posted--;
        matcher.cancel(buffer);
        lookAgain = true;
        writeEntries(buffer);
    }

    private void end(MultiPart part, long placed, int errno) {
        part.reported = true;
        part.endPlaced = placed;
        part.endErrno = errno;
        if (part.buffer != null) {
            writeEntries(part.buffer);
        }
    }

    /** Writes the entries of the oldest parts as far as they have ended, and the release behind the last one. */
    private void writeEntries(MultiBuffer buffer) {
        MultiPart part = buffer.firstPart;
        while (part != null && part.reported) {
            buffer.firstPart = part.nextPart;
            part.written = true;
            if (!mayOverrun) {
                slots--;
                useSlot(part);
            }
            if (part.endErrno == 0) {
                entries.completePart(part);
            } else {
                entries.errorOfPart(part, part.endPlaced, part.endErrno);
            }
            if (part.released) {
                give(part);
            }
            part = buffer.firstPart;
        }
        if (part == null && buffer.state == ReceiveState.ENDING) {
            finish(buffer);
        }
    }

    private void useSlot(MultiPart part) {
        if (entries.hasEntry(part)) {
            share.use();
        } else {
            share.giveBack(1);
        }
    }

    private void finish(MultiBuffer buffer) {
        if (!buffer.reported) {
            pool.ending(buffer);
            entries.release(buffer);
            release(buffer);
        }
    }

    /** Gives a part back. */
    private void give(MultiPart part) {
        // first: with a buffer it would be one of that buffer's
        part.buffer = null;
        part.written = false;
        part.released = false;
        pool.give(part);
    }
}
