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
 * <p>A <em>part</em> is the record of one message in a buffer; it goes the same ways as a receive. Parts may end out of
 * order, their entries are written in the order of the buffer, the release is last. A message that does not fit in the
 * room that others left ends the buffer and goes to the next receive that accepts it, or waits for one; only a message
 * that is longer than a whole buffer is truncated.
 *
 * <p><b>Holding back.</b> Each part takes a slot of the driver's share of the completion queue. Without one, or without
 * a record, the message stays unexpected although a receive accepts it, and so do all later ones for such buffers, so
 * that none passes another. Receives that are posted meanwhile stand behind in the matcher. When there is room again
 * the waiting messages are matched in the order of their arrival.
 *
 * <p>Owner: progress agent.
 */
final class MultiReceives extends HeldBack {
    /** A message behind another one starts at an address that is a multiple of this. */
    static final int ALIGNMENT_BYTES = 8;
    /** So many messages of an endpoint may be on their way into buffers at once. */
    private static final int PARTS = 64;

    private final Receiver receiver;
    private final ReceivePool pool;
    private final TagMatcher matcher;
    private final ReceiveEntries entries;
    private final DriverShare share;
    private final boolean enabled;
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
        Receiver receiver, EndpointSettings settings, ReceivePool pool, TagMatcher matcher, ReceiveEntries entries,
        DriverShare share) {
        this.receiver = receiver;
        this.pool = pool;
        this.matcher = matcher;
        this.entries = entries;
        this.share = share;
        this.enabled = settings.multiReceive();
        this.mayOverrun = settings.mayOverrun();
        if (enabled) {
            share.open(this);
        }
    }

    /** Records for parts that an endpoint needs. */
    static int parts(EndpointSettings settings) {
        return settings.multiReceive() ? PARTS : 0;
    }

    /**
     * Posts a buffer, or an untagged receive while messages are held back.
     *
     * @param minFree of a buffer, in bytes; whatever a client wrote there, it only ends the buffer sooner or later.
     * @return false if it is no matter of this class.
     */
    boolean post(ReceiveOperation receive, long minFree) {
        if (!receive.isBuffer()) {
            if (!heldBack) {
                return false;
            }
            matcher.post(receive);
            match();
            return true;
        }
        if (!enabled || (receive.flags & Flags.TAGGED) != 0 || receive.pieces != null) {
            // parts lie one behind the other, so a buffer is of one piece
            receiver.fail(receive, 0, FabricErrno.EBADFLAGS);
            return true;
        }
        receive.state = ReceiveOperation.BUFFER;
        receive.used = 0;
        receive.minFree = minFree;
        receive.endErrno = 0;
        posted++;
        matcher.post(receive);
        if (heldBack) {
            match();
        } else {
            takeUnexpected(receive);
        }
        return true;
    }

    /** The receive for an arriving untagged message, a part if it goes into a buffer; null if it has to wait. */
    ReceiveOperation arrive(Peer peer, long length) {
        if (posted == 0 && !heldBack) {
            return (ReceiveOperation) matcher.arrive(0, peer.source());
        }
        if (heldBack && (lookAgain || hasRoom())) {
            // Behind those that wait, which are matched once this arrival is dealt with: it is in no list yet, and what
            // is in hand can be only one message.
            return null;
        }
        return find(peer.source(), length);
    }

    @Override
    public int retry() {
        return heldBack && (lookAgain || hasRoom()) ? match() : 0;
    }

    /** Its message is placed; its entry follows those of the parts in front of it. */
    void complete(ReceiveOperation part) {
        end(part, 0, 0);
    }

    /** Its message is lost. */
    void fail(ReceiveOperation part, long placed, int errno) {
        end(part, placed, errno);
    }

    /** Nothing uses the part any more but for its entry. */
    void release(ReceiveOperation part) {
        part.released = true;
        if (part.written || part.buffer == null) {
            pool.give(part);
        }
    }

    /** Ends a buffer early; what is on its way into it ends first. */
    void cancel(ReceiveOperation buffer, int errno) {
        if (buffer.state == ReceiveOperation.BUFFER) {
            buffer.endErrno = errno;
            leave(buffer);
        } else if (buffer.state == ReceiveOperation.ENDING) {
            writeEntries(buffer);
        } else {
            buffer.endErrno = errno;
            finish(buffer);
        }
    }

    /** An access to shared memory failed: finds what was in hand. */
    void recover() {
        posted = 0;
        Set<ReceiveOperation> listed = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0, size = pool.size(); i < size; i++) {
            ReceiveOperation buffer = pool.get(i);
            if (isInUse(buffer)) {
                if (buffer.state == ReceiveOperation.ENDING) {
                    matcher.cancel(buffer);
                } else {
                    posted++;
                }
                writeEntries(buffer);
                for (ReceiveOperation part = buffer.firstPart; part != null; part = part.nextPart) {
                    listed.add(part);
                }
            }
        }
        for (int i = 0, size = pool.size(); i < size; i++) {
            ReceiveOperation part = pool.get(i);
            if (part.isPart && part.state != ReceiveOperation.FREE && !part.written && !listed.contains(part)) {
                pool.give(part);
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

    /** The endpoint is gone. */
    void close() {
        if (enabled) {
            share.close(this, slots, heldBack);
        }
        slots = 0;
        heldBack = false;
    }

    private static boolean isInUse(ReceiveOperation operation) {
        return !operation.isPart
            && (operation.state == ReceiveOperation.BUFFER || operation.state == ReceiveOperation.ENDING);
    }

    /** While nothing is held back no other receive accepts a waiting message. */
    private void takeUnexpected(ReceiveOperation buffer) {
        while (buffer.isPosted() && !heldBack) {
            StoredMessage message = (StoredMessage) matcher.peek(0, 0, buffer.source());
            if (message == null) {
                return;
            }
            ReceiveOperation receive = find(message.source(), message.length);
            if (receive != null) {
                matcher.removeUnexpected(message);
                receiver.deliver(receive, message);
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
                receiver.deliver(receive, message);
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
            if (!receive.isBuffer()) {
                matcher.cancel(receive);
                return receive;
            }
            if (heldBack || !hasRoom()) {
                hold();
                return null;
            }
            // a message that is longer than an untouched buffer would fit nowhere: it is truncated
            if (receive.used == 0 || length <= receive.length - receive.used) {
                return place(receive, length);
            }
            leave(receive);
        }
    }

    private boolean hasRoom() {
        return pool.hasPart() && (mayOverrun || share.hasFree());
    }

    private void hold() {
        if (!heldBack) {
            heldBack = true;
            share.waits();
        }
    }

    private ReceiveOperation place(ReceiveOperation buffer, long length) {
        if (!mayOverrun) {
            share.take();
            slots++;
        }
        ReceiveOperation part = pool.takePart();
        part.state = ReceiveOperation.POSTED;
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

    private void leave(ReceiveOperation buffer) {
        buffer.state = ReceiveOperation.ENDING;
        posted--;
        matcher.cancel(buffer);
        lookAgain = true;
        writeEntries(buffer);
    }

    private void end(ReceiveOperation part, long placed, int errno) {
        part.reported = true;
        part.endPlaced = placed;
        part.endErrno = errno;
        if (part.buffer != null) {
            writeEntries(part.buffer);
        }
    }

    /** Writes the entries of the oldest parts as far as they have ended, and the release behind the last one. */
    private void writeEntries(ReceiveOperation buffer) {
        ReceiveOperation part = buffer.firstPart;
        while (part != null && part.reported) {
            buffer.firstPart = part.nextPart;
            part.written = true;
            if (!mayOverrun) {
                slots--;
                useSlot(part);
            }
            if (part.endErrno == 0) {
                entries.complete(part);
            } else {
                entries.error(part, part.endPlaced, 0, part.endErrno);
            }
            if (part.released) {
                pool.give(part);
            }
            part = buffer.firstPart;
        }
        if (part == null && buffer.state == ReceiveOperation.ENDING) {
            finish(buffer);
        }
    }

    private void useSlot(ReceiveOperation part) {
        if (entries.hasEntry(part)) {
            share.use();
        } else {
            share.giveBack(1);
        }
    }

    private void finish(ReceiveOperation buffer) {
        if (!buffer.reported) {
            pool.ending(buffer);
            entries.release(buffer);
            receiver.release(buffer);
        }
    }
}
