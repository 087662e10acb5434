package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.ClientThreads;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.DriverProxy;
import org.jfabric.client.DriverState;
import org.jfabric.client.DriverUser;
import org.jfabric.client.EmbeddedDriver;
import org.jfabric.client.Invoker;
import org.jfabric.client.LocalDrivers;
import org.jfabric.client.WaitChannel;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenWaitSet;
import org.jfabric.codec.control.WaitSetReady;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.info.Codes;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.Reason;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.Threading;
import org.jfabric.info.Verdict;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.layout.FileType;
import org.jfabric.layout.WaitDescriptor;

/**
 * A connection to one driver, and the root of all objects opened through it.
 *
 * <pre>{@code
 * try (Fabric fabric = Fabric.connect()) {
 *     Domain domain = fabric.domain(fabric.info(new Info().caps(Flags.TAGGED)).best());
 *     ...
 * }
 * }</pre>
 *
 * <p>Every call is a control call: it throws {@link FabricException} with errno and remedy, may block up to {@link
 * FabricConfig#commandTimeoutNs()}, and comes from any thread. An interrupt does not end a control call: the thread is
 * still interrupted after it. What ends with {@link FabricErrno#ETIMEDOUT} has opened nothing, whenever the driver
 * answers; a close or another change takes effect with its late answer.
 *
 * <p>With an embedded driver in INVOKER mode one thread at a
 * time uses the fabric and all its objects, unless its domains are opened with another {@link Threading}. After the
 * driver's death, control calls throw the failure that {@link FabricListener#onDriverGone} got; only closing still
 * works.
 */
public final class Fabric implements Fid {
    /** Half a second in all, for eight tries. */
    private static final long FIRST_PAUSE_NS = 2_000_000;
    private static final long LAST_PAUSE_NS = 256_000_000;
    private static final long INFO_FLAGS = Flags.SOURCE | Flags.PROV_ATTR_ONLY | Flags.NUMERICHOST;

    private final Object lock = new Object();
    private long domainsOpened;
    private final Children children = new Children(this, this::requireOpen);
    private final Children.Kind<Domain> domains = children.kind(Domain::requireEmpty, Domain::markClosed);
    /** By the number that the driver gave. */
    private final Map<Long, Endpoint> endpoints = new ConcurrentHashMap<>();
    /** Those too that the next driver has not opened again, and so has not given a number. */
    private final Set<Endpoint> enabled = ConcurrentHashMap.newKeySet();
    private final Children.Kind<PassiveEndpoint> passiveEndpoints =
        children.kind(passive -> { }, PassiveEndpoint::markClosed)
            .inDriver(ObjectKind.PASSIVE_ENDPOINT, PassiveEndpoint::id, passive -> { });
    private final Children.Kind<EventQueue> eventQueues =
        children.kind(EventQueue::requireUnused, EventQueue::markClosed);
    private final Children.Kind<WaitSet> waitSets = children.kind(WaitSet::requireUnused, WaitSet::markClosed)
        .inDriver(ObjectKind.WAIT_SET, WaitSet::id, this::release);
    /** Closed with the fabric, and threads that wait there are not woken yet. */
    private final List<EventQueue> unwoken = new CopyOnWriteArrayList<>();
    private final DriverState driver = new DriverState();
    private final long closeTimeoutNs;
    private final long waitSpinNs;
    private final long context;
    private final int apiVersion;
    private final ClientConductor conductor;
    /** Null if the end of the driver is the end of this fabric. */
    private final Reconnection reconnection;
    private final List<TableFile> tables = new ArrayList<>();
    private final List<FabricEvents.KeyChange> keyChanges = new ArrayList<>();
    /** Sends that had not reached their level when it was closed. */
    private long unfinished;
    private volatile boolean open = true;

    private Fabric(DriverConnection connection, FabricConfig config) {
        closeTimeoutNs = config.closeTimeoutNs();
        waitSpinNs = config.waitSpinNs();
        context = config.context();
        apiVersion = FabricAttr.offered(config.apiVersion());
        FabricEvents events = new FabricEvents(
            config.listener(), endpoints, enabled, eventQueues, passiveEndpoints, this::onLateAnswer);
        reconnection = config.reconnectTimeoutNs() == 0 ? null : new Reconnection(this, events, config);
        events.reconnection(reconnection);
        conductor = new ClientConductor(
            connection, driver, events, config.commandTimeoutNs(), config.pauseThresholdNs());
        if (reconnection != null) {
            reconnection.conductor(conductor);
        }
        conductor.start();
    }

    /**
     * Connects to the driver of the default directory, or the one that the system properties name.
     *
     * @return an open fabric.
     * @throws FabricException as {@link #connect(FabricConfig)}.
     */
    public static Fabric connect() {
        return connect(new FabricConfig());
    }

    /**
     * Connects to a driver in another process, or in this one if it has threads of its own.
     *
     * @param config where it is, how long to wait, and the listener.
     * @return an open fabric.
     * @throws FabricException {@link FabricErrno#ENODEV} if no driver runs there, {@link FabricErrno#EACCES} if it is
     *     another user's, {@link FabricErrno#EOPNOTSUPP} for another version, {@link FabricErrno#ETIMEDOUT} if it
     *     does not answer, {@link FabricErrno#EMFILE} without free descriptors,
     *     {@link FabricErrno#ENOSYS} for a {@link FabricConfig#apiVersion()} that is not {@link FabricAttr#isOffered
     *     offered}, or why the driver refuses this client.
     */
    public static Fabric connect(FabricConfig config) {
        Codes.required(config, "config");
        NativeAccess.check();
        EmbeddedDriver embedded = EmbeddedDriver.connecting();
        if (embedded != null) {
            return open(DriverConnection.embedded(embedded), config);
        }
        DriverUser user = DriverUser.of(config.driverUser());
        if (config.reconnectTimeoutNs() != 0 && !user.equals(DriverUser.own())) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "reconnectTimeoutNs with a driver of another user",
                "Connect without it, or to a driver of your own.");
        }
        return open(DriverConnection.connect(config.directory(), user, config.connectTimeoutNs(), config.clientName(),
            ClientThreads.connecting()), config);
    }

    /**
     * Asks what the driver offers for hints (fi_getinfo); each candidate link explains itself in the verdicts.
     *
     * @param hints what is needed, or null for everything.
     * @return matches, the best one first; perhaps none.
     * @throws FabricException as {@link #info(Info, String, String, long)}.
     */
    public InfoResult info(Info hints) {
        return info(hints, null, null, 0);
    }

    /**
     * Asks what the driver offers for hints and a place.
     *
     * @param hints   what is needed, or null for everything.
     * @param node    driver or address of the destination, or null; not used if the hints have the address.
     * @param service endpoint there, or null.
     * @param flags   with {@link Flags#SOURCE} node and service name the source: an endpoint of this driver, which the
     *                matches ask for when an endpoint is opened with them. Where addresses are those of sockets, a
     *                service without node is a port at the wildcard address: passive endpoints and those of link udp
     *                are bound to it, reliable-datagram endpoints to that port of one address of this host.
     *                With {@link Flags#PROV_ATTR_ONLY} there is one match for each link of the driver, whatever the
     *                hints ask for, with nothing but {@link Info#fabricAttr()}.
     *                With {@link Flags#NUMERICHOST} links with socket addresses take a node only if it is an address as
     *                a number; without it names are resolved.
     * @return matches, the best one first; perhaps none.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other flags, {@link FabricErrno#ENOSYS} for hints with
     *     an API version that the library does not have, {@link FabricErrno#EINVAL} for another one than this
     *     fabric's (a fabric of version 1.18 takes hints of 2.x too), or what the driver answers.
     */
    public InfoResult info(Info hints, String node, String service, long flags) {
        Info wanted = hints == null ? new Info() : hints.copy();
        requireVersion(wanted);
        if ((flags & ~INFO_FLAGS) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "flags are " + Flags.toString(flags, Flags.Kind.INFO)
                + ", known are " + Flags.toString(INFO_FLAGS, Flags.Kind.INFO));
        }
        synchronized (lock()) {
            requireOpen();
            InfoResult result = commands().queryInfo(wanted, flags, node, service);
            return wanted.domainAttr().avAuthKey() ? withoutVectorKeys(result) : result;
        }
    }

    /**
     * The short way to a first message: settings of an endpoint that is opened with all that it needs.
     *
     * @return a builder with defaults for all settings.
     */
    public Messenger.Builder messenger() {
        return new Messenger.Builder(this);
    }

    /**
     * Opens a domain whose own context is 0.
     *
     * @param info a match of {@link #info(Info)}, perhaps edited.
     * @return an empty domain.
     * @throws FabricException as {@link #domain(Info, long)}.
     */
    public Domain domain(Info info) {
        return domain(info, 0);
    }

    /**
     * Opens a domain.
     *
     * @param info    a match of {@link #info(Info)}, perhaps edited.
     * @param context of the domain itself, returned by {@link Domain#context()}.
     * @return an empty domain.
     * @throws FabricException {@link FabricErrno#ENOSYS} and {@link FabricErrno#EINVAL} for an API version as
     *     {@link #info(Info, String, String, long)}, {@link FabricErrno#EOPBADSTATE} if closed,
     *     {@link FabricErrno#ENODATA} for {@link org.jfabric.info.DomainAttr#avAuthKey()};
     *     {@link FabricErrno#EOPBADSTATE} in a handler of a completion queue if the driver is in mode INVOKER and the
     *     first domain whose {@link Threading} needs locks is opened there.
     */
    public Domain domain(Info info, long context) {
        Info wanted = Codes.required(info, "info").copy();
        requireVersion(wanted);
        if (wanted.domainAttr().avAuthKey()) {
            throw new FabricException(FabricErrno.ENODATA, "domain_attr.auth_key_size is FI_AV_AUTH_KEY, no link has"
                + " keys in address vectors", "Open it with one authorization key, or without.");
        }
        return domains.open(() -> {
            driver.requireAlive();
            requireRestartable(wanted.domainAttr().resourceManagement() != ResourceManagement.DISABLED,
                "a domain without resource management", "Open it with ResourceManagement.ENABLED");
            return new Domain(this, wanted, context, ++domainsOpened, conductor, driver);
        });
    }

    /**
     * Opens an event queue whose own context is 0.
     *
     * @param attr attributes.
     * @return an empty queue.
     * @throws FabricException as {@link #openEventQueue(EventQueueAttr, long)}.
     */
    public EventQueue openEventQueue(EventQueueAttr attr) {
        return openEventQueue(attr, 0);
    }

    /**
     * Opens an event queue. It belongs to the fabric and not to a domain, and may serve objects of several domains.
     *
     * @param attr    attributes.
     * @param context of the queue itself, returned by {@link EventQueue#context()}.
     * @return an empty queue.
     * @throws FabricException {@link FabricErrno#ENOSYS} for {@link WaitObject#POLLFD} and
     *     {@link WaitObject#CRITSEC_COND}, {@link FabricErrno#EINVAL} for a wait set that is not open, other flags than
     *     {@link Flags#WRITE} and {@link Flags#AFFINITY}, for a size that is negative or above 65536, or with AFFINITY
     *     for a processor that is not there, {@link FabricErrno#EMFILE} without a descriptor for {@link WaitObject#FD},
     *     {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public EventQueue openEventQueue(EventQueueAttr attr, long context) {
        EventQueueAttr wanted = Codes.required(attr, "attr").copy();
        EventQueue queue = eventQueues.open(() -> {
            driver.requireAlive();
            EventQueue fresh = new EventQueue(this, wanted, context, conductor.invoker());
            if (wanted.waitObject() == WaitObject.SET) {
                fresh.join(waitSet(wanted.waitSetId()));
            }
            return fresh;
        });
        if (driver.reason() != null) {
            // the end came after the first check, and this queue may have missed it
            queue.onDriverGone();
        }
        return queue;
    }

    /**
     * Opens a passive endpoint whose own context is 0.
     *
     * @param info as for {@link #openPassiveEndpoint(Info, long)}.
     * @return the passive endpoint.
     * @throws FabricException as {@link #openPassiveEndpoint(Info, long)}.
     */
    public PassiveEndpoint openPassiveEndpoint(Info info) {
        return openPassiveEndpoint(info, 0);
    }

    /**
     * Opens a passive endpoint (fi_passive_ep). Like an event queue it belongs to the fabric.
     *
     * @param info    a match of {@link #info(Info)} for {@link EndpointType#MSG}; its {@code srcAddr} is the address,
     *                if it has one, else the driver chooses.
     * @param context of the passive endpoint itself, returned by {@link PassiveEndpoint#context()}.
     * @return the passive endpoint; it has an address and does not listen.
     * @throws FabricException {@link FabricErrno#EINVAL} for an info of another type, or an address that is none,
     *     {@link FabricErrno#EADDRINUSE} if the address is taken, {@link FabricErrno#EADDRNOTAVAIL} if it is another
     *     driver's, {@link FabricErrno#EOPNOTSUPP} if the link does not connect, {@link FabricErrno#EOPBADSTATE} if
     *     closed.
     */
    public PassiveEndpoint openPassiveEndpoint(Info info, long context) {
        Info wanted = Codes.required(info, "info").copy();
        requireVersion(wanted);
        return passiveEndpoints.open(() -> {
            requireRestartable(false, "a passive endpoint", "Open endpoints of type RDM");
            return PassiveEndpoint.open(this, wanted, context, driver);
        });
    }

    /**
     * Opens a wait set (fi_wait_open).
     *
     * @param attr attributes.
     * @return a set without queues.
     * @throws FabricException {@link FabricErrno#ENOSYS} for {@link WaitObject#POLLFD} and
     *     {@link WaitObject#CRITSEC_COND}, for {@link WaitObject#MUTEX_COND} with a driver in another process;
     *     {@link FabricErrno#EINVAL} for flags and for
     *     {@link WaitObject#NONE} or {@link WaitObject#SET}; {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public WaitSet openWaitSet(WaitSetAttr attr) {
        WaitSetAttr wanted = Codes.required(attr, "attr").copy();
        return waitSets.open(() -> {
            if (Integer.compareUnsigned(apiVersion, FabricAttr.VERSION_2) >= 0) {
                throw setsRemoved(apiVersion);
            }
            return newWaitSet(wanted);
        });
    }

    /** For an object that waits by itself, in each API version. */
    WaitSet openOwnWaitSet() {
        return waitSets.open(() -> newWaitSet(new WaitSetAttr()));
    }

    private WaitSet newWaitSet(WaitSetAttr wanted) {
        requireShareable(wanted.waitObject());
        requireRestartable(false, "a wait set", "Wait at each queue by itself");
        WaitSetReady ready = withRoom(() -> commands().call(
            "opening a wait set", new OpenWaitSet(wanted.flags(), wanted.waitObject().code())));
        WaitSet waitSet = null;
        WaitChannel channel = null;
        try {
            channel = conductor.openWaitChannel(ready.waitSetId(), ready.waitToken());
            MemorySegment memory = conductor.connection().open(
                FileType.WAIT_SET, ready.fileNumber(), 0, WaitDescriptor.WAIT_FILE_LENGTH);
            waitSet = new WaitSet(this, ready.waitSetId(), wanted.waitObject(), memory, channel, driver,
                conductor.invoker(), waitSpinNs, LineWait.SLICE_NS);
            return waitSet;
        } finally {
            if (waitSet == null) {
                if (channel != null) {
                    channel.close();
                }
                discard(ObjectKind.WAIT_SET, ready.waitSetId());
            }
        }
    }

    private void release(WaitSet waitSet) {
        conductor.connection().release(waitSet.memory(), false);
    }

    /**
     * Name of the driver, the host part of its addresses.
     *
     * @return 1 to 64 characters.
     */
    public String driverName() {
        return conductor.connection().attachment().driverName();
    }

    /**
     * Version of the interface that the fabric was opened with; everything opened through it follows its rules.
     *
     * @return {@link FabricConfig#apiVersion()}, or {@link FabricAttr#API_VERSION} if that was 0.
     */
    public int apiVersion() {
        return apiVersion;
    }

    /**
     * Whether it was not closed yet; a fabric whose driver is gone is open until it is closed.
     *
     * @return false after {@link #close()}.
     */
    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public FidClass fidClass() {
        return FidClass.FABRIC;
    }

    @Override
    public long context() {
        return context;
    }

    /**
     * Closes with {@link FabricConfig#closeTimeoutNs()}; see {@link #close(long)}. Has no effect if it is already
     * closed.
     *
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} if the driver may still access memory of this process.
     */
    @Override
    public void close() {
        close(closeTimeoutNs);
    }

    /**
     * Waits until submitted sends have reached their completion level, then closes everything opened through this
     * fabric. Completions need not be read meanwhile. Nothing may be posted meanwhile. An interrupt ends none of this.
     *
     * <p>After the return the driver accesses no memory of {@link Domain#register(MemorySegment, MemoryRegionAttr)} and
     * no file of {@link Domain#allocatePersistent(Path, long, MemoryRegionAttr)}: if there were such, it has said so or
     * its process has ended. If that takes longer than {@link FabricConfig#commandTimeoutNs()} the call ends with
     * {@link FabricErrno#ETIMEDOUT}, and <b>the memory must not be freed or used for something else</b>. The fabric
     * stays open, though every control call but closing is refused, until the driver resumes; a repeated call waits
     * again.
     *
     * @param timeoutNs how long to wait for the sends, in nanoseconds; 0 does not wait.
     * @return sends that had not reached their level when the time was over or the driver died, and those that ended
     *     with an error meanwhile; 0 if called again.
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} if the driver may still access memory of this process.
     */
    public int close(long timeoutNs) {
        synchronized (lock()) {
            if (!open) {
                return 0;
            }
            if (!conductor.isDisconnecting()) {
                unfinished = drainAll(timeoutNs);
            }
            if (hasForeignMemory()) {
                conductor.disconnect(this::markClosed);
            }
            markClosed();
        }
        onClosed();
        return (int) Math.min(Integer.MAX_VALUE, unfinished);
    }

    private long drainAll(long timeoutNs) {
        // sends that failed before have their entries already; from here on a failed one was not drained
        domains.all().forEach(Domain::onDrainBegins);
        boolean isIdle = outstandingSends() == 0;
        long left = drain(conductor.nanoTime() + timeoutNs);
        if (!isIdle && left == 0) {
            awaitEntries();
        }
        for (Domain domain : domains.all()) {
            left += domain.failedSinceDrainBegan();
        }
        return left;
    }

    /**
     * Where the driver accesses memory that is not its own, it has to be at the end of that before the return: the
     * application frees the memory next. Elsewhere it changes files of its own if it is late.
     */
    private boolean hasForeignMemory() {
        return conductor.invoker() == null
            && (conductor.connection().hasPassedMemory()
                || domains.all().stream().anyMatch(Domain::hasPersistentRegions));
    }

    /** Under the lock. */
    private void markClosed() {
        open = false;
        unwoken.addAll(eventQueues.all());
        tables.forEach(TableFile::end);
        tables.clear();
        children.endAll();
        endpoints.clear();
        enabled.clear();
    }

    /** Outside of the lock: the client's thread may be on its way into a control call of a listener. */
    private void onClosed() {
        unwoken.forEach(EventQueue::onClosed);
        unwoken.clear();
        conductor.close();
    }

    /** The driver has answered a change later than the time allowed; a thread that may wait for locks. */
    void onLateAnswer(Runnable effect) {
        synchronized (lock) {
            effect.run();
            domains.all().forEach(Domain::onLateAnswer);
        }
        if (!open) {
            onClosed();
        }
    }

    @Override
    public String toString() {
        return "Fabric{driver=" + driverName() + ", directory=" + conductor.connection().attachment().directory()
            + ", domains=" + domains.all().size() + (open ? "" : ", closed")
            + (driver.isGone() ? ", driver gone" : "") + '}';
    }

    /** Whether error data always stays with the library and its size is not reported, as before API 1.5. */
    boolean keepsErrData() {
        return new FabricAttr().apiVersion(apiVersion).precedes(1, 5);
    }

    /** An info may leave the version out; one that names it expects its rules, and those are the fabric's. */
    void requireVersion(Info info) {
        int named = info.fabricAttr().apiVersion();
        boolean isOptIn = apiVersion == FabricAttr.API_VERSION && info.fabricAttr().isVersion2();
        requireVersion(info, isOptIn ? FabricAttr.offered(named) : apiVersion, "fabric");
    }

    /** Checks that an info names no other version than that of the object that it is for. */
    static void requireVersion(Info info, int version, String owner) {
        int named = info.fabricAttr().apiVersion();
        if (named != 0 && FabricAttr.offered(named) != version) {
            throw new FabricException(FabricErrno.EINVAL, "fabric_attr.api_version is "
                + FabricAttr.versionText(named) + ", the " + owner + " was opened with "
                + FabricAttr.versionText(version),
                "Leave it 0, or open the " + owner + " with that version.");
        }
        info.fabricAttr().apiVersion(version);
        if (info.fabricAttr().precedes(1, 5)) {
            // the members did not exist: whatever is there means nothing
            info.epAttr().authKey(null);
            info.domainAttr().authKey(null);
        }
    }

    /** The one lock of control calls. */
    Object lock() {
        conductor.requireOutsideListener();
        return lock;
    }

    /** How long a waiting reader spins before it sleeps. */
    long waitSpinNs() {
        return waitSpinNs;
    }

    /** Closes one of its objects, once the driver has; false if it is not open. */
    boolean close(Fid child) {
        return children.close(child);
    }

    /** The open wait set with that number; under the lock. */
    WaitSet waitSet(long id) {
        WaitSet waitSet = waitSets.find(id);
        if (waitSet == null) {
            throw new FabricException(FabricErrno.EINVAL, "wait set " + id + " is not open",
                "Open a wait set of this fabric first, and name its id.");
        }
        return waitSet;
    }

    /** The answer to a wait set or a poll set from API version 2.0 on. */
    static FabricException setsRemoved(int version) {
        return new FabricException(FabricErrno.ENOSYS, "wait sets and poll sets are not part of API version "
            + FabricAttr.versionText(version), "Wait for each object by its own descriptor, or use API version 1.18.");
    }

    /** A lock can only be shared with a driver in this process. */
    void requireShareable(WaitObject waitObject) {
        DriverConnection connection = conductor.connection();
        if (waitObject == WaitObject.MUTEX_COND && connection.embedded() == null
            && !LocalDrivers.contains(connection.attachment().driverOwner())) {
            throw new FabricException(FabricErrno.ENOSYS,
                "wait object MUTEX_COND with a driver in another process", "Use FD or UNSPEC, or embed the driver.");
        }
    }

    /** Closes in the driver what cannot be used here, because something else failed, which the caller reports. */
    void discard(ObjectKind kind, long objectId) {
        try {
            commands().closeObject(kind, objectId, () -> { });
        } catch (FabricException noAnswer) {
            // it is closed when the driver resumes, or with the fabric
            return;
        }
    }

    /**
     * Opens something that needs room in the driver's directory. The blocks of a closed object that the application
     * could see are free only when its mapping here goes, and that is when the collector finds out that nothing refers
     * to it; those of others when the driver has unmapped them, too. An application that closes and opens would find
     * no room, although it has given it back, so the collector is asked once. Slow, as control calls may be, and only
     * where the answer would be an error otherwise.
     */
    <T> T withRoom(Supplier<T> open) {
        long pauseNs = FIRST_PAUSE_NS;
        for (;;) {
            try {
                return open.get();
            } catch (FabricException full) {
                if (full.errno() != FabricErrno.ENOSPC) {
                    throw full;
                }
                long inUse = conductor.connection().bytesInUse();
                if (pauseNs > LAST_PAUSE_NS || !conductor.connection().mayGetRoom(pauseNs == LAST_PAUSE_NS)) {
                    throw inUse == 0 ? full : new FabricException(FabricErrno.ENOSPC, full.getMessage()
                        + " This client itself keeps " + inUse
                        + " bytes there, of closed objects whose memory is in use",
                        "Let go of the buffers and segments of regions that are closed.", full);
                }
                if (inUse != 0 && pauseNs == FIRST_PAUSE_NS) {
                    System.gc();
                }
                // mappings go a little later, in a thread of the collector's or of the driver
                long deadlineNs = conductor.nanoTime() + pauseNs;
                while (conductor.nanoTime() - deadlineNs < 0) {
                    conductor.idle();
                }
                pauseNs *= 2;
            }
        }
    }

    /** Whether everything that is open outlives the driver. */
    boolean reconnects() {
        return reconnection != null;
    }

    /** Refuses what the next driver could not open again. */
    void requireRestartable(boolean isKept, String what, String remedy) {
        if (reconnects() && !isKept) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                what + " does not outlive the driver, but this fabric does",
                remedy + ", or connect without reconnectTimeoutNs.");
        }
    }

    /** The driver is gone: nothing more is posted to it. */
    void suspend() {
        synchronized (lock) {
            domains.all().forEach(Domain::suspend);
        }
    }

    /**
     * Opens everything again with the next driver, and takes the connection in any case; false if the fabric was
     * closed.
     *
     * @throws FabricException if that did not succeed; it may be tried again with another connection.
     */
    boolean resume(DriverConnection next) {
        synchronized (lock) {
            if (!open) {
                next.close();
                return false;
            }
            boolean isTaken = false;
            try {
                domains.all().forEach(Domain::suspend);
                isTaken = true;
            } finally {
                if (!isTaken) {
                    next.close();
                }
            }
            conductor.resume(next);
            // the next driver gives one endpoint a number that another one had before
            endpoints.clear();
            FabricException goneAgain;
            boolean isBack = false;
            try {
                domains.all().forEach(Domain::reopen);
                isBack = true;
            } finally {
                goneAgain = conductor.resumed(isBack);
            }
            if (goneAgain != null) {
                throw goneAgain;
            }
            return true;
        }
    }

    /** A card has chosen another key; under the lock. */
    void onKeyChanged(MemoryRegion region, long oldKey) {
        if (region.key() != oldKey) {
            keyChanges.add(new FabricEvents.KeyChange(region, oldKey));
        }
    }

    List<FabricEvents.KeyChange> takeKeyChanges() {
        synchronized (lock) {
            List<FabricEvents.KeyChange> taken = List.copyOf(keyChanges);
            keyChanges.clear();
            return taken;
        }
    }

    void onEnabled(Endpoint endpoint) {
        endpoints.put(endpoint.id(), endpoint);
        enabled.add(endpoint);
    }

    void onClosed(Endpoint endpoint) {
        endpoints.remove(endpoint.id(), endpoint);
        enabled.remove(endpoint);
    }

    DriverProxy commands() {
        return conductor.commands();
    }

    /** Most private data of a request for a connection. */
    int cmDataSize() {
        return conductor.connection().attachment().cmDataSize();
    }

    DriverConnection connection() {
        return conductor.connection();
    }

    DriverState driver() {
        return driver;
    }

    /** Open tables; under the lock. */
    List<TableFile> tables() {
        return tables;
    }

    /** The cycle of an embedded driver, null without one. */
    Invoker invoker() {
        return conductor.invoker();
    }

    private static Fabric open(DriverConnection connection, FabricConfig config) {
        boolean opened = false;
        try {
            Fabric fabric = new Fabric(connection, config);
            opened = true;
            return fabric;
        } finally {
            if (!opened) {
                connection.close();
            }
        }
    }

    /** The answer to a request for keys in address vectors, which no link has whatever else it offers. */
    private static InfoResult withoutVectorKeys(InfoResult result) {
        Reason missing = new Reason("domain_attr.auth_key_size", "at most 128", "FI_AV_AUTH_KEY",
            "Ask with one authorization key for each endpoint or domain");
        List<Verdict> verdicts = new ArrayList<>();
        for (Verdict verdict : result.verdicts()) {
            List<Reason> reasons = new ArrayList<>(verdict.reasons());
            reasons.add(missing);
            verdicts.add(new Verdict(verdict.linkName(), false, verdict.score(), reasons));
        }
        return new InfoResult(List.of(), verdicts);
    }

    private long drain(long deadlineNs) {
        long unfinished = outstandingSends();
        while (unfinished != 0 && !driver.isGone() && conductor.nanoTime() - deadlineNs < 0) {
            conductor.idle();
            unfinished = outstandingSends();
        }
        return unfinished;
    }

    /**
     * A driver counts a send as ended before it writes its entry, and answers a command behind both: without this an
     * error of the last one might be missing. The endpoint is closed next anyway.
     */
    private void awaitEntries() {
        Endpoint endpoint = domains.all().stream().flatMap(domain -> domain.endpoints().stream())
            .filter(each -> each.state() == Endpoint.ENABLED).findFirst().orElse(null);
        if (endpoint == null) {
            return;
        }
        // without an answer nothing is left to wait for: the end of the connection is next, and closes it as well
        discard(ObjectKind.ENDPOINT, endpoint.id());
    }

    private long outstandingSends() {
        long sum = 0;
        for (Domain domain : domains.all()) {
            for (Endpoint endpoint : domain.endpoints()) {
                sum += endpoint.outstandingSends();
            }
        }
        return sum;
    }

    void requireOpen() {
        if (!open) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the fabric is closed", "Connect again.");
        }
    }
}
