package org.jfabric.driver.link.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.stream.net.StreamSocket;
import org.jfabric.ffi.MessageVector;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.Words;

/**
 * A UDP socket for the datagrams of streams, with one for a multicast group beside it: many are sent and received with
 * one system call.
 */
final class UdpStreamSocket extends StreamSocket {
    private static final int LEAST_BYTES = 512;
    /** What the header of IPv6 is longer than that of IPv4. */
    private static final int IN6_BYTES = 20;
    private static final int LINE = 64;
    /** After so many calls that found a datagram the next one is for many, which takes longer. */
    private static final int FINDS = 3;

    private final UdpPort port;
    /** Receives what is sent to a multicast group; null without one. */
    private final UdpPort group;
    private final LinkServices services;
    private final int maxBytes;
    private final MessageVector outgoing;
    private final MessageVector incoming;
    /** Memory for outgoing datagrams; those that the socket has not taken keep theirs. */
    private final long[] slots;
    private final MemorySegment memory;
    private int collected;
    private long last;
    private int lastBytes;
    /** Datagrams of the last call, or of none. */
    private int received;
    /** The last call was for one datagram. */
    private boolean isAlone;
    /** Calls in a row that found one, or, if they were for many, more than one. */
    private int finds;
    private int taken;
    private boolean isOfGroup;
    private boolean isClosed;

    UdpStreamSocket(UdpPort port, UdpPort group, LinkServices services, DriverConfig config) {
        this.port = port;
        this.group = group;
        this.services = services;
        maxBytes = Math.max(
            LEAST_BYTES, config.get(UdpConfig.MAX_MESSAGE_BYTES) - (port.name().isIn6() ? IN6_BYTES : 0));
        int batch = config.get(UdpConfig.BATCH_SIZE);
        outgoing = new MessageVector(batch, 1);
        incoming = new MessageVector(batch, 1);
        slots = new long[batch];
        // no multiple of a page: the first lines of all slots must not share a cache set
        long slotBytes = (maxBytes + LINE & -LINE) + LINE;
        memory = Arena.ofAuto().allocate(2 * batch * slotBytes, LINE);
        for (int i = 0; i < batch; i++) {
            slots[i] = memory.address() + i * slotBytes;
            outgoing.pieceCount(i, 1);
            incoming.piece(i, 0, memory.address() + (batch + i) * slotBytes, slotBytes);
            incoming.pieceCount(i, 1);
            incoming.nameLength(i, MessageVector.NAME_BYTES);
        }
    }

    @Override
    public int maxDatagramBytes() {
        return maxBytes;
    }

    @Override
    public long claim() {
        if (collected == slots.length) {
            flush();
        }
        return collected == slots.length ? 0 : slots[collected];
    }

    @Override
    public void send(int lengthBytes, long name, int nameLength) {
        describe(slots[collected], lengthBytes, name, nameLength);
    }

    @Override
    public void repeat(long name, int nameLength) {
        if (collected == slots.length) {
            flush();
            if (collected == slots.length) {
                return;
            }
        }
        // memory of its own, since the last one may be sent before this one
        Words.copy(last, slots[collected], lastBytes);
        describe(slots[collected], lastBytes, name, nameLength);
    }

    private void describe(long datagram, int lengthBytes, long name, int nameLength) {
        int index = collected++;
        last = datagram;
        lastBytes = lengthBytes;
        outgoing.piece(index, 0, datagram, lengthBytes);
        Words.copyShort(name, outgoing.nameAddress(index), nameLength);
        outgoing.nameLength(index, nameLength);
    }

    @Override
    public void flush() {
        while (collected > 0) {
            int sent = port.send(outgoing, collected);
            if (sent == -FabricErrno.EAGAIN || sent == 0) {
                return;
            }
            // one that the system refuses counts as lost
            drop(Math.max(1, sent));
        }
    }

    /** Moves what was not sent to the front. */
    private void drop(int count) {
        int left = collected - count;
        for (int i = 0; i < left; i++) {
            long free = slots[i];
            slots[i] = slots[count + i];
            slots[count + i] = free;
            collected = i;
            describe(slots[i], (int) outgoing.pieceLength(count + i, 0), outgoing.nameAddress(count + i),
                outgoing.nameLength(count + i));
        }
        collected = left;
    }

    @Override
    public int receive() {
        if (++taken >= received && !refill()) {
            return -1;
        }
        // a datagram that was longer than the slot is longer than any that is sent, and none of this protocol
        return incoming.transferred(taken) > maxBytes ? 0 : incoming.transferred(taken);
    }

    private boolean refill() {
        for (int i = 0; i < received; i++) {
            incoming.nameLength(i, MessageVector.NAME_BYTES);
        }
        taken = 0;
        if (isAlone && received == 1) {
            // it is taken before the next one is looked for: another call would delay it
            received = 0;
            return false;
        }
        isAlone = finds < FINDS;
        // in turn, so that none of them is left waiting
        isOfGroup ^= group != null;
        received = receiveSome();
        if (received == 0 && group != null) {
            isOfGroup ^= true;
            received = receiveSome();
        }
        finds = received > (isAlone ? 0 : 1) ? finds + 1 : 0;
        return received > 0;
    }

    private int receiveSome() {
        return Math.max(0, (isOfGroup ? group : port).receive(incoming, isAlone ? 1 : incoming.capacity()));
    }

    @Override
    public long address() {
        return incoming.pieceAddress(taken, 0);
    }

    @Override
    public long name() {
        return incoming.nameAddress(taken);
    }

    @Override
    public int nameLength() {
        return incoming.nameLength(taken);
    }

    @Override
    public boolean arm() {
        return collected == 0 && taken + 1 >= received && port.arm(services, () -> { })
            && (group == null || group.arm(services, () -> { }));
    }

    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            flush();
            port.close(services);
            if (group != null) {
                group.close(services);
            }
        }
    }
}
