package org.jfabric.ffi;

import org.agrona.UnsafeApi;

/**
 * Sends of a TCP socket that the kernel does not copy ({@code MSG_ZEROCOPY}), and its reports that it no longer uses
 * their memory.
 *
 * <pre>
 *   send 0, send 1, send 2, ...      each send that takes bytes has the next 32-bit number, which wraps
 *   error queue:  [0..1] [2..2]      the kernel is done with the memory of these sends; ranges may be out of order
 *
 *   msghdr 0 name | 8 namelen | 16 iov | 24 iovlen | 32 control | 40 controllen u64 | 48 flags | 56
 *   cmsg   0 len u64 | 8 level u32 | 12 type u32 | 16 sock_extended_err
 *   sock_extended_err  0 errno u32 | 4 origin u8 | 5 type u8 | 6 code u8 | 8 first u32 | 12 last u32
 * </pre>
 *
 * <p>Source: Linux, Documentation/networking/msg_zerocopy.rst; recvmsg(2), MSG_ERRQUEUE; socket(7), SO_LINGER.
 *
 * <p>Owner: one thread. Only the constructor and failing sends allocate.
 */
public final class ZeroCopy implements AutoCloseable {
    /** Result of a send, negated: the kernel has no memory for its report; the same bytes can be sent with a copy. */
    public static final int ENOBUFS = TcpSocket.ENOBUFS;

    private static final int SOL_SOCKET = 1;
    private static final int SO_LINGER = 13;
    private static final int SO_ZEROCOPY = 60;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_MORE = 0x8000;
    private static final int MSG_ERRQUEUE = 0x2000;
    private static final int MSG_ZEROCOPY = 0x4000000;
    private static final int IPPROTO_IP = 0;
    private static final int IP_RECVERR = 11;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_RECVERR = 25;
    private static final int SO_EE_ORIGIN_ZEROCOPY = 5;
    private static final int SO_EE_CODE_ZEROCOPY_COPIED = 1;

    private static final int HEADER_BYTES = 56;
    private static final int CONTROL_OFFSET = 32;
    private static final int CONTROLLEN_OFFSET = 40;
    private static final int CONTROL_BYTES = 256;
    private static final int CMSG_LEVEL = 8;
    private static final int CMSG_TYPE = 12;
    private static final int CMSG_DATA = 16;
    private static final int ORIGIN = CMSG_DATA + 4;
    private static final int CODE = CMSG_DATA + 6;
    private static final int FIRST = CMSG_DATA + 8;
    private static final int LAST = CMSG_DATA + 12;
    private static final int ERR_BYTES = 16;

    private static final Downcall SETSOCKOPT = Downcall.ofSockets("setsockopt", 5);
    private static final QuickDowncall SENDMSG = QuickDowncall.ofSockets("sendmsg", 3);
    private static final QuickDowncall RECVMSG = QuickDowncall.ofSockets("recvmsg", 3);
    private static final Downcall SENDMSG_ERRNO = Downcall.ofSockets("sendmsg", 3);

    private final long header = UnsafeApi.allocateMemory(HEADER_BYTES + CONTROL_BYTES);
    private int first;
    private int last;
    private boolean isCopied;

    /** Makes room for one report. */
    public ZeroCopy() {
        UnsafeApi.setMemory(header, HEADER_BYTES + CONTROL_BYTES, (byte) 0);
    }

    /**
     * Allows {@link #send} on a socket. Returns 0 or a negative errno: a system before Linux 4.14 has no such option.
     */
    public static int enable(int fd) {
        CallState state = CallState.current();
        UnsafeApi.putInt(state.scratchAddress, 1);
        return state.intResult(
            SETSOCKOPT.call(state, fd, SOL_SOCKET, SO_ZEROCOPY, state.scratchAddress, Integer.BYTES));
    }

    /**
     * Has the close of a socket drop the bytes that are not sent yet, and reset the connection, so that the kernel
     * reads no memory of theirs after it.
     */
    public static void resetOnClose(int fd) {
        CallState state = CallState.current();
        UnsafeApi.putInt(state.scratchAddress, 1);
        UnsafeApi.putInt(state.scratchAddress + Integer.BYTES, 0);
        SETSOCKOPT.call(state, fd, SOL_SOCKET, SO_LINGER, state.scratchAddress, 2 * Integer.BYTES);
    }

    /**
     * Sends bytes from where they are. They must not change until the number of this send is reported.
     *
     * @param vector of the ranges, not empty.
     * @return as {@link TcpSocket#sendVector}; {@code -}{@link #ENOBUFS}. A result above 0 has taken a number.
     */
    public static long send(int fd, IoVector vector) {
        return send(fd, vector, MSG_NOSIGNAL | MSG_ZEROCOPY);
    }

    /**
     * Sends bytes with a copy, which the kernel may put together with those of the next call.
     *
     * @param vector of the ranges, not empty.
     * @return as {@link TcpSocket#sendVector}.
     */
    public static long sendBefore(int fd, IoVector vector) {
        return send(fd, vector, MSG_NOSIGNAL | MSG_MORE);
    }

    private static long send(int fd, IoVector vector, int flags) {
        long sent = SENDMSG.call(fd, vector.headerAddress(), flags);
        if (sent >= 0) {
            return sent;
        }
        // once more, for the reason; a call that fails takes no number
        CallState state = CallState.current();
        return state.result(SENDMSG_ERRNO.call(state, fd, vector.headerAddress(), flags));
    }

    /**
     * Takes the next report of a socket; never waits. Other entries of its error queue are dropped. Returns false if
     * there is none.
     */
    public boolean next(int fd) {
        long control = header + HEADER_BYTES;
        while (true) {
            UnsafeApi.putLong(header + CONTROL_OFFSET, control);
            UnsafeApi.putLong(header + CONTROLLEN_OFFSET, CONTROL_BYTES);
            if (RECVMSG.call(fd, header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
                return false;
            }
            if (parse(control, UnsafeApi.getLong(header + CONTROLLEN_OFFSET))) {
                return true;
            }
        }
    }

    private boolean parse(long control, long length) {
        long at = control;
        long end = control + length;
        while (end - at >= CMSG_DATA + ERR_BYTES) {
            long bytes = UnsafeApi.getLong(at);
            if (isReport(at, bytes)) {
                first = UnsafeApi.getInt(at + FIRST);
                last = UnsafeApi.getInt(at + LAST);
                isCopied = (UnsafeApi.getByte(at + CODE) & SO_EE_CODE_ZEROCOPY_COPIED) != 0;
                return true;
            }
            if (bytes < CMSG_DATA) {
                return false;
            }
            at += bytes + Long.BYTES - 1 & -Long.BYTES;
        }
        return false;
    }

    private static boolean isReport(long at, long bytes) {
        int level = UnsafeApi.getInt(at + CMSG_LEVEL);
        int type = UnsafeApi.getInt(at + CMSG_TYPE);
        return bytes >= CMSG_DATA + ERR_BYTES
            && (level == IPPROTO_IP && type == IP_RECVERR || level == IPPROTO_IPV6 && type == IPV6_RECVERR)
            && UnsafeApi.getByte(at + ORIGIN) == SO_EE_ORIGIN_ZEROCOPY;
    }

    /** The first send of the last report. */
    public int first() {
        return first;
    }

    /**
     * The last send of the last report. Returns its number, an unsigned int; below {@link #first()} if the numbers have
     * wrapped.
     */
    public int last() {
        return last;
    }

    /** Whether the kernel has copied bytes of the last report after all, so that the report was only a cost. */
    public boolean isCopied() {
        return isCopied;
    }

    @Override
    public void close() {
        UnsafeApi.freeMemory(header);
    }
}
