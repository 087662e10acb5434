package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;

import java.util.ArrayDeque;
import java.util.List;

/** A queue pair of datagrams in memory. */
final class FakeDatagramPair {
    private static final int ROUTE_BYTES = 40;

    /** A send with its destination. */
    private record Datagram(FakeQueuePair.Work work, long handle, int queuePair, int key) {
    }

    final long pointer = NativeMemory.allocate(VerbsLayout.QP_SIZE);
    final long queue;
    final int number;
    final int maxSends;
    final int maxReceives;
    final ArrayDeque<FakeQueuePair.Work> receives = new ArrayDeque<>();
    int key;
    boolean isStopped;
    private final FakeDatagrams owner;
    private final FakeDatagrams.Net net;
    /** Sends that a test delays, or that have asked for no completion yet. */
    private final ArrayDeque<Datagram> delayed = new ArrayDeque<>();
    private int unsignaled;

    FakeDatagramPair(
        FakeDatagrams owner, FakeDatagrams.Net net, long queue, RdmaCm.QueueDepths depths, int number) {
        this.owner = owner;
        this.net = net;
        this.queue = queue;
        this.number = number;
        this.maxSends = depths.sends();
        this.maxReceives = depths.receives();
    }

    /** A request is freed only by a completion, its own or a later one: that is what a queue can overrun by. */
    void send(FakeQueuePair.Work work, long request) {
        if (delayed.size() + unsignaled >= maxSends) {
            throw new AssertionError("a send queue of " + maxSends + " requests has overrun");
        }
        delayed.add(new Datagram(work, UnsafeApi.getLong(request + VerbsLayout.SEND_ADDRESS_HANDLE),
            UnsafeApi.getInt(request + VerbsLayout.SEND_REMOTE_QUEUE_PAIR),
            UnsafeApi.getInt(request + VerbsLayout.SEND_REMOTE_QKEY)));
        move();
    }

    void move() {
        FakeDataPath path = owner.datagramPath();
        while (!delayed.isEmpty() && !path.holdsSends) {
            Datagram datagram = delayed.poll();
            int status = isStopped ? VerbsConstants.WC_WR_FLUSH_ERR : path.nextStatus;
            if (status != VerbsConstants.WC_SUCCESS) {
                unsignaled = 0;
                path.nextStatus = isStopped ? path.nextStatus : 0;
                isStopped = true;
                path.complete(queue, datagram.work.id(), status, 0, path.nextVendorError, 0, 0, 0, 0);
                continue;
            }
            deliver(datagram);
            unsignaled++;
            if (datagram.work.isSignaled()) {
                unsignaled = 0;
                path.complete(queue, datagram.work.id(), VerbsConstants.WC_SUCCESS, 0, 0, 0, 0, 0, 0);
            }
        }
    }

    /** Into the error state: the receives come back. */
    void fail() {
        receives.forEach(work -> owner.datagramPath().complete(
            queue, work.id(), VerbsConstants.WC_WR_FLUSH_ERR, 0, 0, 0, 0, 0, 0));
        receives.clear();
    }

    private void deliver(Datagram datagram) {
        byte[] route = owner.handles.get(datagram.handle);
        if (route == null) {
            throw new AssertionError("the address handle does not exist");
        }
        List<FakeDatagramPair> members = net.groups.get(FakeDatagrams.groupOf(route));
        if (members != null) {
            List.copyOf(members).forEach(member -> member.take(this, datagram, route));
            return;
        }
        FakeDatagramPair peer = net.pairs.get(datagram.queuePair);
        if (peer == null) {
            net.lost++;
        } else {
            peer.take(this, datagram, route);
        }
    }

    private void take(FakeDatagramPair sender, Datagram datagram, byte[] route) {
        FakeQueuePair.Work receive = datagram.key == key ? receives.poll() : null;
        if (receive == null) {
            net.lost++;
            return;
        }
        long at = receive.pieces()[0];
        if (ROUTE_BYTES + datagram.work.length() > receive.pieces()[1]) {
            throw new AssertionError("a receive of " + receive.pieces()[1] + " bytes is too short");
        }
        putRoute(at, sender.owner.gid(0, 1, route[VerbsLayout.AH_ATTR_SOURCE_GID_INDEX]), route);
        long to = at + ROUTE_BYTES;
        for (int i = 0; i < datagram.work.pieces().length; i += 3) {
            UnsafeApi.copyMemory(datagram.work.pieces()[i], to, datagram.work.pieces()[i + 1]);
            to += datagram.work.pieces()[i + 1];
        }
        boolean hasData = datagram.work.opcode() == VerbsConstants.WR_SEND_WITH_IMM;
        owner.datagramPath().complete(queue, receive.id(), VerbsConstants.WC_SUCCESS, VerbsConstants.WC_RECV, 0,
            (int) (to - at), VerbsConstants.WC_GRH | (hasData ? VerbsConstants.WC_WITH_IMM : 0),
            datagram.work.immediate(), sender.number);
    }

    /** As cards on Ethernet write it: a header of IPv6, or of IPv4 in the last 20 bytes with anything before it. */
    private static void putRoute(long at, byte[] source, byte[] route) {
        boolean isIn4 = source[10] == -1 && source[0] == 0;
        for (int i = 0; i < ROUTE_BYTES; i++) {
            UnsafeApi.putByte(at + i, (byte) (isIn4 ? 0x66 : 0));
        }
        if (!isIn4) {
            UnsafeApi.putByte(at, (byte) 0x60);
            NativeMemory.put(at + 8, source);
            NativeMemory.put(at + 24, AddressRoute.gid(route));
            return;
        }
        for (int i = 20; i < ROUTE_BYTES; i++) {
            UnsafeApi.putByte(at + i, (byte) 0);
        }
        UnsafeApi.putByte(at + 20, (byte) 0x45);
        for (int i = 0; i < 4; i++) {
            UnsafeApi.putByte(at + 32 + i, source[12 + i]);
            UnsafeApi.putByte(at + 36 + i, route[12 + i]);
        }
        int sum = 0;
        for (int i = 20; i < ROUTE_BYTES; i += 2) {
            sum += (UnsafeApi.getByte(at + i) & 0xff) << 8 | UnsafeApi.getByte(at + i + 1) & 0xff;
        }
        sum = ~((sum & 0xffff) + (sum >>> 16));
        UnsafeApi.putByte(at + 30, (byte) (sum >>> 8));
        UnsafeApi.putByte(at + 31, (byte) sum);
    }
}
