package org.jfabric.driver.link.rxm;

import org.agrona.UnsafeApi;
import org.jfabric.Flags;
import org.jfabric.driver.link.TransmitOperation;

/**
 * The packets that one channel can have on their way down: the records with which the link below is called, each with
 * memory for a header and a descriptor block. Payloads stay where they are.
 *
 * <p>Owner: progress agent.
 */
final class RxmPackets {
    /** Packets of one channel that the link below may hold at once. */
    static final int COUNT = 64;

    private static final int STRIDE = 192;

    private final TransmitOperation[] packets = new TransmitOperation[COUNT];
    private final long memory;
    private TransmitOperation free;

    RxmPackets() {
        memory = UnsafeApi.allocateMemory((long) COUNT * STRIDE);
        for (int i = COUNT - 1; i >= 0; i--) {
            packets[i] = new TransmitOperation(i, memory + (long) i * STRIDE);
            packets[i].next = free;
            free = packets[i];
        }
    }

    /** A packet whose header is at its {@code injectAddress}; null if all are on their way. */
    TransmitOperation take() {
        TransmitOperation packet = free;
        if (packet != null) {
            free = packet.next;
            packet.next = null;
            packet.flags = Flags.MSG;
            packet.context = RxmChannel.NO_OPERATION;
            packet.state = TransmitOperation.IN_LINK;
        }
        return packet;
    }

    /** The packet is the header with what follows it in the packet's own memory. */
    static void whole(TransmitOperation packet, int length) {
        packet.address = packet.injectAddress;
        packet.length = length;
    }

    /** The packet is the header and a part of the payload of another operation. */
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

    /** Nothing below refers to a packet any more. */
    void close() {
        free = null;
        UnsafeApi.freeMemory(memory);
    }
}
