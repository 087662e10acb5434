package org.jfabric.driver.link.verbs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.ExposureHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.PollInterval;
import org.jfabric.driver.link.support.WatchedDescriptors;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

/**
 * Connections of RDMA devices. Each poll reads the devices' completion queues. The descriptors of connection events and
 * of the devices' own events are polled less often.
 *
 * <p>Owner: progress agent.
 */
final class VerbsLink extends Link {
    /** Polls of the link for each poll of the descriptors, at most. */
    private static final int POLLS_PER_LOOK = 128;
    /** Low bits of a connection's number: its place. The bits above differ from those of earlier users of the place. */
    private static final int PLACE_BITS = 20;
    private static final int PLACE_MASK = (1 << PLACE_BITS) - 1;
    /** Protection domains of a device: as many numbers of shared receive queues are told apart. */
    static final int MAX_DOMAINS = 1 << Integer.SIZE - 1 - PLACE_BITS;

    private final LinkServices services;
    private final VerbsSettings settings;
    private final ChannelLimits limits;
    private final DriverConfig config;
    private final VerbsLibraries libraries;
    private final WatchedDescriptors descriptors;
    private final VerbsConnector manager = new VerbsConnector(this);
    private final Long2ObjectHashMap<CmTarget> byId = new Long2ObjectHashMap<>();
    private final List<VerbsDevice> devices = new ArrayList<>();
    /** Tasks for the next poll. */
    private final ArrayDeque<Runnable> news = new ArrayDeque<>();
    private final List<VerbsConnection> active = new ArrayList<>();
    private VerbsConnection[] connections = new VerbsConnection[16];
    private int added;
    /** Connections that have receives of their own. */
    private int owning;
    private long cmChannel;
    private CmEvents events;
    private final PollInterval untilLook;
    private volatile boolean isClosed;

    /**
     * A link without connections.
     *
     * @param libraries bound, or null if they cannot be used: the link then reaches no peer.
     */
    VerbsLink(
        LinkServices services, VerbsSettings settings, ChannelLimits limits, DriverConfig config,
        VerbsLibraries libraries) {
        this.services = services;
        this.untilLook = new PollInterval(services);
        this.config = config;
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

    /** Whether the libraries can be used and the kernel has a connection manager. */
    boolean isUsable() {
        return cmChannel > 0;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return isUsable() && SocketName.isName(remoteAddress);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        // reliable datagrams use the rxm link
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
        if (!untilLook.isOver()) {
            return false;
        }
        untilLook.restart(POLLS_PER_LOOK);
        return true;
    }

    /** Frees the registrations of closed regions, also if no connection is left. */
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
                // nothing before it moves, and connections added meanwhile are stepped in the next poll
                VerbsConnection last = active.removeLast();
                if (last != connection) {
                    active.set(active.indexOf(connection), last);
                }
            }
        }
        return work;
    }

    /** The work that is not done in each poll. */
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
            // a completion from before the queue was armed causes no event
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

    /** Each identifier of a device reports its removal; null, and a device that is lost already, are ignored. */
    void onRemoval(VerbsDevice device) {
        if (device != null && !device.isLost()) {
            onDeviceLost(device, "it was removed", VerbsDevice.NO_EVENT);
        }
    }

    void onCompletion(VerbsDevice device, WorkCompletions completions, int entry) {
        int number = (int) (completions.id(entry) >>> Integer.SIZE);
        int place = number & PLACE_MASK;
        VerbsConnection connection = place < connections.length ? connections[place] : null;
        // not every device removes the entries of a destroyed queue pair from the completion queue
        if (connection != null && connection.number() == number) {
            connection.onCompletion(completions, entry);
        } else if (place == PLACE_MASK) {
            device.onShared(number, completions, entry);
        }
    }

    /** The number of the shared receives of a domain: that of no connection, whose place would be the last one. */
    static int sharedNumber(int domain) {
        return domain << PLACE_BITS | PLACE_MASK;
    }

    /** Ends each connection in a task of its own, so that a failure of one handler does not affect the others. */
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

    /** A queue pair in the error state takes no more shared receives. */
    void onLastReceive(long queuePair) {
        for (VerbsConnection connection : connections) {
            if (connection != null && connection.queuePair() == queuePair) {
                connection.onLastReceive();
            }
        }
    }

    /** Called once for each device; a new one is made when it can be used again. */
    void onDeviceLost(VerbsDevice device, String text, int event) {
        device.lose(event != VerbsConstants.EVENT_SRQ_ERR);
        for (VerbsConnection connection : connections) {
            if (connection != null && connection.uses(device, 0)) {
                later(() -> connection.lost(FabricErrno.ENODEV, "the device is lost: " + text, event));
            }
        }
        later(() -> retire(device));
    }

    /** Frees a lost device when no connection has resources of it any more. */
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
            device.closeKeys();
            CmTask.submit(services, device::free);
        }
    }

    /** The registration of a region was made or has failed. */
    void onKeyReady() {
        for (VerbsConnection connection : connections) {
            if (connection != null && connection.isRefused()) {
                activate(connection);
            }
        }
    }

    // ---- memory for peers ----

    @Override
    public void expose(
        RegisteredRegion region, long access, Object domain, Info where, ExposureHandler handler) {
        if (!isUsable()) {
            handler.onFailed(new FabricException(FabricErrno.ENODEV, "the verbs link cannot be used",
                "See ./fabric info --why."));
            return;
        }
        services.submit(new ResourceTask() {
            private VerbsAddress bound;
            private long context;

            @Override
            protected void execute() {
                bound = VerbsAddress.ofDevice(libraries, where, config);
                context = bound.context();
            }

            @Override
            protected void onDone() {
                if (isClosed) {
                    CmTask.submit(services, bound::close);
                } else {
                    device(context).domain(domain).keys().expose(region, access, bound, handler);
                }
            }

            @Override
            protected void onFailed(Throwable cause) {
                handler.onFailed(cause instanceof FabricException known ? known
                    : new FabricException(FabricErrno.EIO, "no device for the memory: " + cause, "See the error log."));
            }
        });
    }

    // ---- for its connections ----

    LinkServices services() {
        return services;
    }

    VerbsSettings settings() {
        return settings;
    }

    /** The sizes of the connection that is made next. */
    VerbsSettings nextSettings() {
        return settings.next(owning);
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

    /** The next poll includes the descriptors. */
    void lookSoon() {
        untilLook.shorten(0);
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

    /** The usable device of a context, or null; a lost device may still have the same context. */
    private VerbsDevice find(long context) {
        for (VerbsDevice device : devices) {
            if (device.context() == context && !device.isLost()) {
                return device;
            }
        }
        return null;
    }

    /** Gives a connection its number, which is the upper half of the ids of its work requests. */
    int add(VerbsConnection connection) {
        int place = 0;
        while (place < connections.length && connections[place] != null) {
            place++;
        }
        if (place == connections.length) {
            connections = Arrays.copyOf(connections, 2 * place);
        }
        connections[place] = connection;
        owning += connection.isOwning() ? 1 : 0;
        added++;
        return (added << PLACE_BITS | place) & Integer.MAX_VALUE;
    }

    /** Removes its identifier; its place stays reserved while completions may arrive. */
    void remove(VerbsConnection connection) {
        byId.remove(connection.id());
    }

    /** Frees its place. */
    void free(VerbsConnection connection) {
        connection.giveDomain();
        owning -= connection.isOwning() ? 1 : 0;
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
                // a request without an answer
                CmTask.submit(services, () -> {
                    libraries.cm().destroyId(id);
                });
            }
        });
        byId.clear();
        descriptors.close();
        // the last task: the objects that earlier tasks make must exist before they can be freed
        CmTask.submit(services, this::free);
        for (VerbsDevice device : devices) {
            device.closeKeys();
        }
    }

    /** Completes the sends that were reported as done, also if the driver closes directly after them. */
    private void linger() {
        boolean isLingering = false;
        for (VerbsConnection connection : connections) {
            if (connection != null) {
                // after this it does not call its handler
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

    /** Frees the devices; the last task of the resource thread for this link. */
    private void free() {
        for (VerbsDevice device : devices) {
            device.free();
        }
        if (events != null) {
            events.free();
        }
    }
}
