package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;

/**
 * Times of arrival and departure of packets, from the control messages of sockets ({@code SO_TIMESTAMPING},
 * {@code SCM_TIMESTAMPING}). Source: Documentation/networking/timestamping.rst of Linux 6.12. Any thread.
 *
 * <pre>
 *   control message   0 length u64 | 8 level int | 12 type int | 16 data
 *   SCM_TIMESTAMPING  three times of 16 bytes, seconds and nanoseconds: the system's | 0 | the card's; 0 for none
 *   IP_RECVERR        struct sock_extended_err: 0 errno | 4 origin u8 | 8 kind of time u32 | 12 number u32
 * </pre>
 */
public final class SocketTimes {
    /** Bytes of control messages that a datagram with a time needs, and one of the error queue. */
    public static final int CONTROL_BYTES = 192;

    static final int TX_HARDWARE = 1;
    static final int TX_SOFTWARE = 1 << 1;
    static final int RX_HARDWARE = 1 << 2;
    static final int RX_SOFTWARE = 1 << 3;
    static final int RAW_HARDWARE = 1 << 6;

    private static final int SOFTWARE = 1 << 4;
    private static final int OPT_ID = 1 << 7;
    private static final int OPT_TSONLY = 1 << 11;
    private static final int SOL_SOCKET = 1;
    private static final int SOL_IP = 0;
    private static final int SOL_IPV6 = 41;
    private static final int IP_RECVERR = 11;
    private static final int IPV6_RECVERR = 25;
    /** The option and the control message have the same number, with times of 64 bits on 64-bit systems. */
    private static final int SO_TIMESTAMPING = 37;
    private static final int ORIGIN_TIMESTAMPING = 4;
    private static final int HEADER_BYTES = 16;
    private static final int LEVEL = 8;
    private static final int TYPE = 12;
    private static final int TIME_BYTES = 16;
    private static final int CARD_TIME = 2 * TIME_BYTES;
    private static final int ERROR_ORIGIN = 4;
    private static final int ERROR_NUMBER = 12;
    private static final long NS_PER_SECOND = 1_000_000_000L;

    private static final Downcall SETSOCKOPT = Downcall.ofSockets("setsockopt", 5);

    private SocketTimes() {
    }

    /**
     * Has the system give a socket times. Those of departures come by {@link UdpSocket#receiveDepartures}; the number
     * of the next datagram is 0 then.
     *
     * @param ofCard     times of the card's clock, else of the system's.
     * @param arrivals   of what is received.
     * @param departures of what is sent.
     * @return 0 or a negative errno.
     */
    public static int enable(int fd, boolean ofCard, boolean arrivals, boolean departures) {
        int flags = ofCard ? RAW_HARDWARE : SOFTWARE;
        if (arrivals) {
            flags |= ofCard ? RX_HARDWARE : RX_SOFTWARE;
        }
        if (departures) {
            flags |= (ofCard ? TX_HARDWARE : TX_SOFTWARE) | OPT_TSONLY;
            // numbers begin again when the option was off
            int off = set(fd, flags);
            if (off < 0) {
                return off;
            }
            flags |= OPT_ID;
        }
        return set(fd, flags);
    }

    private static int set(int fd, int flags) {
        CallState state = CallState.current();
        UnsafeApi.putInt(state.scratchAddress, flags);
        return state.intResult(SETSOCKOPT.call(
            state, fd, SOL_SOCKET, SO_TIMESTAMPING, state.scratchAddress, Integer.BYTES));
    }

    /**
     * The time in control messages.
     *
     * @param control native address.
     * @param length  of all of them.
     * @param ofCard  the card's time, else the system's.
     * @return nanoseconds; 0 if there is none.
     */
    public static long timeNs(long control, long length, boolean ofCard) {
        long found = find(control, length, SOL_SOCKET, SO_TIMESTAMPING);
        if (found == 0) {
            return 0;
        }
        long time = found + (ofCard ? CARD_TIME : 0);
        return UnsafeApi.getLong(time) * NS_PER_SECOND + UnsafeApi.getLong(time + Long.BYTES);
    }

    /**
     * The time of the last bytes of the last receive of a stream.
     *
     * <p>Owner: one thread.
     */
    public static final class Last {
        /** In a message header. */
        private static final int CONTROL = 32;
        private static final int CONTROL_LENGTH = 40;

        private final boolean ofCard;
        private final MemorySegment memory = Arena.ofAuto().allocate(CONTROL_BYTES, Long.BYTES);
        private long timeNs;

        /** Without a time; {@code ofCard}: of the card's clock, else of the system's. */
        public Last(boolean ofCard) {
            this.ofCard = ofCard;
        }

        /** Nanoseconds; 0 if there is none. */
        public long timeNs() {
            return timeNs;
        }

        void lend(long header) {
            UnsafeApi.putLong(header + CONTROL, memory.address());
            UnsafeApi.putLong(header + CONTROL_LENGTH, CONTROL_BYTES);
        }

        void takeBack(long header, boolean hasBytes) {
            if (hasBytes) {
                timeNs = SocketTimes.timeNs(memory.address(), UnsafeApi.getLong(header + CONTROL_LENGTH), ofCard);
            }
            UnsafeApi.putLong(header + CONTROL, 0);
            UnsafeApi.putLong(header + CONTROL_LENGTH, 0);
        }
    }

    /** The number of the datagram whose time control messages of the error queue have; negative if they have none. */
    static long number(long control, long length) {
        long found = find(control, length, SOL_IP, IP_RECVERR);
        found = found != 0 ? found : find(control, length, SOL_IPV6, IPV6_RECVERR);
        return found == 0 || UnsafeApi.getByte(found + ERROR_ORIGIN) != ORIGIN_TIMESTAMPING ? -1
            : Integer.toUnsignedLong(UnsafeApi.getInt(found + ERROR_NUMBER));
    }

    /** The data of the first control message of a kind; 0 if there is none. */
    private static long find(long control, long length, int level, int type) {
        long at = control;
        long end = control + length;
        while (end - at >= HEADER_BYTES) {
            long bytes = UnsafeApi.getLong(at);
            if (bytes < HEADER_BYTES || bytes > end - at) {
                return 0;
            }
            if (UnsafeApi.getInt(at + LEVEL) == level && UnsafeApi.getInt(at + TYPE) == type) {
                return at + HEADER_BYTES;
            }
            at += bytes + Long.BYTES - 1 & -Long.BYTES;
        }
        return 0;
    }
}
