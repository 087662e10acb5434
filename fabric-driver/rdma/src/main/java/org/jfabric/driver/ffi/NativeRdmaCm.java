package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;
import org.jfabric.ffi.Libc;

import java.lang.foreign.SymbolLookup;

/** librdmacm of this system. */
final class NativeRdmaCm implements RdmaCm {
    /** As many simultaneous reads as the devices of both sides allow. */
    private static final int MAX_READS = 0xff;
    /** More than the 3 bits of the wire field have, which gives the maximum, 7. */
    private static final int RETRIES = 15;
    /** No limit: sends wait as long as the peer posts no receive. */
    private static final int RNR_RETRIES = 7;

    private static final int OPTION_LEVEL_ID = 0;
    private static final int OPTION_ID_TOS = 0;

    private final String version;
    private final NativeFunction createEventChannel;
    private final NativeFunction destroyEventChannel;
    private final NativeFunction createId;
    private final NativeFunction destroyId;
    private final NativeFunction migrateId;
    private final NativeFunction bindAddr;
    private final NativeFunction listen;
    private final NativeFunction resolveAddr;
    private final NativeFunction resolveRoute;
    private final NativeFunction setOption;
    private final NativeFunction createQp;
    private final NativeFunction destroyQp;
    private final NativeFunction connect;
    private final NativeFunction accept;
    private final NativeFunction reject;
    private final NativeFunction disconnect;
    private final NativeFunction joinMulticast;
    private final NativeFunction leaveMulticast;
    private final NativeFunction getCmEvent;
    private final NativeFunction ackCmEvent;
    private final NativeFunction eventText;
    private final NativeFunction getDevices;
    private final NativeFunction freeDevices;

    NativeRdmaCm(SymbolLookup lookup, String version) {
        this.version = version;
        createEventChannel = NativeFunction.ofPointer(lookup, "rdma_create_event_channel", 0);
        destroyEventChannel = NativeFunction.ofInt(lookup, "rdma_destroy_event_channel", 1);
        createId = NativeFunction.ofInt(lookup, "rdma_create_id", 4);
        destroyId = NativeFunction.ofInt(lookup, "rdma_destroy_id", 1);
        migrateId = NativeFunction.ofInt(lookup, "rdma_migrate_id", 2);
        bindAddr = NativeFunction.ofInt(lookup, "rdma_bind_addr", 2);
        listen = NativeFunction.ofInt(lookup, "rdma_listen", 2);
        resolveAddr = NativeFunction.ofInt(lookup, "rdma_resolve_addr", 4);
        resolveRoute = NativeFunction.ofInt(lookup, "rdma_resolve_route", 2);
        setOption = NativeFunction.ofInt(lookup, "rdma_set_option", 5);
        createQp = NativeFunction.ofInt(lookup, "rdma_create_qp", 3);
        destroyQp = NativeFunction.ofInt(lookup, "rdma_destroy_qp", 1);
        connect = NativeFunction.ofInt(lookup, "rdma_connect", 2);
        accept = NativeFunction.ofInt(lookup, "rdma_accept", 2);
        reject = NativeFunction.ofInt(lookup, "rdma_reject", 3);
        disconnect = NativeFunction.ofInt(lookup, "rdma_disconnect", 1);
        joinMulticast = NativeFunction.ofInt(lookup, "rdma_join_multicast", 3);
        leaveMulticast = NativeFunction.ofInt(lookup, "rdma_leave_multicast", 2);
        getCmEvent = NativeFunction.ofInt(lookup, "rdma_get_cm_event", 2);
        ackCmEvent = NativeFunction.ofInt(lookup, "rdma_ack_cm_event", 1);
        eventText = NativeFunction.ofPointer(lookup, "rdma_event_str", 1);
        getDevices = NativeFunction.ofPointer(lookup, "rdma_get_devices", 1);
        freeDevices = NativeFunction.ofInt(lookup, "rdma_free_devices", 1);
    }

    String eventText(int type) {
        return eventText.text(type);
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public void refreshDevices() {
        long devices = getDevices.pointer(0);
        if (devices > 0) {
            freeDevices.call(devices);
        }
    }

    @Override
    public long createEventChannel() {
        long channel = createEventChannel.pointer();
        int result = channel < 0 ? 0 : Libc.setNonBlocking(eventChannelFd(channel));
        if (result < 0) {
            destroyEventChannel(channel);
            return result;
        }
        return channel;
    }

    @Override
    public int eventChannelFd(long channel) {
        return UnsafeApi.getInt(channel + VerbsLayout.CM_CHANNEL_FD);
    }

    @Override
    public void destroyEventChannel(long channel) {
        destroyEventChannel.call(channel);
    }

    @Override
    public long createId(long channel) {
        return createId(channel, VerbsConstants.PS_TCP);
    }

    private long createId(long channel, int portSpace) {
        long out = NativeMemory.allocate(Long.BYTES);
        try {
            int result = createId.status(channel, out, 0, portSpace);
            return result < 0 ? result : UnsafeApi.getLong(out);
        } finally {
            NativeMemory.free(out);
        }
    }

    @Override
    public long createDatagramId(long channel) {
        return createId(channel, VerbsConstants.PS_UDP);
    }

    @Override
    public int joinGroup(long id, byte[] group) {
        long image = image(group);
        try {
            // the third argument is returned with the event, which does not use it
            return joinMulticast.status(id, image, 0);
        } finally {
            NativeMemory.free(image);
        }
    }

    @Override
    public int leaveGroup(long id, byte[] group) {
        long image = image(group);
        try {
            return leaveMulticast.status(id, image);
        } finally {
            NativeMemory.free(image);
        }
    }

    @Override
    public GroupEvent takeGroupEvent(long channel) {
        long out = NativeMemory.allocate(Long.BYTES);
        try {
            if (getCmEvent.status(channel, out) < 0) {
                return null;
            }
            long event = UnsafeApi.getLong(out);
            GroupEvent taken = new GroupEvent(
                UnsafeApi.getInt(event + VerbsLayout.CM_EVENT_TYPE),
                UnsafeApi.getInt(event + VerbsLayout.CM_EVENT_STATUS),
                NativeMemory.bytes(event + VerbsLayout.CM_EVENT_GROUP_ROUTE, VerbsLayout.AH_ATTR_SIZE),
                UnsafeApi.getInt(event + VerbsLayout.CM_EVENT_GROUP_QUEUE_PAIR),
                UnsafeApi.getInt(event + VerbsLayout.CM_EVENT_GROUP_QKEY));
            ackCmEvent.call(event);
            return taken;
        } finally {
            NativeMemory.free(out);
        }
    }

    @Override
    public int port(long id) {
        return UnsafeApi.getByte(id + VerbsLayout.CM_ID_PORT) & 0xff;
    }

    @Override
    public int destroyId(long id) {
        return destroyId.status(id);
    }

    @Override
    public int migrate(long id, long channel) {
        return migrateId.status(id, channel);
    }

    @Override
    public int bind(long id, byte[] address) {
        long image = image(address);
        try {
            return bindAddr.status(id, image);
        } finally {
            NativeMemory.free(image);
        }
    }

    @Override
    public int listen(long id, int backlog) {
        return listen.status(id, backlog);
    }

    @Override
    public int resolveAddress(long id, byte[] local, byte[] remote, int timeoutMs) {
        long from = local == null ? 0 : image(local);
        long to = image(remote);
        try {
            return resolveAddr.status(id, from, to, timeoutMs);
        } finally {
            NativeMemory.free(to);
            if (from != 0) {
                NativeMemory.free(from);
            }
        }
    }

    @Override
    public int setServiceType(long id, int tos) {
        long value = NativeMemory.allocate(1);
        try {
            UnsafeApi.putByte(value, (byte) tos);
            return setOption.status(id, OPTION_LEVEL_ID, OPTION_ID_TOS, value, 1);
        } finally {
            NativeMemory.free(value);
        }
    }

    @Override
    public int resolveRoute(long id, int timeoutMs) {
        return resolveRoute.status(id, timeoutMs);
    }

    @Override
    public QueuePair createQueuePair(long id, long domain, long queue, QueueDepths depths) {
        long at = NativeMemory.allocate(VerbsLayout.QP_INIT_SIZE);
        try {
            UnsafeApi.putLong(at + VerbsLayout.QP_INIT_SEND_CQ, queue);
            UnsafeApi.putLong(at + VerbsLayout.QP_INIT_RECV_CQ, queue);
            UnsafeApi.putLong(at + VerbsLayout.QP_INIT_SRQ, depths.sharedQueue());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_SEND_WR, depths.sends());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_RECV_WR, depths.receives());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_SEND_SGE, depths.sendPieces());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_RECV_SGE, 1);
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_INLINE, depths.inlineBytes());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_TYPE, VerbsConstants.QPT_RC);
            int result = createQp.status(id, domain, at);
            return result < 0 ? new QueuePair(result, 0) : new QueuePair(
                UnsafeApi.getLong(id + VerbsLayout.CM_ID_QP),
                UnsafeApi.getInt(at + VerbsLayout.QP_INIT_MAX_INLINE));
        } finally {
            NativeMemory.free(at);
        }
    }

    @Override
    public void destroyQueuePair(long id) {
        destroyQp.call(id);
    }

    @Override
    public int connect(long id, byte[] data) {
        return withParameters(connect, id, data);
    }

    @Override
    public int accept(long id, byte[] data) {
        return withParameters(accept, id, data);
    }

    private static int withParameters(NativeFunction function, long id, byte[] data) {
        long at = NativeMemory.allocate(VerbsLayout.CONN_SIZE + data.length);
        try {
            NativeMemory.put(at + VerbsLayout.CONN_SIZE, data);
            UnsafeApi.putLong(at + VerbsLayout.CONN_DATA, at + VerbsLayout.CONN_SIZE);
            UnsafeApi.putByte(at + VerbsLayout.CONN_DATA_LENGTH, (byte) data.length);
            UnsafeApi.putByte(at + VerbsLayout.CONN_RESPONDER_RESOURCES, (byte) MAX_READS);
            UnsafeApi.putByte(at + VerbsLayout.CONN_INITIATOR_DEPTH, (byte) MAX_READS);
            UnsafeApi.putByte(at + VerbsLayout.CONN_FLOW_CONTROL, (byte) 1);
            UnsafeApi.putByte(at + VerbsLayout.CONN_RETRY_COUNT, (byte) RETRIES);
            UnsafeApi.putByte(at + VerbsLayout.CONN_RNR_RETRY_COUNT, (byte) RNR_RETRIES);
            return function.status(id, at);
        } finally {
            NativeMemory.free(at);
        }
    }

    @Override
    public int reject(long id, byte[] data) {
        long image = image(data);
        try {
            return reject.status(id, image, data.length);
        } finally {
            NativeMemory.free(image);
        }
    }

    @Override
    public int disconnect(long id) {
        return disconnect.status(id);
    }

    @Override
    public CmEvent takeEvent(long channel) {
        long out = NativeMemory.allocate(Long.BYTES);
        try {
            if (getCmEvent.status(channel, out) < 0) {
                return null;
            }
            long event = UnsafeApi.getLong(out);
            long data = UnsafeApi.getLong(event + VerbsLayout.CM_EVENT_DATA);
            int length = UnsafeApi.getByte(event + VerbsLayout.CM_EVENT_DATA_LENGTH) & 0xff;
            CmEvent taken = new CmEvent(
                UnsafeApi.getInt(event + VerbsLayout.CM_EVENT_TYPE),
                UnsafeApi.getInt(event + VerbsLayout.CM_EVENT_STATUS),
                UnsafeApi.getLong(event + VerbsLayout.CM_EVENT_ID),
                UnsafeApi.getLong(event + VerbsLayout.CM_EVENT_LISTEN_ID),
                data == 0 ? new byte[0] : NativeMemory.bytes(data, length));
            ackCmEvent.call(event);
            return taken;
        } finally {
            NativeMemory.free(out);
        }
    }

    @Override
    public long context(long id) {
        return UnsafeApi.getLong(id + VerbsLayout.CM_ID_VERBS);
    }

    @Override
    public long queuePair(long id) {
        return UnsafeApi.getLong(id + VerbsLayout.CM_ID_QP);
    }

    @Override
    public byte[] localAddress(long id) {
        return NativeMemory.socketAddress(id + VerbsLayout.CM_ID_LOCAL_ADDRESS);
    }

    @Override
    public byte[] peerAddress(long id) {
        return NativeMemory.socketAddress(id + VerbsLayout.CM_ID_PEER_ADDRESS);
    }

    private static long image(byte[] bytes) {
        long at = NativeMemory.allocate(Math.max(1, bytes.length));
        NativeMemory.put(at, bytes);
        return at;
    }
}
