package org.jfabric.ffi;

import java.lang.foreign.ValueLayout;

/**
 * How the packets of an IP socket are marked for the network, and which queue of this host's interface they take.
 *
 * <p>Any thread may call.
 *
 * @param tos      octet of the header: the code point in its upper six bits (IP_TOS, IPV6_TCLASS).
 * @param priority SO_PRIORITY, 0 to 6; greater needs a privilege.
 */
public record SocketClass(int tos, int priority) {
    /** What a socket has by itself. */
    public static final SocketClass NONE = new SocketClass(0, 0);

    private static final int SOL_SOCKET = 1;
    private static final int SO_PRIORITY = 12;
    private static final int IPPROTO_IP = 0;
    private static final int IP_TOS = 1;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_TCLASS = 67;
    private static final long LENGTH_WORD = 64;

    private static final Downcall GETSOCKOPT = Downcall.ofSockets("getsockopt", 5);
    private static final Downcall SETSOCKOPT = Downcall.ofSockets("setsockopt", 5);

    /**
     * Marks a new socket; for {@link #NONE} there is nothing to do. Returns 0 or a negative errno; what the system
     * refuses is left as it was.
     */
    public int apply(int fd, boolean isIpv6) {
        if (equals(NONE)) {
            return 0;
        }
        // the octet first: of IPv4 it changes the priority too
        int marked = isIpv6 ? set(fd, IPPROTO_IPV6, IPV6_TCLASS, tos) : set(fd, IPPROTO_IP, IP_TOS, tos);
        int queued = set(fd, SOL_SOCKET, SO_PRIORITY, priority);
        return marked < 0 ? marked : queued;
    }

    /** What a socket has. Returns both values; negative errnos for those that cannot be read. */
    public static SocketClass of(int fd, boolean isIpv6) {
        return new SocketClass(
            isIpv6 ? get(fd, IPPROTO_IPV6, IPV6_TCLASS) : get(fd, IPPROTO_IP, IP_TOS),
            get(fd, SOL_SOCKET, SO_PRIORITY));
    }

    private static int set(int fd, int level, int option, int value) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, 0, value);
        return state.intResult(SETSOCKOPT.call(state, fd, level, option, state.scratchAddress, Integer.BYTES));
    }

    private static int get(int fd, int level, int option) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, 0, 0);
        state.scratch.set(ValueLayout.JAVA_INT, LENGTH_WORD, Integer.BYTES);
        int result = state.intResult(GETSOCKOPT.call(
            state, fd, level, option, state.scratchAddress, state.scratchAddress + LENGTH_WORD));
        return result < 0 ? result : state.scratch.get(ValueLayout.JAVA_INT, 0);
    }
}
