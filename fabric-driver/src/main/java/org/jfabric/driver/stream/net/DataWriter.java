package org.jfabric.driver.stream.net;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.stream.DataEncoder;
import org.jfabric.codec.stream.FragmentEncoder;
import org.jfabric.codec.stream.MessageEncoder;
import org.jfabric.codec.stream.MessageHeaderEncoder;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.layout.Words;

/**
 * Makes datagrams of a stream's messages: as many short ones as fit, or a fragment of a long one. Owner: progress
 * agent.
 */
final class DataWriter {
    static final int HEADER = MessageHeaderEncoder.ENCODED_LENGTH;
    static final int DATA_HEADER = HEADER + DataEncoder.BLOCK_LENGTH;
    static final int FRAGMENT_HEADER = HEADER + FragmentEncoder.BLOCK_LENGTH;

    private final StreamSource source;
    private final long stream;
    private final int datagramBytes;
    private final int fragmentBytes;
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final DataEncoder data = new DataEncoder();
    private final MessageEncoder message = new MessageEncoder();
    private final FragmentEncoder fragment = new FragmentEncoder();
    private long position;
    private int firstByte;

    DataWriter(StreamSource source, long stream, int datagramBytes) {
        this.source = source;
        this.stream = stream;
        this.datagramBytes = datagramBytes;
        this.fragmentBytes = datagramBytes - FRAGMENT_HEADER & -Long.BYTES;
    }

    /** Bytes of a message in each of its fragments but the last. */
    int fragmentBytes() {
        return fragmentBytes;
    }

    /** Bytes in front of the payload of a message in Data. */
    static int headBytes(int flags) {
        return MessageEncoder.BLOCK_LENGTH
            + ((flags & GroupRingDescriptor.TAGGED) != 0 ? Long.BYTES : 0)
            + ((flags & GroupRingDescriptor.HAS_DATA) != 0 ? Long.BYTES : 0);
    }

    static int aligned(int bytes) {
        return bytes + Long.BYTES - 1 & -Long.BYTES;
    }

    /** Sets where the next datagram begins. */
    void to(long newPosition, int newFirstByte) {
        position = newPosition;
        firstByte = newFirstByte;
    }

    /** Behind what was written last. */
    long position() {
        return position;
    }

    int firstByte() {
        return firstByte;
    }

    /**
     * Writes the next datagram.
     *
     * @param end     position; no message from there on is sent.
     * @param endByte but bytes before this one of the message at end.
     * @return its length, 0 if there is nothing to send.
     */
    int write(long memory, long end, int endByte, boolean isRepair) {
        long first = position;
        int length = DATA_HEADER;
        while (Gaps.isBefore(position, firstByte, end, endByte)) {
            if (source.read(position) != 0) {
                break;
            }
            int head = headBytes(source.flags);
            int bytes = aligned(head + source.payloadLength);
            if (bytes > datagramBytes - DATA_HEADER) {
                if (length > DATA_HEADER) {
                    break;
                }
                if (firstByte < source.payloadLength) {
                    return writeFragment(memory, isRepair);
                }
                // asked for behind its end
                position++;
                firstByte = 0;
                first = position;
                continue;
            }
            if (length + bytes > datagramBytes) {
                break;
            }
            if (length == DATA_HEADER) {
                buffer.wrap(memory, datagramBytes);
            }
            writeMessage(length, head, bytes);
            length += bytes;
            position++;
            firstByte = 0;
        }
        if (length == DATA_HEADER) {
            return 0;
        }
        data.wrapAndApplyHeader(buffer, 0, header)
            .stream(stream).position(first).count((int) (position - first)).isRepair(isRepair ? 1 : 0).reserved(0);
        return length;
    }

    private void writeMessage(int at, int head, int bytes) {
        message.wrap(buffer, at).length(source.payloadLength).flags(source.flags);
        long record = buffer.addressOffset() + at;
        long next = record + MessageEncoder.BLOCK_LENGTH;
        if ((source.flags & GroupRingDescriptor.TAGGED) != 0) {
            UnsafeApi.putLong(next, source.tag);
            next += Long.BYTES;
        }
        if ((source.flags & GroupRingDescriptor.HAS_DATA) != 0) {
            UnsafeApi.putLong(next, source.data);
        }
        if (bytes > head) {
            UnsafeApi.putLong(record + bytes - Long.BYTES, 0);
        }
        Words.copy(source.payload, record + head, source.payloadLength);
    }

    private int writeFragment(long memory, boolean isRepair) {
        int offset = firstByte / fragmentBytes * fragmentBytes;
        int bytes = Math.min(fragmentBytes, source.payloadLength - offset);
        buffer.wrap(memory, datagramBytes);
        fragment.wrapAndApplyHeader(buffer, 0, header)
            .stream(stream).position(position).length(source.payloadLength).firstByte(offset)
            .flags(source.flags).isRepair(isRepair ? 1 : 0).tag(source.tag).data(source.data);
        Words.copy(source.payload + offset, memory + FRAGMENT_HEADER, bytes);
        if (offset + bytes == source.payloadLength) {
            position++;
            firstByte = 0;
        } else {
            firstByte = offset + bytes;
        }
        return FRAGMENT_HEADER + bytes;
    }
}
