package org.jfabric.driver.link.tcp;

import java.util.Arrays;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;

/**
 * The bytes on their way to one port: sent, but not arrived; arrived, but not read. They arrive in their order.
 *
 * <pre>
 *   bytes     | arrived, unread | on their way |        free        |  a ring
 *             head              head + arrived head + size
 *   segments  the bytes that arrive at one time
 * </pre>
 */
final class SimulatedPipe {
    /** Time of what does not arrive as long as the network is cut. */
    static final long NEVER = Long.MAX_VALUE;

    private static final long BASE = BufferUtil.ARRAY_BASE_OFFSET;

    private final byte[] bytes;
    private int head;
    private int size;
    private int arrived;
    private long[] times = new long[16];
    private int[] lengths = new int[16];
    private int firstSegment;
    private int segments;
    private long lastTimeNs = Long.MIN_VALUE;
    /** When the end of the stream arrives, behind all bytes; 0 if none was sent. */
    private long endNs;
    private long heardNs;

    SimulatedPipe(int capacityBytes, long nowNs) {
        bytes = new byte[capacityBytes];
        heardNs = nowNs;
    }

    int room() {
        return bytes.length - size;
    }

    int capacity() {
        return bytes.length;
    }

    /** Bytes that can be read now. */
    int arrived() {
        return arrived;
    }

    /** Whether everything has been read and the stream has ended. */
    boolean isAtEnd(long nowNs) {
        return endNs != 0 && endNs <= nowNs && arrived == 0 && segments == 0;
    }

    /** Whether the end has arrived, perhaps with bytes before it. */
    boolean hasEnd(long nowNs) {
        return endNs != 0 && endNs <= nowNs && segments == 0;
    }

    boolean isEnded() {
        return endNs != 0;
    }

    /** Whether something was sent that has not arrived. */
    boolean isOnItsWay() {
        return segments > 0;
    }

    /** Last time at which something arrived. */
    long heardNs() {
        return heardNs;
    }

    /** Time from which on nothing may arrive before what was sent earlier. */
    long notBefore(long timeNs) {
        return Math.max(timeNs, lastTimeNs);
    }

    /** Sends bytes; there is room for them. */
    void add(long address, int length, long timeNs) {
        int tail = (head + size) % bytes.length;
        int first = Math.min(length, bytes.length - tail);
        UnsafeApi.copyMemory(null, address, bytes, BASE + tail, first);
        UnsafeApi.copyMemory(null, address + first, bytes, BASE, length - first);
        size += length;
        int last = (firstSegment + segments - 1) % times.length;
        if (segments > 0 && times[last] == timeNs) {
            lengths[last] += length;
            return;
        }
        if (segments == times.length) {
            grow();
        }
        int index = (firstSegment + segments++) % times.length;
        times[index] = timeNs;
        lengths[index] = length;
        lastTimeNs = timeNs;
    }

    void end(long timeNs) {
        endNs = timeNs;
        lastTimeNs = timeNs;
    }

    /** Lets arrive what is due. */
    void update(long nowNs) {
        while (segments > 0 && times[firstSegment] <= nowNs) {
            arrived += lengths[firstSegment];
            heardNs = Math.max(heardNs, times[firstSegment]);
            firstSegment = (firstSegment + 1) % times.length;
            segments--;
        }
    }

    /** Reads bytes that have arrived. */
    void take(long address, int length) {
        int first = Math.min(length, bytes.length - head);
        UnsafeApi.copyMemory(bytes, BASE + head, null, address, first);
        UnsafeApi.copyMemory(bytes, BASE, null, address + first, length - first);
        head = (head + length) % bytes.length;
        size -= length;
        arrived -= length;
    }

    /** The network is cut: what has not arrived is held. */
    void hold() {
        for (int i = 0; i < segments; i++) {
            times[(firstSegment + i) % times.length] = NEVER;
        }
        endNs = endNs == 0 ? 0 : NEVER;
        lastTimeNs = segments > 0 || endNs != 0 ? NEVER : lastTimeNs;
    }

    /** What was held arrives from now on. */
    void release(long timeNs) {
        for (int i = 0; i < segments; i++) {
            times[(firstSegment + i) % times.length] = timeNs;
        }
        endNs = endNs == 0 ? 0 : timeNs;
        lastTimeNs = timeNs;
    }

    /** Time of the next arrival; {@link #NEVER} if none is due. */
    long nextNs(long nowNs) {
        if (segments > 0) {
            return times[firstSegment];
        }
        return endNs > nowNs ? endNs : NEVER;
    }

    private void grow() {
        int count = times.length;
        long[] moreTimes = new long[2 * count];
        int[] moreLengths = new int[2 * count];
        for (int i = 0; i < count; i++) {
            moreTimes[i] = times[(firstSegment + i) % count];
            moreLengths[i] = lengths[(firstSegment + i) % count];
        }
        times = moreTimes;
        lengths = moreLengths;
        firstSegment = 0;
    }

    /** Drops everything. */
    void clear() {
        size = 0;
        arrived = 0;
        segments = 0;
        Arrays.fill(times, 0);
    }
}
