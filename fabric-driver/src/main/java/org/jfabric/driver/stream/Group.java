package org.jfabric.driver.stream;

import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.GroupRingDescriptor;

/**
 * A group whose writer is an endpoint of this driver: the ring and its readers. A message is written once, however many
 * readers there are.
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
    private final Groups groups;
    private final LinkServices services;
    private final GroupName name;
    private final LocalEndpoint writer;
    private final GroupChannel channel;
    private final long stallTimeoutNs;
    private final List<GroupReader> readers = new ArrayList<>();
    private GroupRing ring;
    private long header;
    private int maxPayload;
    private long position;
    private long sequence;
    private long limit;
    /** A message waits for room; end of its record. */
    private boolean isBlocked;
    private long blockedEnd;
    /** Position of the slowest reader when it was last seen to move, and the time of that. */
    private long slowest;
    private long slowestSinceNs;
    /** Messages were written since the readers' drivers were last woken. */
    private boolean isWritten;
    private boolean isClosed;

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

    GroupChannel channel() {
        return channel;
    }

    GroupRing ring() {
        return ring;
    }

    boolean isClosed() {
        return isClosed;
    }

    boolean isLossy() {
        return name.isLossy();
    }

    /** Whether records may be overwritten that a reader has yet to read. */
    boolean mayOverrun() {
        return isLossy() || stallTimeoutNs != 0;
    }

    /** End of the records that are written. */
    long position() {
        return position;
    }

    /** Number of the next message. */
    long sequence() {
        return sequence;
    }

    int maxPayload() {
        return maxPayload;
    }

    /** The ring is mapped: messages can be written. */
    void open(GroupRing newRing) {
        ring = newRing.retain();
        header = ring.header();
        maxPayload = GroupRingDescriptor.maxPayload(ring.capacity());
        limit = isLossy() ? Long.MAX_VALUE : ring.capacity();
        channel.group(this);
    }

    // ---- writing ----

    /** As {@link Channel#send}. */
    int send(TransmitOperation operation) {
        if (operation.length > maxPayload) {
            return -FabricErrno.EMSGSIZE;
        }
        boolean hasData = (operation.flags & Flags.REMOTE_CQ_DATA) != 0;
        int before = hasData ? GroupRingDescriptor.RECORD_HEADER_WITH_DATA : GroupRingDescriptor.RECORD_HEADER;
        int length = before + (int) operation.length;
        int aligned = GroupRingDescriptor.alignedLength(length);
        int toEnd = ring.toEnd(position);
        long start = aligned > toEnd ? position + toEnd : position;
        long end = start + aligned;
        if (end - limit > 0 && !makeRoom(end)) {
            if (!isBlocked) {
                isBlocked = true;
                slowest = limit;
                slowestSinceNs = services.nowNs();
            }
            blockedEnd = end;
            return -FabricErrno.EAGAIN;
        }
        UnsafeApi.putLongOpaque(null, header + GroupRingDescriptor.INTENT_OFFSET, end);
        // a reader that sees a byte of the record also sees the intent
        UnsafeApi.storeFence();
        if (start != position) {
            long padding = ring.record(position);
            UnsafeApi.putInt(padding + GroupRingDescriptor.LENGTH, toEnd);
            UnsafeApi.putInt(padding + GroupRingDescriptor.FLAGS, GroupRingDescriptor.PADDING);
        }
        long record = ring.record(start);
        UnsafeApi.putInt(record + GroupRingDescriptor.LENGTH, length);
        UnsafeApi.putInt(record + GroupRingDescriptor.FLAGS,
            ((operation.flags & Flags.TAGGED) != 0 ? GroupRingDescriptor.TAGGED : 0)
                | (hasData ? GroupRingDescriptor.HAS_DATA : 0));
        UnsafeApi.putLong(record + GroupRingDescriptor.SEQUENCE, sequence);
        UnsafeApi.putLong(record + GroupRingDescriptor.TAG, operation.tag);
        if (hasData) {
            UnsafeApi.putLong(record + GroupRingDescriptor.DATA, operation.data);
        }
        operation.copyTo(0, record + before, operation.length);
        UnsafeApi.putLongOpaque(null, header + GroupRingDescriptor.LATEST_OFFSET, start);
        UnsafeApi.putLongRelease(null, header + GroupRingDescriptor.TAIL_OFFSET, end);
        position = end;
        sequence++;
        isWritten = true;
        return Channel.DONE;
    }

    /** Updates the limit; false if records up to that end do not fit yet. */
    private boolean makeRoom(long end) {
        long first = position;
        for (int i = 0, count = readers.size(); i < count; i++) {
            long read = readers.get(i).position();
            first = read - first < 0 ? read : first;
        }
        limit = first + ring.capacity();
        return end - limit <= 0;
    }

    /** Makes one step; 0 if there was nothing to do. */
    int poll() {
        if (ring == null) {
            return 0;
        }
        ring.touch();
        announce();
        if (!isBlocked) {
            return 0;
        }
        if (makeRoom(blockedEnd)) {
            isBlocked = false;
            channel.handler().onWritable();
            return 1;
        }
        return stallTimeoutNs == 0 ? 0 : removeStalled();
    }

    /** The drivers of the readers are woken, if they sleep, by the next step of their connections. */
    void announce() {
        if (isWritten) {
            isWritten = false;
            for (int i = 0, count = readers.size(); i < count; i++) {
                GroupWire wire = readers.get(i).wire();
                if (wire != null) {
                    wire.written();
                }
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
            if (reader.position() + ring.capacity() - blockedEnd < 0) {
                services.onError(new FabricException(FabricErrno.ETIMEDOUT,
                    "reader " + reader.address() + " of group " + address() + " has not read for "
                        + stallTimeoutNs + " ns while the group waited for it",
                    "It was removed, and may join again; the time is jfabric.shm.groupStallTimeoutNs."));
                readers.remove(reader);
                end(reader, FabricErrno.ETIMEDOUT, reader.position());
                work++;
            }
        }
        return work;
    }

    // ---- readers ----

    /** Adds a reader that begins at the tail, so that the limit stays right. */
    void add(GroupReader reader) {
        readers.add(reader);
    }

    /** A reader has left, or is lost; the writer does not wait for it any more. */
    void remove(GroupReader reader) {
        readers.remove(reader);
    }

    GroupReader find(GroupMember member) {
        for (GroupReader reader : readers) {
            if (reader.local() == member) {
                return reader;
            }
        }
        return null;
    }

    /** A reader of another driver has reported its position; false if that is impossible. */
    boolean onPosition(GroupReader reader, long read) {
        if (read - reader.position() < 0 || read - position > 0) {
            return false;
        }
        reader.position(read);
        return true;
    }

    /** The writer has left, or the ring is lost: the readers read the rest, and then their membership ends. */
    void close(int errno) {
        isClosed = true;
        channel.group(null);
        if (ring == null) {
            return;
        }
        if (isBlocked) {
            // the sends that wait are refused
            isBlocked = false;
            channel.handler().onWritable();
        }
        announce();
        for (GroupReader reader : readers) {
            end(reader, errno, position);
        }
        readers.clear();
        ring.delete();
        ring.release();
        ring = null;
    }

    private void end(GroupReader reader, int errno, long end) {
        if (reader.local() != null) {
            reader.local().ending(errno, end);
        } else {
            groups.end(reader, errno, end);
        }
    }
}
