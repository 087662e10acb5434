package org.jfabric.driver.stream;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.layout.Words;

/**
 * An endpoint of this driver that reads a group, with its place in the ring. To the engine it is the channel to the
 * group's writer, by which nothing is sent.
 *
 * <p>The ring is the buffer: a message is taken from it when the engine has a receive or room for it, else it is
 * <em>paused</em>, as a message of a stream is. If the writer may overwrite records that are not read, a message is
 * copied first, the copy is checked, and the engine sees the copy only; so a paused one cannot be overwritten.
 *
 * <p>Every byte of another driver's ring may be wrong: lengths are checked, and each field is read once. Owner:
 * progress agent.
 */
final class GroupMember extends Channel {
    private static final ChannelLimits LIMITS = new ChannelLimits(0, 0, Long.MAX_VALUE, Long.BYTES, 0, 0);
    /** A reader reports how far it is when it has read this part of the ring. */
    private static final int REPORTS_PER_RING = 8;
    private static final String TRUNCATED = "was truncated while it was mapped here";

    private final Groups groups;
    private final int id;
    private final LocalEndpoint endpoint;
    private final String group;
    private final StreamHandler stream;
    private final GroupRing ring;
    private final int capacity;
    private final int maxPayload;
    private final boolean isLossy;
    /** What is overwritten before it was read is in a log. */
    private final boolean isRecorded;
    /** Null in the writer's own driver. */
    private final GroupWire wire;
    /** The number of the membership at the writer's driver. */
    private final int remoteId;
    /** Own memory for one message if the ring may overwrite it, else 0. */
    private long copy;
    private long cursor;
    private long reported;
    /** Position of the message at the cursor, if none was lost. */
    private long nextPosition;
    /** Bytes that were overwritten before the message {@link #skippedBefore} could be read. */
    private long skipped;
    private long skippedBefore;
    /** Lost messages wait for a place of the entry that says so. */
    private boolean isGapPending;
    private long lostMessages;
    private boolean isOver;

    // the message at the cursor, while the engine has no room for it or its bytes are being placed
    private final Placement placement = new Placement();
    private boolean isPaused;
    /** Bytes are being copied to their place; still true afterwards if an access to memory has failed. */
    private boolean isPlacing;
    private long kind;
    private long tag;
    private long data;
    private long payload;
    private int payloadLength;
    private int recordLength;

    /** Set when the membership ends as soon as everything before that offset is read. */
    private int endErrno;
    private long endOffset;

    GroupMember(Groups groups, GroupJoin join, GroupRing ring, ChannelHandler source) {
        super(LIMITS, source);
        this.groups = groups;
        this.id = join.id();
        this.endpoint = join.endpoint();
        this.group = join.group();
        this.wire = join.wire();
        this.remoteId = join.answer().member();
        this.stream = source.streamHandler();
        this.ring = ring.retain();
        this.capacity = ring.capacity();
        this.maxPayload = GroupRingDescriptor.maxPayload(capacity);
        this.isLossy = join.answer().isLossy();
        this.isRecorded = !join.answer().log().isEmpty();
        this.copy = join.answer().mayOverrun() ? UnsafeApi.allocateMemory(maxPayload) : 0;
        this.cursor = join.answer().offset();
        this.reported = cursor;
        this.nextPosition = join.answer().start().position();
    }

    int id() {
        return id;
    }

    LocalEndpoint endpoint() {
        return endpoint;
    }

    String group() {
        return group;
    }

    GroupWire wire() {
        return wire;
    }

    int remoteId() {
        return remoteId;
    }

    GroupRing ring() {
        return ring;
    }

    /** Everything before this offset of the ring has been read. */
    long offset() {
        return cursor;
    }

    /** Position of the next message. */
    long position() {
        return nextPosition;
    }

    /** Messages that the writer has not waited for. */
    long lostMessages() {
        return lostMessages;
    }

    boolean isEnding() {
        return endErrno != 0;
    }

    /** Reports to the engine that messages can arrive. */
    void up() {
        handler().onOpening();
        handler().onUp(this);
    }

    /** Whether a poll would take a message. */
    boolean hasMore() {
        return !isPaused && !isGapPending && (ring.tail() != cursor || isEnding());
    }

    /** Whether there is nothing to do until a record is written behind that offset. */
    boolean isSettled(long tail) {
        return cursor == tail && !isPaused && !isGapPending && !isEnding() && !owesReport();
    }

    /** The writer's driver has to learn how far this reader is. */
    private boolean owesReport() {
        return wire != null && !isLossy && cursor - reported >= capacity / REPORTS_PER_RING;
    }

    /** The ring's file is too short. */
    void onTruncated() {
        if (!isOver) {
            lost(FabricErrno.EIO, TRUNCATED);
        }
    }

    /**
     * Takes messages.
     *
     * @param limit largest number of messages.
     * @param written end of the records that are written.
     * @return number of messages taken and steps made; 0 if there was nothing to do.
     */
    int poll(int limit, long written) {
        int work = read(limit, written);
        if (work != 0) {
            FaultPoint.pass();
        }
        return work;
    }

    private int read(int limit, long written) {
        if (isPlacing) {
            isPlacing = false;
            stream.onAborted(placement, FabricErrno.EFAULT);
        }
        int work = 0;
        boolean wasPending = isGapPending;
        if (isPaused) {
            place();
            if (isPaused) {
                return 0;
            }
            work = 1;
        }
        if (isOver) {
            return 1;
        }
        if (isEnding() && endOffset - cursor <= 0) {
            down(endErrno);
            return 1;
        }
        long tail = isEnding() ? endOffset : written;
        while (work < limit && !isPaused && !isOver && tail - cursor > 0 && take(tail - cursor)) {
            work++;
        }
        if (isOver) {
            return 1;
        }
        if (owesReport() && !isEnding() && wire.report(remoteId, cursor, nextPosition)) {
            reported = cursor;
        }
        // a pause is work: the thread must not sleep in the cycle in which the engine asks to be woken
        return isPaused || isGapPending && !wasPending ? work + 1 : work;
    }

    /** Takes the record at the cursor; false to stop this poll. */
    private boolean take(long available) {
        if (available > capacity) {
            return onOverrun("is " + available + " bytes ahead");
        }
        long record = ring.record(cursor);
        int length = UnsafeApi.getInt(record + GroupRingDescriptor.LENGTH);
        int flags = UnsafeApi.getInt(record + GroupRingDescriptor.FLAGS);
        int before = (flags & GroupRingDescriptor.HAS_DATA) != 0
            ? GroupRingDescriptor.RECORD_HEADER_WITH_DATA : GroupRingDescriptor.RECORD_HEADER;
        boolean isPadding = (flags & GroupRingDescriptor.PADDING) != 0;
        if (length < before || length > Math.min(available, ring.toEnd(cursor))
            || !isPadding && length - before > maxPayload) {
            return onOverrun("has a record of " + length + " bytes at " + cursor);
        }
        long position = UnsafeApi.getLong(record + GroupRingDescriptor.POSITION);
        recordLength = GroupRingDescriptor.alignedLength(length);
        kind = Flags.MULTICAST | ((flags & GroupRingDescriptor.TAGGED) != 0 ? Flags.TAGGED : Flags.MSG);
        tag = UnsafeApi.getLong(record + GroupRingDescriptor.TAG);
        data = 0;
        if ((flags & GroupRingDescriptor.HAS_DATA) != 0) {
            kind |= Flags.REMOTE_CQ_DATA;
            data = UnsafeApi.getLong(record + GroupRingDescriptor.DATA);
        }
        payload = record + before;
        payloadLength = length - before;
        if (copy != 0) {
            if (!isPadding) {
                Words.copy(payload, copy, payloadLength);
                payload = copy;
            }
            UnsafeApi.loadFence();
            if (ring.intent() - cursor > capacity) {
                return onOverrun(null);
            }
        }
        if (isPadding) {
            cursor += recordLength;
            return true;
        }
        if (position != nextPosition && !isNext(position)) {
            return false;
        }
        stream.position(position);
        nextPosition = position + 1;
        deliver();
        return true;
    }

    /** Whether the message at the cursor is the next one for the application; else this poll stops. */
    private boolean isNext(long position) {
        long lost = position - nextPosition;
        long overwritten = skippedBefore == nextPosition ? skipped : 0;
        if (lost < 0 || lost > overwritten / GroupRingDescriptor.RECORD_ALIGNMENT) {
            // each message that was overwritten took a line at least
            lost(FabricErrno.EIO, "has message " + position + " at " + cursor + ", where " + nextPosition
                + (overwritten == 0 ? " follows" : " or a later one of the " + overwritten + " bytes behind follows"));
            return false;
        }
        isGapPending = !stream.onGap(nextPosition, position - 1);
        if (isGapPending) {
            return false;
        }
        if (!isRecorded) {
            groups.lost(lost);
            lostMessages += lost;
        }
        return true;
    }

    private void deliver() {
        if (stream.canStore(payloadLength)) {
            // before the call: if that ends with a memory fault the message must not be delivered once more
            cursor += recordLength;
            handler().onMessage(kind, tag, data, payload, payloadLength);
            return;
        }
        // the placement of the last message must not be taken for that of a pause
        placement.set(Placement.Action.REFUSE, 0, 0, 0);
        place();
    }

    private void place() {
        stream.place(kind, tag, data, payloadLength, placement);
        Placement.Action action = placement.action();
        isPaused = action == Placement.Action.PAUSE;
        if (isPaused || isOver) {
            return;
        }
        cursor += recordLength;
        if (action == Placement.Action.REFUSE) {
            down(FabricErrno.EIO);
            return;
        }
        isPlacing = true;
        if (placement.lengthBytes() > 0) {
            placement.copyFrom(0, payload, placement.lengthBytes());
            // a memory fault must not come after the report
            FaultPoint.pass();
        }
        isPlacing = false;
        stream.onPlaced(placement);
    }

    /** The record at the cursor is overwritten, or impossible; false to stop this poll. */
    private boolean onOverrun(String otherwise) {
        if (copy == 0 || otherwise != null && ring.intent() - cursor <= capacity) {
            lost(FabricErrno.EIO, otherwise);
            return false;
        }
        if (!isLossy) {
            // the writer has removed this reader, which is reported later
            down(FabricErrno.ETIMEDOUT);
            return false;
        }
        long latest = ring.latest();
        if (latest == cursor && isRecorded) {
            // overwritten before the recorder's next step is seen, which brings a newer one unless the writer is dead
            if (isEnding()) {
                down(endErrno);
            }
            return false;
        }
        if (latest - cursor <= 0 || (latest & GroupRingDescriptor.RECORD_ALIGNMENT - 1) != 0) {
            lost(FabricErrno.EIO, "has its newest message at " + latest + ", before " + cursor);
            return false;
        }
        skipped = latest - cursor + (skippedBefore == nextPosition ? skipped : 0);
        skippedBefore = nextPosition;
        cursor = latest;
        // the end of the records is read again
        return false;
    }

    // ---- the end ----

    /** The writer has left, or has removed this reader: what is written before that offset is still read. */
    void ending(int errno, long end) {
        if (!isEnding()) {
            endErrno = errno;
            ring.unsettle();
            long tail = ring.tail();
            endOffset = end - tail > 0 ? tail : end;
        }
    }

    /** The driver of the writer has ended; what it has written is still read. */
    void onConnectionDown(int errno) {
        try {
            ending(errno, ring.tail());
            FaultPoint.pass();
        } catch (InternalError e) {
            if (isOver || !ring.isCut()) {
                throw e;
            }
            // the end of the connection is reported again after a fault, so this one must not come again
            lost(FabricErrno.EIO, TRUNCATED);
        }
    }

    private void lost(int errno, String what) {
        groups.onBroken(this, errno, what);
        down(errno);
    }

    /** Ends the membership now; the application gets an event. */
    void down(int errno) {
        if (release()) {
            handler().onDown(errno);
        }
    }

    /** The application leaves. */
    void leave() {
        if (release()) {
            handler().onLeft();
        }
    }

    /** Ends the membership without a report; false if it has ended. */
    private boolean release() {
        if (isOver) {
            return false;
        }
        isOver = true;
        isPaused = false;
        groups.remove(this);
        ring.release();
        if (copy != 0) {
            UnsafeApi.freeMemory(copy);
            copy = 0;
        }
        return true;
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public void close(int errno) {
        release();
    }
}
