package org.jfabric.driver.ffi;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/**
 * The connection manager of a device in memory: the half of {@link FakeVerbs} with the calls of librdmacm for reliable
 * connections.
 */
public abstract class FakeConnections extends FakeDatagrams {
    /** The network between devices: the listening identifiers by port. */
    public static final class Network {
        final Map<Integer, Id> listening = new HashMap<>();
        int nextPort = 20000;
        final Net datagrams = new Net();
    }

    static final class Id {
        FakeConnections owner;
        long pointer;
        long channel;
        byte[] local;
        byte[] remote;
        FakeQueuePair queuePair;
        Id peer;
    }

    /** So many attempts to make an identifier of the connection manager are refused. */
    public int refusedIds;
    /** True if calls with identifiers may be made only while {@link #tasks} run. */
    public boolean isOneThread;
    /** Tasks of the resource thread that run now. */
    public int tasks;
    /** Longest payload that a queue pair takes inline; more is refused as real devices do. */
    public int maxInline = 512;
    /** Calls that the product made, by C name, in order. */
    public final List<String> calls = new ArrayList<>();
    /** The data path. */
    public final FakeDataPath dataPath = new FakeDataPath();
    final Network network;
    final String host;
    final Map<Long, Integer> channelFds = new HashMap<>();
    final Map<Long, ArrayDeque<CmEvent>> cmEvents = new HashMap<>();
    final Map<Long, Id> ids = new HashMap<>();
    /** Contexts that the connection manager has closed. */
    final Set<Long> closed = new HashSet<>();
    /** Of the device as it is now. */
    long context;

    FakeConnections(Network network, String host) {
        super(network.datagrams, host);
        this.network = network;
        this.host = host;
    }

    /**
     * Something happens to the device.
     *
     * @param type    of the event.
     * @param element queue, queue pair or port.
     */
    public abstract void happen(int type, long element);

    /** Bound, and nothing else. */
    boolean isAnchor(Id id) {
        return id.local != null && id.remote == null && !network.listening.containsValue(id);
    }

    private void requireThread() {
        if (isOneThread && tasks == 0) {
            throw new AssertionError("not on the resource thread");
        }
    }

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
        requireThread();
        Id id = ids.remove(pointer);
        network.listening.values().remove(id);
        if (id.queuePair != null) {
            throw new AssertionError("the identifier has a queue pair still");
        }
        Id peer = id.peer;
        if (peer != null) {
            peer.peer = null;
            if (peer.queuePair != null && peer.queuePair.isConnected()) {
                // as ib_destroy_cm_id of an established connection
                peer.owner.push(peer, VerbsConstants.CM_DISCONNECTED, 0, new byte[0]);
            }
        }
        long of = context(pointer);
        NativeMemory.free(pointer);
        if (of != 0 && of != context && ids.keySet().stream().noneMatch(other -> context(other) == of)) {
            closed.add(of);
        }
        return 0;
    }

    @Override
    public int migrate(long pointer, long channel) {
        requireThread();
        Id id = ids.get(pointer);
        for (CmEvent event : cmEvents.get(id.channel)) {
            // librdmacm makes the identifier of a request when the event is taken, so it is one of the new channel
            ids.get(event.id()).channel = channel;
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
        requireThread();
        Id id = ids.get(pointer);
        id.local = SocketName.parse(SocketName.IN_SCHEME + host + ':' + network.nextPort++).toBytes();
        id.remote = remote;
        UnsafeApi.putLong(pointer + VerbsLayout.CM_ID_VERBS, context);
        push(id, VerbsConstants.CM_ADDR_RESOLVED, 0, new byte[0]);
        return 0;
    }

    @Override
    public int setServiceType(long pointer, int tos) {
        requireThread();
        calls.add("rdma_set_option TOS " + tos + (ids.get(pointer).remote == null ? "" : " too late"));
        return 0;
    }

    @Override
    public int resolveRoute(long pointer, int timeoutMs) {
        requireThread();
        push(ids.get(pointer), VerbsConstants.CM_ROUTE_RESOLVED, 0, new byte[0]);
        return 0;
    }

    @Override
    public QueuePair createQueuePair(long pointer, long domain, long queue, QueueDepths depths) {
        requireThread();
        calls.add("rdma_create_qp inline " + depths.inlineBytes());
        if (depths.inlineBytes() > maxInline) {
            return new QueuePair(-FabricErrno.EINVAL, 0);
        }
        Id id = ids.get(pointer);
        id.queuePair = dataPath.createQueuePair(queue, depths);
        UnsafeApi.putLong(id.queuePair.pointer + VerbsLayout.QP_CONTEXT, context(pointer));
        UnsafeApi.putLong(id.queuePair.pointer + VerbsLayout.QP_PD, domain);
        return new QueuePair(id.queuePair.pointer, depths.inlineBytes());
    }

    @Override
    public void destroyQueuePair(long pointer) {
        requireThread();
        Id id = ids.get(pointer);
        dataPath.destroyQueuePair(id.queuePair);
        id.queuePair = null;
    }

    @Override
    public int connect(long pointer, byte[] data) {
        requireThread();
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
        requireThread();
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
        requireThread();
        Id id = ids.get(pointer);
        if (id.peer != null) {
            id.peer.owner.push(id.peer, VerbsConstants.CM_REJECTED, 28, padded(data, 148));
        }
        return 0;
    }

    @Override
    public int disconnect(long pointer) {
        requireThread();
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
        requireThread();
        EventFd.drain(channelFds.get(channel));
        return cmEvents.get(channel).poll();
    }

    @Override
    public long context(long pointer) {
        return UnsafeApi.getLong(pointer + VerbsLayout.CM_ID_VERBS);
    }

    @Override
    public long queuePair(long pointer) {
        return ids.get(pointer).queuePair.pointer;
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

    final void push(Id id, int type, int status, byte[] data) {
        push(id.channel, new CmEvent(type, status, id.pointer, 0, data));
    }

    private void push(long channel, CmEvent event) {
        cmEvents.get(channel).add(event);
        EventFd.write(channelFds.get(channel), 1);
    }
}
