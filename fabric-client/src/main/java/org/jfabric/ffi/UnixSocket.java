package org.jfabric.ffi;

import org.agrona.UnsafeApi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Sockets between processes of one host, named by a path: streams, and single datagrams.
 *
 * <p>All descriptors are close-on-exec. Any thread may call; of the calls of a running fabric {@link #ring} allocates
 * nothing, nor does {@link #drainDoorbell} where there is a byte. Close with {@link Libc#close(int)}; deleting the path
 * is the listener's duty.
 */
public final class UnixSocket {
    /** Longest path in bytes (UTF-8) that the kernel's socket address holds. */
    public static final int MAX_PATH_BYTES = 107;
    /** Flag of {@link #connect} and {@link #accept4}: calls on the new descriptor return -EAGAIN instead of waiting. */
    public static final int SOCK_NONBLOCK = 0x800;
    /** Flag of {@link #recv}: leave the bytes in the socket. */
    public static final int MSG_PEEK = 0x02;
    /** Flag of {@link #send} and {@link #recv}: this call returns -EAGAIN instead of waiting. */
    public static final int MSG_DONTWAIT = 0x40;
    /** For {@link #shutdown}: nothing will be received. */
    public static final int SHUT_RD = 0;
    /** For {@link #shutdown}: nothing will be sent, the peer reads end of file. */
    public static final int SHUT_WR = 1;
    /** For {@link #shutdown}: both. */
    public static final int SHUT_RDWR = 2;

    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x4000_0000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;
    private static final int SO_PEERGROUPS = 59;
    private static final int OWNER_ONLY = 0600;
    private static final int OWNER_AND_GROUP = 0660;
    private static final long NO_GROUP = -1;
    private static final int MAX_DATAGRAM_BYTES = 4096;
    /** One byte, never written again; lives as long as the process. */
    private static final long DOORBELL_ADDRESS = UnsafeApi.allocateMemory(1);

    static {
        UnsafeApi.putByte(DOORBELL_ADDRESS, (byte) 1);
    }

    private static final Downcall SOCKET = Downcall.of("socket", 3);
    private static final Downcall BIND = Downcall.of("bind", 3);
    private static final Downcall LISTEN = Downcall.of("listen", 2);
    private static final Downcall ACCEPT4 = Downcall.of("accept4", 4);
    private static final Downcall CONNECT = Downcall.of("connect", 3);
    private static final QuickDowncall RING = QuickDowncall.of("send", 4);
    private static final Downcall SEND = Downcall.of("send", 4);
    private static final QuickDowncall DRAIN = QuickDowncall.of("recv", 4);
    private static final Downcall RECV = Downcall.of("recv", 4);
    private static final Downcall SENDTO = Downcall.of("sendto", 6);
    private static final Downcall SENDMSG = Downcall.of("sendmsg", 3);
    private static final Downcall RECVMSG = Downcall.of("recvmsg", 3);
    private static final Downcall SHUTDOWN = Downcall.of("shutdown", 2);
    private static final Downcall GETSOCKOPT = Downcall.of("getsockopt", 5);

    private UnixSocket() {
    }

    /**
     * Makes the path and listens there; the path's permissions are 0600 from the first moment, whatever the umask.
     *
     * @param path that does not exist yet.
     * @return non-blocking descriptor; {@code -EADDRINUSE} if anything exists at the path (delete what a dead listener
     *     left first); {@code -ENOENT}, {@code -EACCES}, {@code -EMFILE}.
     * @throws NativeCallException ENAMETOOLONG if the path is longer than {@link #MAX_PATH_BYTES}.
     */
    public static int listen(Path path, int backlog) {
        return listen(path, backlog, NO_GROUP);
    }

    /**
     * The same, for connections of a group too: the path has that group and the permissions 0660. A member that
     * connects before it has them is refused with EACCES.
     *
     * @param path that does not exist yet.
     * @param gid group id, or -1 for none.
     * @return as {@link #listen(Path, int)}; {@code -EPERM} if this process is neither privileged nor in the group.
     * @throws NativeCallException as {@link #listen(Path, int)}.
     */
    public static int listen(Path path, int backlog, long gid) {
        byte[] name = name("bind", path.toString());
        int fd = socket(SOCK_STREAM, SOCK_NONBLOCK);
        if (fd < 0) {
            return fd;
        }
        // The mode of the unbound socket becomes, less the umask, that of the path: no moment with wider permissions.
        int result = Libc.fchmod(fd, OWNER_ONLY);
        CallState state = CallState.current();
        int addressBytes = SockaddrUn.put(state.scratch, name);
        if (result == 0) {
            result = state.intResult(BIND.call(state, fd, state.scratchAddress, addressBytes));
        }
        if (result == 0) {
            result = state.intResult(LISTEN.call(state, fd, backlog));
        }
        if (result == 0 && gid != NO_GROUP) {
            result = Libc.shareWithGroup(path, gid, OWNER_AND_GROUP);
        }
        return fdOrError(fd, result);
    }

    /**
     * Takes the next waiting connection.
     *
     * @param listenFd of {@link #listen}.
     * @param flags 0 or {@link #SOCK_NONBLOCK}.
     * @return descriptor; {@code -EAGAIN} if none waits; {@code -EMFILE}, {@code -ENFILE}, {@code -EBADF}.
     */
    public static int accept4(int listenFd, int flags) {
        CallState state = CallState.current();
        int result;
        do {
            result = state.intResult(ACCEPT4.call(state, listenFd, 0L, 0L, flags | SOCK_CLOEXEC));
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Connects to a listener. The call returns before the listener accepts: bytes that are sent are kept for it.
     *
     * @param path of the listener; symbolic links are followed, so check {@link #peerCredentials}.
     * @param flags 0 or {@link #SOCK_NONBLOCK}.
     * @return descriptor; {@code -ENOENT} without a path; {@code -ECONNREFUSED} if no process listens there any more;
     *     {@code -EAGAIN} if the backlog is full (non-blocking only, otherwise it waits); {@code -EACCES}.
     * @throws NativeCallException ENAMETOOLONG if the path is longer than {@link #MAX_PATH_BYTES}.
     */
    public static int connect(Path path, int flags) {
        byte[] name = name("connect", path.toString());
        int fd = socket(SOCK_STREAM, flags);
        if (fd < 0) {
            return fd;
        }
        CallState state = CallState.current();
        int addressBytes = SockaddrUn.put(state.scratch, name);
        int result;
        do {
            result = state.intResult(CONNECT.call(state, fd, state.scratchAddress, addressBytes));
        } while (result == -LinuxErrno.EINTR);
        return fdOrError(fd, result);
    }

    /**
     * Sends one byte without waiting, as a doorbell; its value has no meaning. If there is no room for it, the other
     * side has enough bytes to wake it. A broken connection is noticed when it is read. Allocates nothing, compiled or
     * not.
     */
    public static void ring(int fd) {
        RING.call(fd, DOORBELL_ADDRESS, 1L, MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    /**
     * Takes available doorbell bytes, whatever their values; the rest is taken by the next call. Allocates nothing,
     * compiled or not, if there is at least one. Returns false at the end of file, or if the connection is broken.
     */
    public static boolean drainDoorbell(int fd) {
        long scratchAddress = CallState.current().scratchAddress;
        long count = DRAIN.call(fd, scratchAddress, CallState.SCRATCH_BYTES, MSG_DONTWAIT);
        if (count < 0) {
            // once more, for the reason; a reset that was reported already is the end of file now
            count = recv(fd, scratchAddress, CallState.SCRATCH_BYTES, MSG_DONTWAIT);
        }
        return count > 0 || count == -LinuxErrno.EAGAIN || count == -LinuxErrno.EINTR;
    }

    /**
     * Sends bytes; never raises SIGPIPE.
     *
     * @param lengthBytes number of bytes, at least 0.
     * @param flags 0 or {@link #MSG_DONTWAIT}.
     * @return number of bytes taken, which may be fewer; {@code -EAGAIN} if there is no room; {@code -EPIPE} or
     *     {@code -ECONNRESET} if the peer is gone; {@code -EFAULT} if the bytes' file was cut; {@code -EINTR}.
     */
    public static int send(int fd, long address, int lengthBytes, int flags) {
        CallState state = CallState.current();
        return (int) state.result(SEND.call(state, fd, address, lengthBytes, flags | MSG_NOSIGNAL));
    }

    /**
     * Receives bytes.
     *
     * @param lengthBytes most bytes, at least 1.
     * @param flags 0 or {@link #MSG_DONTWAIT}, {@link #MSG_PEEK}.
     * @return number of bytes; 0 at the end of file: the peer closed or died, and all it sent was received;
     *     {@code -EAGAIN} if there is nothing yet; {@code -ECONNRESET} if the peer closed with bytes of ours unread;
     *     {@code -EFAULT}, {@code -EINTR}.
     */
    public static int recv(int fd, long address, int lengthBytes, int flags) {
        CallState state = CallState.current();
        return (int) state.result(RECV.call(state, fd, address, lengthBytes, flags));
    }

    /**
     * Sends one datagram to the socket with a name, from a socket that is made for it and closed again.
     *
     * @param name absolute path, or {@code @} and an abstract name.
     * @param bytes of the datagram, at most 4,096; copied.
     * @return 0; {@code -ENOENT} or {@code -ECONNREFUSED} if no process receives there; {@code -EAGAIN} if the receiver
     *     has no room now; {@code -EACCES}; {@code -EMFILE}.
     * @throws NativeCallException ENAMETOOLONG if the name is longer than {@link #MAX_PATH_BYTES}, EINVAL if it begins
     *     with neither {@code /} nor {@code @} or the datagram is too long.
     */
    public static int sendDatagram(String name, byte[] bytes) {
        boolean isAbstract = name.startsWith("@") && name.length() > 1;
        if (!isAbstract && !name.startsWith("/") || bytes.length > MAX_DATAGRAM_BYTES) {
            throw new NativeCallException("sendto", LinuxErrno.EINVAL, "a datagram of " + bytes.length
                + " bytes to \"" + name + "\", needed is an absolute path or @name, and at most "
                + MAX_DATAGRAM_BYTES + " bytes");
        }
        byte[] address = name("sendto", name);
        int fd = socket(SOCK_DGRAM, SOCK_NONBLOCK);
        if (fd < 0) {
            return fd;
        }
        CallState state = CallState.current();
        long result;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            int addressBytes = isAbstract ? SockaddrUn.putAbstract(state.scratch, address)
                : SockaddrUn.put(state.scratch, address);
            do {
                result = state.result(SENDTO.call(state, fd, message.address(), (long) bytes.length, MSG_NOSIGNAL,
                    state.scratchAddress, addressBytes));
            } while (result == -LinuxErrno.EINTR);
        }
        Libc.close(fd);
        return (int) Math.min(result, 0);
    }

    /**
     * Sends one byte, as a doorbell, with a copy of a descriptor.
     *
     * @param descriptor to be copied; stays open here.
     * @return 0; {@code -ECONNRESET} if the peer is gone; {@code -EBADF}; {@code -ETOOMANYREFS} if this user has passed
     *     too many descriptors that were not received yet.
     */
    public static int sendDescriptor(int fd, int descriptor) {
        CallState state = CallState.current();
        MessageWithRights.put(state.scratch, state.scratchAddress, 1);
        MessageWithRights.putDescriptor(state.scratch, descriptor);
        long result;
        do {
            result = state.result(SENDMSG.call(state, fd, state.scratchAddress, MSG_NOSIGNAL));
        } while (result == -LinuxErrno.EINTR);
        return result == -LinuxErrno.EPIPE ? -LinuxErrno.ECONNRESET : (int) Math.min(result, 0);
    }

    /**
     * Takes available doorbell bytes without waiting, and the descriptor that came with one of them. Bytes behind it
     * are taken by the next call. Returns the descriptor, close-on-exec, which the caller must close; {@code -EAGAIN}
     * if there was none, whether there were bytes or not; {@code -ECONNRESET} at the end of file or if the connection
     * is broken; {@code -EMFILE} if there is one and no number is free: it is lost.
     */
    public static int receiveDescriptor(int fd) {
        CallState state = CallState.current();
        MessageWithRights.put(state.scratch, state.scratchAddress, MessageWithRights.MAX_BYTES);
        long count = state.result(RECVMSG.call(
            state, fd, state.scratchAddress, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
        if (count == -LinuxErrno.EINTR || count == -LinuxErrno.EAGAIN) {
            return -LinuxErrno.EAGAIN;
        }
        return count <= 0 ? -LinuxErrno.ECONNRESET : MessageWithRights.descriptor(state.scratch);
    }

    /**
     * Ends one or both directions; the descriptor stays open.
     *
     * @param how {@link #SHUT_RD}, {@link #SHUT_WR} or {@link #SHUT_RDWR}.
     * @return 0 or {@code -ENOTCONN}, {@code -EBADF}.
     */
    public static int shutdown(int fd, int how) {
        CallState state = CallState.current();
        return state.intResult(SHUTDOWN.call(state, fd, how));
    }

    /**
     * The user of the process at the other end, as the kernel recorded it at connect or listen; the peer cannot forge
     * it. Returns the effective user id, 0 to 2^32 - 1; {@code -ENOTSOCK}, {@code -EBADF}; {@code -ENOTCONN} if there
     * is no peer.
     */
    public static long peerCredentials(int fd) {
        CallState state = CallState.current();
        int result = readCredentials(state, fd);
        return result < 0 ? result : Ucred.uidOrError(state.scratch);
    }

    /**
     * Whether the process at the other end was in a group, as the kernel recorded it at connect or listen; the peer
     * cannot forge it.
     *
     * @return true if it is the effective group or one of the supplementary ones; false also for a descriptor without
     *     a peer.
     */
    public static boolean isPeerInGroup(int fd, long gid) {
        CallState state = CallState.current();
        if (readCredentials(state, fd) < 0) {
            return false;
        }
        if (Ucred.gid(state.scratch) == (int) gid) {
            return true;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment length = arena.allocate(ValueLayout.JAVA_INT);
            // for a buffer that is too short the kernel answers the length
            int result = state.intResult(GETSOCKOPT.call(state, fd, SOL_SOCKET, SO_PEERGROUPS, 0L, length.address()));
            int lengthBytes = length.get(ValueLayout.JAVA_INT, 0);
            if (result != -LinuxErrno.ERANGE || lengthBytes <= 0) {
                return false;
            }
            MemorySegment groups = arena.allocate(lengthBytes, Integer.BYTES);
            result = state.intResult(
                GETSOCKOPT.call(state, fd, SOL_SOCKET, SO_PEERGROUPS, groups.address(), length.address()));
            for (long at = 0; result == 0 && at < lengthBytes; at += Integer.BYTES) {
                if (groups.get(ValueLayout.JAVA_INT, at) == (int) gid) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * The process at the other end of a connection, as it was when the connection was made. Returns the process id from
     * 1; 0 if it is in another pid namespace; or a negative errno.
     */
    public static int peerPid(int fd) {
        CallState state = CallState.current();
        int result = readCredentials(state, fd);
        return result < 0 ? result : Ucred.pid(state.scratch);
    }

    /** Leaves a {@link Ucred} in the scratch memory; 0 or a negative errno. */
    private static int readCredentials(CallState state, int fd) {
        Ucred.clear(state.scratch);
        return state.intResult(GETSOCKOPT.call(state, fd, SOL_SOCKET, SO_PEERCRED,
            state.scratchAddress, state.scratchAddress + Ucred.LENGTH_WORD));
    }

    private static int socket(int type, int flags) {
        CallState state = CallState.current();
        return state.intResult(SOCKET.call(state, AF_UNIX, type | SOCK_CLOEXEC | flags, 0));
    }

    private static int fdOrError(int fd, int result) {
        if (result < 0) {
            Libc.close(fd);
            return result;
        }
        return fd;
    }

    private static byte[] name(String call, String path) {
        byte[] name = path.getBytes(StandardCharsets.UTF_8);
        if (name.length > MAX_PATH_BYTES) {
            throw new NativeCallException(call, LinuxErrno.ENAMETOOLONG, path + " has " + name.length +
                " bytes, a socket's path at most " + MAX_PATH_BYTES + ": use a driver directory with a shorter path");
        }
        if (name.length == 0) {
            // The kernel would choose a name of its own in another name space.
            throw new NativeCallException(call, LinuxErrno.EINVAL, "the path of the socket is empty");
        }
        return name;
    }

    /**
     * {@code struct sockaddr_un}.
     *
     * <pre>
     *   0 sun_family u16 | 2 sun_path, 108 bytes with the terminating zero
     * </pre>
     *
     * <p>An abstract name begins with a zero instead of the {@code @}, and its length alone ends it.
     */
    private static final class SockaddrUn {
        private static final long PATH = 2;

        private SockaddrUn() {
        }

        static int put(MemorySegment segment, byte[] name) {
            segment.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(name, 0, segment, ValueLayout.JAVA_BYTE, PATH, name.length);
            segment.set(ValueLayout.JAVA_BYTE, PATH + name.length, (byte) 0);
            return (int) PATH + name.length + 1;
        }

        static int putAbstract(MemorySegment segment, byte[] name) {
            put(segment, name);
            segment.set(ValueLayout.JAVA_BYTE, PATH, (byte) 0);
            return (int) PATH + name.length;
        }
    }

    /**
     * {@code struct msghdr} with one {@code struct iovec}, a {@code struct cmsghdr} for one descriptor (SCM_RIGHTS),
     * and the bytes.
     *
     * <pre>
     *    0 name | 8 namelen u32 | 16 iov | 24 iovlen | 32 control | 40 controllen | 48 flags u32
     *   56 base | 64 len
     *   72 cmsg_len u64 | 80 cmsg_level s32 | 84 cmsg_type s32 | 88 descriptor s32 | 92 padding
     *   96 bytes
     * </pre>
     */
    private static final class MessageWithRights {
        static final int MAX_BYTES = 256;
        private static final int SCM_RIGHTS = 1;
        private static final int MSG_CTRUNC = 0x08;
        private static final long IOV = 16;
        private static final long IOV_COUNT = 24;
        private static final long CONTROL = 32;
        private static final long CONTROL_LENGTH = 40;
        private static final long FLAGS = 48;
        private static final long BASE = 56;
        private static final long LENGTH = 64;
        private static final long CMSG = 72;
        private static final long CMSG_LEVEL = 80;
        private static final long CMSG_TYPE = 84;
        private static final long DESCRIPTOR = 88;
        private static final long BYTES = 96;
        /** Without padding, so that the kernel finds no room for a second descriptor. */
        private static final long CMSG_BYTES = 20;

        private MessageWithRights() {
        }

        static void put(MemorySegment segment, long address, int length) {
            segment.asSlice(0, BYTES + Long.BYTES).fill((byte) 0);
            segment.set(ValueLayout.JAVA_LONG, IOV, address + BASE);
            segment.set(ValueLayout.JAVA_LONG, IOV_COUNT, 1);
            segment.set(ValueLayout.JAVA_LONG, CONTROL, address + CMSG);
            segment.set(ValueLayout.JAVA_LONG, CONTROL_LENGTH, CMSG_BYTES);
            segment.set(ValueLayout.JAVA_LONG, BASE, address + BYTES);
            segment.set(ValueLayout.JAVA_LONG, LENGTH, length);
        }

        static void putDescriptor(MemorySegment segment, int descriptor) {
            segment.set(ValueLayout.JAVA_LONG, CMSG, CMSG_BYTES);
            segment.set(ValueLayout.JAVA_INT, CMSG_LEVEL, SOL_SOCKET);
            segment.set(ValueLayout.JAVA_INT, CMSG_TYPE, SCM_RIGHTS);
            segment.set(ValueLayout.JAVA_INT, DESCRIPTOR, descriptor);
        }

        static int descriptor(MemorySegment segment) {
            if (segment.get(ValueLayout.JAVA_LONG, CONTROL_LENGTH) < CMSG_BYTES
                || segment.get(ValueLayout.JAVA_INT, CMSG_TYPE) != SCM_RIGHTS) {
                boolean isLost = (segment.get(ValueLayout.JAVA_INT, FLAGS) & MSG_CTRUNC) != 0;
                return isLost ? -LinuxErrno.EMFILE : -LinuxErrno.EAGAIN;
            }
            return segment.get(ValueLayout.JAVA_INT, DESCRIPTOR);
        }
    }

    /**
     * {@code struct ucred}, followed by the length word of getsockopt.
     *
     * <pre>
     *   0 pid s32 | 4 uid u32 | 8 gid u32 | 12 (not part of it) length u32
     * </pre>
     */
    private static final class Ucred {
        static final long LENGTH_WORD = 12;
        private static final long PID = 0;
        private static final long UID = 4;
        private static final long GID = 8;
        private static final int BYTES = 12;

        private Ucred() {
        }

        static void clear(MemorySegment segment) {
            segment.set(ValueLayout.JAVA_INT, UID, 0);
            segment.set(ValueLayout.JAVA_INT, LENGTH_WORD, BYTES);
        }

        static int pid(MemorySegment segment) {
            return segment.get(ValueLayout.JAVA_INT, PID);
        }

        static int gid(MemorySegment segment) {
            return segment.get(ValueLayout.JAVA_INT, GID);
        }

        static long uidOrError(MemorySegment segment) {
            int uid = segment.get(ValueLayout.JAVA_INT, UID);
            // A socket without a peer answers pid 0 and uid -1. A peer outside our pid name space has pid 0 as well,
            // so only the uid, which no user can have, decides.
            return uid == -1 ? -LinuxErrno.ENOTCONN : Integer.toUnsignedLong(uid);
        }
    }
}
