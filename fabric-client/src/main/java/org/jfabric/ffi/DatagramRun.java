package org.jfabric.ffi;

import org.agrona.UnsafeApi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * Datagrams of one length, to or from one address, that pass through the kernel as one: it cuts a long message into
 * datagrams behind the protocols ({@code UDP_SEGMENT}, Linux 4.18), and joins those that it received
 * ({@code UDP_GRO}, Linux 5.0). The last datagram may be shorter.
 *
 * <p>Source: udp(7) of Linux man-pages 6.7, sections UDP_SEGMENT and UDP_GRO. Only the constructor allocates. Owner:
 * one thread; the memory lives as long as this object is reachable.
 */
public final class DatagramRun {
    /** Datagrams that every kernel with UDP_SEGMENT takes as one. */
    public static final int MAX_DATAGRAMS = 64;
    /** Bytes that the datagrams of one run may have together. */
    public static final int MAX_BYTES = 65507;

    private static final int SOL_UDP = 17;
    private static final int UDP_SEGMENT = 103;
    private static final int UDP_GRO = 104;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    /** Header of a control message: length u64, level int, type int. */
    private static final int CONTROL_HEADER_BYTES = 16;
    private static final int CONTROL_BYTES = 64;
    private static final int LEVEL = 8;
    private static final int TYPE = 12;

    private static final QuickDowncall SENDMSG = QuickDowncall.ofSockets("sendmsg", 3);
    private static final QuickDowncall RECVMSG = QuickDowncall.ofSockets("recvmsg", 3);
    private static final Downcall SENDMSG_WITH_ERRNO = Downcall.ofSockets("sendmsg", 3);
    private static final Downcall SETSOCKOPT = Downcall.ofSockets("setsockopt", 5);

    private final MessageVector message;
    private final MemorySegment memory;
    private final long control;
    private int pieces;

    /**
     * Makes an empty run.
     *
     * @param pieces pieces of memory at most, 1 to 1024.
     */
    public DatagramRun(int pieces) {
        message = new MessageVector(1, pieces);
        memory = Arena.ofAuto().allocate(CONTROL_BYTES, Long.BYTES);
        control = memory.address();
    }

    /**
     * Has the kernel join the datagrams that a socket receives. From then on it is read by {@link #receive} only.
     * Returns 0; {@code -ENOPROTOOPT} before Linux 5.0.
     */
    public static int join(int fd) {
        CallState state = CallState.current();
        long at = state.scratchAddress + CallState.STRUCT_OFFSET;
        UnsafeApi.putInt(at, 1);
        return state.intResult(SETSOCKOPT.call(state, fd, SOL_UDP, UDP_GRO, at, Integer.BYTES));
    }

    /**
     * Begins a run.
     *
     * @param name   address of the destination's socket address.
     */
    public void begin(long name, int length) {
        message.name(0, name, length);
        pieces = 0;
    }

    /**
     * Adds memory.
     *
     * @param address of the first byte.
     */
    public void add(long address, long length) {
        message.piece(0, pieces++, address, length);
    }

    /**
     * Sends the run. Returns 0 if the kernel has taken all; {@code -EAGAIN} without room; {@code -EINVAL}, {@code
     * -EMSGSIZE} and {@code -EIO} if the network has shorter frames or cannot do it; or another negative errno.
     */
    public int send(int fd, int datagramBytes) {
        message.pieceCount(0, pieces);
        UnsafeApi.putLong(control, CONTROL_HEADER_BYTES + Short.BYTES);
        UnsafeApi.putInt(control + LEVEL, SOL_UDP);
        UnsafeApi.putInt(control + TYPE, UDP_SEGMENT);
        UnsafeApi.putShort(control + CONTROL_HEADER_BYTES, (short) datagramBytes);
        message.control(0, control, CONTROL_HEADER_BYTES + Long.BYTES);
        try {
            if (SENDMSG.call(fd, message.header(0), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
                return 0;
            }
            // once more, for the reason; it may succeed now
            CallState state = CallState.current();
            long sent = state.result(
                SENDMSG_WITH_ERRNO.call(state, fd, message.header(0), MSG_DONTWAIT | MSG_NOSIGNAL));
            return sent >= 0 ? 0 : (int) sent;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Receives one datagram or several joined ones of one sender, without waiting. Returns the bytes; negative if there
     * is none.
     */
    public int receive(int fd, long address, long length) {
        message.name(0, message.nameAddress(0), MessageVector.NAME_BYTES);
        message.piece(0, 0, address, length);
        message.pieceCount(0, 1);
        message.control(0, control, CONTROL_BYTES);
        try {
            return (int) RECVMSG.call(fd, message.header(0), MSG_DONTWAIT);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The sender of the last run that was received. */
    public long source() {
        return message.nameAddress(0);
    }

    /**
     * Bytes of each datagram but the last one, of the last run that was received. Returns the bytes; 0 if it was a
     * single datagram.
     */
    public int datagramBytes() {
        boolean isJoined = message.controlLength(0) >= CONTROL_HEADER_BYTES + Integer.BYTES
            && UnsafeApi.getInt(control + LEVEL) == SOL_UDP && UnsafeApi.getInt(control + TYPE) == UDP_GRO;
        return isJoined ? UnsafeApi.getInt(control + CONTROL_HEADER_BYTES) : 0;
    }
}
