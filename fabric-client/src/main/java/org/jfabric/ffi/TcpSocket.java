package org.jfabric.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Non-blocking TCP sockets, by descriptor and native address: a driver sends and receives from mapped regions, of which
 * it has only the addresses, and it sleeps on descriptors.
 *
 * <p>Socket addresses are images of {@code sockaddr_in} and {@code sockaddr_in6}. All descriptors are close-on-exec and
 * non-blocking. Any thread may call; {@link #receive}, {@link #receiveVector}, {@link #send} and {@link #sendVector}
 * allocate nothing, compiled or not. Close with {@link SocketLibrary#close(int)}.
 */
public final class TcpSocket {
    /** Result of calls that return no reason: no data, no room, or an error; the other form returns the reason. */
    public static final int FAILED = -1;
    /** {@code FI_EAGAIN}: no data, or no room. */
    public static final int EAGAIN = LinuxErrno.EAGAIN;
    /** Result of {@link #accept}, negated: the system is at its limit of open files. */
    public static final int ENFILE = 23;

    /** Result of {@link #accept}, negated: the system has no memory for sockets. */
    public static final int ENOBUFS = 105;
    /** Result of {@link #connectError}: the peer had closed before the written bytes arrived. */
    public static final int EPIPE = 32;

    private static final int EINPROGRESS = 115;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_FLAGS = 0x80000 | 0x800;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_REUSEADDR = 2;
    private static final int SO_ERROR = 4;
    private static final int SO_KEEPALIVE = 9;
    private static final int IPPROTO_IP = 0;
    private static final int IP_BIND_ADDRESS_NO_PORT = 24;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_NODELAY = 1;
    private static final int TCP_KEEPIDLE = 4;
    private static final int TCP_KEEPINTVL = 5;
    private static final int TCP_KEEPCNT = 6;
    private static final int TCP_USER_TIMEOUT = 18;
    private static final int TCP_INFO = 11;
    /** The part of {@code struct tcp_info} that is read: up to the time of the last acknowledgement, inclusive. */
    private static final int TCP_INFO_BYTES = 60;
    private static final int TCP_INFO_RETRANSMITS = 2;
    private static final int TCP_INFO_PROBES = 3;
    private static final int TCP_INFO_LAST_DATA = 52;
    private static final int TCP_INFO_LAST_ACK = 56;
    private static final int TCP_ESTABLISHED = 1;
    private static final int TCP_CONGESTION = 13;
    /** The kernel's simplest congestion control, which every process may choose. */
    private static final byte[] RENO = {'r', 'e', 'n', 'o'};
    /** Offsets in the images of {@code sockaddr_in} and {@code sockaddr_in6}. */
    private static final int IN_ADDRESS = 4;
    private static final int IN_ADDRESS_BYTES = 4;
    private static final int IN6_ADDRESS = 8;
    private static final int IN6_ADDRESS_BYTES = 16;
    /** Room for any IP socket address. */
    private static final int SOCKADDR_BYTES = 28;
    private static final long LENGTH_WORD = 64;

    private static final Downcall SOCKET = Downcall.ofSockets("socket", 3);
    private static final Downcall BIND = Downcall.ofSockets("bind", 3);
    private static final Downcall LISTEN = Downcall.ofSockets("listen", 2);
    private static final Downcall ACCEPT4 = Downcall.ofSockets("accept4", 4);
    private static final Downcall CONNECT = Downcall.ofSockets("connect", 3);
    private static final Downcall GETSOCKNAME = Downcall.ofSockets("getsockname", 3);
    private static final Downcall GETPEERNAME = Downcall.ofSockets("getpeername", 3);
    private static final Downcall GETSOCKOPT = Downcall.ofSockets("getsockopt", 5);
    private static final Downcall SETSOCKOPT = Downcall.ofSockets("setsockopt", 5);
    private static final Downcall SHUTDOWN = Downcall.ofSockets("shutdown", 2);
    private static final QuickDowncall SEND = QuickDowncall.ofSockets("send", 4);
    private static final QuickDowncall RECV = QuickDowncall.ofSockets("recv", 4);
    private static final QuickDowncall SENDMSG = QuickDowncall.ofSockets("sendmsg", 3);
    private static final QuickDowncall RECVMSG = QuickDowncall.ofSockets("recvmsg", 3);
    private static final Downcall SENDMSG_ERRNO = Downcall.ofSockets("sendmsg", 3);
    private static final Downcall RECVMSG_ERRNO = Downcall.ofSockets("recvmsg", 3);

    private TcpSocket() {
    }

    /**
     * Opens a socket without name. Returns the descriptor; {@code -EMFILE}, {@code -ENFILE}, {@code -EAFNOSUPPORT}.
     */
    public static int open(boolean isIpv6) {
        CallState state = CallState.current();
        return state.intResult(SOCKET.call(state, isIpv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_FLAGS, 0));
    }

    /**
     * Opens a socket and listens.
     *
     * @param name    image of the address; port 0 lets the kernel choose.
     * @return descriptor; {@code -EADDRINUSE}, {@code -EADDRNOTAVAIL}, {@code -EACCES}, {@code -EMFILE}.
     */
    public static int listen(byte[] name, int backlog) {
        int fd = open(isIpv6(name));
        if (fd < 0) {
            return fd;
        }
        int result = setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
        if (result == 0) {
            result = bind(fd, name);
        }
        if (result == 0) {
            CallState state = CallState.current();
            result = state.intResult(LISTEN.call(state, fd, backlog));
        }
        if (result < 0) {
            SocketLibrary.close(fd);
            return result;
        }
        return fd;
    }

    /**
     * Takes the next waiting connection. Its small writes are sent immediately, and a connection within this host is
     * not paced.
     *
     * @param listenFd of {@link #listen}.
     * @return descriptor; {@code -EAGAIN} if none waits; {@code -EMFILE}, {@code -ENFILE}, {@code -ENOBUFS}; others for
     *     a connection that is broken already.
     */
    public static int accept(int listenFd) {
        CallState state = CallState.current();
        int fd;
        do {
            fd = state.intResult(ACCEPT4.call(state, listenFd, 0L, 0L, SOCK_FLAGS));
        } while (fd == -LinuxErrno.EINTR);
        if (fd >= 0) {
            setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
            doNotPaceOnOneHost(fd, peerName(fd));
        }
        return fd;
    }

    /**
     * Begins a connection. Its small writes are sent immediately, and a connection within this host is not paced.
     *
     * @param local  image of the local address; its port is ignored, the kernel chooses one.
     * @param marks  how its packets are marked, from the first one on.
     * @return descriptor of a connection, made or in progress, see {@link #connectError}; {@code -EADDRNOTAVAIL},
     *     {@code -ENETUNREACH}, {@code -EHOSTUNREACH}, {@code -ECONNREFUSED}, {@code -EMFILE}, ….
     */
    public static int connect(byte[] local, byte[] remote, SocketClass marks) {
        byte[] anyPort = local.clone();
        anyPort[2] = 0;
        anyPort[3] = 0;
        // the port is chosen at the connect, when it is known which are free towards that peer
        return connect(anyPort, remote, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, marks);
    }

    /**
     * As {@link #connect(byte[], byte[], SocketClass)}, but from the given port, to which other sockets that do not
     * listen may be bound too.
     *
     * @param marks  how its packets are marked, from the first one on.
     */
    public static int connectFrom(byte[] local, byte[] remote, SocketClass marks) {
        return connect(local, remote, SOL_SOCKET, SO_REUSEADDR, marks);
    }

    private static int connect(byte[] local, byte[] remote, int level, int option, SocketClass marks) {
        int fd = open(isIpv6(remote));
        if (fd < 0) {
            return fd;
        }
        setOption(fd, level, option, 1);
        // what the system refuses only leaves packets unmarked
        marks.apply(fd, isIpv6(remote));
        int result = bind(fd, local);
        if (result == 0) {
            result = connect(fd, remote);
        }
        if (result < 0) {
            SocketLibrary.close(fd);
            return result;
        }
        return fd;
    }

    /**
     * Begins a connection of a socket that is open, as {@link #connect(byte[], byte[], SocketClass)}.
     *
     * @param fd     of {@link #open}.
     * @return 0 if it is made or in progress, see {@link #connectError}; or a negative errno.
     */
    public static int connect(int fd, byte[] remote) {
        setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
        CallState state = CallState.current();
        MemorySegment.copy(remote, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, remote.length);
        int result = state.intResult(CONNECT.call(state, fd, state.scratchAddress, remote.length));
        if (result < 0 && result != -EINPROGRESS && result != -LinuxErrno.EINTR) {
            return result;
        }
        doNotPaceOnOneHost(fd, remote);
        return 0;
    }

    /**
     * Makes a socket whose connection is in progress or has failed as if just opened; it keeps a name that it was
     * bound to. Without this the next connect answers ECONNABORTED.
     *
     * @param fd of {@link #open}.
     */
    public static void disconnect(int fd) {
        CallState state = CallState.current();
        // an address without a family
        state.scratch.asSlice(0, SOCKADDR_BYTES).fill((byte) 0);
        CONNECT.call(state, fd, state.scratchAddress, SOCKADDR_BYTES);
    }

    /**
     * Between two sockets with one address there is no network that congestion could affect: a congestion control that
     * paces, such as bbr, only has costs (30 % of the bandwidth of long messages if it is the system's default).
     */
    private static void doNotPaceOnOneHost(int fd, byte[] remote) {
        byte[] local = localName(fd);
        if (local == null || remote == null || local.length != remote.length) {
            return;
        }
        int from = isIpv6(local) ? IN6_ADDRESS : IN_ADDRESS;
        int to = from + (isIpv6(local) ? IN6_ADDRESS_BYTES : IN_ADDRESS_BYTES);
        if (Arrays.equals(local, from, to, remote, from, to)) {
            CallState state = CallState.current();
            MemorySegment.copy(RENO, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, RENO.length);
            // a system without it keeps its default
            SETSOCKOPT.call(state, fd, IPPROTO_TCP, TCP_CONGESTION, state.scratchAddress, RENO.length);
        }
    }

    /**
     * Result of a pending connect, once the descriptor is writable; or the error of an established connection. An error
     * is returned once.
     *
     * @param fd of {@link #connect} or {@link #accept}.
     * @return 0 if it is made, otherwise a positive errno such as ECONNREFUSED, ECONNRESET, ETIMEDOUT.
     */
    public static int connectError(int fd) {
        return Math.abs(option(fd, SOL_SOCKET, SO_ERROR));
    }

    /**
     * Lets the kernel probe the peer's host: a process that only receives does not notice its loss otherwise. A
     * connection without answer ends with ETIMEDOUT.
     *
     * @param fd              connected, or in progress.
     * @param idleSeconds     silence before the first probe, 1 to 32767; 0 to stop probing.
     * @param intervalSeconds time between two probes, 1 to 32767.
     * @param probes          without an answer, 1 to 127.
     * @return 0 or a negative errno.
     */
    public static int keepAlive(int fd, int idleSeconds, int intervalSeconds, int probes) {
        if (idleSeconds == 0) {
            return setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 0);
        }
        int result = setOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, idleSeconds);
        result = result < 0 ? result : setOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, intervalSeconds);
        result = result < 0 ? result : setOption(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
        return result < 0 ? result : setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    }

    /**
     * Bounds how long sent bytes may wait for the peer's host, also while the peer does not read.
     *
     * @param fd           connected, or in progress.
     * @param milliseconds 1 or more.
     * @return 0 or a negative errno.
     */
    public static int userTimeout(int fd, int milliseconds) {
        return setOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, milliseconds);
    }

    /**
     * Values that {@link #keepAlive} and {@link #userTimeout} have set. Returns 1 for on or 0, idle and interval in
     * seconds, probes, user timeout in milliseconds; negative errnos for values that cannot be read.
     */
    public static int[] liveness(int fd) {
        return new int[] {
            option(fd, SOL_SOCKET, SO_KEEPALIVE), option(fd, IPPROTO_TCP, TCP_KEEPIDLE),
            option(fd, IPPROTO_TCP, TCP_KEEPINTVL), option(fd, IPPROTO_TCP, TCP_KEEPCNT),
            option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT)};
    }

    /**
     * The kernel's state of a connection.
     *
     * @param isEstablished false if the other side has closed its end, or the connection is over.
     * @param unanswered    retransmissions or probes in a row that had no answer.
     * @param silentMs      time since the last segment from the other side, in milliseconds.
     */
    public record Health(boolean isEstablished, int unanswered, long silentMs) {
    }

    /** Reads the kernel's state of a connection. Returns the state, or null if it cannot be read. */
    public static Health health(int fd) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, LENGTH_WORD, TCP_INFO_BYTES);
        int result = state.intResult(GETSOCKOPT.call(
            state, fd, IPPROTO_TCP, TCP_INFO, state.scratchAddress, state.scratchAddress + LENGTH_WORD));
        if (result < 0 || state.scratch.get(ValueLayout.JAVA_INT, LENGTH_WORD) < TCP_INFO_BYTES) {
            return null;
        }
        int retransmits = Byte.toUnsignedInt(state.scratch.get(ValueLayout.JAVA_BYTE, TCP_INFO_RETRANSMITS));
        int probes = Byte.toUnsignedInt(state.scratch.get(ValueLayout.JAVA_BYTE, TCP_INFO_PROBES));
        long dataMs = Integer.toUnsignedLong(state.scratch.get(ValueLayout.JAVA_INT, TCP_INFO_LAST_DATA));
        long ackMs = Integer.toUnsignedLong(state.scratch.get(ValueLayout.JAVA_INT, TCP_INFO_LAST_ACK));
        return new Health(state.scratch.get(ValueLayout.JAVA_BYTE, 0) == TCP_ESTABLISHED,
            Math.max(retransmits, probes), Math.min(dataMs, ackMs));
    }

    /**
     * The address of a socket's own end.
     *
     * @param fd bound or connected.
     * @return image, or null if it has none.
     */
    public static byte[] localName(int fd) {
        return name(GETSOCKNAME, fd);
    }

    /** The address of a socket's other end. Returns the image, or null if it is not connected any more. */
    public static byte[] peerName(int fd) {
        return name(GETPEERNAME, fd);
    }

    /** Ends both directions; the descriptor stays open. */
    public static void shutdown(int fd) {
        CallState state = CallState.current();
        SHUTDOWN.call(state, fd, UnixSocket.SHUT_RDWR);
    }

    /**
     * Sends bytes.
     *
     * @param length  of them, at least 1.
     * @return bytes taken, which may be fewer; or {@link #FAILED}.
     */
    public static long send(int fd, long address, long length) {
        return SEND.call(fd, address, length, MSG_NOSIGNAL);
    }

    /**
     * Receives bytes.
     *
     * @param length  most bytes, at least 1.
     * @return bytes received; 0 at the end of the stream; or {@link #FAILED}.
     */
    public static long receive(int fd, long address, long length) {
        return RECV.call(fd, address, length, 0);
    }

    /**
     * Sends bytes that are gathered from several ranges.
     *
     * @param vector of the ranges, not empty.
     * @return bytes taken, which may be fewer; {@code -EAGAIN} if there is no room; {@code -EPIPE} or
     *     {@code -ECONNRESET} if the peer is gone; {@code -EFAULT} if memory was cut.
     */
    public static long sendVector(int fd, IoVector vector) {
        long sent = SENDMSG.call(fd, vector.headerAddress(), MSG_NOSIGNAL);
        if (sent >= 0) {
            return sent;
        }
        // once more, for the reason: that form may allocate, and is seldom needed
        CallState state = CallState.current();
        return state.result(SENDMSG_ERRNO.call(state, fd, vector.headerAddress(), MSG_NOSIGNAL));
    }

    /**
     * Receives bytes that are scattered over several ranges.
     *
     * @param vector of the ranges, not empty.
     * @return bytes received; 0 at the end of the stream; {@link #FAILED} if there are none, or for the reason that
     *     {@link #receiveError} returns.
     */
    public static long receiveVector(int fd, IoVector vector) {
        return RECVMSG.call(fd, vector.headerAddress(), 0);
    }

    /**
     * Receives into ranges, with the time of the last bytes ({@link SocketTimes#enable}).
     *
     * @param vector of the ranges, not empty.
     * @param times  gets the time.
     * @return as {@link #receiveVector}.
     */
    public static long receiveTimed(int fd, IoVector vector, SocketTimes.Last times) {
        long header = vector.headerAddress();
        times.lend(header);
        long got = RECVMSG.call(fd, header, 0);
        times.takeBack(header, got > 0);
        return got;
    }

    /**
     * Receives as {@link #receiveVector}, and returns the reason of a failure; may allocate.
     *
     * @param vector of the ranges, not empty.
     * @return bytes received; 0 at the end of the stream; {@code -EAGAIN} if there are none; {@code -ECONNRESET},
     *     {@code -ETIMEDOUT}; {@code -EFAULT} if memory was cut.
     */
    public static long receiveError(int fd, IoVector vector) {
        CallState state = CallState.current();
        return state.result(RECVMSG_ERRNO.call(state, fd, vector.headerAddress(), 0));
    }

    private static boolean isIpv6(byte[] name) {
        return name.length > 16;
    }

    /**
     * Gives a socket its own name.
     *
     * @param fd   of {@link #open}.
     * @param name image of the address; port 0 lets the kernel choose.
     * @return 0 or a negative errno.
     */
    public static int bind(int fd, byte[] name) {
        CallState state = CallState.current();
        MemorySegment.copy(name, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, name.length);
        return state.intResult(BIND.call(state, fd, state.scratchAddress, name.length));
    }

    private static int option(int fd, int level, int option) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, 0, 0);
        state.scratch.set(ValueLayout.JAVA_INT, LENGTH_WORD, Integer.BYTES);
        int result = state.intResult(GETSOCKOPT.call(
            state, fd, level, option, state.scratchAddress, state.scratchAddress + LENGTH_WORD));
        return result < 0 ? result : state.scratch.get(ValueLayout.JAVA_INT, 0);
    }

    private static int setOption(int fd, int level, int option, int value) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, 0, value);
        return state.intResult(SETSOCKOPT.call(state, fd, level, option, state.scratchAddress, Integer.BYTES));
    }

    private static byte[] name(Downcall call, int fd) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, LENGTH_WORD, SOCKADDR_BYTES);
        int result = state.intResult(call.call(state, fd, state.scratchAddress, state.scratchAddress + LENGTH_WORD));
        int length = state.scratch.get(ValueLayout.JAVA_INT, LENGTH_WORD);
        return result < 0 || length > SOCKADDR_BYTES
            ? null : state.scratch.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    }
}
