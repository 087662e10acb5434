package org.jfabric.driver.link.udp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.ffi.DatagramRun;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/** A simulated socket of datagrams; behaves as one of Linux. Owner: one thread. */
final class SimulatedDatagramPort extends UdpPort {
    private static final long BASE = BufferUtil.ARRAY_BASE_OFFSET;
    /** Inquiries that a datagram at the head is waited for; longer than the pauses of a quiet endpoint's polls. */
    private static final int PATIENCE = 512;

    private record Datagram(byte[] sender, SocketName from, byte[] bytes, long timeNs, long number) {
    }

    private final SimulatedDatagrams network;
    private final boolean shared;
    private final int roomBytes;
    private final PriorityQueue<Datagram> onTheWay =
        new PriorityQueue<>(Comparator.comparingLong(Datagram::timeNs).thenComparingLong(Datagram::number));
    private final ArrayDeque<Datagram> arrived = new ArrayDeque<>();
    private final Map<SocketName, Long> lastNs = new HashMap<>();
    private int arrivedBytes;
    private int patience;
    /** The last send was refused: the driver repeats it. */
    private boolean wasRefused;
    private boolean closed;

    SimulatedDatagramPort(
        SimulatedDatagrams network, SocketName name, InetAddress local, boolean shared, DriverConfig config) {
        super(network, name, local, config);
        this.network = network;
        this.shared = shared;
        roomBytes = config.get(UdpConfig.BUFFER_BYTES);
    }

    static long word(byte[] bytes) {
        return UnsafeApi.getLong(bytes, BASE);
    }

    String host() {
        return local().getHostAddress();
    }

    boolean isShared() {
        return shared;
    }

    /** Its name, for a group with the address of its host. */
    SocketName shownName() {
        return shared ? SocketName.of(new InetSocketAddress(local(), name().port())) : name();
    }

    /** A copy of a datagram will arrive. */
    void add(SimulatedDatagramPort from, byte[] bytes, long timeNs, boolean isLate, long number) {
        long time = timeNs;
        if (!isLate) {
            time = Math.max(timeNs, lastNs.getOrDefault(from.name(), 0L));
            lastNs.put(from.name(), time);
        }
        onTheWay.add(new Datagram(from.name().toBytes(), from.name(), bytes, time, number));
    }

    /** Lets arrive what is due. */
    void update(long nowNs) {
        while (!onTheWay.isEmpty() && onTheWay.peek().timeNs <= nowNs) {
            Datagram datagram = onTheWay.poll();
            if (arrivedBytes + datagram.bytes.length > roomBytes) {
                network.note(SimulatedDatagrams.NO_ROOM, datagram.from, shownName(), datagram.bytes);
                continue;
            }
            arrived.add(datagram);
            arrivedBytes += datagram.bytes.length;
            patience = PATIENCE;
            network.note(SimulatedDatagrams.ARRIVED, datagram.from, shownName(), datagram.bytes);
        }
    }

    /** Time of the next arrival. */
    long nextNs() {
        return onTheWay.isEmpty() ? Long.MAX_VALUE : onTheWay.peek().timeNs;
    }

    boolean mayStillPoll() {
        return (wasRefused || !arrived.isEmpty()) && patience-- > 0;
    }

    @Override
    protected int[] descriptors() {
        return new int[0];
    }

    @Override
    protected int receive(MessageVector vector, int count) {
        update(network.nowNs());
        int received = 0;
        while (received < count && !arrived.isEmpty()) {
            Datagram datagram = arrived.poll();
            arrivedBytes -= datagram.bytes.length;
            UnsafeApi.copyMemory(
                datagram.sender, BASE, null, vector.nameAddress(received), datagram.sender.length);
            int length = (int) Math.min(datagram.bytes.length, vector.pieceLength(received, 0));
            UnsafeApi.copyMemory(datagram.bytes, BASE, null, vector.pieceAddress(received, 0), length);
            vector.transferred(received++, length);
            network.note(SimulatedDatagrams.RECEIVED, datagram.from, shownName(), datagram.bytes);
        }
        patience = received > 0 ? PATIENCE : patience;
        return received;
    }

    @Override
    public int send(MessageVector vector, int count) {
        for (int i = 0; i < count; i++) {
            wasRefused = network.isBusy();
            if (wasRefused) {
                patience = PATIENCE;
                return i == 0 ? -FabricErrno.EAGAIN : i;
            }
            network.send(this, target(vector, i), payload(vector, i));
        }
        return count;
    }

    /** Datagrams are not joined. */
    @Override
    protected boolean join() {
        return false;
    }

    @Override
    protected int receive(DatagramRun run, long address, int length) {
        return -FabricErrno.EOPNOTSUPP;
    }

    private static SocketName target(MessageVector vector, int index) {
        byte[] name = new byte[vector.nameLength(index)];
        UnsafeApi.copyMemory(null, vector.namePointer(index), name, BASE, name.length);
        return SocketName.ofBytes(name);
    }

    private static byte[] payload(MessageVector vector, int index) {
        int length = 0;
        for (int i = 0; i < vector.pieceCount(index); i++) {
            length += (int) vector.pieceLength(index, i);
        }
        byte[] bytes = new byte[length];
        int offset = 0;
        for (int i = 0; i < vector.pieceCount(index); i++) {
            int piece = (int) vector.pieceLength(index, i);
            UnsafeApi.copyMemory(null, vector.pieceAddress(index, i), bytes, BASE + offset, piece);
            offset += piece;
        }
        return bytes;
    }

    @Override
    protected void mark(SocketClass marks) {
        // packets are not marked
    }

    @Override
    protected int joinGroup(SocketName group) {
        return 0;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        network.forget(this);
        onTheWay.forEach(each -> network.note(SimulatedDatagrams.LOST, each.from, shownName(), each.bytes));
        arrived.forEach(each -> network.note(SimulatedDatagrams.LOST, each.from, shownName(), each.bytes));
        onTheWay.clear();
        arrived.clear();
    }

    @Override
    public String toString() {
        return name() + (shared ? " at " + host() : "") + ", " + arrived.size() + " datagrams unread, "
            + onTheWay.size() + " on their way" + (wasRefused ? ", the last send was refused" : "");
    }
}
