package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;
import org.jfabric.ffi.Libc;

import java.lang.foreign.SymbolLookup;
import java.util.Arrays;

/** libibverbs of this system. */
final class NativeIbverbs implements Ibverbs {
    private final String version;
    private final NativeFunction getDeviceList;
    private final NativeFunction freeDeviceList;
    private final NativeFunction getDeviceName;
    private final NativeFunction openDevice;
    private final NativeFunction closeDevice;
    private final NativeFunction queryDevice;
    private final NativeFunction queryPort;
    private final NativeFunction allocatePd;
    private final NativeFunction deallocatePd;
    private final NativeFunction regMr;
    private final NativeFunction deregMr;
    private final NativeDatagrams datagrams;
    private final NativeFunction createCompChannel;
    private final NativeFunction destroyCompChannel;
    private final NativeFunction getCqEvent;
    private final NativeFunction ackCqEvents;
    private final NativeFunction createCq;
    private final NativeFunction destroyCq;
    private final NativeFunction modifyQp;
    private final NativeFunction getAsyncEvent;
    private final NativeFunction ackAsyncEvent;
    private final NativeFunction statusText;
    private final NativeFunction eventText;
    private final NativeFunction portStateText;
    private final NativeFunction createSrq;
    private final NativeFunction destroySrq;

    NativeIbverbs(SymbolLookup lookup, String version) {
        this.version = version;
        getDeviceList = NativeFunction.ofPointer(lookup, "ibv_get_device_list", 1);
        freeDeviceList = NativeFunction.ofInt(lookup, "ibv_free_device_list", 1);
        getDeviceName = NativeFunction.ofPointer(lookup, "ibv_get_device_name", 1);
        openDevice = NativeFunction.ofPointer(lookup, "ibv_open_device", 1);
        closeDevice = NativeFunction.ofInt(lookup, "ibv_close_device", 1);
        queryDevice = NativeFunction.ofInt(lookup, "ibv_query_device", 2);
        queryPort = NativeFunction.ofInt(lookup, "ibv_query_port", 3);
        allocatePd = NativeFunction.ofPointer(lookup, "ibv_alloc_pd", 1);
        deallocatePd = NativeFunction.ofInt(lookup, "ibv_dealloc_pd", 1);
        regMr = NativeFunction.ofPointer(lookup, "ibv_reg_mr", 4);
        deregMr = NativeFunction.ofInt(lookup, "ibv_dereg_mr", 1);
        datagrams = new NativeDatagrams(lookup);
        createCompChannel = NativeFunction.ofPointer(lookup, "ibv_create_comp_channel", 1);
        destroyCompChannel = NativeFunction.ofInt(lookup, "ibv_destroy_comp_channel", 1);
        getCqEvent = NativeFunction.ofInt(lookup, "ibv_get_cq_event", 3);
        ackCqEvents = NativeFunction.ofInt(lookup, "ibv_ack_cq_events", 2);
        createCq = NativeFunction.ofPointer(lookup, "ibv_create_cq", 5);
        destroyCq = NativeFunction.ofInt(lookup, "ibv_destroy_cq", 1);
        modifyQp = NativeFunction.ofInt(lookup, "ibv_modify_qp", 3);
        getAsyncEvent = NativeFunction.ofInt(lookup, "ibv_get_async_event", 2);
        ackAsyncEvent = NativeFunction.ofInt(lookup, "ibv_ack_async_event", 1);
        statusText = NativeFunction.ofPointer(lookup, "ibv_wc_status_str", 1);
        eventText = NativeFunction.ofPointer(lookup, "ibv_event_type_str", 1);
        portStateText = NativeFunction.ofPointer(lookup, "ibv_port_state_str", 1);
        createSrq = NativeFunction.ofPointer(lookup, "ibv_create_srq", 2);
        destroySrq = NativeFunction.ofInt(lookup, "ibv_destroy_srq", 1);
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public DeviceList deviceList() {
        long count = NativeMemory.allocate(Long.BYTES);
        try {
            long list = getDeviceList.pointer(count);
            if (list < 0) {
                return null;
            }
            long[] devices = new long[UnsafeApi.getInt(count)];
            Arrays.setAll(devices, i -> UnsafeApi.getLong(list + (long) i * Long.BYTES));
            return new DeviceList(list, devices);
        } finally {
            NativeMemory.free(count);
        }
    }

    @Override
    public void freeDeviceList(DeviceList list) {
        freeDeviceList.call(list.pointer());
    }

    @Override
    public String deviceName(long device) {
        return getDeviceName.text(device);
    }

    @Override
    public long openDevice(long device) {
        return openDevice.pointer(device);
    }

    @Override
    public int closeDevice(long context) {
        return closeDevice.status(context);
    }

    @Override
    public long deviceOf(long context) {
        return UnsafeApi.getLong(context + VerbsLayout.CONTEXT_DEVICE);
    }

    @Override
    public boolean isIwarp(long context) {
        return UnsafeApi.getInt(deviceOf(context) + VerbsLayout.DEVICE_TRANSPORT) == VerbsConstants.TRANSPORT_IWARP;
    }

    @Override
    public DeviceAttributes queryDevice(long context) {
        long at = NativeMemory.allocate(VerbsLayout.DEVICE_ATTR_SIZE);
        try {
            return queryDevice.errnoStatus(context, at) < 0 ? null : new DeviceAttributes(
                UnsafeApi.getInt(at + VerbsLayout.DEVICE_ATTR_VENDOR_ID),
                UnsafeApi.getByte(at + VerbsLayout.DEVICE_ATTR_PORTS) & 0xff,
                UnsafeApi.getInt(at + VerbsLayout.DEVICE_ATTR_MAX_QP),
                UnsafeApi.getInt(at + VerbsLayout.DEVICE_ATTR_MAX_QP_WR),
                UnsafeApi.getInt(at + VerbsLayout.DEVICE_ATTR_MAX_SGE),
                UnsafeApi.getInt(at + VerbsLayout.DEVICE_ATTR_MAX_CQ),
                UnsafeApi.getInt(at + VerbsLayout.DEVICE_ATTR_MAX_CQE),
                UnsafeApi.getInt(at + VerbsLayout.DEVICE_ATTR_MAX_RD_ATOMIC),
                UnsafeApi.getInt(at + VerbsLayout.DEVICE_ATTR_ATOMIC_CAP));
        } finally {
            NativeMemory.free(at);
        }
    }

    @Override
    public PortAttributes queryPort(long context, int port) {
        // the exported function fills a shorter structure than today's, and a longer one does no harm
        long at = NativeMemory.allocate(2 * VerbsLayout.PORT_ATTR_SIZE);
        try {
            return queryPort.errnoStatus(context, port, at) < 0 ? null : new PortAttributes(
                UnsafeApi.getInt(at + VerbsLayout.PORT_ATTR_STATE),
                UnsafeApi.getInt(at + VerbsLayout.PORT_ATTR_ACTIVE_MTU),
                UnsafeApi.getInt(at + VerbsLayout.PORT_ATTR_MAX_MSG_SIZE) & 0xffff_ffffL,
                UnsafeApi.getByte(at + VerbsLayout.PORT_ATTR_LINK_LAYER),
                UnsafeApi.getInt(at + VerbsLayout.PORT_ATTR_GID_TABLE_LENGTH),
                UnsafeApi.getShort(at + VerbsLayout.PORT_ATTR_LID) & 0xffff,
                UnsafeApi.getByte(at + VerbsLayout.PORT_ATTR_SM_SL));
        } finally {
            NativeMemory.free(at);
        }
    }

    @Override
    public long allocateDomain(long context) {
        return allocatePd.pointer(context);
    }

    @Override
    public int freeDomain(long domain) {
        return deallocatePd.errnoStatus(domain);
    }

    @Override
    public long register(long domain, long address, long length, int access) {
        return regMr.pointer(domain, address, length, access);
    }

    @Override
    public int deregister(long registration) {
        return deregMr.errnoStatus(registration);
    }

    @Override
    public byte[] gid(long context, int port, int index) {
        return datagrams.gid(context, port, index);
    }

    @Override
    public short partitionKey(long context, int port) {
        return datagrams.partitionKey(context, port);
    }

    @Override
    public RdmaCm.QueuePair createDatagramQueuePair(long domain, long queue, RdmaCm.QueueDepths depths) {
        return datagrams.createQueuePair(domain, queue, depths);
    }

    @Override
    public int startDatagrams(long queuePair, int port, int key) {
        return datagrams.start(queuePair, port, key);
    }

    @Override
    public int resumeSends(long queuePair) {
        return datagrams.resume(queuePair);
    }

    @Override
    public int queuePairNumber(long queuePair) {
        return UnsafeApi.getInt(queuePair + VerbsLayout.QP_NUMBER);
    }

    @Override
    public int destroyDatagramQueuePair(long queuePair) {
        return datagrams.destroyQueuePair(queuePair);
    }

    @Override
    public long createAddressHandle(long domain, byte[] route) {
        return datagrams.createAddressHandle(domain, route);
    }

    @Override
    public int destroyAddressHandle(long handle) {
        return datagrams.destroyAddressHandle(handle);
    }

    @Override
    public int attachGroup(long queuePair, byte[] route) {
        return datagrams.attach(queuePair, route);
    }

    @Override
    public int detachGroup(long queuePair, byte[] route) {
        return datagrams.detach(queuePair, route);
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
    public long createChannel(long context) {
        long channel = createCompChannel.pointer(context);
        int result = channel < 0 ? 0 : Libc.setNonBlocking(channelFd(channel));
        if (result < 0) {
            destroyChannel(channel);
            return result;
        }
        return channel;
    }

    @Override
    public int channelFd(long channel) {
        return UnsafeApi.getInt(channel + VerbsLayout.CHANNEL_FD);
    }

    @Override
    public int destroyChannel(long channel) {
        return destroyCompChannel.errnoStatus(channel);
    }

    @Override
    public long takeChannelEvent(long channel) {
        long out = NativeMemory.allocate(2 * Long.BYTES);
        try {
            int result = getCqEvent.status(channel, out, out + Long.BYTES);
            if (result < 0) {
                return result;
            }
            long queue = UnsafeApi.getLong(out);
            ackCqEvents.call(queue, 1);
            return queue;
        } finally {
            NativeMemory.free(out);
        }
    }

    @Override
    public long createCompletionQueue(long context, int entries, long channel) {
        return createCq.pointer(context, entries, 0, channel, 0);
    }

    @Override
    public int destroyCompletionQueue(long queue) {
        return destroyCq.errnoStatus(queue);
    }

    @Override
    public int modifyRnrTimer(long queuePair, int timer) {
        long attributes = NativeMemory.allocate(VerbsLayout.QP_ATTR_SIZE);
        try {
            UnsafeApi.putByte(attributes + VerbsLayout.QP_ATTR_MIN_RNR_TIMER, (byte) timer);
            return modifyQp.errnoStatus(queuePair, attributes, VerbsConstants.QP_MIN_RNR_TIMER);
        } finally {
            NativeMemory.free(attributes);
        }
    }

    @Override
    public int modifyToError(long queuePair) {
        long attributes = NativeMemory.allocate(VerbsLayout.QP_ATTR_SIZE);
        try {
            UnsafeApi.putInt(attributes + VerbsLayout.QP_ATTR_STATE, VerbsConstants.QPS_ERR);
            return modifyQp.errnoStatus(queuePair, attributes, VerbsConstants.QP_STATE);
        } finally {
            NativeMemory.free(attributes);
        }
    }

    @Override
    public int asyncFd(long context) {
        int fd = UnsafeApi.getInt(context + VerbsLayout.CONTEXT_ASYNC_FD);
        int result = Libc.setNonBlocking(fd);
        return result < 0 ? result : fd;
    }

    @Override
    public AsyncEvent takeAsyncEvent(long context) {
        long event = NativeMemory.allocate(VerbsLayout.ASYNC_SIZE);
        try {
            if (getAsyncEvent.status(context, event) < 0) {
                return null;
            }
            AsyncEvent taken = new AsyncEvent(
                UnsafeApi.getInt(event + VerbsLayout.ASYNC_TYPE),
                UnsafeApi.getLong(event + VerbsLayout.ASYNC_ELEMENT));
            ackAsyncEvent.call(event);
            return taken;
        } finally {
            NativeMemory.free(event);
        }
    }

    @Override
    public String statusText(int status) {
        return statusText.text(status);
    }

    @Override
    public String eventText(int type) {
        return eventText.text(type);
    }

    @Override
    public String portStateText(int state) {
        return portStateText.text(state);
    }

    @Override
    public VerbsDataPath dataPath(long context) {
        VerbsSelfCheck.checkContext(this, context);
        return new NativeDataPath(context);
    }

    @Override
    public long createSharedQueue(long domain, int receives) {
        long attributes = NativeMemory.allocate(VerbsLayout.SRQ_INIT_SIZE);
        try {
            UnsafeApi.putInt(attributes + VerbsLayout.SRQ_INIT_MAX_WR, receives);
            UnsafeApi.putInt(attributes + VerbsLayout.SRQ_INIT_MAX_SGE, 1);
            return createSrq.pointer(domain, attributes);
        } finally {
            NativeMemory.free(attributes);
        }
    }

    @Override
    public int destroySharedQueue(long sharedQueue) {
        return destroySrq.errnoStatus(sharedQueue);
    }
}
