package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;
import org.jfabric.FabricErrno;
import org.jfabric.SocketName;
import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One RDMA device of one process, in memory: the calls of libibverbs and librdmacm, with structures laid out as theirs
 * where the product reads them. Devices of one {@link Network} reach each other. What a real card does by itself
 * happens inside of the calls, at once, but for what a test holds back.
 */
public final class FakeVerbs extends FakeDatagrams {
    /** What connects devices: the listening identifiers by port. */
    public static final class Network {
        private final Map<Integer, Id> listening = new HashMap<>();
        private int nextPort = 20000;
        private final Net datagrams = new Net();
    }

    private static final class Id {
        private FakeVerbs owner;
        private long pointer;
        private long channel;
        private byte[] local;
        private byte[] remote;
        private FakeQueuePair queuePair;
        private Id peer;
    }

    /** Functions of the context that the product calls, by their offsets. */
    static final Map<Integer, String> FUNCTIONS = Map.of(VerbsLayout.CONTEXT_POLL_CQ, "poll_cq",
        VerbsLayout.CONTEXT_REQ_NOTIFY_CQ, "req_notify_cq", VerbsLayout.CONTEXT_POST_SRQ_RECV, "post_srq_recv",
        VerbsLayout.CONTEXT_POST_SEND, "post_send", VerbsLayout.CONTEXT_POST_RECV, "post_recv");

    /** Calls that the product made, by C name, in order. */
    public final List<String> calls = new ArrayList<>();
    /** The data path. */
    public final FakeDataPath dataPath = new FakeDataPath();
    /** Longest payload that a queue pair takes inline; more is refused as real devices do. */
    public int maxInline = 512;
    /** Entries of the largest completion queue. */
    public int maxCompletions = 4096;
    /** What registering memory answers, if not 0: a positive errno. */
    public int registerErrno;
    /** What making a completion queue answers, if not 0: a positive errno. */
    public int completionQueueErrno;
    /** So many attempts to make a channel of completions are refused, after those that are not. */
    public int refusedChannels;
    /** So many attempts to make an identifier of the connection manager are refused. */
    public int refusedIds;
    /** Attempts that are not refused before. */
    public int channelsBefore;
    /** State of the one port. */
    public int portState = VerbsConstants.PORT_ACTIVE;
    /** Whether there is a device at all. */
    public boolean hasDevice = true;

    private final Network network;
    private final String host;
    private final long device = NativeMemory.allocate(256);
    private final long context = NativeMemory.allocate(VerbsLayout.CONTEXT_SIZE);
    private final int asyncFd = EventFd.create();
    private final Map<Long, Integer> channelFds = new HashMap<>();
    private final Map<Long, ArrayDeque<CmEvent>> cmEvents = new HashMap<>();
    private final ArrayDeque<AsyncEvent> asyncEvents = new ArrayDeque<>();
    private final Map<Long, Id> ids = new HashMap<>();
    private final Map<Long, Long> registrations = new HashMap<>();
    private final VerbsLibraries libraries = new VerbsLibraries(this, this);
    private int nextKey = 100;
    private int domains;

    /**
     * A device with one address.
     *
     * @param network that it is on.
     * @param host    number.
     */
    public FakeVerbs(Network network, String host) {
        super(network.datagrams, host);
        this.network = network;
        this.host = host;
        UnsafeApi.putLong(context + VerbsLayout.CONTEXT_DEVICE, device);
        FUNCTIONS.forEach((offset, name) -> UnsafeApi.putLong(context + offset, 1));
        NativeMemory.put(device + VerbsLayout.DEVICE_NAME, "fake0".getBytes());
    }

    /**
     * As bound libraries.
     *
     * @return this, twice; one process's, so the same always.
     */
    public VerbsLibraries libraries() {
        return libraries;
    }

    /**
     * Objects that were made and not given back.
     *
     * @return for messages of tests; empty if nothing is left.
     */
    public List<String> left() {
        List<String> left = new ArrayList<>();
        ids.values().forEach(id -> left.add("id" + (id.queuePair == null ? "" : " with queue pair")));
        registrations.keySet().forEach(region -> left.add("registration"));
        for (int i = 0; i < dataPath.shared.count(); i++) {
            left.add("shared receive queue");
        }
        return left;
    }

    /**
     * What {@link #left()} says, and what is made once for a device or a link.
     *
     * @return for messages of tests; empty after the end of the process that uses the device.
     */
    public List<String> leftAtEnd() {
        List<String> left = left();
        channelFds.keySet().forEach(channel -> left.add("channel"));
        left.addAll(Collections.nCopies(domains, "domain"));
        return left;
    }

    /**
     * The device's library has not brought a function.
     *
     * @param name as in the context's table.
     */
    public void lack(String name) {
        FUNCTIONS.forEach((offset, known) -> {
            if (known.equals(name)) {
                UnsafeApi.putLong(context + offset, 0);
            }
        });
    }

    /**
     * Something happens to the device.
     *
     * @param type    of the event.
     * @param element queue, queue pair or port.
     */
    public void happen(int type, long element) {
        asyncEvents.add(new AsyncEvent(type, element));
        EventFd.write(asyncFd, 1);
    }

    // ---- libibverbs ----

    @Override
    public String version() {
        return "fake";
    }

    @Override
    public DeviceList deviceList() {
        return new DeviceList(1, hasDevice ? new long[] {device} : new long[0]);
    }

    @Override
    public void freeDeviceList(DeviceList list) {
        // nothing was allocated
    }

    @Override
    public String deviceName(long of) {
        return "fake0";
    }

    @Override
    public long openDevice(long of) {
        opened(1);
        return context;
    }

    @Override
    public int closeDevice(long of) {
        opened(-1);
        return 0;
    }

    @Override
    public long deviceOf(long of) {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice(long of) {
        return new DeviceAttributes(1, 1, 1000, 16384, 16, 1000, maxCompletions, 16);
    }

    @Override
    public PortAttributes queryPort(long of, int port) {
        return new PortAttributes(portState, 5, 1L << 31, 2, 2, 0, 0);
    }

    @Override
    public long allocateDomain(long of) {
        domains++;
        long domain = NativeMemory.allocate(16);
        UnsafeApi.putLong(domain + VerbsLayout.PD_CONTEXT, of);
        return domain;
    }

    @Override
    public int freeDomain(long domain) {
        if (registrations.keySet().stream().anyMatch(
            region -> UnsafeApi.getLong(region + VerbsLayout.MR_PD) == domain)) {
            throw new AssertionError("the domain has registrations still");
        }
        domains--;
        NativeMemory.free(domain);
        return 0;
    }

    @Override
    public long register(long domain, long address, long length, int access) {
        calls.add("ibv_reg_mr " + length);
        if (registerErrno != 0) {
            return -registerErrno;
        }
        long region = NativeMemory.allocate(VerbsLayout.MR_SIZE);
        UnsafeApi.putLong(region + VerbsLayout.MR_CONTEXT, UnsafeApi.getLong(domain));
        UnsafeApi.putLong(region + VerbsLayout.MR_PD, domain);
        UnsafeApi.putLong(region + VerbsLayout.MR_ADDRESS, address);
        UnsafeApi.putLong(region + VerbsLayout.MR_LENGTH, length);
        UnsafeApi.putInt(region + VerbsLayout.MR_LKEY, ++nextKey);
        UnsafeApi.putInt(region + VerbsLayout.MR_RKEY, ++nextKey);
        registrations.put(region, length);
        dataPath.register(nextKey - 1, address, length, false);
        dataPath.register(nextKey, address, length, (access & VerbsConstants.ACCESS_REMOTE_READ) != 0);
        return region;
    }

    @Override
    public int deregister(long registration) {
        calls.add("ibv_dereg_mr");
        registrations.remove(registration);
        dataPath.deregister(localKey(registration));
        dataPath.deregister(remoteKey(registration));
        NativeMemory.free(registration);
        return 0;
    }

    @Override
    public int localKey(long registration) {
        return UnsafeApi.getInt(registration + VerbsLayout.MR_LKEY);
    }

    @Override
    public int remoteKey(long registration) {
        return UnsafeApi.getInt(registration + VerbsLayout.MR_RKEY);
    }

    @Override
    public long createChannel(long of) {
        if (--channelsBefore < 0 && refusedChannels-- > 0) {
            return -FabricErrno.EMFILE;
        }
        long channel = NativeMemory.allocate(VerbsLayout.CHANNEL_SIZE);
        int fd = EventFd.create();
        UnsafeApi.putLong(channel + VerbsLayout.CHANNEL_CONTEXT, of);
        UnsafeApi.putInt(channel + VerbsLayout.CHANNEL_FD, fd);
        channelFds.put(channel, fd);
        return channel;
    }

    @Override
    public int channelFd(long channel) {
        return channelFds.get(channel);
    }

    @Override
    public int destroyChannel(long channel) {
        Libc.close(channelFds.remove(channel));
        NativeMemory.free(channel);
        return 0;
    }

    @Override
    public long takeChannelEvent(long channel) {
        Long queue = dataPath.notified.poll();
        if (queue == null) {
            EventFd.drain(channelFds.get(channel));
            return -FabricErrno.EAGAIN;
        }
        return queue;
    }

    @Override
    public long createCompletionQueue(long of, int entries, long channel) {
        calls.add("ibv_create_cq " + entries);
        if (completionQueueErrno != 0) {
            return -completionQueueErrno;
        }
        long queue = NativeMemory.allocate(VerbsLayout.CQ_SIZE);
        UnsafeApi.putLong(queue + VerbsLayout.CQ_CONTEXT, of);
        UnsafeApi.putLong(queue + VerbsLayout.CQ_CHANNEL, channel);
        UnsafeApi.putInt(queue + VerbsLayout.CQ_ENTRIES, entries);
        dataPath.addQueue(queue, entries, channelFds.get(channel));
        return queue;
    }

    @Override
    public int destroyCompletionQueue(long queue) {
        dataPath.removeQueue(queue);
        NativeMemory.free(queue);
        return 0;
    }

    @Override
    public int modifyRnrTimer(long queuePair, int timer) {
        calls.add("ibv_modify_qp " + timer);
        return 0;
    }

    @Override
    public int asyncFd(long of) {
        return asyncFd;
    }

    @Override
    public AsyncEvent takeAsyncEvent(long of) {
        EventFd.drain(asyncFd);
        return asyncEvents.poll();
    }

    @Override
    public String statusText(int status) {
        return "status " + status;
    }

    @Override
    public String eventText(int type) {
        return "event " + type;
    }

    @Override
    public String portStateText(int state) {
        return state == VerbsConstants.PORT_ACTIVE ? "PORT_ACTIVE" : "PORT_DOWN";
    }

    @Override
    FakeDataPath datagramPath() {
        return dataPath;
    }

    @Override
    public VerbsDataPath dataPath(long of) {
        return dataPath;
    }

    @Override
    public long createSharedQueue(long domain, int receives) {
        calls.add("ibv_create_srq " + receives);
        return dataPath.shared.create(domain, receives);
    }

    @Override
    public int destroySharedQueue(long sharedQueue) {
        return dataPath.shared.destroy(sharedQueue);
    }

    // ---- librdmacm ----

    @Override
    public long createEventChannel() {
        long channel = NativeMemory.allocate(VerbsLayout.CM_CHANNEL_SIZE);
        channelFds.put(channel, EventFd.create());
        cmEvents.put(channel, new ArrayDeque<>());
        return channel;
    }

    @Override
    public int eventChannelFd(long channel) {
        return channelFds.get(channel);
    }

    @Override
    public void destroyEventChannel(long channel) {
        Libc.close(channelFds.remove(channel));
        cmEvents.remove(channel);
        NativeMemory.free(channel);
    }

    @Override
    public long createId(long channel) {
        if (refusedIds > 0) {
            refusedIds--;
            return -FabricErrno.ENOMEM;
        }
        Id id = new Id();
        id.owner = this;
        id.pointer = NativeMemory.allocate(VerbsLayout.CM_ID_SIZE);
        id.channel = channel;
        UnsafeApi.putLong(id.pointer + VerbsLayout.CM_ID_CHANNEL, channel);
        UnsafeApi.putInt(id.pointer + VerbsLayout.CM_ID_PORT_SPACE, VerbsConstants.PS_TCP);
        ids.put(id.pointer, id);
        return id.pointer;
    }

    @Override
    public int destroyId(long pointer) {
        Id id = ids.remove(pointer);
        network.listening.values().remove(id);
        if (id.queuePair != null) {
            throw new AssertionError("the identifier has a queue pair still");
        }
        if (id.peer != null && id.peer.queuePair == null && id.owner != null) {
            id.peer.peer = null;
        }
        NativeMemory.free(pointer);
        return 0;
    }

    @Override
    public int migrate(long pointer, long channel) {
        Id id = ids.get(pointer);
        for (CmEvent event : cmEvents.get(id.channel)) {
            push(channel, event);
        }
        id.channel = channel;
        return 0;
    }

    @Override
    public int bind(long pointer, byte[] address) {
        SocketName name = SocketName.ofBytes(address);
        if (!name.inetAddress().getHostAddress().equals(host)) {
            return -FabricErrno.EADDRNOTAVAIL;
        }
        int port = name.port() == 0 ? network.nextPort++ : name.port();
        if (network.listening.containsKey(port)) {
            return -FabricErrno.EADDRINUSE;
        }
        ids.get(pointer).local = name.withPort(port).toBytes();
        UnsafeApi.putLong(pointer + VerbsLayout.CM_ID_VERBS, context);
        return 0;
    }

    @Override
    public int listen(long pointer, int backlog) {
        Id id = ids.get(pointer);
        network.listening.put(SocketName.ofBytes(id.local).port(), id);
        return 0;
    }

    @Override
    public int resolveAddress(long pointer, byte[] local, byte[] remote, int timeoutMs) {
        Id id = ids.get(pointer);
        id.local = SocketName.parse(SocketName.IN_SCHEME + host + ':' + network.nextPort++).toBytes();
        id.remote = remote;
        UnsafeApi.putLong(pointer + VerbsLayout.CM_ID_VERBS, context);
        push(id, VerbsConstants.CM_ADDR_RESOLVED, 0, new byte[0]);
        return 0;
    }

    @Override
    public int resolveRoute(long pointer, int timeoutMs) {
        push(ids.get(pointer), VerbsConstants.CM_ROUTE_RESOLVED, 0, new byte[0]);
        return 0;
    }

    @Override
    public QueuePair createQueuePair(long pointer, long domain, long queue, QueueDepths depths) {
        calls.add("rdma_create_qp inline " + depths.inlineBytes());
        if (depths.inlineBytes() > maxInline) {
            return new QueuePair(-FabricErrno.EINVAL, 0);
        }
        Id id = ids.get(pointer);
        id.queuePair = dataPath.createQueuePair(queue, depths);
        return new QueuePair(id.queuePair.pointer, depths.inlineBytes());
    }

    @Override
    public void destroyQueuePair(long pointer) {
        Id id = ids.get(pointer);
        dataPath.destroyQueuePair(id.queuePair);
        id.queuePair = null;
    }

    @Override
    public int connect(long pointer, byte[] data) {
        Id id = ids.get(pointer);
        Id listener = network.listening.get(SocketName.ofBytes(id.remote).port());
        if (listener == null) {
            push(id, VerbsConstants.CM_REJECTED, 8, new byte[148]);
            return 0;
        }
        Id request = listener.owner.ids.get(listener.owner.createId(listener.channel));
        request.peer = id;
        id.peer = request;
        request.local = listener.local;
        request.remote = id.local;
        UnsafeApi.putLong(request.pointer + VerbsLayout.CM_ID_VERBS, listener.owner.context);
        listener.owner.push(listener.channel, new CmEvent(
            VerbsConstants.CM_CONNECT_REQUEST, 0, request.pointer, listener.pointer, padded(data, 56)));
        return 0;
    }

    @Override
    public int accept(long pointer, byte[] data) {
        Id id = ids.get(pointer);
        if (id.peer == null) {
            return -FabricErrno.EINVAL;
        }
        id.queuePair.connect(id.peer.queuePair);
        id.peer.owner.push(id.peer, VerbsConstants.CM_ESTABLISHED, 0, padded(data, 196));
        push(id, VerbsConstants.CM_ESTABLISHED, 0, new byte[0]);
        return 0;
    }

    @Override
    public int reject(long pointer, byte[] data) {
        Id id = ids.get(pointer);
        if (id.peer != null) {
            id.peer.owner.push(id.peer, VerbsConstants.CM_REJECTED, 28, padded(data, 148));
        }
        return 0;
    }

    @Override
    public int disconnect(long pointer) {
        Id id = ids.get(pointer);
        id.queuePair.fail();
        if (id.queuePair.shared != null) {
            happen(VerbsConstants.EVENT_QP_LAST_WQE_REACHED, id.queuePair.pointer);
        }
        if (id.peer != null && id.peer.owner.ids.containsKey(id.peer.pointer)) {
            id.peer.owner.push(id.peer, VerbsConstants.CM_DISCONNECTED, 0, new byte[0]);
            id.peer.peer = null;
            id.peer = null;
        }
        return 0;
    }

    @Override
    public CmEvent takeEvent(long channel) {
        EventFd.drain(channelFds.get(channel));
        return cmEvents.get(channel).poll();
    }

    @Override
    public long context(long pointer) {
        return UnsafeApi.getLong(pointer + VerbsLayout.CM_ID_VERBS);
    }

    @Override
    public byte[] localAddress(long pointer) {
        return ids.get(pointer).local;
    }

    @Override
    public byte[] peerAddress(long pointer) {
        return ids.get(pointer).remote;
    }

    private static byte[] padded(byte[] data, int length) {
        return Arrays.copyOf(data, length);
    }

    private void push(Id id, int type, int status, byte[] data) {
        push(id.channel, new CmEvent(type, status, id.pointer, 0, data));
    }

    private void push(long channel, CmEvent event) {
        cmEvents.get(channel).add(event);
        EventFd.write(channelFds.get(channel), 1);
    }
}
