package org.jfabric.driver.link.rxm;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.Flags;

/**
 * The packets that one channel can have in the link below: its operation records, each with memory for a header and a
 * descriptor block. Payloads are not copied.
 *
 * <p>Owner: progress agent.
 */
final class RxmPackets {
    /** Limit of the packets of one channel in the link below. */
    static final int COUNT = 64;

    private static final int STRIDE = 192;

    private final TransmitOperation[] packets = new TransmitOperation[COUNT];
    private final long memory;
    private final int packetBytes;
    /** For packets that are copied and longer than their own memory, which are rare; 0 before the first of each. */
    private final long[] longMemory = new long[COUNT];
    private TransmitOperation free;

    /**
     * Packets of a channel.
     *
     * @param packetBytes longest packet.
     */
    RxmPackets(int packetBytes) {
        this.packetBytes = packetBytes;
        memory = UnsafeApi.allocateMemory((long) COUNT * STRIDE);
        for (int i = COUNT - 1; i >= 0; i--) {
            packets[i] = new TransmitOperation(i, memory + (long) i * STRIDE);
            packets[i].next = free;
            free = packets[i];
        }
    }

    /** A free packet whose header is at its {@code injectAddress}; null if all are in use. */
    TransmitOperation take() {
        TransmitOperation packet = free;
        if (packet != null) {
            free = packet.next;
            packet.next = null;
            packet.flags = Flags.MSG;
            packet.context = RxmChannel.NO_OPERATION;
            packet.sink = 0;
            packet.state = TransmitOperation.IN_LINK;
        }
        return packet;
    }

    /** The packet that the next {@link #take} returns; null if all are in use. */
    TransmitOperation next() {
        return free;
    }

    /** Memory of a packet for that many bytes, at most those of the longest packet; good until the packet is given. */
    long room(TransmitOperation packet, int length) {
        if (length <= STRIDE) {
            return packet.injectAddress;
        }
        int index = (int) packet.id;
        if (longMemory[index] == 0) {
            longMemory[index] = UnsafeApi.allocateMemory(packetBytes);
        }
        return longMemory[index];
    }

    /** Describes a packet that lies completely in its own memory. */
    static void whole(TransmitOperation packet, int length) {
        packet.address = packet.injectAddress;
        packet.length = length;
    }

    /** Describes a packet of the header and a range of the payload of another operation. */
    static void withPayload(TransmitOperation packet, TransmitOperation operation, long offset, long length) {
        packet.vector.forget();
        packet.vector.add(packet.injectAddress, RxmPacket.HEADER_LENGTH);
        if (operation.pieces == null) {
            packet.vector.add(operation.address + offset, length);
        } else {
            packet.vector.addPart(operation.pieces, offset, length);
        }
        packet.pieces = packet.vector;
        packet.length = packet.vector.lengthBytes();
    }

    /** The packet with that id, if the link below has it. */
    TransmitOperation find(long id) {
        int index = (int) id;
        if (index < 0 || index >= COUNT) {
            return null;
        }
        TransmitOperation packet = packets[index];
        return packet.id == id && packet.state != TransmitOperation.FREE ? packet : null;
    }

    void give(TransmitOperation packet) {
        packet.retire();
        packet.next = free;
        free = packet;
    }

    /** Frees the memory; the link below uses no packet any more. */
    void close() {
        free = null;
        UnsafeApi.freeMemory(memory);
        for (int i = 0; i < COUNT; i++) {
            if (longMemory[i] != 0) {
                UnsafeApi.freeMemory(longMemory[i]);
                longMemory[i] = 0;
            }
        }
    }
}
