package org.jfabric.driver.link.udp.packet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.udp.UdpChannel;
import org.jfabric.driver.link.udp.UdpPort;
import org.jfabric.ffi.DatagramRun;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.PacketSocket;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.SocketLibrary;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * A UDP address whose datagrams are received from a mapped ring and sent as frames, past the system's own processing.
 *
 * <p>A UDP socket has the address too. Its filter drops all that arrives, so that the system neither gives the address
 * to another process nor reports it as unreachable. It sends what cannot be sent as a frame: datagrams to groups, to
 * next hops that the system does not know yet (it then asks for them), of more than the interface's MTU, and what an
 * interface refuses. So a datagram takes one of two ways, and no datagram waits for a look-up.
 *
 * <p>Routes are looked up on the resource thread when a peer is inserted, and once in a second while it is sent to.
 * Knowledge that is older than two seconds is not used.
 *
 * <p>Owner: as {@link UdpPort}.
 */
final class PacketPort extends UdpPort {
    private static final long REFRESH_NS = 1_000_000_000L;
    private static final long MAX_AGE_NS = 2 * REFRESH_NS;
    private static final int SLOT_ALIGNMENT = 64;
    /** Of Ethernet, IPv6 and UDP. */
    private static final int HEADERS_BYTES = PacketSocket.ETHERNET_BYTES + 40 + 8;

    private final int kernelFd;
    /** Sockets that send frames, by the number of their interface. */
    private final Map<Integer, Integer> senders = new HashMap<>();
    /**
     * Shows senders on this host that there is a ring. Negative for IPv6, which needs none, and where the loopback
     * interface is down.
     */
    private final int signFd;
    private final PacketRing loopback;
    /** Null if the address is one of the loopback interface. */
    private final PacketRing network;
    private PacketRing ring;
    /** Frames to be sent with one system call. */
    private final MessageVector frames;
    private final MemorySegment slots;
    private final long slotsAddress;
    private final int slotBytes;
    private final int payloadBytes;
    /** One message for the kernel's socket. */
    private final MessageVector single = new MessageVector(1, PieceList.MAX_PIECES);
    /** By the address of the peer's socket address in memory. */
    private final Long2ObjectHashMap<PacketRoute> routes = new Long2ObjectHashMap<>();

    private LinkServices services;
    private PacketCounters counters;
    private SocketClass marks = SocketClass.NONE;
    private long refreshedNs;
    private boolean isRefreshing;
    private boolean isClosed;

    private PacketPort(
        SocketName name, InetAddress local, DriverConfig config, int kernelFd, int signFd, PacketRing loopback,
        PacketRing network) {
        super(name, local, config);
        this.kernelFd = kernelFd;
        this.signFd = signFd;
        this.loopback = loopback;
        this.network = network;
        this.ring = loopback;
        int batch = config.get(UdpConfig.BATCH_SIZE);
        payloadBytes = config.get(UdpConfig.MAX_MESSAGE_BYTES);
        slotBytes = (payloadBytes + HEADERS_BYTES + 2 * SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
        slots = Arena.ofAuto().allocate((long) batch * slotBytes, SLOT_ALIGNMENT);
        slotsAddress = slots.address();
        frames = new MessageVector(batch, 1);
        for (int i = 0; i < batch; i++) {
            frames.pieceCount(i, 1);
            // the sockets are bound to interfaces, and the frames have the addresses
            frames.name(i, 0, 0);
        }
    }

    /**
     * Reserves an address and opens its sockets.
     *
     * @param wanted address of this host, or the wildcard.
     */
    static PacketPort open(SocketName wanted, DriverConfig config) {
        List<Integer> open = new ArrayList<>();
        PacketRing[] rings = new PacketRing[2];
        try {
            int kernelFd = add(open, "bind", UdpSocket.open(wanted.toBytes(), false), wanted);
            check("setsockopt", PacketSocket.filter(kernelFd, PacketFilter.nothing()), wanted);
            UdpSocket.buffers(kernelFd, 0, config.get(UdpConfig.BUFFER_BYTES));
            InetAddress local = wanted.inetAddress();
            if (!wanted.isIn6() && !local.isAnyLocalAddress()) {
                UdpSocket.multicastInterface(kernelFd, local.getAddress());
            }
            SocketName name = SocketName.ofBytes(UdpSocket.name(kernelFd));
            int signFd = name.isIn6() ? -1 : openSign(name);
            if (signFd >= 0) {
                open.add(signFd);
            }
            rings[0] = PacketRing.open(name, true, config);
            if (!local.isLoopbackAddress()) {
                rings[1] = PacketRing.open(name, false, config);
            }
            return new PacketPort(name, local, config, kernelFd, signFd, rings[0], rings[1]);
        } catch (RuntimeException failed) {
            if (rings[0] != null) {
                rings[0].close();
            }
            open.forEach(SocketLibrary::close);
            throw failed;
        }
    }

    private static int openSign(SocketName name) {
        SocketName own = PacketHops.signedAddress(name);
        return PacketSocket.openSign(own.toBytes(), PacketHops.signedPort(name).toBytes(), PacketHops.SIGN_PROTOCOL);
    }

    private static int add(List<Integer> open, String call, int fd, SocketName wanted) {
        check(call, fd, wanted);
        open.add(fd);
        return fd;
    }

    private static void check(String call, int result, SocketName wanted) {
        if (result < 0) {
            throw new NativeCallException(call, -result, "the address is " + wanted
                + "; name another, or one of an interface that is up");
        }
    }

    /** The link has taken over the port, before any other call. */
    void attach(LinkServices linkServices, PacketCounters linkCounters) {
        services = linkServices;
        counters = linkCounters;
        loopback.attach(linkServices, linkCounters);
        if (network != null) {
            network.attach(linkServices, linkCounters);
        }
    }

    @Override
    protected boolean isMapped() {
        return true;
    }

    @Override
    protected int[] descriptors() {
        return network == null ? new int[] {loopback.fd()} : new int[] {loopback.fd(), network.fd()};
    }

    @Override
    protected void arrived(int fd) {
        // else a descriptor whose interface was shut down wakes the driver for ever
        PacketSocket.clearError(fd);
    }

    // ---- receiving ----

    @Override
    protected MessageVector incoming(MessageVector shared) {
        PacketRing other = ring == loopback ? network : loopback;
        // neither keeps the other one waiting
        if (other != null && other.hasWaiting()) {
            ring.release();
            ring = other;
        }
        return ring.vector();
    }

    @Override
    protected int receive(MessageVector vector, int count) {
        return ring.receive(count);
    }

    @Override
    protected int enableTimes(boolean ofCard, boolean hasArrivals, boolean hasDepartures) {
        int result = loopback.enableTimes(ofCard);
        return result < 0 || network == null ? result : network.enableTimes(ofCard);
    }

    @Override
    protected long timeNs(MessageVector vector, int index, boolean ofCard) {
        return ring.timeNs(vector.pieceAddress(index, 0), ofCard);
    }

    @Override
    protected boolean join() {
        // the ring has what senders of this host have joined
        return false;
    }

    @Override
    protected int receive(DatagramRun run, long address, int length) {
        return -FabricErrno.EAGAIN;
    }

    @Override
    protected void delivered() {
        ring.release();
    }

    // ---- routes ----

    @Override
    protected boolean isBusy() {
        return isRefreshing;
    }

    @Override
    protected void opened(UdpChannel channel) {
        if (!channel.isGroup()) {
            routes.put(channel.nameAddress(), new PacketRoute(SocketName.parse(channel.address())));
            refreshedNs = services.nowNs() - REFRESH_NS;
            refresh(services.nowNs());
        }
    }

    @Override
    protected void closed(UdpChannel channel) {
        routes.remove(channel.nameAddress());
    }

    /** Looks up the routes that were used since the last look-up. */
    private void refresh(long nowNs) {
        if (isRefreshing || nowNs - refreshedNs < REFRESH_NS) {
            return;
        }
        List<PacketRoute> used = new ArrayList<>();
        routes.values().forEach(route -> {
            if (route.isUsed) {
                used.add(route);
            }
        });
        refreshedNs = nowNs;
        isRefreshing = true;
        services.submit(new PacketRefresh(this, name().inetAddress(), used, Set.copyOf(senders.keySet())));
    }

    /** The result of a look-up: next hops, and sockets of interfaces that had none. */
    void onFound(List<PacketRoute> asked, List<PacketHop> hops, Map<Integer, Integer> opened) {
        isRefreshing = false;
        if (isClosed) {
            PacketClosing.submit(() -> opened.values().forEach(Libc::close), services);
            return;
        }
        senders.putAll(opened);
        // the octet of a packet socket is in the headers that it is given; the priority is that of VLAN tags
        opened.values().forEach(fd -> marks.apply(fd, false));
        for (int i = 0; i < asked.size(); i++) {
            PacketHop hop = hops.get(i);
            int senderFd = hop == null ? -1 : senders.getOrDefault(hop.interfaceIndex(), -1);
            asked.get(i).update(hop, senderFd, name().inetAddress(), name().port(), marks.tos(), refreshedNs);
        }
        closeUnusedSenders();
        // inserted meanwhile
        for (PacketRoute route : routes.values()) {
            if (route.checkedNs == 0 && route.isUsed) {
                refreshedNs = services.nowNs() - REFRESH_NS;
                refresh(services.nowNs());
                break;
            }
        }
    }

    /** An interface that was replaced refuses no frame when its routes have changed before the next one. */
    private void closeUnusedSenders() {
        senders.values().removeIf(fd -> {
            for (PacketRoute route : routes.values()) {
                if (route.senderFd == fd) {
                    return false;
                }
            }
            PacketClosing.submit(() -> Libc.close(fd), services);
            return true;
        });
    }

    /** A look-up was not possible; the kernel's socket is used meanwhile. */
    void onNotFound(Throwable cause) {
        isRefreshing = false;
        services.onError(cause);
    }

    // ---- sending ----

    @Override
    public int send(MessageVector vector, int count) {
        long nowNs = services.nowNs();
        if (nowNs - refreshedNs >= REFRESH_NS) {
            refresh(nowNs);
        }
        int sent = 0;
        while (sent < count) {
            int result = sendFrames(vector, sent, count, nowNs);
            if (result == 0) {
                result = sendByKernel(vector, sent);
            }
            if (result < 0) {
                return sent == 0 ? result : sent;
            }
            sent += result;
        }
        return sent;
    }

    /** Sends messages from one on as frames; 0 if the first of them cannot be sent in this way now. */
    private int sendFrames(MessageVector vector, int from, int end, long nowNs) {
        int count = 0;
        PacketRoute first = null;
        while (from + count < end && count < frames.capacity()) {
            int index = from + count;
            PacketRoute route = routes.get(vector.namePointer(index));
            long length = PacketRoute.lengthBytes(vector, index);
            if (route == null || length > payloadBytes || !route.takesFrame(length, nowNs, MAX_AGE_NS)
                || first != null && route.senderFd != first.senderFd) {
                break;
            }
            first = count == 0 ? route : first;
            route.write(vector, index, frames, count, slotsAddress + (long) count * slotBytes);
            count++;
        }
        if (count == 0) {
            return 0;
        }
        int taken = UdpSocket.send(first.senderFd, frames, count);
        if (taken < 0 && taken != -FabricErrno.EAGAIN && taken != -FabricErrno.ENOBUFS) {
            refuse(first, taken);
        }
        // what an interface has no room for now is queued by the kernel's socket
        return Math.max(0, taken);
    }

    /** The kernel does not take the frames of a route. */
    private void refuse(PacketRoute route, int error) {
        if (error == -PacketSocket.ENXIO) {
            // the interface does not exist any more
            int gone = route.senderFd;
            PacketClosing.submit(() -> Libc.close(gone), services);
            senders.values().remove(gone);
            routes.values().forEach(each -> each.lose(gone));
        }
        route.fail();
    }

    private int sendByKernel(MessageVector vector, int index) {
        single.name(0, vector.namePointer(index), vector.nameLength(index));
        int pieces = vector.pieceCount(index);
        for (int i = 0; i < pieces; i++) {
            single.piece(0, i, vector.pieceAddress(index, i), vector.pieceLength(index, i));
        }
        single.pieceCount(0, pieces);
        int sent = UdpSocket.send(kernelFd, single, 1);
        if (sent == 1) {
            counters.add(PacketCounters.Kind.BY_SOCKET, 1);
        }
        return sent;
    }

    @Override
    protected void mark(SocketClass socketClass) {
        marks = socketClass;
        marks.apply(kernelFd, name().isIn6());
        senders.values().forEach(fd -> marks.apply(fd, false));
    }

    @Override
    protected int joinGroup(SocketName group) {
        throw new FabricException(FabricErrno.EOPNOTSUPP, "a ring for the group " + group);
    }

    @Override
    protected void release(LinkServices linkServices) {
        if (closeAddress()) {
            PacketClosing.submit(this::closePacketSockets, linkServices);
        }
    }

    @Override
    public void close() {
        if (closeAddress()) {
            closePacketSockets();
        }
    }

    /** Frees the address; false if that was done before. */
    private boolean closeAddress() {
        if (isClosed) {
            return false;
        }
        isClosed = true;
        routes.clear();
        if (signFd >= 0) {
            Libc.close(signFd);
        }
        SocketLibrary.close(kernelFd);
        return true;
    }

    private void closePacketSockets() {
        loopback.close();
        if (network != null) {
            network.close();
        }
        senders.values().forEach(Libc::close);
        senders.clear();
    }
}
