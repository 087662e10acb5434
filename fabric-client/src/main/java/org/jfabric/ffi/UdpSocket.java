package org.jfabric.ffi;

import org.agrona.UnsafeApi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * UDP sockets that send and receive many datagrams with one system call, to and from native addresses.
 *
 * <p>Socket addresses are images of {@code sockaddr_in} and {@code sockaddr_in6}. Descriptors are non-blocking and
 * close-on-exec; close them with {@link SocketLibrary#close(int)}. Any thread may call; {@link #receive} and
 * {@link #send} allocate nothing.
 */
public final class UdpSocket {
    /** Flag of a received message: it was longer than its buffer. */
    public static final int MSG_TRUNC = 0x20;
    /** Another call may find room. */
    public static final int EAGAIN = LinuxErrno.EAGAIN;

    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_FLAGS = 0x80000 | 0x800;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_ERRQUEUE = 0x2000;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_REUSEADDR = 2;
    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int IPPROTO_IP = 0;
    private static final int IP_MULTICAST_IF = 32;
    private static final int IP_ADD_MEMBERSHIP = 35;
    private static final int IP_MULTICAST_ALL = 49;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_MULTICAST_IF = 17;
    private static final int IPV6_ADD_MEMBERSHIP = 20;
    private static final int IPV6_V6ONLY = 26;
    private static final int IPV6_MULTICAST_ALL = 29;
    private static final int ADDRESS_BYTES = 4;

    private static final Downcall SOCKET = Downcall.ofSockets("socket", 3);
    private static final Downcall BIND = Downcall.ofSockets("bind", 3);
    private static final Downcall CONNECT = Downcall.ofSockets("connect", 3);
    private static final Downcall GETSOCKNAME = Downcall.ofSockets("getsockname", 3);
    private static final Downcall SETSOCKOPT = Downcall.ofSockets("setsockopt", 5);
    private static final QuickDowncall RECVMMSG = QuickDowncall.ofSockets("recvmmsg", 5);
    private static final QuickDowncall RECVFROM = QuickDowncall.ofSockets("recvfrom", 6);
    private static final QuickDowncall SENDTO = QuickDowncall.ofSockets("sendto", 6);
    private static final QuickDowncall SENDMMSG = QuickDowncall.ofSockets("sendmmsg", 4);
    private static final Downcall SENDMSG = Downcall.ofSockets("sendmsg", 3);

    private UdpSocket() {
    }

    /**
     * Opens a socket and binds it.
     *
     * @param name   address to bind to; port 0 has the system choose one.
     * @param shared true if other sockets may have the same address, as receivers of one group do.
     * @return descriptor; {@code -EADDRINUSE}, {@code -EADDRNOTAVAIL}, {@code -EACCES}, {@code -EMFILE},
     *     {@code -EAFNOSUPPORT}.
     */
    public static int open(byte[] name, boolean shared) {
        boolean isIpv6 = isIpv6(name);
        CallState state = CallState.current();
        int fd = state.intResult(SOCKET.call(state, isIpv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_FLAGS, 0));
        if (fd < 0) {
            return fd;
        }
        int result = shared ? setInt(fd, SOL_SOCKET, SO_REUSEADDR, 1) : 0;
        if (result == 0 && isIpv6) {
            result = setInt(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
        }
        if (result == 0) {
            MemorySegment.copy(name, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, name.length);
            result = state.intResult(BIND.call(state, fd, state.scratchAddress, name.length));
        }
        if (result != 0) {
            SocketLibrary.close(fd);
            return result;
        }
        return fd;
    }

    /**
     * Opens a socket with the address of another one, connected to a peer: the kernel finds the route once, and gives
     * it what that peer sends to the address. It needs no names of peers.
     *
     * @param fd   bound, of the caller; other sockets can be bound to its address during this call.
     * @param peer address.
     * @return descriptor, or a negative errno.
     */
    public static int openConnected(int fd, byte[] peer) {
        int connected = setInt(fd, SOL_SOCKET, SO_REUSEADDR, 1);
        if (connected == 0) {
            connected = open(name(fd), true);
            setInt(fd, SOL_SOCKET, SO_REUSEADDR, 0);
        }
        if (connected < 0) {
            return connected;
        }
        CallState state = CallState.current();
        MemorySegment.copy(peer, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, peer.length);
        int result = state.intResult(CONNECT.call(state, connected, state.scratchAddress, peer.length));
        if (result == 0) {
            result = setInt(connected, SOL_SOCKET, SO_REUSEADDR, 0);
        }
        if (result != 0) {
            SocketLibrary.close(connected);
            return result;
        }
        return connected;
    }

    /**
     * The address that a socket is bound to.
     *
     * @throws NativeCallException if it is not a bound socket.
     */
    public static byte[] name(int fd) {
        CallState state = CallState.current();
        long lengthAt = state.scratchAddress + CallState.STRUCT_OFFSET;
        UnsafeApi.putInt(lengthAt, MessageVector.NAME_BYTES);
        int result = state.intResult(GETSOCKNAME.call(state, fd, state.scratchAddress, lengthAt));
        if (result < 0) {
            throw new NativeCallException("getsockname", -result, "descriptor " + fd);
        }
        byte[] name = new byte[Math.min(UnsafeApi.getInt(lengthAt), MessageVector.NAME_BYTES)];
        MemorySegment.copy(state.scratch, ValueLayout.JAVA_BYTE, 0, name, 0, name.length);
        return name;
    }

    /**
     * Requests buffer space for datagrams that arrive and leave; the kernel grants at most the limit for all users.
     *
     * @param receiveBytes for those that wait for a receive, 0 for the kernel's own size.
     * @param sendBytes    for those that wait for the network, 0 for the kernel's own size.
     */
    public static void buffers(int fd, int receiveBytes, int sendBytes) {
        if (receiveBytes != 0) {
            setInt(fd, SOL_SOCKET, SO_RCVBUF, receiveBytes);
        }
        if (sendBytes != 0) {
            setInt(fd, SOL_SOCKET, SO_SNDBUF, sendBytes);
        }
    }

    /**
     * Sends multicast datagrams through the interface with an address.
     *
     * @param fd    IPv4 descriptor.
     * @param local address of the interface, 4 bytes.
     * @return 0 or a negative errno.
     */
    public static int multicastInterface(int fd, byte[] local) {
        return set(fd, IPPROTO_IP, IP_MULTICAST_IF, local);
    }

    /**
     * Sends multicast datagrams through the interface with a number.
     *
     * @param fd IPv6 descriptor.
     * @return 0 or a negative errno.
     */
    public static int multicastInterface(int fd, int index) {
        return setInt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, index);
    }

    /**
     * Receives the datagrams of a group, and none of groups that only other sockets have joined.
     *
     * @param fd    IPv4 descriptor.
     * @param group address of the group, 4 bytes.
     * @param local address of the interface, 4 bytes; zeros leave the choice to the kernel.
     * @return 0; {@code -EINVAL} if it is not a group, {@code -ENODEV} without such an interface, {@code -ENOBUFS} for
     *     too many groups.
     */
    public static int join(int fd, byte[] group, byte[] local) {
        byte[] request = new byte[2 * ADDRESS_BYTES];
        System.arraycopy(group, 0, request, 0, ADDRESS_BYTES);
        System.arraycopy(local, 0, request, ADDRESS_BYTES, ADDRESS_BYTES);
        int result = set(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, request);
        return result == 0 ? setInt(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0) : result;
    }

    /**
     * As {@link #join(int, byte[], byte[])}, with IPv6.
     *
     * @param fd    IPv6 descriptor.
     * @param group address of the group, 16 bytes.
     * @param index number of the interface, 0 to leave the choice to the kernel.
     * @return 0 or a negative errno.
     */
    public static int join(int fd, byte[] group, int index) {
        byte[] request = Arrays.copyOf(group, group.length + Integer.BYTES);
        ByteBuffer.wrap(request).order(ByteOrder.nativeOrder()).putInt(group.length, index);
        int result = set(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, request);
        return result == 0 ? setInt(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0) : result;
    }

    /**
     * Receives available datagrams.
     *
     * @param count  messages at most, up to the vector's capacity.
     * @return messages received; 0 if none is available.
     */
    public static int receive(int fd, MessageVector vector, int count) {
        try {
            if (count == 1 && vector.pieceCount(0) == 1) {
                return receiveOne(fd, vector);
            }
            // it fails when no datagram is available, by a signal, or once by what a peer's host has answered
            return Math.max(0, (int) RECVMMSG.call(fd, vector.address(), count, MSG_DONTWAIT, 0L));
        } finally {
            // the kernel got a plain address: the memory must not be collected while it writes
            Reference.reachabilityFence(vector);
        }
    }

    /** Receives one datagram: the kernel reads and writes fewer structures than for a vector of one. */
    private static int receiveOne(int fd, MessageVector vector) {
        long room = vector.pieceLength(0, 0);
        // with this flag the result is the length of the datagram, not the part of it that the buffer took
        long bytes = RECVFROM.call(fd, vector.pieceAddress(0, 0), room, MSG_DONTWAIT | MSG_TRUNC,
            vector.namePointer(0), vector.nameLengthAddress(0));
        if (bytes >= 0) {
            vector.received(0, bytes, room);
        }
        return bytes >= 0 ? 1 : 0;
    }

    /**
     * Receives available datagrams with their times ({@link SocketTimes#enable}).
     *
     * @param vector with room for control messages.
     * @param count  messages at most, up to the vector's capacity.
     * @return messages received; 0 if none is available.
     */
    public static int receiveTimed(int fd, MessageVector vector, int count) {
        return receiveControls(fd, vector, count, MSG_DONTWAIT);
    }

    /**
     * Takes times of datagrams that have left. The vector's names and pieces are not used.
     *
     * @param vector with room for control messages.
     * @param count  times at most, up to the vector's capacity.
     * @return their number; 0 if none is available.
     */
    public static int receiveDepartures(int fd, MessageVector vector, int count) {
        return receiveControls(fd, vector, count, MSG_DONTWAIT | MSG_ERRQUEUE);
    }

    private static int receiveControls(int fd, MessageVector vector, int count, int flags) {
        vector.renewControls(count);
        try {
            return Math.max(0, (int) RECVMMSG.call(fd, vector.address(), count, flags, 0L));
        } finally {
            Reference.reachabilityFence(vector);
        }
    }

    /**
     * Sends datagrams.
     *
     * @param count  of them, 1 or more.
     * @return number of messages taken, from the first; or a negative errno if the first was not taken, for example
     *     {@code -EAGAIN} without room, {@code -EMSGSIZE}, {@code -ENETUNREACH}, {@code -EPERM}, {@code -EFAULT}.
     */
    public static int send(int fd, MessageVector vector, int count) {
        try {
            if (count == 1 && vector.pieceCount(0) == 1) {
                long taken = SENDTO.call(fd, vector.pieceAddress(0, 0), vector.pieceLength(0, 0),
                    MSG_DONTWAIT | MSG_NOSIGNAL, vector.namePointer(0), vector.nameLength(0));
                return taken >= 0 ? 1 : sendFirst(fd, vector);
            }
            int sent = (int) SENDMMSG.call(fd, vector.address(), count, MSG_DONTWAIT | MSG_NOSIGNAL);
            return sent > 0 ? sent : sendFirst(fd, vector);
        } finally {
            Reference.reachabilityFence(vector);
        }
    }

    /** Sends once more to learn the reason; it may succeed now. */
    private static int sendFirst(int fd, MessageVector vector) {
        CallState state = CallState.current();
        long sent = state.result(SENDMSG.call(state, fd, vector.header(0), MSG_DONTWAIT | MSG_NOSIGNAL));
        return sent >= 0 ? 1 : (int) sent;
    }

    private static boolean isIpv6(byte[] name) {
        return name.length == MessageVector.NAME_BYTES;
    }

    private static int setInt(int fd, int level, int option, int value) {
        CallState state = CallState.current();
        long at = state.scratchAddress + CallState.STRUCT_OFFSET;
        UnsafeApi.putInt(at, value);
        return setsockopt(state, fd, level, option, at, Integer.BYTES);
    }

    private static int set(int fd, int level, int option, byte[] value) {
        CallState state = CallState.current();
        MemorySegment.copy(value, 0, state.scratch, ValueLayout.JAVA_BYTE, CallState.STRUCT_OFFSET, value.length);
        return setsockopt(
            state, fd, level, option, state.scratchAddress + CallState.STRUCT_OFFSET, value.length);
    }

    private static int setsockopt(CallState state, int fd, int level, int option, long value, int length) {
        return state.intResult(SETSOCKOPT.call(state, fd, level, option, value, length));
    }
}
