package org.jfabric.driver.link.verbs;

import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.WatchedDescriptors;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Connections of RDMA devices. Each poll takes what the devices' completion queues have; connection events and the
 * devices' own are looked for now and then, by their descriptors.
 *
 * <p>Owner: progress agent.
 */
final class VerbsLink extends Link {
    /** Polls between two looks at the descriptors: the price of one is that of several cycles without work. */
    private static final int POLLS_PER_LOOK = 128;
    /** Bits of a connection's number that are its place; those above tell it from who had the place before. */
    private static final int PLACE_BITS = 20;
    private static final int PLACE_MASK = (1 << PLACE_BITS) - 1;

    private final LinkServices services;
    private final VerbsSettings settings;
    private final ChannelLimits limits;
    private final VerbsLibraries libraries;
    private final WatchedDescriptors descriptors;
    private final VerbsConnections manager = new VerbsConnections(this);
    private final Long2ObjectHashMap<CmTarget> byId = new Long2ObjectHashMap<>();
    private final List<VerbsDevice> devices = new ArrayList<>();
    /** What is to be told in the next poll. */
    private final ArrayDeque<Runnable> news = new ArrayDeque<>();
    private final List<VerbsConnection> active = new ArrayList<>();
    private VerbsConnection[] connections = new VerbsConnection[16];
    private int added;
    private long cmChannel;
    private CmEvents events;
    private int pollsToLook;
    private volatile boolean isClosed;

    /**
     * A link without connections.
     *
     * @param libraries bound, or null if they cannot be used: the link then reaches nobody.
     */
    VerbsLink(LinkServices services, VerbsSettings settings, ChannelLimits limits, VerbsLibraries libraries) {
        this.services = services;
        this.settings = settings;
        this.limits = limits;
        this.libraries = libraries;
        this.descriptors = new WatchedDescriptors(services);
        if (libraries != null) {
            cmChannel = libraries.cm().createEventChannel();
            if (cmChannel > 0) {
                events = new CmEvents(this, libraries, cmChannel);
                descriptors.add(libraries.cm().eventChannelFd(cmChannel), events::take);
            }
        }
    }

    @Override
    public String name() {
        return VerbsLinkProvider.NAME;
    }

    /** Whether there are libraries, and a connection manager in the kernel. */
    boolean isUsable() {
        return cmChannel > 0;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return isUsable() && SocketName.isName(remoteAddress);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        // reliable datagrams go by the rxm link
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        // nothing was attached
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        throw new IllegalStateException("link " + name() + " has connected endpoints only");
    }

    @Override
    public ConnectionManager connections() {
        return manager;
    }

    // ---- steps ----

    @Override
    public int poll(int limit) {
        if (byId.isEmpty() && news.isEmpty() && active.isEmpty()) {
            return !devices.isEmpty() && isTimeToLook() ? look() : 0;
        }
        int work = 0;
        for (int i = news.size(); i > 0; i--) {
            news.removeFirst().run();
            work++;
        }
        if (isTimeToLook()) {
            work += look();
        }
        for (int i = 0; i < devices.size(); i++) {
            work += devices.get(i).poll();
        }
        return work + step(limit);
    }

    private boolean isTimeToLook() {
        if (--pollsToLook >= 0) {
            return false;
        }
        pollsToLook = POLLS_PER_LOOK;
        return true;
    }

    /** Regions that were used are given back when they are closed, also where no connection is left. */
    private int sweep() {
        int work = 0;
        for (int i = 0; i < devices.size(); i++) {
            work += devices.get(i).sweep();
        }
        return work;
    }

    private int step(int limit) {
        int work = 0;
        for (int i = active.size() - 1; i >= 0; i--) {
            VerbsConnection connection = active.get(i);
            work += connection.step(limit);
            if (!connection.hasWork()) {
                connection.isActive = false;
                // nothing before it moves, and what was added meanwhile is stepped next time
                VerbsConnection last = active.removeLast();
                if (last != connection) {
                    active.set(active.indexOf(connection), last);
                }
            }
        }
        return work;
    }

    /** What need not be looked at in each poll. */
    private int look() {
        return descriptors.poll() + sweep();
    }

    @Override
    public boolean arm() {
        if (!news.isEmpty() || !active.isEmpty() || look() > 0) {
            return false;
        }
        for (VerbsDevice device : devices) {
            if (!device.arm()) {
                return false;
            }
        }
        for (VerbsDevice device : devices) {
            // one that came before it was armed tells nobody
            if (device.poll() > 0) {
                return false;
            }
        }
        if (!news.isEmpty() || !active.isEmpty()) {
            // that poll has found a queue to be lost
            return false;
        }
        descriptors.arm();
        return true;
    }

    // ---- events ----

    void onEvent(RdmaCm.CmEvent event) {
        boolean isRequest = event.type() == VerbsConstants.CM_CONNECT_REQUEST;
        CmTarget target = byId.get(isRequest ? event.listenId() : event.id());
        if (target != null) {
            if (event.type() == VerbsConstants.CM_DEVICE_REMOVAL) {
                onRemoval(find(libraries.cm().context(event.id())));
            }
            target.onEvent(event);
        } else if (isRequest) {
            // the listener was closed meanwhile
            manager.reject(event.id(), new byte[0]);
        }
    }

    /** Told by each identifier of a device; null, and one that is lost already, are no matter. */
    void onRemoval(VerbsDevice device) {
        if (device != null && !device.isLost()) {
            onDeviceLost(device, "it was taken away", VerbsDevice.NO_EVENT);
        }
    }

    void onCompletion(VerbsDevice device, WorkCompletions completions, int entry) {
        int number = (int) (completions.id(entry) >>> Integer.SIZE);
        int place = number & PLACE_MASK;
        VerbsConnection connection = place < connections.length ? connections[place] : null;
        // not every device takes the entries of a queue pair that is gone out of the completion queue
        if (connection != null && connection.number() == number) {
            connection.onCompletion(completions, entry);
        } else if (number == SharedReceives.NUMBER) {
            device.shared().onCompletion(completions, entry);
        }
    }

    /** Each is told in a step of its own, so that an engine that fails with one does not keep it from the others. */
    void onQueueLost(VerbsDevice device, long queue, String text, int event) {
        for (VerbsConnection connection : connections) {
            if (connection != null && connection.uses(device, queue)) {
                later(() -> connection.lost(FabricErrno.EIO, "the completion queue is lost: " + text, event));
            }
        }
    }

    void onQueuePairLost(long queuePair, String text, int event) {
        for (VerbsConnection connection : connections.clone()) {
            if (connection != null && connection.queuePair() == queuePair) {
                connection.lost(FabricErrno.EIO, "the queue pair is lost: " + text, event);
            }
        }
    }

    /** A queue pair that ends takes no shared receive any more. */
    void onLastReceive(long queuePair) {
        for (VerbsConnection connection : connections) {
            if (connection != null && connection.queuePair() == queuePair) {
                connection.onLastReceive();
            }
        }
    }

    /** Told once of each device: another one is made where it can be used again. */
    void onDeviceLost(VerbsDevice device, String text, int event) {
        device.lose(event != VerbsConstants.EVENT_SRQ_ERR);
        for (VerbsConnection connection : connections) {
            if (connection != null && connection.uses(device, 0)) {
                later(() -> connection.lost(FabricErrno.ENODEV, "the device is lost: " + text, event));
            }
        }
        later(() -> retire(device));
    }

    /** Gives a lost device back when no connection has anything of it any more. */
    private void retire(VerbsDevice device) {
        for (VerbsConnection connection : connections) {
            if (connection != null && connection.isOn(device)) {
                return;
            }
        }
        if (!isClosed && devices.remove(device)) {
            device.unwatch();
            for (VerbsDevice other : devices) {
                other.watchAgain(device);
            }
            device.keys().close();
            CmTask.submit(services, device::free);
        }
    }

    /** A region was registered, or cannot be. */
    void onKeyReady() {
        for (VerbsConnection connection : connections) {
            if (connection != null && connection.isRefused()) {
                activate(connection);
            }
        }
    }

    // ---- for its connections ----

    LinkServices services() {
        return services;
    }

    VerbsSettings settings() {
        return settings;
    }

    ChannelLimits limits() {
        return limits;
    }

    VerbsLibraries libraries() {
        return libraries;
    }

    WatchedDescriptors descriptors() {
        return descriptors;
    }

    long cmChannel() {
        return cmChannel;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** The next poll looks at the descriptors. */
    void lookSoon() {
        pollsToLook = 0;
    }

    void later(Runnable task) {
        news.add(task);
    }

    void onError(Throwable error) {
        services.onError(error);
    }

    void onError(int errno, String what, String remedy) {
        services.onError(new FabricException(errno, what, remedy));
    }

    VerbsDevice device(long context) {
        VerbsDevice device = find(context);
        if (device == null) {
            device = new VerbsDevice(this, libraries, context);
            devices.add(device);
        }
        return device;
    }

    /** The device that can be used, or null: one that is lost may have its context still. */
    private VerbsDevice find(long context) {
        for (VerbsDevice device : devices) {
            if (device.context() == context && !device.isLost()) {
                return device;
            }
        }
        return null;
    }

    /** A number for a connection, which is the upper half of those of its work requests. */
    int add(VerbsConnection connection) {
        int place = 0;
        while (place < connections.length && connections[place] != null) {
            place++;
        }
        if (place == connections.length) {
            connections = Arrays.copyOf(connections, 2 * place);
        }
        connections[place] = connection;
        added++;
        return (added << PLACE_BITS | place) & Integer.MAX_VALUE;
    }

    /** Its identifier is gone; its place is kept until nothing of it can come any more. */
    void remove(VerbsConnection connection) {
        byId.remove(connection.id());
    }

    /** Its place may be taken. */
    void free(VerbsConnection connection) {
        connections[connection.number() & PLACE_MASK] = null;
        for (int i = devices.size() - 1; i >= 0; i--) {
            if (devices.get(i).isLost()) {
                retire(devices.get(i));
            }
        }
    }

    void activate(VerbsConnection connection) {
        if (!connection.isActive) {
            connection.isActive = true;
            active.add(connection);
        }
    }

    void register(long id, CmTarget target) {
        byId.put(id, target);
    }

    void unregister(long id) {
        byId.remove(id);
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        linger();
        isClosed = true;
        news.clear();
        manager.close();
        for (VerbsConnection connection : connections) {
            if (connection != null) {
                connection.closeNow();
            }
        }
        byId.forEach((id, target) -> {
            if (!(target instanceof VerbsConnection)) {
                // a request that nobody has answered
                CmTask.submit(services, () -> {
                    libraries.cm().destroyId(id);
                });
            }
        });
        byId.clear();
        descriptors.close();
        // what the resource thread is making now, or has yet to make, must be there to be given back
        CmTask.submit(services, this::free);
        for (VerbsDevice device : devices) {
            device.keys().close();
        }
    }

    /** What endpoints were told has been sent is sent, also if the driver ends right behind them. */
    private void linger() {
        boolean isLingering = false;
        for (VerbsConnection connection : connections) {
            if (connection != null) {
                // none calls its handler any more
                connection.close();
                isLingering |= connection.isLingering();
            }
        }
        while (isLingering) {
            isLingering = false;
            for (VerbsDevice device : devices) {
                device.poll();
            }
            for (VerbsConnection connection : connections) {
                if (connection != null && connection.isLingering()) {
                    connection.linger();
                    isLingering |= connection.isLingering();
                }
            }
            Thread.yield();
        }
    }

    /** Gives the devices back; the last task of the resource thread for this link. */
    private void free() {
        for (VerbsDevice device : devices) {
            device.free();
        }
        if (events != null) {
            events.free();
        }
    }
}
