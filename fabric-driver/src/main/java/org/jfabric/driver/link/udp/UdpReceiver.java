package org.jfabric.driver.link.udp;

import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramSources;
import org.jfabric.ffi.MessageVector;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Takes datagrams out of sockets, many at a time, into memory that all endpoints of the link share: the engine copies
 * each before the next is taken.
 *
 * <p>Owner: progress agent.
 */
final class UdpReceiver {
    /** Longer than any datagram, and no multiple of a page: the first lines of all slots must not share a cache set. */
    private static final int SLOT_BYTES = 65536 + 4096 + 192;

    private final MessageVector incoming;
    private final MemorySegment slots;

    UdpReceiver(int batch) {
        incoming = new MessageVector(batch, 1);
        slots = Arena.ofAuto().allocate((long) batch * SLOT_BYTES, 64);
        for (int i = 0; i < batch; i++) {
            incoming.piece(i, 0, slots.address() + (long) i * SLOT_BYTES, SLOT_BYTES);
            incoming.pieceCount(i, 1);
            incoming.nameLength(i, MessageVector.NAME_BYTES);
        }
    }

    /**
     * Takes what is there and hands it to the engine.
     *
     * @param port      socket.
     * @param sources   who is known.
     * @param strangers whose the others are.
     * @param flags     of each message.
     * @param limit     datagrams at most.
     * @return datagrams taken.
     */
    int receive(UdpPort port, DatagramSources sources, UdpChannel strangers, long flags, int limit) {
        MessageVector taken = incoming;
        int count = port.receive(taken, Math.min(limit, taken.capacity()));
        for (int i = 0; i < count; i++) {
            long name = taken.nameAddress(i);
            // the kernel stores how long the name is in the same place
            taken.nameLength(i, MessageVector.NAME_BYTES);
            DatagramChannel channel = sources.find(
                UdpChannel.keyHigh(name), UdpChannel.keyLow(name), UdpChannel.keyRest(name));
            (channel == null ? strangers : channel).handler().onMessage(
                flags, 0, 0, taken.pieceAddress(i, 0), taken.transferred(i));
        }
        return count;
    }
}
