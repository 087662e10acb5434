package org.jfabric.driver.stream;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.ReadPlace;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.GroupConsumer;
import org.jfabric.layout.GroupRingDescriptor;

/**
 * An endpoint of this driver that reads a group, with its place in the ring. To the engine it is the channel to the
 * group's writer, by which nothing is sent.
 *
 * <p>The ring is the buffer: a message is taken from it when the engine has a receive or room for it, else it is
 * <em>paused</em>, as a message of a stream is. If the writer may overwrite records that are not read, the engine sees
 * a copy; so a paused message cannot be overwritten.
 *
 * <p>Of a client that reads the ring itself, in place, nothing passes the engine: the member follows the place that the
 * client stores, reports it to the writer, ends the membership, and wakes the client if it sleeps. Owner: progress
 * agent.
 */
final class GroupMember extends Channel {
    private static final ChannelLimits LIMITS = new ChannelLimits(0, 0, Long.MAX_VALUE, Long.BYTES, 0, 0);
    /** A reader reports how far it is when it has read this part of the ring. */
    private static final int REPORTS_PER_RING = 8;
    /** The longest message and padding before it are this part of the ring. */
    private static final int MESSAGES_AHEAD = GroupRingDescriptor.RECORDS_PER_RING / 2;
    private static final String TRUNCATED = "was truncated while it was mapped here";

    private final Groups groups;
    private final int id;
    private final LocalEndpoint endpoint;
    private final String group;
    private final StreamHandler stream;
    private final GroupRing ring;
    private final boolean isLossy;
    /** What is overwritten before it was read is in a log. */
    private final boolean isRecorded;
    /** Null in the writer's own driver. */
    private final GroupWire wire;
    /** The number of the membership at the writer's driver. */
    private final int remoteId;
    /** Reads the ring; null if the client does that itself. */
    private final GroupConsumer consumer;
    /** Where that client says how far it is; else null. */
    private final ReadPlace readPlace;
    private final long firstOffset;
    private final long firstPosition;
    /** Of a client that reads in place: where it was when it was last looked. */
    private long seenOffset;
    private long seenPosition;
    /** What it has said and cannot be; null while all can. */
    private String impossible;
    private long reported;
    /** Lost messages wait for a place of the entry that says so. */
    private boolean isGapPending;
    private long lostMessages;
    private boolean isOver;

    // the message at the cursor, while the engine has no room for it or its bytes are being placed
    private final Placement placement = new Placement();
    private boolean isPaused;
    /** Bytes are being copied to their place; still true afterwards if an access to memory has failed. */
    private boolean isPlacing;

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
        GroupAnswer answer = join.answer();
        this.isLossy = answer.isLossy();
        this.isRecorded = !answer.log().isEmpty();
        this.firstOffset = answer.offset();
        this.firstPosition = answer.start().position();
        this.seenOffset = firstOffset;
        this.seenPosition = firstPosition;
        this.reported = seenOffset;
        this.readPlace = join.isInPlace() ? endpoint.readPlace() : null;
        this.consumer = readPlace != null ? null : new GroupConsumer(ring.header(), ring.capacity(), isLossy,
            isRecorded, answer.mayOverrun(), seenOffset, seenPosition);
        if (readPlace != null) {
            readPlace.take(seenOffset, seenPosition);
        }
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
        if (consumer != null) {
            return consumer.offset();
        }
        look();
        return seenOffset;
    }

    /** Position of the next message. */
    long position() {
        if (consumer != null) {
            return consumer.nextPosition();
        }
        look();
        return seenPosition;
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

    /** Whether a poll would do something. */
    boolean hasMore() {
        if (readPlace != null) {
            return isEnding() && endOffset - offset() <= 0 || owesReport() || impossible != null
                || readPlace.isAwaited() && ring.tail() != seenOffset;
        }
        return !isPaused && !isGapPending && (ring.tail() != consumer.offset() || isEnding());
    }

    /** Whether there is nothing to do until a record is written behind that offset. */
    boolean isSettled(long tail) {
        return offset() == tail && impossible == null && !isPaused && !isGapPending && !isEnding() && !owesReport();
    }

    /** The writer's driver has to learn how far this reader is. */
    private boolean owesReport() {
        return wire != null && !isLossy && offset() - reported >= ring.capacity() / REPORTS_PER_RING;
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
        if (readPlace != null) {
            return follow(written);
        }
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
        if (isEnding() && endOffset - consumer.offset() <= 0) {
            down(endErrno);
            return 1;
        }
        long end = isEnding() ? endOffset : written;
        while (work < limit && !isPaused && !isOver && take(end)) {
            work++;
        }
        if (isOver) {
            return 1;
        }
        report();
        // a pause is work: the thread must not sleep in the cycle in which the engine asks to be woken
        return isPaused || isGapPending && !wasPending ? work + 1 : work;
    }

    private boolean report() {
        if (!owesReport() || isEnding()) {
            return false;
        }
        long offset = offset();
        // of the same look at the client's place
        long position = consumer != null ? consumer.nextPosition() : seenPosition;
        if (!wire.report(remoteId, offset, position)) {
            return false;
        }
        reported = offset;
        return true;
    }

    /** Takes the next message; false to stop this poll. */
    private boolean take(long end) {
        switch (consumer.next(end)) {
            case GroupConsumer.MESSAGE -> {
                stream.position(consumer.position());
                deliver();
                return true;
            }
            case GroupConsumer.GAP -> {
                return onGap();
            }
            case GroupConsumer.REMOVED -> down(FabricErrno.ETIMEDOUT);
            case GroupConsumer.BROKEN -> lost(FabricErrno.EIO, consumer.failure());
            case GroupConsumer.OVERWRITTEN -> {
                if (isEnding()) {
                    down(endErrno);
                }
            }
            default -> {
                return false;
            }
        }
        return false;
    }

    /** Reports messages that were overwritten; false if there is no place for that now. */
    private boolean onGap() {
        isGapPending = !stream.onGap(consumer.nextPosition(), consumer.position() - 1);
        if (isGapPending) {
            return false;
        }
        if (!isRecorded) {
            addLost(consumer.position() - consumer.nextPosition());
        }
        consumer.skipGap();
        return true;
    }

    private void addLost(long messages) {
        groups.lost(messages);
        lostMessages += messages;
    }

    /** Looks how far the client is that reads in place; 0 if there was nothing to do. */
    private int follow(long written) {
        int work = look() ? 1 : 0;
        if (impossible != null) {
            lost(FabricErrno.EIO, impossible);
            return 1;
        }
        if (isEnding() && endOffset - seenOffset <= 0) {
            down(endErrno);
            return 1;
        }
        if (report()) {
            work++;
        }
        if (written != seenOffset && readPlace.isAwaited()) {
            readPlace.wake();
            work++;
        }
        return work;
    }

    /** Whether the client has moved. What cannot be ends the membership in the next poll. */
    private boolean look() {
        if (impossible != null || isOver) {
            return false;
        }
        readPlace.look();
        long offset = readPlace.offset();
        long position = readPlace.position();
        long lost = readPlace.lost();
        if (offset == seenOffset && position == seenPosition && lost == lostMessages) {
            return false;
        }
        long ahead = offset - ring.tail();
        if (ahead > 0 && ahead <= ring.capacity() / MESSAGES_AHEAD) {
            // it has read a message whose writer is about to store the tail
            return false;
        }
        long lines = (offset - firstOffset) / GroupRingDescriptor.RECORD_ALIGNMENT
            + GroupRingDescriptor.missing(ring.header());
        if (offset - seenOffset < 0 || ahead > 0
            || (offset & GroupRingDescriptor.RECORD_ALIGNMENT - 1) != 0
            || position < seenPosition || position - firstPosition > lines || lost < lostMessages || lost > lines) {
            // each message takes a line at least, if no gap stands for it
            impossible = "is read by a client that says it is at " + offset + " with position " + position
                + " and has lost " + lost + " messages, behind " + seenOffset + ", " + seenPosition + " and "
                + lostMessages;
            return false;
        }
        seenOffset = offset;
        seenPosition = position;
        if (lost != lostMessages) {
            addLost(lost - lostMessages);
        }
        return true;
    }

    private void deliver() {
        if (stream.canStore(consumer.payloadLength())) {
            // before the call: if that ends with a memory fault the message must not be delivered once more
            consumer.take();
            handler().onMessage(consumer.kind(), consumer.tag(), consumer.data(), consumer.payload(),
                consumer.payloadLength());
            return;
        }
        // the placement of the last message must not be taken for that of a pause
        placement.set(Placement.Action.REFUSE, 0, 0, 0);
        place();
    }

    private void place() {
        stream.place(consumer.kind(), consumer.tag(), consumer.data(), consumer.payloadLength(), placement);
        Placement.Action action = placement.action();
        isPaused = action == Placement.Action.PAUSE;
        if (isPaused || isOver) {
            return;
        }
        consumer.take();
        if (action == Placement.Action.REFUSE) {
            down(FabricErrno.EIO);
            return;
        }
        isPlacing = true;
        if (placement.lengthBytes() > 0) {
            placement.copyFrom(0, consumer.payload(), placement.lengthBytes());
            // a memory fault must not come after the report
            FaultPoint.pass();
        }
        isPlacing = false;
        stream.onPlaced(placement);
    }

    // ---- the end ----

    /** The writer has left, or has removed this reader: what is written before that offset is still read. */
    void ending(int errno, long end) {
        if (!isEnding()) {
            endErrno = errno;
            ring.unsettle();
            long tail = ring.tail();
            endOffset = end - tail > 0 ? tail : end;
            if (readPlace != null) {
                readPlace.end(errno, endOffset);
            }
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
        if (readPlace != null && !isEnding() && !isOver) {
            readPlace.end(errno, seenOffset);
        }
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
        if (readPlace != null) {
            readPlace.giveBack();
        } else {
            consumer.close();
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
