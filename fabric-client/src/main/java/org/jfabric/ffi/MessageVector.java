package org.jfabric.ffi;

import org.agrona.UnsafeApi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An array of {@code struct mmsghdr}: several datagrams for one system call, each with a socket address and up to a
 * fixed number of pieces.
 *
 * <pre>
 *   mmsghdr  64 bytes: 0 name pointer | 8 name length u32 | 16 iovec pointer | 24 iovec count u64
 *                      | 32 control pointer | 40 control length | 48 flags int | 56 bytes transferred u32
 *   iovec    16 bytes: 0 pointer | 8 length
 * </pre>
 *
 * <p>Only the constructor allocates. Owner: one thread; the memory lives as long as this object is
 * reachable.
 */
public final class MessageVector {
    /** Room for any IP socket address. */
    public static final int NAME_BYTES = 28;

    private static final int HEADER_BYTES = 64;
    private static final int IOVEC_BYTES = 16;
    private static final int NAME_STRIDE = 32;
    private static final int NAME_LENGTH = 8;
    private static final int IOVEC = 16;
    private static final int IOVEC_COUNT = 24;
    private static final int CONTROL = 32;
    private static final int CONTROL_LENGTH = 40;
    private static final int FLAGS = 48;
    private static final int TRANSFERRED = 56;

    private final int capacity;
    private final int pieces;
    private final MemorySegment memory;
    private final long headers;
    private final long iovecs;
    private final long names;
    private final int controlBytes;
    private final long controls;

    /**
     * Makes an array of empty messages.
     *
     * @param capacity messages, 1 or more.
     * @param pieces   limit of the pieces of each, 1 or more.
     */
    public MessageVector(int capacity, int pieces) {
        this(capacity, pieces, 0);
    }

    /**
     * Makes an array of empty messages with room for control messages, as receives with times need.
     *
     * @param controlBytes room of each message, a multiple of 8; see {@link SocketTimes#CONTROL_BYTES}.
     */
    public MessageVector(int capacity, int pieces, int controlBytes) {
        this.capacity = capacity;
        this.pieces = pieces;
        this.controlBytes = controlBytes;
        long headerBytes = (long) capacity * HEADER_BYTES;
        long iovecBytes = (long) capacity * pieces * IOVEC_BYTES;
        memory = Arena.ofAuto().allocate(
            headerBytes + iovecBytes + (long) capacity * (NAME_STRIDE + controlBytes), HEADER_BYTES);
        headers = memory.address();
        iovecs = headers + headerBytes;
        names = iovecs + iovecBytes;
        controls = names + (long) capacity * NAME_STRIDE;
        for (int i = 0; i < capacity; i++) {
            UnsafeApi.putLong(header(i), nameAddress(i));
            UnsafeApi.putLong(header(i) + IOVEC, iovec(i, 0));
        }
    }

    public int capacity() {
        return capacity;
    }

    /** The whole array. Returns the address for {@link UdpSocket}. */
    public long address() {
        return headers;
    }

    public long header(int index) {
        return headers + (long) index * HEADER_BYTES;
    }

    /**
     * The message's own buffer for a socket address, used unless {@link #name} sets another address. Returns the
     * address of {@link #NAME_BYTES}.
     */
    public long nameAddress(int index) {
        return names + (long) index * NAME_STRIDE;
    }

    public void name(int index, long name, int length) {
        UnsafeApi.putLong(header(index), name);
        UnsafeApi.putInt(header(index) + NAME_LENGTH, length);
    }

    /**
     * Sets the buffer length for the sender's socket address; the kernel overwrites it with the length of the address.
     */
    public void nameLength(int index, int length) {
        UnsafeApi.putInt(header(index) + NAME_LENGTH, length);
    }

    public long namePointer(int index) {
        return UnsafeApi.getLong(header(index));
    }

    /**
     * Bytes of a message's socket address. Returns the value set by {@link #nameLength(int, int)} or stored by the
     * kernel.
     */
    public int nameLength(int index) {
        return UnsafeApi.getInt(header(index) + NAME_LENGTH);
    }

    /** Address of the length of a message's socket address. */
    public long nameLengthAddress(int index) {
        return header(index) + NAME_LENGTH;
    }

    public void piece(int index, int piece, long from, long length) {
        long at = iovec(index, piece);
        UnsafeApi.putLong(at, from);
        UnsafeApi.putLong(at + Long.BYTES, length);
    }

    /** Sets the number of pieces of a message. */
    public void pieceCount(int index, int count) {
        UnsafeApi.putLong(header(index) + IOVEC_COUNT, count);
    }

    /** Number of pieces of a message. Returns the value set by {@link #pieceCount(int, int)}. */
    public int pieceCount(int index) {
        return (int) UnsafeApi.getLong(header(index) + IOVEC_COUNT);
    }

    /** Address of a piece of a message. Returns the address set by {@link #piece}. */
    public long pieceAddress(int index, int piece) {
        return UnsafeApi.getLong(iovec(index, piece));
    }

    /** Length of a piece of a message. Returns the bytes set by {@link #piece}. */
    public long pieceLength(int index, int piece) {
        return UnsafeApi.getLong(iovec(index, piece) + Long.BYTES);
    }

    /**
     * Bytes that were received into a message. Returns the bytes stored; a longer datagram was cut, see {@link #flags}.
     */
    public int transferred(int index) {
        return UnsafeApi.getInt(header(index) + TRANSFERRED);
    }

    /** Stores the result of a receive, for callers that receive without {@link UdpSocket}. */
    public void transferred(int index, int bytes) {
        UnsafeApi.putInt(header(index) + TRANSFERRED, bytes);
        UnsafeApi.putInt(header(index) + FLAGS, 0);
    }

    /**
     * Stores the result as the kernel does.
     *
     * @param bytes of the datagram, of which the room may have taken fewer.
     */
    void received(int index, long bytes, long room) {
        UnsafeApi.putInt(header(index) + TRANSFERRED, (int) Math.min(bytes, room));
        UnsafeApi.putInt(header(index) + FLAGS, bytes > room ? UdpSocket.MSG_TRUNC : 0);
    }

    /** Flags of the kernel for a received message, perhaps {@link UdpSocket#MSG_TRUNC}. */
    public int flags(int index) {
        return UnsafeApi.getInt(header(index) + FLAGS);
    }

    /**
     * Sets the memory of a message's control messages.
     *
     * @param address of the first byte.
     * @param length  bytes; the kernel replaces it by those that it has stored.
     */
    void control(int index, long address, long length) {
        UnsafeApi.putLong(header(index) + CONTROL, address);
        UnsafeApi.putLong(header(index) + CONTROL_LENGTH, length);
    }

    /** Gives the first messages their room for control messages, which the kernel replaces by what it has stored. */
    void renewControls(int count) {
        for (int i = 0; i < count; i++) {
            control(i, controls + (long) i * controlBytes, controlBytes);
        }
    }

    /**
     * The time of a message that was received by {@link UdpSocket#receiveTimed}, or a departure of
     * {@link UdpSocket#receiveDepartures}.
     *
     * @param ofCard of the card's clock, else of the system's.
     * @return nanoseconds; 0 if there is none.
     */
    public long timeNs(int index, boolean ofCard) {
        return SocketTimes.timeNs(controls + (long) index * controlBytes, controlLength(index), ofCard);
    }

    /** The number, 32 bits, of the datagram that a departure is of; negative if it is none. */
    public long departed(int index) {
        return SocketTimes.number(controls + (long) index * controlBytes, controlLength(index));
    }

    /** Bytes of the control messages that were received with a message. */
    long controlLength(int index) {
        return UnsafeApi.getLong(header(index) + CONTROL_LENGTH);
    }

    private long iovec(int index, int piece) {
        return iovecs + ((long) index * pieces + piece) * IOVEC_BYTES;
    }
}
