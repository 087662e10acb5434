package org.jfabric.driver.link.rxm;

import java.nio.ByteOrder;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.RemoteRanges;

/**
 * The header of every packet, by native address. All words are in the native byte order: peers of the other order are
 * refused when they connect.
 *
 * <pre>
 *    0  u8 4 | u8 type | u16 segment length | u32 segment number |  control
 *    8  u64 connection, number given by the receiver             |
 *   16  u64 message, number chosen by the sender                 |
 *   24  u64 position of a segment, or credits                    |
 *   32  u8 2 | u8 0 | u8 op | u8 0 | u32 flags                   |  operation
 *   40  u64 length of the whole message                          |
 *   48  u64 remote CQ data                                       |
 *   56  u64 tag; of an atomic operation:                         |
 *       u8 datatype | u8 operation | u8 number of ranges | 0     |
 *   64  payload
 * </pre>
 *
 * <p>Fields that a type does not define may contain data from earlier packets of a C peer, and are ignored.
 */
final class RxmPacket {
    static final int HEADER_LENGTH = 64;

    /** A whole message. */
    static final int EAGER = 0;
    static final int SEGMENT = 1;
    /** A message whose payload is read from the sender: a descriptor block follows. */
    static final int RENDEZVOUS = 2;
    /** The payload of a rendezvous was read. */
    static final int READ_DONE = 3;
    static final int ATOMIC = 4;
    /** The answer to an atomic operation. */
    static final int ATOMIC_RESPONSE = 5;
    static final int CREDIT = 6;
    /** The destination of a rendezvous by writing. */
    static final int WRITE_TARGET = 7;
    /** The payload of a rendezvous was written. */
    static final int WRITE_DONE = 8;

    /** Bytes of the ranges of an atomic operation, behind the header; operands follow. */
    static final int RANGES_LENGTH = RemoteRanges.MAX_RANGES * 24;
    /** Bytes of status and length of an answer to an atomic operation, behind the header; old values follow. */
    static final int ATOMIC_RESPONSE_LENGTH = 8;

    /** Operation of a plain message. */
    static final int MESSAGE_OP = 0;
    /** Operation of a tagged message. */
    static final int TAGGED_OP = 1;
    /** Operation of an atomic operation that brings nothing back; the next two fetch, and compare. */
    static final int ATOMIC_OP = 6;

    /** Position of a message's first segment, which is not its last. */
    static final int FIRST = 1;
    /** Position of a segment between others. */
    static final int MIDDLE = 2;
    /** Position of the last segment. */
    static final int LAST = 3;

    /** Flag: the word of remote CQ data is valid. */
    private static final int REMOTE_CQ_DATA = 0x20000;
    private static final int RANGE_LENGTH = RANGES_LENGTH / RemoteRanges.MAX_RANGES;
    private static final byte CONTROL_VERSION = 4;
    private static final byte OP_VERSION = 2;
    private static final boolean NATIVE_IS_BIG = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private RxmPacket() {
    }

    /** Writes a header of zeroes, except for the versions, the type and the connection. */
    static void begin(long address, int type, long connection) {
        for (int offset = 0; offset < HEADER_LENGTH; offset += Long.BYTES) {
            UnsafeApi.putLong(address + offset, 0L);
        }
        UnsafeApi.putByte(address, CONTROL_VERSION);
        UnsafeApi.putByte(address + 1, (byte) type);
        UnsafeApi.putLong(address + 8, connection);
        UnsafeApi.putByte(address + 32, OP_VERSION);
    }

    /** Writes the message that the packet is or belongs to. */
    static void message(
        long address, boolean tagged, boolean hasData, long message, long length, long data, long tag) {
        UnsafeApi.putLong(address + 16, message);
        UnsafeApi.putByte(address + 34, (byte) (tagged ? TAGGED_OP : MESSAGE_OP));
        UnsafeApi.putInt(address + 36, hasData ? REMOTE_CQ_DATA : 0);
        UnsafeApi.putLong(address + 40, length);
        UnsafeApi.putLong(address + 48, hasData ? data : 0);
        UnsafeApi.putLong(address + 56, tagged ? tag : 0);
    }

    static void segment(long address, int number, int length, int position) {
        UnsafeApi.putShort(address + 2, (short) length);
        UnsafeApi.putInt(address + 4, number);
        UnsafeApi.putLong(address + 24, position);
    }

    /** Writes the message that a packet without a message of its own refers to. */
    static void about(long address, long message) {
        UnsafeApi.putLong(address + 16, message);
    }

    /** Writes a number of posted receives; C peers write the type into the operation too. */
    static void grant(long address, long credits) {
        UnsafeApi.putLong(address + 24, credits);
        UnsafeApi.putByte(address + 34, (byte) CREDIT);
    }

    /**
     * Writes an atomic operation with one range; operands and compare values follow at {@link #operands}.
     *
     * @param form     one of {@link org.jfabric.layout.AtomicForm}.
     */
    static void atomic(
        long address, long message, int form, int datatype, int operation, long operands) {
        atomicHeader(address, message, ATOMIC_OP + form, RANGES_LENGTH + operands);
        UnsafeApi.putByte(address + 56, (byte) datatype);
        UnsafeApi.putByte(address + 57, (byte) operation);
        UnsafeApi.putByte(address + 58, (byte) 1);
        for (int offset = 0; offset < RANGES_LENGTH; offset += Long.BYTES) {
            UnsafeApi.putLong(address + HEADER_LENGTH + offset, 0L);
        }
    }

    /** Makes an atomic operation one on no element. */
    static void withoutRange(long address) {
        UnsafeApi.putByte(address + 58, (byte) 0);
    }

    /** Writes the first range of an atomic operation. */
    static void range(long address, long offset, long count, long key) {
        UnsafeApi.putLong(address + HEADER_LENGTH, offset);
        UnsafeApi.putLong(address + HEADER_LENGTH + 8, count);
        UnsafeApi.putLong(address + HEADER_LENGTH + 16, key);
    }

    /**
     * Writes an answer to an atomic operation, except for the old values. Status and length behind the header are
     * big-endian; a failure is a negative errno.
     */
    static void atomicResponse(long address, long message, int op, int errno, int valueBytes) {
        atomicHeader(address, message, op, (long) ATOMIC_RESPONSE_LENGTH + valueBytes);
        UnsafeApi.putInt(address + HEADER_LENGTH, bigEndian(-errno));
        UnsafeApi.putInt(address + HEADER_LENGTH + Integer.BYTES, bigEndian(valueBytes));
    }

    private static void atomicHeader(long address, long message, int op, long length) {
        UnsafeApi.putLong(address + 16, message);
        UnsafeApi.putByte(address + 34, (byte) op);
        UnsafeApi.putLong(address + 40, length);
    }

    private static int bigEndian(int value) {
        return NATIVE_IS_BIG ? value : Integer.reverseBytes(value);
    }

    static int datatype(long address) {
        return UnsafeApi.getByte(address + 56) & 0xff;
    }

    static int atomicOperation(long address) {
        return UnsafeApi.getByte(address + 57) & 0xff;
    }

    static int ranges(long address) {
        return UnsafeApi.getByte(address + 58) & 0xff;
    }

    static long rangeOffset(long address, int range) {
        return UnsafeApi.getLong(address + HEADER_LENGTH + (long) range * RANGE_LENGTH);
    }

    static long rangeCount(long address, int range) {
        return UnsafeApi.getLong(address + HEADER_LENGTH + (long) range * RANGE_LENGTH + 8);
    }

    static long rangeKey(long address, int range) {
        return UnsafeApi.getLong(address + HEADER_LENGTH + (long) range * RANGE_LENGTH + 16);
    }

    /** Native address of the operands of an atomic operation. */
    static long operands(long address) {
        return address + HEADER_LENGTH + RANGES_LENGTH;
    }

    /** The status of an answer to an atomic operation: 0, or an errno, which C peers send as a negative number. */
    static int status(long address) {
        return bigEndian(UnsafeApi.getInt(address + HEADER_LENGTH));
    }

    /** Bytes of old values that an answer to an atomic operation says it has; any value. */
    static int valueBytes(long address) {
        return bigEndian(UnsafeApi.getInt(address + HEADER_LENGTH + Integer.BYTES));
    }

    /** Native address of the old values in an answer to an atomic operation. */
    static long values(long address) {
        return address + HEADER_LENGTH + ATOMIC_RESPONSE_LENGTH;
    }

    static boolean isVersionKnown(long address) {
        return UnsafeApi.getByte(address) == CONTROL_VERSION && UnsafeApi.getByte(address + 32) == OP_VERSION;
    }

    static int type(long address) {
        return UnsafeApi.getByte(address + 1) & 0xff;
    }

    static int segmentLength(long address) {
        return UnsafeApi.getShort(address + 2) & 0xffff;
    }

    static int segmentNumber(long address) {
        return UnsafeApi.getInt(address + 4);
    }

    static long connection(long address) {
        return UnsafeApi.getLong(address + 8);
    }

    static long message(long address) {
        return UnsafeApi.getLong(address + 16);
    }

    static int position(long address) {
        return UnsafeApi.getByte(address + 24) & 3;
    }

    static long credits(long address) {
        return UnsafeApi.getLong(address + 24);
    }

    static int op(long address) {
        return UnsafeApi.getByte(address + 34) & 0xff;
    }

    static boolean hasData(long address) {
        return (UnsafeApi.getInt(address + 36) & REMOTE_CQ_DATA) != 0;
    }

    static long length(long address) {
        return UnsafeApi.getLong(address + 40);
    }

    static long data(long address) {
        return UnsafeApi.getLong(address + 48);
    }

    static long tag(long address) {
        return UnsafeApi.getLong(address + 56);
    }
}
