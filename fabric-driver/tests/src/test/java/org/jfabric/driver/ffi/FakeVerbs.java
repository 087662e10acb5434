package org.jfabric.driver.ffi;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;

/**
 * One RDMA device of one process, in memory: the calls of libibverbs and librdmacm, with structures laid out as theirs
 * where the product reads them. Devices of one {@link FakeConnections.Network} reach each other. The work of a real
 * card happens inside of the calls, at once, unless a test delays it.
 */
public final class FakeVerbs extends FakeConnections {
    /** Functions of the context that the product calls, by their offsets. */
    static final Map<Integer, String> FUNCTIONS = Map.of(VerbsLayout.CONTEXT_POLL_CQ, "poll_cq",
        VerbsLayout.CONTEXT_REQ_NOTIFY_CQ, "req_notify_cq", VerbsLayout.CONTEXT_POST_SRQ_RECV, "post_srq_recv",
        VerbsLayout.CONTEXT_POST_SEND, "post_send", VerbsLayout.CONTEXT_POST_RECV, "post_recv");

    /** Access flags of registered memory, in order. */
    public final List<Integer> accesses = new ArrayList<>();
    /** Entries of the largest completion queue. */
    public int maxCompletions = 4096;
    /** Answer of registering memory, if not 0: a positive errno. */
    public int registerErrno;
    /** Answer of creating a completion queue, if not 0: a positive errno. */
    public int completionQueueErrno;
    /** So many attempts to make a channel of completions are refused, after those that are not. */
    public int refusedChannels;
    /** Attempts that are not refused before. */
    public int channelsBefore;
    /** State of the one port. */
    public int portState = VerbsConstants.PORT_ACTIVE;
    /** True if the device uses iWARP. */
    public boolean isIwarp;
    /** Atomic operations of the device. */
    public int atomics = 1;
    /** True if the device is listed as two. */
    public boolean isTwice;
    /** True if there is a device. */
    public boolean hasDevice = true;

    private long device;
    /** Contexts of devices that are gone, which the library has not noticed yet. */
    private final Set<Long> unnoticed = new HashSet<>();
    private final int asyncFd = EventFd.create();
    private final ArrayDeque<AsyncEvent> asyncEvents = new ArrayDeque<>();
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
        super(network, host);
        appear();
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
        ids.values().stream().filter(id -> !isAnchor(id))
            .forEach(id -> left.add("id" + (id.queuePair == null ? "" : " with queue pair")));
        registrations.keySet().forEach(region -> left.add("registration"));
        for (int i = 0; i < dataPath.shared.count(); i++) {
            left.add("shared receive queue");
        }
        return left;
    }

    /**
     * Objects that {@link #left()} reports, and those that exist once for a device or a link.
     *
     * @return for messages of tests; empty after the end of the process that uses the device.
     */
    public List<String> leftAtEnd() {
        List<String> left = left();
        ids.values().stream().filter(this::isAnchor).forEach(id -> left.add("id that holds the device"));
        unnoticed.forEach(gone -> left.add("context"));
        channelFds.keySet().forEach(channel -> left.add("channel"));
        left.addAll(Collections.nCopies(domains, "domain"));
        return left;
    }

    private void appear() {
        device = NativeMemory.allocate(256);
        NativeMemory.put(device + VerbsLayout.DEVICE_NAME, "fake0".getBytes());
        context = NativeMemory.allocate(VerbsLayout.CONTEXT_SIZE);
        UnsafeApi.putLong(context + VerbsLayout.CONTEXT_DEVICE, device);
        FUNCTIONS.forEach((offset, name) -> UnsafeApi.putLong(context + offset, 1));
    }

    /** Removes the device, and puts another one in its place: only its context distinguishes them. */
    public void replace() {
        replaceUntold();
        happen(VerbsConstants.EVENT_DEVICE_FATAL, 0);
    }

    /** The same, reported only by the connection manager; the device's own event has not come yet. */
    public void replaceUntold() {
        long old = context;
        unnoticed.add(old);
        appear();
        ids.values().stream().filter(id -> context(id.pointer) == old)
            .forEach(id -> push(id, VerbsConstants.CM_DEVICE_REMOVAL, 0, new byte[0]));
    }

    @Override
    public void refreshDevices() {
        unnoticed.removeIf(gone -> ids.values().stream().noneMatch(id -> context(id.pointer) == gone));
    }

    private void requireOpen(String object, long of) {
        if (closed.contains(of)) {
            throw new AssertionError(object + " of a context that is closed");
        }
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

    @Override
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
        long[] devices = isTwice ? new long[] {device, device} : new long[] {device};
        return new DeviceList(1, hasDevice ? devices : new long[0]);
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
        return UnsafeApi.getLong(of + VerbsLayout.CONTEXT_DEVICE);
    }

    @Override
    public boolean isIwarp(long of) {
        return isIwarp;
    }

    @Override
    public DeviceAttributes queryDevice(long of) {
        return new DeviceAttributes(1, 1, 1000, 16384, 16, 1000, maxCompletions, 16, atomics);
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
        requireOpen("domain", UnsafeApi.getLong(domain + VerbsLayout.PD_CONTEXT));
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
        accesses.add(access);
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
        dataPath.register(nextKey - 1, domain, address, length, 0);
        dataPath.register(nextKey, domain, address, length, access);
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
        requireOpen("channel", UnsafeApi.getLong(channel + VerbsLayout.CHANNEL_CONTEXT));
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
        requireOpen("queue", UnsafeApi.getLong(queue + VerbsLayout.CQ_CONTEXT));
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
    public int modifyToError(long queuePair) {
        calls.add("ibv_modify_qp to error");
        ids.values().stream().filter(id -> id.queuePair != null && id.queuePair.pointer == queuePair)
            .forEach(id -> id.queuePair.fail());
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
}
