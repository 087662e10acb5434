package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.TransmitOperation;

/**
 * The header of one message of the data layer, read from and written to native memory.
 *
 * <pre>
 *    0 version u8, 3 | 1 op u8 | 2 flags u16 | 4 op data u8 | 5 descriptors u8 | 6 length of the header u8 | 7 id u8
 *    8 length of header and payload u64
 *   16 words of 8 bytes, in this order, each present as op and flags define:
 *      remote CQ data                      flag 0x1, ops 0, 1, 4
 *      tag                                 op 1; op 0 with flag 0x80
 *      address, length, key of each piece  ops 2 and 4, as many as byte 5 says, 1 to 4
 * </pre>
 *
 * <p>Flags, length and words are little endian, or all big endian if one of the two machines is. The ops of the tagged
 * rendezvous (5 to 7) belong to a version of the protocol that this link never accepts.
 *
 * <p>An object holds the header that {@link #decode} has read last; no method allocates. Owner: progress agent.
 */
final class TcpHeader {
    static final int OP_MESSAGE = 0;
    static final int OP_TAGGED = 1;
    static final int OP_READ_REQUEST = 2;
    static final int OP_READ_RESPONSE = 3;
    static final int OP_WRITE = 4;

    static final int FLAG_CQ_DATA = 0x1;
    static final int FLAG_WANTS_ACK = 0x4;
    static final int FLAG_COMMIT = 0x8;
    static final int FLAG_RAW_TAG = 0x80;

    /** Header without any further word. */
    static final int BASE_LENGTH = 16;
    /** Longest header in front of a payload that this link sends: CQ data, and a tag or one piece of remote memory. */
    static final int MAX_SENT_LENGTH = 48;
    static final int MAX_LENGTH = 120;
    /** Result of {@link #decode}: the header is incomplete. */
    static final int MORE = 0;
    /** Result of {@link #decode}: the header is invalid, see {@link #brokenBy()}. */
    static final int BROKEN = -1;

    private static final int VERSION = 3;
    private static final int OP_DATA_ACK = 2;
    /** Largest number of pieces of remote memory in one message. */
    static final int MAX_DESCRIPTORS = 4;
    /** Bytes of the description of a piece. */
    static final int DESCRIPTOR_LENGTH = 24;
    private static final int KNOWN_FLAGS = FLAG_CQ_DATA | FLAG_WANTS_ACK | FLAG_COMMIT | FLAG_RAW_TAG;

    private static final int OP = 1;
    private static final int FLAGS = 2;
    private static final int OP_DATA = 4;
    private static final int DESCRIPTORS = 5;
    private static final int LENGTH = 6;
    private static final int SIZE = 8;

    private int op;
    private int flags;
    private int opData;
    private int length;
    private long payloadLength;
    private long data;
    private long tag;
    private int pieces;
    private final long[] descriptors = new long[3 * MAX_DESCRIPTORS];
    private String brokenBy;
    private long brokenValue;

    TcpHeader() {
    }

    int op() {
        return op;
    }

    /** Whether it is an acknowledgement, which carries nothing else. */
    boolean isAck() {
        return op == OP_MESSAGE && opData == OP_DATA_ACK;
    }

    boolean hasData() {
        return (flags & FLAG_CQ_DATA) != 0;
    }

    boolean isTagged() {
        return op == OP_TAGGED || (flags & FLAG_RAW_TAG) != 0;
    }

    boolean wantsAck() {
        return (flags & (FLAG_WANTS_ACK | FLAG_COMMIT)) != 0;
    }

    int flags() {
        return flags;
    }

    long payloadLength() {
        return payloadLength;
    }

    /** Remote CQ data, 0 if there are none. */
    long data() {
        return data;
    }

    /** The tag, 0 if there is none. */
    long tag() {
        return tag;
    }

    /** Number of pieces of remote memory, 0 for messages. */
    int pieces() {
        return pieces;
    }

    /** Copies the pieces of remote memory. */
    void copyTo(RemoteRanges ranges) {
        ranges.clear();
        for (int i = 0; i < pieces; i++) {
            ranges.add(descriptors[3 * i + 2], descriptors[3 * i], descriptors[3 * i + 1]);
        }
    }

    /** Whether a write is to be made persistent before it is acknowledged. */
    boolean asksForCommit() {
        return (flags & FLAG_COMMIT) != 0;
    }

    /** The reason for the last result {@link #BROKEN}. */
    String brokenBy() {
        return brokenBy + ' ' + brokenValue;
    }

    /**
     * Reads a header.
     *
     * @param address     address of its first byte.
     * @return bytes of the header, {@link #MORE} or {@link #BROKEN}.
     */
    int decode(long address, int available, boolean isBigEndian) {
        if (available < BASE_LENGTH) {
            return MORE;
        }
        op = UnsafeApi.getByte(address + OP) & 0xFF;
        opData = UnsafeApi.getByte(address + OP_DATA) & 0xFF;
        length = UnsafeApi.getByte(address + LENGTH) & 0xFF;
        short wireFlags = UnsafeApi.getShort(address + FLAGS);
        flags = (isBigEndian ? Short.reverseBytes(wireFlags) : wireFlags) & 0xFFFF;
        long size = word(address + SIZE, isBigEndian);
        int expected = expectedLength(UnsafeApi.getByte(address + DESCRIPTORS) & 0xFF);
        if (UnsafeApi.getByte(address) != VERSION) {
            return broken("version", UnsafeApi.getByte(address) & 0xFF);
        }
        if (expected < 0) {
            return BROKEN;
        }
        if (length != expected) {
            return broken("length of a header", length);
        }
        // compared as a signed number, so that no later sum can overflow
        if (size < length || (isAck() || op == OP_READ_REQUEST) && size != length) {
            return broken("length of a message", size);
        }
        if (available < length) {
            return MORE;
        }
        payloadLength = size - length;
        long next = address + BASE_LENGTH;
        data = 0;
        if (hasData()) {
            data = word(next, isBigEndian);
            next += Long.BYTES;
        }
        tag = 0;
        pieces = 0;
        if (isTagged()) {
            tag = word(next, isBigEndian);
        } else if (op == OP_READ_REQUEST || op == OP_WRITE) {
            pieces = (int) (address + length - next) / DESCRIPTOR_LENGTH;
            for (int i = 0; i < 3 * pieces; i++) {
                descriptors[i] = word(next + (long) i * Long.BYTES, isBigEndian);
            }
            if (op == OP_WRITE && !isPayloadOfPieces()) {
                return broken("pieces for a payload of bytes", payloadLength);
            }
        }
        return length;
    }

    /** Whether the pieces together are as long as the payload; no sum overflows, whatever their lengths are. */
    private boolean isPayloadOfPieces() {
        long left = payloadLength;
        for (int i = 0; i < pieces; i++) {
            long here = descriptors[3 * i + 1];
            if (here < 0 || here > left) {
                return false;
            }
            left -= here;
        }
        return left == 0;
    }

    /** Bytes of a header with this op and these flags; {@link #BROKEN} if there is no such header. */
    private int expectedLength(int descriptors) {
        if ((flags & ~KNOWN_FLAGS) != 0) {
            return broken("flags", flags);
        }
        if (isAck()) {
            return flags == 0 ? BASE_LENGTH : broken("flags of an acknowledgement", flags);
        }
        if (opData != 0) {
            return broken("data of an operation", opData);
        }
        if ((flags & FLAG_RAW_TAG) != 0 && op != OP_MESSAGE) {
            return broken("flags", flags);
        }
        int words = (hasData() ? Long.BYTES : 0) + (isTagged() ? Long.BYTES : 0);
        return switch (op) {
            case OP_MESSAGE, OP_TAGGED -> BASE_LENGTH + words;
            case OP_READ_REQUEST, OP_WRITE -> descriptors < 1 || descriptors > MAX_DESCRIPTORS
                ? broken("number of pieces", descriptors) : BASE_LENGTH + words + DESCRIPTOR_LENGTH * descriptors;
            case OP_READ_RESPONSE -> BASE_LENGTH;
            default -> broken("operation", op);
        };
    }

    private int broken(String what, long value) {
        brokenBy = what;
        brokenValue = value;
        return BROKEN;
    }

    /**
     * Writes the header of a message.
     *
     * @param address     address of {@link #MAX_SENT_LENGTH} free bytes.
     * @param flags       {@link #FLAG_CQ_DATA}, {@link #FLAG_WANTS_ACK}.
     * @param tag         tag, ignored unless the message is tagged.
     * @param data        remote CQ data, ignored without {@link #FLAG_CQ_DATA}.
     */
    static int encodeMessage(
        long address, boolean isBigEndian, boolean isTagged, int flags, long tag, long data, long payload) {
        int length = BASE_LENGTH;
        if ((flags & FLAG_CQ_DATA) != 0) {
            UnsafeApi.putLong(address + length, isBigEndian ? Long.reverseBytes(data) : data);
            length += Long.BYTES;
        }
        if (isTagged) {
            UnsafeApi.putLong(address + length, isBigEndian ? Long.reverseBytes(tag) : tag);
            length += Long.BYTES;
        }
        encodeBase(address, isBigEndian, isTagged ? OP_TAGGED : OP_MESSAGE, flags, 0, length, length + payload);
        return length;
    }

    /** Writes the header of the answer to a read, {@link #BASE_LENGTH} bytes. */
    static void encodeReadResponse(long address, boolean isBigEndian, long payload) {
        encodeBase(address, isBigEndian, OP_READ_RESPONSE, 0, 0, BASE_LENGTH, BASE_LENGTH + payload);
    }

    /**
     * Writes a request to read remote memory.
     *
     * @param address     address of {@link #MAX_LENGTH} free bytes.
     * @param length      bytes requested, from the start of the first piece.
     */
    static int encodeReadRequest(long address, boolean isBigEndian, RemotePayload source, long length) {
        int pieces = 0;
        long left = length;
        while (left > 0) {
            long here = Math.min(left, source.length(pieces));
            long descriptor = address + BASE_LENGTH + (long) pieces * DESCRIPTOR_LENGTH;
            putWord(descriptor, isBigEndian, source.regionOffset(pieces));
            putWord(descriptor + Long.BYTES, isBigEndian, here);
            putWord(descriptor + 2 * Long.BYTES, isBigEndian, source.regionNumber(pieces));
            left -= here;
            pieces++;
        }
        int total = BASE_LENGTH + pieces * DESCRIPTOR_LENGTH;
        encodeBase(address, isBigEndian, OP_READ_REQUEST, 0, 0, total, total);
        UnsafeApi.putByte(address + DESCRIPTORS, (byte) pieces);
        return total;
    }

    /**
     * Writes a request to read remote memory.
     *
     * @param address     address of {@link #MAX_LENGTH} free bytes.
     */
    static int encodeReadRequest(long address, boolean isBigEndian, TransmitOperation operation) {
        int pieces = putPieces(address + BASE_LENGTH, isBigEndian, operation);
        int total = BASE_LENGTH + pieces * DESCRIPTOR_LENGTH;
        encodeBase(address, isBigEndian, OP_READ_REQUEST, 0, 0, total, total);
        UnsafeApi.putByte(address + DESCRIPTORS, (byte) pieces);
        return total;
    }

    /**
     * Writes the header of a write to remote memory.
     *
     * @param address     address of {@link #MAX_SENT_LENGTH} free bytes, of {@link #MAX_LENGTH} for several ranges.
     * @param flags       {@link #FLAG_CQ_DATA}; {@link #FLAG_WANTS_ACK} or {@link #FLAG_COMMIT}.
     * @param operation   with remote address and key, or ranges, with length and data.
     */
    static int encodeWrite(long address, boolean isBigEndian, int flags, TransmitOperation operation) {
        int length = BASE_LENGTH;
        if ((flags & FLAG_CQ_DATA) != 0) {
            putWord(address + length, isBigEndian, operation.data);
            length += Long.BYTES;
        }
        int pieces = putPieces(address + length, isBigEndian, operation);
        length += pieces * DESCRIPTOR_LENGTH;
        encodeBase(address, isBigEndian, OP_WRITE, flags, 0, length, length + operation.length);
        UnsafeApi.putByte(address + DESCRIPTORS, (byte) pieces);
        return length;
    }

    /** Writes the pieces of remote memory of an access; returns their number. */
    private static int putPieces(long address, boolean isBigEndian, TransmitOperation operation) {
        if (!operation.hasRanges) {
            putPiece(address, isBigEndian, operation.remoteAddress, operation.length, operation.key);
            return 1;
        }
        RemoteRanges ranges = operation.ranges;
        for (int i = 0; i < ranges.count(); i++) {
            putPiece(address + (long) i * DESCRIPTOR_LENGTH, isBigEndian,
                ranges.address(i), ranges.lengthBytes(i), ranges.key(i));
        }
        return ranges.count();
    }

    private static void putPiece(long address, boolean isBigEndian, long offset, long length, long key) {
        putWord(address, isBigEndian, offset);
        putWord(address + Long.BYTES, isBigEndian, length);
        putWord(address + 2 * Long.BYTES, isBigEndian, key);
    }

    private static void putWord(long address, boolean isBigEndian, long value) {
        UnsafeApi.putLong(address, isBigEndian ? Long.reverseBytes(value) : value);
    }

    /** Writes an acknowledgement, {@link #BASE_LENGTH} bytes. */
    static void encodeAck(long address, boolean isBigEndian) {
        encodeBase(address, isBigEndian, OP_MESSAGE, 0, OP_DATA_ACK, BASE_LENGTH, BASE_LENGTH);
    }

    private static void encodeBase(
        long address, boolean isBigEndian, int op, int flags, int opData, int length, long size) {
        int wireFlags = isBigEndian ? Short.reverseBytes((short) flags) & 0xFFFF : flags;
        // one store: version, op, flags, op data, no descriptors, length, no id
        UnsafeApi.putLong(address,
            VERSION | (long) op << 8 | (long) wireFlags << 16 | (long) opData << 32 | (long) length << 48);
        UnsafeApi.putLong(address + SIZE, isBigEndian ? Long.reverseBytes(size) : size);
    }

    private static long word(long address, boolean isBigEndian) {
        long value = UnsafeApi.getLong(address);
        return isBigEndian ? Long.reverseBytes(value) : value;
    }
}
