package org.jfabric.ffi;

import java.lang.foreign.ValueLayout;

/**
 * Busy polling of sockets: a receive without data asks the queue of the network device itself, before the device's
 * interrupt ({@code SO_BUSY_POLL}).
 *
 * <p>Source: socket(7), SO_BUSY_POLL. Any thread may call.
 */
public final class BusyPoll {
    /** Result of {@link #set}, negated: more than {@code net.core.busy_read} needs CAP_NET_ADMIN. */
    public static final int EPERM = 1;

    private static final int SOL_SOCKET = 1;
    private static final int SO_BUSY_POLL = 46;
    private static final long LENGTH_WORD = 64;

    private static final Downcall GETSOCKOPT = Downcall.ofSockets("getsockopt", 5);
    private static final Downcall SETSOCKOPT = Downcall.ofSockets("setsockopt", 5);

    private BusyPoll() {
    }

    /**
     * Sets how long a receive without data polls the device.
     *
     * @param microseconds 0 or more.
     * @return 0; {@code -}{@link #EPERM}, and the socket keeps what it had; or another negative errno.
     */
    public static int set(int fd, int microseconds) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, 0, microseconds);
        return state.intResult(
            SETSOCKOPT.call(state, fd, SOL_SOCKET, SO_BUSY_POLL, state.scratchAddress, Integer.BYTES));
    }

    /** How long a receive of a socket polls. Returns the microseconds, or a negative errno. */
    public static int get(int fd) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_INT, 0, 0);
        state.scratch.set(ValueLayout.JAVA_INT, LENGTH_WORD, Integer.BYTES);
        int result = state.intResult(GETSOCKOPT.call(
            state, fd, SOL_SOCKET, SO_BUSY_POLL, state.scratchAddress, state.scratchAddress + LENGTH_WORD));
        return result < 0 ? result : state.scratch.get(ValueLayout.JAVA_INT, 0);
    }
}
