package org.jfabric.driver.link.udp;

import org.jfabric.driver.link.support.DatagramSources;
import org.jfabric.ffi.MessageVector;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Receives datagrams from sockets, many at a time. All endpoints of the link share one reader and its memory, because
 * the engine has copied the datagrams when {@link #receive} returns.
 *
 * <p>Owner: progress agent.
 */
final class UdpReader {
    /** Longer than any datagram, and no multiple of a page: the first lines of all slots must not share a cache set. */
    private static final int SLOT_BYTES = 65536 + 4096 + 192;

    private final MessageVector incoming;
    private final Slots slots;

    UdpReader(int batch) {
        incoming = new MessageVector(batch, 1);
        slots = new Slots(incoming);
    }

    /** Memory for the datagrams of a vector. */
    static final class Slots {
        private final MemorySegment memory;

        Slots(MessageVector vector) {
            memory = Arena.ofAuto().allocate((long) vector.capacity() * SLOT_BYTES, 64);
            for (int i = 0; i < vector.capacity(); i++) {
                vector.piece(i, 0, memory.address() + (long) i * SLOT_BYTES, SLOT_BYTES);
                vector.pieceCount(i, 1);
                vector.nameLength(i, MessageVector.NAME_BYTES);
            }
        }
    }

    /** Receives available datagrams of an encrypted endpoint, which opens them; returns their number. */
    int receiveRecords(UdpPort port, UdpEndpoint endpoint, int limit) {
        MessageVector taken = incoming;
        int count = port.receive(taken, Math.min(limit, taken.capacity()));
        for (int i = 0; i < count; i++) {
            taken.nameLength(i, MessageVector.NAME_BYTES);
            endpoint.onDatagram(taken.nameAddress(i), taken.pieceAddress(i, 0), taken.transferred(i));
        }
        return count;
    }

    /**
     * Receives available datagrams and delivers them to the engine.
     *
     * @param limit          greatest number of datagrams.
     */
    int receive(UdpPort port, DatagramSources sources, UdpChannel unknownSenders, long flags, int limit) {
        MessageVector taken = port.incoming(incoming);
        int count = port.receive(taken, Math.min(limit, taken.capacity()));
        for (int i = 0; i < count; i++) {
            long name = taken.nameAddress(i);
            // the kernel overwrites this field with the length of the sender's address
            taken.nameLength(i, MessageVector.NAME_BYTES);
            UdpChannel sender = UdpChannel.sender(sources, name, unknownSenders);
            if (!sender.isOverRate(taken.transferred(i))) {
                sender.handler().onMessage(flags, 0, 0, taken.pieceAddress(i, 0), taken.transferred(i));
            }
        }
        if (count != 0) {
            port.delivered();
        }
        return count;
    }
}
