package org.jfabric.ffi;

import org.agrona.UnsafeApi;

/** Has the kernel cut what one call sends into datagrams (UDP_SEGMENT). */
public final class UdpSegments {
    private static final int SOL_UDP = 17;
    private static final int UDP_SEGMENT = 103;
    private static final Downcall SETSOCKOPT = Downcall.of("setsockopt", 5);

    private UdpSegments() {
    }

    /** Sets the length of the datagrams; 0 or a negative errno. */
    public static int set(int fd, int bytes) {
        CallState state = CallState.current();
        UnsafeApi.putInt(state.scratchAddress, bytes);
        return state.intResult(SETSOCKOPT.call(
            state, fd, SOL_UDP, UDP_SEGMENT, state.scratchAddress, Integer.BYTES));
    }
}
