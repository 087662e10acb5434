package org.jfabric.driver.link.udp;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.SocketName;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.ffi.MessageVector;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One endpoint's socket: what waits to be sent, and whose messages are received.
 *
 * <p><b>Sending.</b> Messages posted in one cycle leave with one system call in the next poll, in the order of posting,
 * and end when the kernel has taken them; it reads from the sender's memory. <b>Receiving.</b> No more datagrams are
 * taken than receives are posted: the others wait in the kernel's buffer, and what does not fit there is lost, as with
 * libfabric's provider. A socket where nothing came for a while is not asked in every cycle, because asking costs more
 * than a message between drivers of one host.
 *
 * <p>Owner: progress agent.
 */
final class UdpEndpoint {
    /** Polls without a datagram after which a socket is quiet. */
    private static final int QUIET_POLLS = 2048;
    /** A quiet socket is asked once in so many polls. */
    private static final int QUIET_STRIDE = 32;

    private final LocalEndpoint local;
    private final UdpPort port;
    private final LinkServices services;
    private final ChannelLimits limits;
    private final MessageVector outgoing;
    private final UdpSources sources = new UdpSources();
    private final Map<String, UdpChannel> byAddress = new HashMap<>();
    private final List<UdpChannel> openings = new ArrayList<>();
    private final UdpChannel strangers;

    private TransmitOperation[] waiting = new TransmitOperation[64];
    private UdpChannel[] waitingFor = new UdpChannel[64];
    private long head;
    private long tail;
    private int emptyPolls;
    private boolean watched;
    private boolean armed;

    UdpEndpoint(LocalEndpoint local, UdpPort port, LinkServices services, ChannelLimits limits, int batch) {
        this.local = local;
        this.port = port;
        this.services = services;
        this.limits = limits;
        this.outgoing = new MessageVector(batch, PieceList.MAX_PIECES);
        this.strangers = UdpChannel.ofStrangers(limits, local.handlerFor(UdpLink.STRANGERS), this);
        openings.add(strangers);
    }

    LocalEndpoint local() {
        return local;
    }

    /** The channel to an address; it is up in the next poll. */
    UdpChannel open(SocketName remote, ChannelHandler handler) {
        String address = remote.toString();
        UdpChannel channel = byAddress.get(address);
        if (channel == null || channel.handler() != handler) {
            channel = new UdpChannel(limits, handler, this, remote);
            byAddress.put(address, channel);
            openings.add(channel);
        }
        return channel;
    }

    boolean isIn6() {
        return port.name().isIn6();
    }

    /** A message begins to wait for the next poll. */
    void add(UdpChannel channel, TransmitOperation operation) {
        int mask = waiting.length - 1;
        if (tail - head > mask) {
            grow();
            mask = waiting.length - 1;
        }
        waiting[(int) tail & mask] = operation;
        waitingFor[(int) tail & mask] = channel;
        tail++;
    }

    /** A channel is closed; messages for it that wait end with the endpoint's own records. */
    void remove(UdpChannel channel) {
        sources.remove(channel);
        openings.remove(channel);
        byAddress.values().remove(channel);
    }

    int poll(UdpReceiver receiver, int limit) {
        int work = openings.isEmpty() ? 0 : openAll();
        if (head != tail) {
            work += flush();
        }
        int posted = local.postedReceives();
        if (posted == 0 || ++emptyPolls > QUIET_POLLS && emptyPolls % QUIET_STRIDE != 0) {
            return work;
        }
        int received = receiver.receive(port, sources, strangers, Flags.MSG, Math.min(limit, posted));
        if (received != 0) {
            emptyPolls = 0;
        }
        return work + received;
    }

    /** Hands what waits to the kernel; what it does not take now goes on waiting. */
    int flush() {
        int work = 0;
        emptyPolls = 0;
        while (head != tail) {
            int count = gather();
            if (count == 0) {
                break;
            }
            int sent = port.send(outgoing, count);
            if (sent == -FabricErrno.EAGAIN) {
                break;
            }
            int ended = Math.max(1, sent);
            for (int i = 0; i < ended; i++) {
                end(sent < 0 ? -sent : 0);
            }
            work += ended;
        }
        return work;
    }

    /** Whether the thread may sleep; arriving datagrams wake it if somebody waits for them. */
    boolean arm() {
        if (head != tail || !openings.isEmpty()) {
            return false;
        }
        if (local.postedReceives() == 0 || armed) {
            return true;
        }
        int fd = port.fd();
        if (fd < 0) {
            return false;
        }
        armed = true;
        if (watched) {
            services.rearm(fd);
        } else {
            watched = true;
            services.watch(fd, this::onReadable);
        }
        return true;
    }

    void close() {
        head = tail;
        if (watched) {
            services.unwatch(port.fd());
        }
        port.close();
    }

    private void onReadable(int fd) {
        armed = false;
        emptyPolls = 0;
    }

    private int openAll() {
        int work = 0;
        while (!openings.isEmpty()) {
            UdpChannel channel = openings.removeFirst();
            if (channel.nameLength() != 0) {
                sources.put(channel);
            }
            channel.up();
            work++;
        }
        return work;
    }

    /** Describes the oldest messages to the kernel; those of closed channels are dropped. */
    private int gather() {
        int mask = waiting.length - 1;
        while (head != tail && waitingFor[(int) head & mask].isClosed()) {
            drop();
        }
        int count = 0;
        for (long at = head; at != tail && count < outgoing.capacity(); at++) {
            UdpChannel channel = waitingFor[(int) at & mask];
            if (channel.isClosed()) {
                break;
            }
            describe(count++, channel, waiting[(int) at & mask]);
        }
        return count;
    }

    private void describe(int index, UdpChannel channel, TransmitOperation operation) {
        outgoing.name(index, channel.nameAddress(), channel.nameLength());
        PieceList pieces = operation.pieces;
        if (pieces == null) {
            outgoing.piece(index, 0, operation.address, operation.length);
            outgoing.pieceCount(index, operation.length == 0 ? 0 : 1);
            return;
        }
        for (int i = 0; i < pieces.count(); i++) {
            outgoing.piece(index, i, pieces.address(i), pieces.length(i));
        }
        outgoing.pieceCount(index, pieces.count());
    }

    private void end(int errno) {
        int index = (int) head & waiting.length - 1;
        TransmitOperation operation = waiting[index];
        UdpChannel channel = waitingFor[index];
        // before it is told: if the entry cannot be written the operation must not be ended once more
        drop();
        channel.onSent(operation.id(), operation.length, errno);
    }

    private void drop() {
        int index = (int) head & waiting.length - 1;
        waiting[index] = null;
        waitingFor[index] = null;
        head++;
    }

    private void grow() {
        int count = (int) (tail - head);
        TransmitOperation[] operations = new TransmitOperation[waiting.length * 2];
        UdpChannel[] channels = new UdpChannel[waiting.length * 2];
        for (int i = 0; i < count; i++) {
            int from = (int) (head + i) & waiting.length - 1;
            operations[i] = waiting[from];
            channels[i] = waitingFor[from];
        }
        Arrays.fill(waiting, null);
        waiting = operations;
        waitingFor = channels;
        head = 0;
        tail = count;
    }
}
