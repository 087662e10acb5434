package org.jfabric.driver.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.agrona.UnsafeApi;
import org.agrona.collections.LongArrayQueue;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.stream.net.RemoteReader;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.stream.LogOptions;
import org.jfabric.layout.Words;

/**
 * A group whose writer is an endpoint of this driver: the ring and its readers. A message is written once, however many
 * readers there are. A recorded group waits for its recorder and for no reader: who is slow reads the log.
 *
 * <pre>
 *            slowest reader                 tail                        limit = slowest reader + capacity
 *   ---------------|--- not read by all -----|------ free ----------------|
 * </pre>
 *
 * <p>A writer that waits for its readers looks at their positions only when the tail reaches the limit. Owner: progress
 * agent.
 */
final class Group {
    private static final int MARKS = 16;
    /** A message with any of these has a longer header. */
    private static final long HAS_MORE = Flags.REMOTE_CQ_DATA | Flags.TIMESTAMP;
    /** Levels of sends to recorded groups only. */
    private static final long RECORDED_LEVELS = Flags.COMMIT_COMPLETE | Flags.RECORDED;

    private final Groups groups;
    private final LinkServices services;
    private final GroupName name;
    /** Null of a group that is written on another host. */
    private final LocalEndpoint writer;
    /** Null without a writer here. */
    private final GroupChannel channel;
    private final long stallTimeoutNs;
    private final List<GroupReader> readers = new ArrayList<>();
    /** Null unless it is recorded. */
    private GroupRecorder recorder;
    /** Null unless other hosts read it. */
    private GroupSource source;
    /** The connections to the readers' drivers, each one once. */
    private GroupWire[] wires = {};
    private GroupRing ring;
    private long header;
    /** Where the end of the records is released. */
    private long tailAddress;
    /** Sends that complete when they are on stable storage: the position behind each, then its id. */
    private final LongArrayQueue commits = new LongArrayQueue(Long.MIN_VALUE);
    /** The same of those that complete when they are in the page cache. */
    private final LongArrayQueue records = new LongArrayQueue(Long.MIN_VALUE);
    /** End of the records that readers see, if they see them later. */
    private long seen;
    /** Position behind them. */
    private long seenPosition;
    private final long[] visible = new long[3];
    private int maxPayload;
    private int longestHeader = GroupRingDescriptor.RECORD_HEADER_WITH_DATA;
    /** Null unless messages have times. */
    private LongSupplier times;
    private long key;
    private boolean mayOverrun;
    /** Log, term, and the position of the first message of this ring. */
    private LogPosition first;
    /** End of the records that are written. */
    private long tail;
    /** Of the next message. */
    private long position;
    private long limit;
    /** Offsets and positions of records, one for each part of the ring, from which an older message is found. */
    private final long[] markedOffsets = new long[MARKS];
    private final long[] markedPositions = new long[MARKS];
    private int markShift;
    private long nextMark;
    /** A message waits for room; end of its record. */
    private boolean isBlocked;
    private long blockedEnd;
    private long waits;
    /** Offset of the slowest reader when it was last seen to move, and the time of that. */
    private long slowest;
    private long slowestSinceNs;
    /** Messages were written since the readers' drivers were last woken. */
    private boolean isWritten;
    private boolean isClosed;
    /** Why a recorded group that is being closed ends for its readers. */
    private int endErrno;
    /** After the close: the log is closed. */
    private boolean isRecorded;

    Group(
        Groups groups, LinkServices services, GroupName name, LocalEndpoint writer, GroupChannel channel,
        long stallTimeoutNs) {
        this.groups = groups;
        this.services = services;
        this.name = name;
        this.writer = writer;
        this.channel = channel;
        this.stallTimeoutNs = stallTimeoutNs;
    }

    String address() {
        return name.address();
    }

    LocalEndpoint writer() {
        return writer;
    }

    /** Of the writer, or of the stream that is written on another host. */
    String writerAddress() {
        return writer == null ? StreamAddress.shared(name.address()) : writer.address();
    }

    /** Whether an endpoint with an authorization key may read it. */
    boolean admits(byte[] authKey) {
        return writer == null ? authKey.length == 0 : writer.admits(authKey);
    }

    GroupChannel channel() {
        return channel;
    }

    GroupRing ring() {
        return ring;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** Whether it never waits for a reader. */
    boolean isLossy() {
        return name.isLossy() || name.log() != null;
    }

    GroupName name() {
        return name;
    }

    /** Whether records may be overwritten that a reader has yet to read. */
    boolean mayOverrun() {
        return isLossy() || stallTimeoutNs != 0;
    }

    /** End of the records that are written. */
    long tail() {
        return tail;
    }

    /** Position of the next message. */
    long position() {
        return position;
    }

    /** Where the next message is in the log. */
    LogPosition next() {
        return first.at(position);
    }

    private boolean isDelaying() {
        return recorder != null && recorder.isDelaying();
    }

    /** Where a reader begins that wants what is shown from now on. */
    LogPosition start() {
        return first.at(isDelaying() ? seenPosition : position);
    }

    /** The offset of that. */
    long startOffset() {
        return isDelaying() ? seen : tail;
    }

    int maxPayload() {
        return maxPayload;
    }

    /** The ring is mapped: messages can be written. */
    void open(GroupRing newRing, LogPosition newFirst, GroupRecorder newRecorder) {
        ring = newRing.retain();
        recorder = newRecorder;
        first = newFirst;
        position = newFirst.position();
        seenPosition = position;
        markShift = Integer.numberOfTrailingZeros(ring.capacity() / MARKS);
        header = ring.header();
        maxPayload = GroupRingDescriptor.maxPayload(ring.capacity());
        tailAddress = recorder == null ? header + GroupRingDescriptor.TAIL_OFFSET : recorder.tailAddress();
        key = ring.key();
        mayOverrun = mayOverrun();
        limit = recorder == null && isLossy() ? Long.MAX_VALUE : ring.capacity();
        if (channel != null) {
            channel.group(this);
        }
    }

    /** Hosts read it from now on. */
    void open(GroupSource newSource) {
        source = newSource;
    }

    // ---- writing ----

    /**
     * As {@link Channel#send} and {@link Channel#sendShort}.
     *
     * @param operation has the payload; or null, and it is in an array or, if that is null, at a native address.
     * @param address   that, or an {@code Unsafe} offset in the array.
     */
    int send(
        long flags, long tag, long data, long payloadLength, TransmitOperation operation, byte[] array,
        long address) {
        if (payloadLength > maxPayload) {
            return -FabricErrno.EMSGSIZE;
        }
        if ((flags & RECORDED_LEVELS) != 0 && !canCommit()) {
            return -FabricErrno.EBADFLAGS;
        }
        int more = (flags & HAS_MORE) == 0 ? 0 : moreFlags(flags, payloadLength);
        int before = more != 0 ? GroupRingDescriptor.longHeader(more) : GroupRingDescriptor.RECORD_HEADER;
        int length = before + (int) payloadLength;
        int aligned = GroupRingDescriptor.alignedLength(length);
        int toEnd = ring.toEnd(tail);
        long start = aligned > toEnd ? tail + toEnd : tail;
        long end = start + aligned;
        if (end - limit > 0 && !makeRoom(end)) {
            return block(end);
        }
        if (mayOverrun) {
            UnsafeApi.putLongOpaque(null, header + GroupRingDescriptor.INTENT_OFFSET, end);
            // a reader that sees a byte of the record also sees the intent
            UnsafeApi.storeFence();
        }
        if (start - nextMark >= 0) {
            mark(start);
        }
        long record = ring.record(start);
        UnsafeApi.putInt(record + GroupRingDescriptor.LENGTH, length);
        UnsafeApi.putInt(record + GroupRingDescriptor.FLAGS,
            ((flags & Flags.TAGGED) != 0 ? GroupRingDescriptor.TAGGED : 0) | more);
        UnsafeApi.putLong(record + GroupRingDescriptor.TAG, tag);
        if (more != 0) {
            UnsafeApi.putLong(record + GroupRingDescriptor.DATA, data);
            if ((more & GroupRingDescriptor.HAS_TIME) != 0) {
                UnsafeApi.putLong(record + GroupRingDescriptor.TIME, times.getAsLong());
            }
        }
        copy(operation, array, address, record + before, payloadLength);
        UnsafeApi.putLongRelease(null, record + GroupRingDescriptor.MARK, GroupRingDescriptor.mark(position, key));
        if (start != tail) {
            pad(toEnd);
        }
        if (mayOverrun && tailAddress == header + GroupRingDescriptor.TAIL_OFFSET) {
            UnsafeApi.putLongOpaque(null, header + GroupRingDescriptor.LATEST_OFFSET, start);
        }
        if ((flags & Flags.COMMIT_COMPLETE) != 0) {
            // before the recorder sees the message, or it could rest when it has written it
            recorder.sync(position + 1);
            await(commits, operation);
        } else if ((flags & Flags.RECORDED) != 0) {
            await(records, operation);
        }
        UnsafeApi.putLongRelease(null, tailAddress, end);
        tail = end;
        position++;
        isWritten = true;
        return Channel.DONE;
    }

    /** What the record of a message with data or a time says of that. The longest messages have no time. */
    private int moreFlags(long flags, long payloadLength) {
        return ((flags & Flags.REMOTE_CQ_DATA) != 0 ? GroupRingDescriptor.HAS_DATA : 0)
            | ((flags & Flags.TIMESTAMP) != 0 && payloadLength <= maxPayload - Long.BYTES
                ? GroupRingDescriptor.HAS_TIME : 0);
    }

    /** Gives messages with FI_TIMESTAMP among their flags the time at which they arrived. */
    void timedBy(LongSupplier arrivals) {
        times = arrivals;
        longestHeader = GroupRingDescriptor.RECORD_HEADER_WITH_TIME;
    }

    /** Whether a message of that length can be written now; if not the group waits for its readers. */
    boolean hasRoom(int payloadLength) {
        int aligned = GroupRingDescriptor.alignedLength(longestHeader + payloadLength);
        int toEnd = ring.toEnd(tail);
        long end = tail + aligned + (aligned > toEnd ? toEnd : 0);
        if (end - limit <= 0 || makeRoom(end)) {
            return true;
        }
        block(end);
        return false;
    }

    /** Bytes of the ring that are free; meaningless of a group that waits for no reader. */
    long free() {
        makeRoom(tail);
        return limit - tail;
    }

    /** Messages up to a position are missing: readers learn it in their place, for which there is room. */
    void skip(long last) {
        long end = tail + GroupRingDescriptor.RECORD_ALIGNMENT;
        UnsafeApi.putLongOpaque(null, header + GroupRingDescriptor.MISSING_OFFSET,
            GroupRingDescriptor.missing(header) + last + 1 - position);
        if (mayOverrun) {
            UnsafeApi.putLongOpaque(null, header + GroupRingDescriptor.INTENT_OFFSET, end);
        }
        UnsafeApi.storeFence();
        if (tail - nextMark >= 0) {
            mark(tail);
        }
        long record = ring.record(tail);
        UnsafeApi.putInt(record + GroupRingDescriptor.LENGTH, GroupRingDescriptor.RECORD_HEADER);
        UnsafeApi.putInt(record + GroupRingDescriptor.FLAGS, GroupRingDescriptor.GAP);
        UnsafeApi.putLong(record + GroupRingDescriptor.TAG, last + 1);
        UnsafeApi.putLongRelease(null, record + GroupRingDescriptor.MARK, GroupRingDescriptor.mark(position, key));
        if (mayOverrun) {
            UnsafeApi.putLongOpaque(null, header + GroupRingDescriptor.LATEST_OFFSET, tail);
        }
        UnsafeApi.putLongRelease(null, tailAddress, end);
        tail = end;
        position = last + 1;
        isWritten = true;
    }

    private static void copy(TransmitOperation operation, byte[] array, long address, long to, long length) {
        if (operation != null) {
            operation.copyTo(0, to, length);
        } else if (array != null) {
            Words.copy(array, address, to, (int) length);
        } else {
            Words.copy(address, to, length);
        }
    }

    /** Fills the end of the ring: behind the message at its start, which readers see from here on. */
    private void pad(int toEnd) {
        long padding = ring.record(tail);
        UnsafeApi.putInt(padding + GroupRingDescriptor.LENGTH, toEnd);
        UnsafeApi.putInt(padding + GroupRingDescriptor.FLAGS, GroupRingDescriptor.PADDING);
        UnsafeApi.putLongRelease(null, padding + GroupRingDescriptor.MARK, GroupRingDescriptor.mark(position, key));
    }

    private int block(long end) {
        if (!isBlocked) {
            isBlocked = true;
            waits++;
            slowest = limit;
            slowestSinceNs = services.nowNs();
        }
        blockedEnd = end;
        return -FabricErrno.EAGAIN;
    }

    /** Whether a message that is accepted gets to the disk: not if it may be left out of the log. */
    private boolean canCommit() {
        return recorder != null && name.options().whenFull() == LogOptions.FullDisk.WAIT;
    }

    private void await(LongArrayQueue sends, TransmitOperation operation) {
        sends.addLong(position + 1);
        sends.addLong(operation.id());
    }

    /** Whether a send that waits for the recorder has reached its level. */
    private boolean isCommitted() {
        return hasReached(records, recorder.writtenPosition()) || hasReached(commits, recorder.syncedPosition());
    }

    private static boolean hasReached(LongArrayQueue sends, long reached) {
        return !sends.isEmpty() && sends.peekLong() <= reached;
    }

    /** Reports the sends that have reached their level; with an errno all others, too. Returns their number. */
    private int commit(int errno) {
        return commit(records, Flags.RECORDED, recorder.writtenPosition(), errno)
            + commit(commits, Flags.COMMIT_COMPLETE, recorder.syncedPosition(), errno);
    }

    private int commit(LongArrayQueue sends, long level, long reached, int errno) {
        int work = 0;
        while (hasReached(sends, reached) || errno != 0 && !sends.isEmpty()) {
            boolean isGood = sends.pollLong() <= reached;
            channel.handler().streamHandler().onAcknowledged(sends.pollLong(), level, isGood ? 0 : errno);
            work++;
        }
        return work;
    }

    private void mark(long offset) {
        int part = (int) (offset >>> markShift) & MARKS - 1;
        markedOffsets[part] = offset;
        markedPositions[part] = position;
        nextMark = (offset >>> markShift) + 1 << markShift;
    }

    /** Updates the limit; false if records up to that end do not fit yet. */
    private boolean makeRoom(long end) {
        if (recorder != null) {
            limit = recorder.recorded() + ring.capacity();
            return end - limit <= 0;
        }
        long slowestRead = tail;
        for (int i = 0, count = readers.size(); i < count; i++) {
            long read = readers.get(i).offset();
            slowestRead = read - slowestRead < 0 ? read : slowestRead;
        }
        if (source != null) {
            long read = source.neededOffset();
            slowestRead = read - slowestRead < 0 ? read : slowestRead;
        }
        limit = slowestRead + ring.capacity();
        return end - limit <= 0;
    }

    /** Makes one step; 0 if there was nothing to do. */
    int poll() {
        if (ring == null) {
            return 0;
        }
        ring.touch();
        int work = recorder == null ? 0 : pollRecorder();
        announce();
        if (!isBlocked) {
            return work;
        }
        if (makeRoom(blockedEnd)) {
            isBlocked = false;
            if (channel != null) {
                channel.handler().onWritable();
            }
            return 1;
        }
        return stallTimeoutNs == 0 || recorder != null ? work : removeStalled();
    }

    private int pollRecorder() {
        int work = recorder.poll() + commit(0);
        FabricException notice = recorder.takeNotice();
        if (notice != null) {
            services.onError(notice);
        }
        FabricException failure = recorder.failure();
        if (failure != null) {
            commit(FabricErrno.EIO);
            groups.onRecorderFailed(this, failure);
            return 1;
        }
        return work + (recorder.isDelaying() ? show() : 0);
    }

    /** Readers see what is recorded as far as they are to. */
    private int show() {
        if (recorder.visible() == seen || !recorder.visible(visible)) {
            return 0;
        }
        seen = visible[0];
        seenPosition = visible[2];
        UnsafeApi.putLongOpaque(null, header + GroupRingDescriptor.LATEST_OFFSET, visible[1]);
        UnsafeApi.putLongRelease(null, header + GroupRingDescriptor.TAIL_OFFSET, seen);
        isWritten = true;
        return 1;
    }

    /** Prepares for the thread to sleep; false if there is work. */
    boolean arm() {
        announce();
        if (recorder == null) {
            return true;
        }
        // what the recorder does before it sees this is seen here
        recorder.await();
        return recorder.failure() == null && !isCommitted() && !(recorder.isDelaying() && recorder.visible() != seen)
            && !(isBlocked && makeRoom(blockedEnd)) && !(isClosed && recorder.isEnded() && !isRecorded);
    }

    /** The drivers of the readers are woken, if they sleep, by the next step of their connections. */
    void announce() {
        if (isWritten) {
            isWritten = false;
            if (recorder != null) {
                recorder.written();
            }
            for (GroupWire wire : wires) {
                wire.written();
            }
        }
    }

    /** Removes the readers that hold the writer back and have not moved for the whole timeout. */
    private int removeStalled() {
        long nowNs = services.nowNs();
        if (limit != slowest) {
            slowest = limit;
            slowestSinceNs = nowNs;
            return 0;
        }
        if (nowNs - slowestSinceNs < stallTimeoutNs) {
            return 0;
        }
        int work = 0;
        for (GroupReader reader : List.copyOf(readers)) {
            if (waitsFor(reader)) {
                services.onError(new FabricException(FabricErrno.ETIMEDOUT,
                    "reader " + reader.address() + " of group " + address() + " has not read for "
                        + stallTimeoutNs + " ns while the group waited for it",
                    "It was removed, and may join again; the time is jfabric.shm.groupStallTimeoutNs."));
                remove(reader);
                end(reader, FabricErrno.ETIMEDOUT, reader.offset());
                work++;
            }
        }
        return work;
    }

    // ---- readers ----

    List<GroupReader> readers() {
        return readers;
    }

    /** Whether a message waits until this reader has read more. */
    boolean waitsFor(GroupReader reader) {
        return isBlocked && recorder == null && reader.offset() + ring.capacity() - blockedEnd < 0;
    }

    /** Null unless it is recorded. */
    GroupRecorder recorder() {
        return recorder;
    }

    /** Whether a message waits until more is recorded. */
    boolean waitsForRecorder() {
        return isBlocked && recorder != null;
    }

    /** Whether a message waits for room. */
    boolean isBlocked() {
        return isBlocked;
    }

    /** The host that a message waits for; null if it waits for none. */
    RemoteReader awaitedHost() {
        return isBlocked && source != null ? source.awaitedHost(blockedEnd - ring.capacity()) : null;
    }

    /** What a message waits for that has not joined; null if it waits for none. */
    String absentHost() {
        return isBlocked && source != null ? source.absentHost() : null;
    }

    /** Hosts that read it from this one. */
    List<RemoteReader> hosts() {
        return source == null ? List.of() : source.hosts();
    }

    /** How often a message has begun to wait for readers, or for the recorder. */
    long waits() {
        return waits;
    }

    /** Adds a reader, whose records must not be overwritten from now on. */
    void add(GroupReader reader) {
        readers.add(reader);
        findWires();
        limit = Math.min(limit, isLossy() ? limit : reader.offset() + ring.capacity());
    }

    /** Another host reads from an offset on. */
    void hold(long offset) {
        limit = Math.min(limit, isLossy() ? limit : offset + ring.capacity());
    }

    /**
     * Whether messages can be read from a place: it is one of this log and term, and the ring still has the first of
     * them. Returns 0, or why not.
     */
    int refusal(LogPosition from) {
        if (from == null) {
            return 0;
        }
        if (!from.at(0).equals(first.at(0))) {
            return FabricErrno.EINVAL;
        }
        return from.position() > position || from.position() < oldest() ? FabricErrno.ENODATA : 0;
    }

    /** The oldest message that is found in the ring. */
    long oldest() {
        long oldest = position;
        for (int i = 0; i < MARKS; i++) {
            if (isMarked(i) && markedPositions[i] < oldest) {
                oldest = markedPositions[i];
            }
        }
        return oldest;
    }

    /** The part of the ring has a mark, whose record is not overwritten. */
    private boolean isMarked(int part) {
        return tail != 0 && markedOffsets[part] >= Math.max(0, tail - ring.capacity())
            && (markedOffsets[part] != 0 || part == 0);
    }

    /** Offset of a message that is not older than {@link #oldest()}. */
    long offset(long wanted) {
        if (wanted == position) {
            return tail;
        }
        long offset = 0;
        long at = -1;
        for (int i = 0; i < MARKS; i++) {
            if (isMarked(i) && markedPositions[i] <= wanted && markedPositions[i] > at) {
                at = markedPositions[i];
                offset = markedOffsets[i];
            }
        }
        while (at != wanted) {
            long record = ring.record(offset);
            int flags = UnsafeApi.getInt(record + GroupRingDescriptor.FLAGS);
            if ((flags & GroupRingDescriptor.GAP) != 0) {
                at = UnsafeApi.getLong(record + GroupRingDescriptor.TAG);
                if (at > wanted) {
                    // that one is missing: its reader begins in the gap
                    return offset;
                }
            } else {
                at += (flags & GroupRingDescriptor.PADDING) == 0 ? 1 : 0;
            }
            offset += GroupRingDescriptor.alignedLength(UnsafeApi.getInt(record + GroupRingDescriptor.LENGTH));
        }
        return offset;
    }

    /** A reader has left, or is lost; the writer does not wait for it any more. */
    void remove(GroupReader reader) {
        readers.remove(reader);
        findWires();
    }

    private void findWires() {
        wires = readers.stream().map(GroupReader::wire).filter(Objects::nonNull).distinct()
            .toArray(GroupWire[]::new);
    }

    GroupReader find(GroupMember member) {
        for (GroupReader reader : readers) {
            if (reader.local() == member) {
                return reader;
            }
        }
        return null;
    }

    /** A reader of another driver has reported how far it is; false if that is impossible. */
    boolean onPosition(GroupReader reader, long read, long next) {
        if (read - reader.offset() < 0 || read - tail > 0 || next < reader.position() || next > position) {
            return false;
        }
        reader.reported(read, next);
        return true;
    }

    /** The writer has left, or the ring is lost: the readers read the rest, and then their membership ends. */
    void close(int errno) {
        isClosed = true;
        if (channel != null) {
            channel.group(null);
        }
        if (ring == null) {
            return;
        }
        if (isBlocked && channel != null) {
            // the sends that wait are refused
            channel.handler().onWritable();
        }
        isBlocked = false;
        announce();
        ring.delete();
        if (recorder != null) {
            recorder.close();
        }
        if (recorder == null || !recorder.isDelaying()) {
            endReaders(errno);
        }
        if (source != null && recorder == null) {
            source.close(errno);
        }
        if (recorder == null && source == null) {
            ring.release();
            ring = null;
        } else {
            endErrno = errno;
        }
    }

    private void endReaders(int errno) {
        for (GroupReader reader : readers) {
            end(reader, errno, tail);
        }
        readers.clear();
    }

    /** After the close: the log is closed, other hosts have everything, and nothing is left to do. */
    boolean isDrained() {
        if (ring == null) {
            return true;
        }
        if (recorder != null && !isRecorderDrained() || source != null && !source.isDrained()) {
            return false;
        }
        ring.release();
        ring = null;
        return true;
    }

    private boolean isRecorderDrained() {
        if (isRecorded) {
            return true;
        }
        recorder.poll();
        if (!recorder.isEnded()) {
            return false;
        }
        isRecorded = true;
        commit(FabricErrno.EIO);
        if (recorder.isDelaying()) {
            show();
            announce();
            endReaders(endErrno);
        }
        if (recorder.failure() != null && endErrno != FabricErrno.EIO) {
            services.onError(recorder.failure());
        }
        recorder.release();
        if (source != null) {
            // not before: hosts that see what is recorded alone have had no end until now
            source.close(endErrno);
        }
        return true;
    }

    /** Waits until the log is closed; false if it is not in time. */
    boolean awaitDrained() {
        if (ring == null) {
            return true;
        }
        boolean isWhole = (recorder == null || recorder.awaitEnd() && isRecorderDrained())
            && (source == null || source.awaitEnd());
        // also if hosts were given up: then the ring is not needed any more
        return isDrained() && isWhole;
    }

    private void end(GroupReader reader, int errno, long end) {
        if (reader.local() != null) {
            reader.local().ending(errno, end);
        } else {
            groups.end(reader, errno, end);
        }
    }
}
