package org.jfabric.driver.link.udp;

import java.util.ArrayDeque;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.MessageVector;

/**
 * Records of an encrypted endpoint that have arrived while no receive was posted, still sealed. As the kernel's buffer
 * it has a length, and drops what does not fit.
 *
 * <p>Owner: progress agent.
 */
final class UdpBacklog {
    private static final long ARRAY = UnsafeApi.arrayBaseOffset(byte[].class);

    private final ArrayDeque<byte[]> datagrams = new ArrayDeque<>();
    private final long nameAddress = UnsafeApi.allocateMemory(MessageVector.NAME_BYTES);
    private final int capacityBytes;
    private final Runnable onDropped;
    private int bytes;

    UdpBacklog(int capacityBytes, Runnable onDropped) {
        this.capacityBytes = capacityBytes;
        this.onDropped = onDropped;
    }

    boolean isEmpty() {
        return datagrams.isEmpty();
    }

    void add(long sender, long address, int length) {
        if (bytes + length > capacityBytes) {
            onDropped.run();
            return;
        }
        byte[] copy = new byte[MessageVector.NAME_BYTES + length];
        UnsafeApi.copyMemory(null, sender, copy, ARRAY, MessageVector.NAME_BYTES);
        UnsafeApi.copyMemory(null, address, copy, ARRAY + MessageVector.NAME_BYTES, length);
        datagrams.addLast(copy);
        bytes += length;
    }

    /** Takes out the oldest one, and its sender; returns its length. */
    int take(long to) {
        byte[] copy = datagrams.removeFirst();
        int length = copy.length - MessageVector.NAME_BYTES;
        bytes -= length;
        UnsafeApi.copyMemory(copy, ARRAY, null, nameAddress, MessageVector.NAME_BYTES);
        UnsafeApi.copyMemory(copy, ARRAY + MessageVector.NAME_BYTES, null, to, length);
        return length;
    }

    /** The sender of the one that was taken out last, in the kernel's layout. */
    long nameAddress() {
        return nameAddress;
    }

    void close() {
        UnsafeApi.freeMemory(nameAddress);
    }
}
