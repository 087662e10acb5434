package org.jfabric.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.agrona.UnsafeApi;

/**
 * What a network interface says of times that its card takes. Source: linux/ethtool.h (struct ethtool_ts_info) and
 * linux/net_tstamp.h of Linux 6.12. Any thread.
 *
 * @param name         of the interface.
 * @param abilities    bits of {@code SOF_TIMESTAMPING_*}.
 * @param clockIndex   of the clock, N of {@code /dev/ptpN}; negative without one.
 * @param txTypes      bits of {@code HWTSTAMP_TX_*} that the card can be set to.
 * @param rxFilters    bits of {@code HWTSTAMP_FILTER_*} that it can be set to.
 * @param txType       that it is set to.
 * @param rxFilter     that it is set to.
 */
public record CardClock(
    String name, int abilities, int clockIndex, int txTypes, int rxFilters, int txType, int rxFilter) {
    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SIOCETHTOOL = 0x8946;
    private static final int SIOCGHWTSTAMP = 0x89b1;
    private static final int ETHTOOL_GET_TS_INFO = 0x41;
    private static final int NAME_BYTES = 16;
    private static final int REQUEST_BYTES = 40;
    private static final int INFO_BYTES = 44;
    private static final int ABILITIES = 4;
    private static final int CLOCK_INDEX = 8;
    private static final int TX_TYPES = 12;
    private static final int RX_FILTERS = 28;
    private static final int TX_TYPE = 4;
    private static final int RX_FILTER = 8;
    private static final int TX_ON = 1;
    private static final int FILTER_ALL = 1;

    private static final Downcall SOCKET = Downcall.of("socket", 3);
    private static final Downcall IOCTL = Downcall.variadic("ioctl", 2, 3);

    /** Asks the interface with a name; one that cannot be asked has no times. */
    public static CardClock of(String name) {
        byte[] text = name.getBytes(StandardCharsets.US_ASCII);
        CallState state = CallState.current();
        int fd = state.intResult(SOCKET.call(state, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (fd < 0 || text.length >= NAME_BYTES) {
            return none(name, fd);
        }
        long info = state.scratchAddress + REQUEST_BYTES;
        UnsafeApi.setMemory(state.scratchAddress, REQUEST_BYTES + INFO_BYTES, (byte) 0);
        MemorySegment.copy(text, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, text.length);
        UnsafeApi.putLong(state.scratchAddress + NAME_BYTES, info);
        UnsafeApi.putInt(info, ETHTOOL_GET_TS_INFO);
        if (state.intResult(IOCTL.call(state, fd, SIOCETHTOOL, state.scratchAddress)) < 0) {
            return none(name, fd);
        }
        int abilities = UnsafeApi.getInt(info + ABILITIES);
        int clockIndex = UnsafeApi.getInt(info + CLOCK_INDEX);
        int txTypes = UnsafeApi.getInt(info + TX_TYPES);
        int rxFilters = UnsafeApi.getInt(info + RX_FILTERS);
        UnsafeApi.setMemory(info, INFO_BYTES, (byte) 0);
        // an interface without hardware times refuses the question; then it is set to none
        IOCTL.call(state, fd, SIOCGHWTSTAMP, state.scratchAddress);
        CardClock found = new CardClock(name, abilities, clockIndex, txTypes, rxFilters,
            UnsafeApi.getInt(info + TX_TYPE), UnsafeApi.getInt(info + RX_FILTER));
        Libc.close(fd);
        return found;
    }

    private static CardClock none(String name, int fd) {
        if (fd >= 0) {
            Libc.close(fd);
        }
        return new CardClock(name, 0, -1, 0, 0, 0, 0);
    }

    /** Whether the card can take the times of all packets that arrive. */
    public boolean hasArrivals() {
        return has(SocketTimes.RX_HARDWARE | SocketTimes.RAW_HARDWARE) && (rxFilters & 1 << FILTER_ALL) != 0;
    }

    /** Whether the card can take the times of packets that leave. */
    public boolean hasDepartures() {
        return has(SocketTimes.TX_HARDWARE | SocketTimes.RAW_HARDWARE) && (txTypes & 1 << TX_ON) != 0;
    }

    /** Whether the card is set to take them. */
    public boolean isOn(boolean withDepartures) {
        return rxFilter == FILTER_ALL && (!withDepartures || txType == TX_ON);
    }

    /** Whether the system takes the times of packets when it gives them to the card. */
    public boolean hasSystemDepartures() {
        return has(SocketTimes.TX_SOFTWARE);
    }

    private boolean has(int bits) {
        return (abilities & bits) == bits;
    }

    @Override
    public String toString() {
        if (!has(SocketTimes.RAW_HARDWARE)) {
            return name + " has no clock of its own";
        }
        return name + " with the clock " + (clockIndex < 0 ? "of no device" : "/dev/ptp" + clockIndex)
            + ", set to stamp " + (rxFilter == 0 ? "nothing" : rxFilter == FILTER_ALL ? "all" : "some packets")
            + " received and " + (txType == TX_ON ? "all" : "nothing") + " sent";
    }
}
