package org.jfabric.driver.stream.net;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;

/** A writer's messages in a list, of which the newest count as being in a ring. */
final class ListSource extends StreamSource {
    /** A message. */
    record Message(int flags, long tag, long data, byte[] payload) {
    }

    final LogPosition first;
    final int ringBytes;
    final List<Message> messages = new ArrayList<>();
    final List<String> events = new ArrayList<>();
    StreamWriter writer;
    boolean isRecorded;
    private final List<Long> offsets = new ArrayList<>();
    private final long scratch;
    private long oldest;
    /** End of the message that waits for room; 0 for none. */
    private long waitingEnd;

    ListSource(UUID logId, int term, long firstPosition, int ringBytes) {
        first = new LogPosition(logId, term, firstPosition);
        this.ringBytes = ringBytes;
        oldest = firstPosition;
        offsets.add(0L);
        scratch = UnsafeApi.allocateMemory(ringBytes);
    }

    /** Adds a message; false if the ring is full of those that a reader needs. */
    boolean offer(Message message) {
        long tail = offsets.getLast();
        int length = GroupRingDescriptor.alignedLength(
            GroupRingDescriptor.RECORD_HEADER_WITH_DATA + message.payload.length);
        long toEnd = ringBytes - tail % ringBytes;
        long end = tail + length + (length > toEnd ? toEnd : 0);
        waitingEnd = end;
        if (isBlocked()) {
            return false;
        }
        waitingEnd = 0;
        messages.add(message);
        offsets.add(end);
        while (offset(oldest) < end - ringBytes) {
            oldest++;
        }
        return true;
    }

    Message message(long position) {
        return messages.get((int) (position - first.position()));
    }

    @Override
    public LogPosition first() {
        return first;
    }

    @Override
    public int ringBytes() {
        return ringBytes;
    }

    @Override
    public long next() {
        return first.position() + messages.size();
    }

    @Override
    public long oldest() {
        return oldest;
    }

    @Override
    public int read(long position) {
        if (position < oldest || position >= next()) {
            return -FabricErrno.ENODATA;
        }
        Message message = message(position);
        flags = message.flags;
        tag = message.tag;
        data = message.data;
        payload = scratch;
        payloadLength = message.payload.length;
        UnsafeApi.copyMemory(
            message.payload, BufferUtil.ARRAY_BASE_OFFSET, null, scratch, payloadLength);
        return 0;
    }

    @Override
    public long offset(long position) {
        return offsets.get((int) (Math.max(position, oldest) - first.position()));
    }

    @Override
    public boolean isRecorded() {
        return isRecorded;
    }

    @Override
    public boolean isBlocked() {
        long needed = writer == null ? Long.MAX_VALUE : writer.needed();
        return needed < next() && waitingEnd - ringBytes > offset(needed);
    }

    @Override
    public void onJoined(RemoteReader reader) {
        events.add("joined " + reader.name());
    }

    @Override
    public void onOtherWriter(String address) {
        events.add("other " + address);
    }

    @Override
    public void onLeft(RemoteReader reader, int errno) {
        events.add("left " + reader.name() + ' ' + errno);
    }
}
