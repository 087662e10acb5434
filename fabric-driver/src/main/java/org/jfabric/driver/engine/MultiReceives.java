package org.jfabric.driver.engine;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Buffers that take many messages of one kind, untagged (FI_MULTI_RECV) or tagged (FI_TAGGED_MULTI_RECV), see
 * {@link TaggedMultiReceives}: messages are packed into them, each with its own entry,
 * until the free space falls below FI_OPT_MIN_MULTI_RECV; then a separate entry releases the buffer.
 *
 * <pre>
 *   buffer   | sub  | sub  |  sub   | free space     |    posted while there is enough free space
 *             0      ^8     ^8       ^ used                sub-buffers start at multiples of 8
 * </pre>
 *
 * <p>A <em>sub-buffer</em> ({@link MultiPart}) is the record of one message in a buffer ({@link MultiBuffer}); it is
 * processed like a receive. Sub-buffers may end out of order; their entries are written in the order of the buffer, and
 * the release is last. A message that does not fit into the free space ends the buffer and goes to the next receive
 * that accepts it, or waits for one. Only a message that is longer than a whole buffer is truncated. All other receives
 * of the endpoint are ordinary.
 *
 * <p>With FI_MSG_PREFIX each sub-buffer begins with a prefix in front of its message.
 *
 * <p><b>Back-pressure.</b> Each sub-buffer takes a slot of the driver's quota in the completion queue. Without a free
 * slot or record the message stays unexpected although a receive accepts it, and so do all later messages for such
 * buffers, so that none overtakes another. Receives that are posted in this state are queued in the matcher. When slots
 * are free again, the waiting messages are matched in the order of their arrival.
 *
 * <p>Owner: progress agent.
 */
final class MultiReceives extends ReceiveMode {
    /** Sub-buffers after the first start at addresses that are multiples of this. */
    static final int ALIGNMENT_BYTES = 8;
    /** Greatest number of sub-buffers of an endpoint in use at the same time. */
    static final int PARTS = 64;

    private final OrdinaryReceives ordinary;
    private final ReceivePool pool;
    private final ReceiveEntries entries;
    private final WaitingMessages waiting;
    private final TagMatcher matcher;
    private final DriverQuota quota;
    private final boolean mayOverrun;
    /** The kind of messages: {@code Flags.TAGGED} or {@code Flags.MSG}. */
    private final long kind;
    private final long prefixBytes;
    /** Number of posted buffers. */
    private int posted;
    private boolean blocked;
    /** A receive was removed, or the matching was interrupted: match again whether or not there are slots. */
    private boolean lookAgain;
    private boolean matching;
    /** Slots of the driver's quota that are taken for sub-buffers. */
    private int slots;

    MultiReceives(
        OrdinaryReceives ordinary, EndpointSettings settings, ReceivePool pool, ReceiveEntries entries,
        EndedReceives ends, WaitingMessages waiting, long kind) {
        super(ends);
        this.ordinary = ordinary;
        this.pool = pool;
        this.entries = entries;
        this.waiting = waiting;
        this.kind = kind;
        this.matcher = kind == Flags.TAGGED ? waiting.tagged() : waiting.untagged();
        this.quota = entries.driverQuota();
        this.mayOverrun = settings.mayOverrun();
        this.prefixBytes = settings.prefixBytes();
        quota.open(this);
    }

    @Override
    void post(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        if (!ordinary.accept(receive, srcAddr, tag, ignore)) {
            return;
        }
        boolean isOfKind = isOfKind(receive.flags);
        if (receive.isBuffer()) {
            if (!isOfKind || receive.pieces != null) {
                // sub-buffers are contiguous, so a buffer must be of one piece
                ends.fail(receive, 0, FabricErrno.EBADFLAGS);
            } else {
                MultiBuffer buffer = (MultiBuffer) receive;
                // an untagged buffer has no mask, so that the minimum takes its place
                postBuffer(buffer, kind == Flags.TAGGED ? buffer.minFree : ignore);
            }
        } else if (!isOfKind || !blocked) {
            ordinary.match(receive);
        } else {
            matcher.post(receive);
            match();
        }
    }

    /** What is not tagged may also be a remote write with data, which takes a receive and is no message. */
    private boolean isOfKind(long flags) {
        return (flags & Flags.TAGGED) == (kind & Flags.TAGGED);
    }

    /** Posts a buffer. The minimum free space needs no validation: it only determines when the buffer ends. */
    private void postBuffer(MultiBuffer buffer, long minFree) {
        buffer.mode = this;
        buffer.state = ReceiveState.BUFFER;
        buffer.used = 0;
        buffer.minFree = minFree;
        buffer.endErrno = 0;
        posted++;
        matcher.post(buffer);
        if (blocked) {
            match();
        } else {
            takeUnexpected(buffer);
        }
    }

    @Override
    void found(ReceiveOperation peek, long buf) {
        ordinary.found(peek, buf);
    }

    @Override
    void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        ordinary.peek(receive, srcAddr, tag, ignore);
    }

    /** The returned receive is a sub-buffer if a message goes into a buffer. */
    @Override
    ReceiveOperation arrive(PeerReceives from, long flags, long tag, long length) {
        if (!isOfKind(flags) || posted == 0 && !blocked) {
            return ordinary.arrive(from, flags, tag, length);
        }
        if (blocked && (lookAgain || hasRoom())) {
            // The message must follow those that wait. They are matched after this arrival, because only one message
            // can be processed at a time.
            return null;
        }
        return find(from.peer().source(), kind == Flags.TAGGED ? tag : 0, length);
    }

    @Override
    public int retry() {
        return blocked && (lookAgain || hasRoom()) ? match() : 0;
    }

    /** The message of a sub-buffer is placed. Its entry follows those of the earlier sub-buffers. */
    @Override
    void complete(ReceiveOperation part) {
        MultiPart ended = (MultiPart) part;
        end(ended, 0, ended.stored ? 0 : store(ended));
    }

    /** Copied at once: the sender is acknowledged before the entry is written. */
    @Override
    int delay(ReceiveOperation part) {
        MultiPart ended = (MultiPart) part;
        ended.stored = true;
        return store(ended);
    }

    /** Copies a placed message to the client, if its memory is copied; returns 0 or an errno. */
    private int store(MultiPart part) {
        // a buffer of length 0 has no region
        if (part.region() == null || !part.region().isCopied() || part.store()) {
            return 0;
        }
        ends.notStored(part);
        return FabricErrno.EFAULT;
    }

    /** The message of a sub-buffer is lost. */
    @Override
    void fail(ReceiveOperation part, long placed, int errno) {
        end((MultiPart) part, placed, errno);
    }

    /** Releases the record of a sub-buffer, once its entry is written, or of a whole buffer. */
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

    /** Cancels a buffer; its outstanding sub-buffers end first. */
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

    /** Restores the state after a memory fault from the records in the pool. */
    @Override
    void recover() {
        posted = 0;
        Set<MultiPart> listed = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0, size = pool.size(); i < size; i++) {
            if (pool.get(i) instanceof MultiBuffer buffer && buffer.mode == this && isInUse(buffer)) {
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
            if (pool.get(i) instanceof MultiPart part && part.mode == this && part.state != ReceiveState.FREE
                && !part.written && !listed.contains(part)) {
                give(part);
            }
        }
        if (!mayOverrun) {
            quota.giveBack(slots - listed.size());
            slots = listed.size();
        }
        boolean interrupted = matching;
        matching = false;
        if (posted != 0 || interrupted) {
            // the fault may have interrupted the matching of waiting messages
            hold();
            lookAgain = true;
        }
    }

    @Override
    void close() {
        quota.close(this, slots, blocked);
        slots = 0;
        blocked = false;
    }

    private static boolean isInUse(MultiBuffer buffer) {
        return buffer.state == ReceiveState.BUFFER || buffer.state == ReceiveState.ENDING;
    }

    /** Matches waiting messages with this buffer. Without back-pressure no other receive accepts one of them. */
    private void takeUnexpected(MultiBuffer buffer) {
        while (buffer.isPosted() && !blocked) {
            StoredMessage message = (StoredMessage) matcher.peek(buffer.tag(), buffer.ignore(), buffer.source());
            if (message == null) {
                return;
            }
            ReceiveOperation receive = find(message.source(), message.tag(), message.length);
            if (receive != null) {
                matcher.removeUnexpected(message);
                waiting.deliver(receive, message);
            }
        }
    }

    /** Matches the waiting messages again, the oldest first; those without a free slot stay. */
    private int match() {
        if (matching) {
            return 0;
        }
        matching = true;
        lookAgain = false;
        blocked = false;
        quota.waitsNoMore();
        int matched = 0;
        StoredMessage message = (StoredMessage) matcher.firstUnexpected();
        // if only buffers are posted and no slot is free, no later message can be matched
        while (message != null && !(blocked && posted == matcher.postedCount())) {
            StoredMessage next = (StoredMessage) matcher.nextUnexpected(message);
            long nextSequence = next == null ? 0 : next.sequence();
            ReceiveOperation receive = find(message.source(), message.tag(), message.length);
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

    private ReceiveOperation find(int source, long tag, long length) {
        while (true) {
            ReceiveOperation receive = (ReceiveOperation) matcher.findPosted(tag, source);
            if (receive == null) {
                return null;
            }
            if (receive.mode != this) {
                matcher.cancel(receive);
                return receive;
            }
            if (blocked || !hasRoom()) {
                hold();
                return null;
            }
            // a message that is longer than a whole buffer fits nowhere and is truncated
            MultiBuffer buffer = (MultiBuffer) receive;
            if (buffer.used == 0 || length <= room(buffer)) {
                return place(buffer, length);
            }
            leave(buffer);
        }
    }

    /** Bytes of the longest message that fits behind those in the buffer; negative if not even its prefix fits. */
    private long room(MultiBuffer buffer) {
        return buffer.length - buffer.used - prefixBytes;
    }

    private boolean hasRoom() {
        return pool.hasOfDriver() && (mayOverrun || quota.hasFree());
    }

    private void hold() {
        if (!blocked) {
            blocked = true;
            quota.waits();
        }
    }

    private MultiPart place(MultiBuffer buffer, long length) {
        if (!mayOverrun) {
            quota.take();
            slots++;
        }
        MultiPart part = (MultiPart) pool.takeOfDriver();
        part.mode = this;
        part.state = ReceiveState.POSTED;
        part.flags = buffer.flags & ~Flags.MULTI_RECV;
        part.context = buffer.context;
        part.buf = buffer.buf + buffer.used + prefixBytes;
        part.address = buffer.address + buffer.used + prefixBytes;
        // the client posts no buffer without room for a prefix, but is not trusted
        part.length = Math.max(0, Math.min(length, room(buffer)));
        // reported if the receive fails before it has a message
        part.message(null, kind, 0, 0, 0);
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

    /** Writes the entries of the oldest sub-buffers that have ended, and the release after the last one. */
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
            quota.use();
        } else {
            quota.giveBack(1);
        }
    }

    private void finish(MultiBuffer buffer) {
        if (!buffer.reported) {
            pool.ending(buffer);
            entries.release(buffer);
            release(buffer);
        }
    }

    /** Returns a sub-buffer's record to the pool. */
    private void give(MultiPart part) {
        // cleared first, so that recovery does not take it for a sub-buffer in use
        part.buffer = null;
        part.stored = false;
        part.written = false;
        part.released = false;
        pool.give(part);
    }
}
