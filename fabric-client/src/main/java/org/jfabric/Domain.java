package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.client.BufferedMode;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.DriverProxy;
import org.jfabric.client.DriverState;
import org.jfabric.client.EmbeddedDriver;
import org.jfabric.client.Invoker;
import org.jfabric.client.UnlockedDomain;
import org.jfabric.codec.control.AddressReady;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.Codes;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.CounterEvents;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.info.Progress;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.RxAttr;
import org.jfabric.info.Threading;
import org.jfabric.info.TxAttr;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * A resource domain ({@code fid_domain}): objects can be bound to each other only within one domain.
 *
 * <pre>{@code
 * Domain domain = fabric.domain(fabric.info(hints).best());
 * Endpoint endpoint = domain.openEndpoint(domain.info());
 * }</pre>
 *
 * <p>Every call is a control call, from any thread; with an embedded driver in INVOKER mode from the one thread that
 * uses the domain, which then runs the driver's cycle until the answer is there.
 *
 * <p>{@code domain_attr.threading} of the info that the domain is opened with says who may use its objects at the same
 * time. With {@link Threading#SAFE}, {@link Threading#FID} and {@link Threading#ENDPOINT} any thread may call anything;
 * with {@link Threading#COMPLETION} one thread at a time uses what belongs to a completion queue. Else, which is the
 * default, each object says who may use it: {@link Endpoint}, {@link CompletionQueue}, {@link Counter}. An application
 * that lets one thread at a time use the whole domain is always right.
 */
public final class Domain implements Fid {
    private final Fabric fabric;
    private final Info info;
    private final ClientConductor conductor;
    private final DriverState driver;
    private final Unlocked unlocked = new Unlocked();
    private boolean locks;
    private final long context;
    private final long number;
    private final Children children;
    private final Children.Kind<Endpoint> endpoints;
    private final Children.Kind<SocketEndpoint> socketEndpoints;
    private final Children.Kind<AddressVector> addressVectors;
    private final Children.Kind<ScalableEndpoint> scalableEndpoints;
    private final Children.Kind<SharedTransmitContext> transmitContexts;
    private final DomainReports reports;
    private final DomainRegions regions;
    private final DomainWork work;
    private final DomainSockets sockets = new DomainSockets(this);
    private volatile boolean closed;
    private boolean closesWhenEmpty;

    Domain(Fabric fabric, Info info, long context, long number, ClientConductor conductor, DriverState driver) {
        this.fabric = fabric;
        this.number = number;
        this.info = info;
        this.context = context;
        this.conductor = conductor;
        this.driver = driver;
        this.children = new Children(fabric, this::requireOpen);
        // endpoints end first, because they are bound to the others
        this.endpoints = children.kind(Domain::beginClose, Endpoint::markClosed)
            .inDriver(ObjectKind.ENDPOINT, Endpoint::closingId, this::onClosed);
        this.socketEndpoints = children.kind(socket -> { }, SocketEndpoint::markClosed);
        this.reports = new DomainReports(this, children, conductor, driver);
        this.addressVectors = children.kind(this::requireUnused, AddressVector::markClosed)
            .inDriver(ObjectKind.ADDRESS_VECTOR, AddressVector::id, vector -> { });
        this.regions = new DomainRegions(this, children, conductor);
        this.scalableEndpoints = children.kind(ScalableEndpoint::requireNoContexts, ScalableEndpoint::markClosed)
            .inDriver(ObjectKind.SCALABLE_ENDPOINT, ScalableEndpoint::id, scalable -> { });
        this.transmitContexts = children.kind(
            shared -> requireUnused("shared transmit context", shared.endpoints()), SharedTransmitContext::markClosed);
        this.work = new DomainWork(this, conductor, info.caps());
        EmbeddedDriver embedded = connection().embedded();
        // what may have to be suspended while it is used has locks
        boolean needed = fabric.reconnects() || needsLocks(
            info.domainAttr().threading(), embedded != null && !isUnified(info.domainAttr()));
        this.locks = embedded == null ? needed : embedded.onDomainOpened(needed, unlocked);
    }

    /**
     * Opens a completion queue whose own context is 0.
     *
     * @param attr attributes.
     * @return the queue; it can be read once an endpoint that reports to it is enabled.
     * @throws FabricException {@link FabricErrno#ENOSYS} for {@link WaitObject#POLLFD} and
     *     {@link WaitObject#CRITSEC_COND}, for {@link WaitObject#MUTEX_COND} with a driver in another process;
     *     {@link FabricErrno#EINVAL} for unknown flags and for {@link WaitObject#SET} without an open wait set; or what
     *     the driver answers.
     */
    public CompletionQueue openCompletionQueue(CompletionQueueAttr attr) {
        return openCompletionQueue(attr, 0);
    }

    /**
     * Opens a completion queue.
     *
     * @param attr    attributes.
     * @param context of the queue itself, returned by {@link CompletionQueue#context()}.
     * @return the queue; it can be read once an endpoint that reports to it is enabled.
     * @throws FabricException as {@link #openCompletionQueue(CompletionQueueAttr)}.
     */
    public CompletionQueue openCompletionQueue(CompletionQueueAttr attr, long context) {
        CompletionQueueAttr wanted = Codes.required(attr, "attr").copy();
        if ((wanted.flags() & ~Flags.AFFINITY) != 0) {
            throw new FabricException(FabricErrno.EINVAL, "open flags are "
                + Flags.toString(wanted.flags(), Flags.Kind.CQ_OPEN) + ", only AFFINITY is known");
        }
        return reports.openCompletionQueue(wanted, context);
    }

    /**
     * Opens a counter whose own context is 0.
     *
     * @param attr attributes.
     * @return the counter, both of its values 0.
     * @throws FabricException as {@link #openCounter(CounterAttr, long)}.
     */
    public Counter openCounter(CounterAttr attr) {
        return openCounter(attr, 0);
    }

    /**
     * Opens a counter (fi_cntr_open).
     *
     * @param attr    attributes.
     * @param context of the counter itself, returned by {@link Counter#context()}.
     * @return the counter, both of its values 0.
     * @throws FabricException {@link FabricErrno#EINVAL} for flags, none are defined, and for
     *     {@link CounterEvents#BYTES} before API version 2.0; for wait objects as
     *     {@link #openCompletionQueue(CompletionQueueAttr)}; or what the driver answers.
     */
    public Counter openCounter(CounterAttr attr, long context) {
        CounterAttr wanted = Codes.required(attr, "attr").copy();
        if (wanted.events() == CounterEvents.BYTES && !info.fabricAttr().isVersion2()) {
            throw new FabricException(FabricErrno.EINVAL, "the counter's events are BYTES, API version "
                + FabricAttr.versionText(info.fabricAttr().apiVersion()) + " counts only operations",
                "Open the domain with an info of API version 2.0 or later.");
        }
        return reports.openCounter(wanted, context);
    }

    /**
     * Queues deferred work, which the driver starts when a counter has reached a threshold (fi_control,
     * FI_QUEUE_WORK). A transfer takes its place among the outstanding operations of its endpoint, and its slot of the
     * completion queue, at once. Work of one counter starts in the order of the thresholds; with the same threshold in
     * the order of queueing. A change of a counter is a command to the driver, which waits for its answer.
     *
     * <p>Any thread, where the endpoint's queues allow it; with an embedded driver in INVOKER mode the thread that uses
     * the domain. Source: fi_trigger(3), section Experimental Deferred Work Queues.
     *
     * @param deferred copied; may be changed and queued again at the return.
     * @return 0 or a negative errno: {@code -FI_EAGAIN} without room, as for an operation that starts at once, or if
     *     the application has queued 4096 changes of counters; {@code -FI_EINVAL} for null, work without a condition or
     *     without anything to do, objects of another domain or closed ones, a negative number, a completion counter for
     *     a change of a counter; {@code -FI_EBADFLAGS} for flags that the call does not take; {@code -FI_EOPNOTSUPP} if
     *     domain or endpoint was opened without {@link Flags#TRIGGER}, or as the endpoint's own call answers;
     *     {@code -FI_ENOSYS} for a receive into a multi-receive buffer or with buffered receives;
     *     {@code -FI_EOPBADSTATE} if the domain is closed or the endpoint is not enabled.
     */
    public int queueWork(DeferredWork deferred) {
        return work.queue(deferred);
    }

    /**
     * Cancels the work that was queued last with an object (FI_CANCEL_WORK). A transfer ends with an error entry with
     * {@code FI_ECANCELED} and counts as an error in its completion counter; a change of a counter is dropped. Work
     * that has started is not affected. Waits for the driver's answer.
     *
     * @param deferred queued before.
     * @return 0; {@code -FI_ENOENT} if it was never queued, or does not wait any more; {@code -FI_EINVAL} for null; or
     *     {@code -FI_EOPNOTSUPP}, {@code -FI_EOPBADSTATE} as {@link #queueWork}.
     */
    public int cancelWork(DeferredWork deferred) {
        return work.cancel(deferred);
    }

    /**
     * Cancels all work that waits in this domain (FI_FLUSH_WORK), each as by {@link #cancelWork}. Operations with
     * {@link Flags#TRIGGER} are not affected. Waits for the driver's answer.
     *
     * @return 0, also if nothing waits; or {@code -FI_EOPNOTSUPP}, {@code -FI_EOPBADSTATE} as {@link #queueWork}.
     */
    public int flushWork() {
        return work.flush();
    }

    /**
     * Cancels the work that waits for one counter; else as {@link #flushWork()}.
     *
     * @param triggeringCounter of this domain.
     * @return as {@link #flushWork()}; {@code -FI_EINVAL} for null, a closed counter or one of another domain.
     */
    public int flushWork(Counter triggeringCounter) {
        return work.flush(triggeringCounter);
    }

    /**
     * Opens a poll set (fi_poll_open).
     *
     * @param flags 0, reserved.
     * @return an empty set.
     * @throws FabricException {@link FabricErrno#EINVAL} for flags, {@link FabricErrno#EOPBADSTATE} if closed, {@link
     *     FabricErrno#ENOSYS} from API version 2.0 on.
     */
    public PollSet openPollSet(long flags) {
        if (flags != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "flags are 0x" + Long.toHexString(flags) + ", they are reserved", "Use 0.");
        }
        return reports.openPollSet();
    }

    /**
     * Opens an address vector whose own context is 0.
     *
     * @param attr attributes.
     * @return an empty vector.
     * @throws FabricException as {@link #openAddressVector(AddressVectorAttr, long)}.
     */
    public AddressVector openAddressVector(AddressVectorAttr attr) {
        return openAddressVector(attr, 0);
    }

    /**
     * Opens an address vector.
     *
     * @param attr    attributes; with {@link Flags#EVENT} insertions are asynchronous and reported by an event queue,
     *                see {@link AddressVector#insert(String[], long[], long, long)}.
     * @param context of the vector itself, returned only by {@link AddressVector#context()}.
     * @return an empty vector.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other flags, or what else the driver answers.
     */
    public AddressVector openAddressVector(AddressVectorAttr attr, long context) {
        AddressVectorAttr wanted = Codes.required(attr, "attr").copy();
        if (info.fabricAttr().isVersion2() && wanted.type() == AddressVectorType.MAP) {
            // there is only one type left; applications of the other one work with it
            wanted.type(AddressVectorType.TABLE);
        }
        return addressVectors.open(
            () -> new AddressVector(this, commands().openAddressVector(wanted).avId(), wanted, context));
    }

    /**
     * Makes registered memory whose own context is 0.
     *
     * @param lengthBytes bytes, 1 to 2^40.
     * @return the region.
     * @throws FabricException as {@link #allocate(long, long)}.
     */
    public MemoryRegion allocate(long lengthBytes) {
        return allocate(lengthBytes, 0);
    }

    /**
     * Makes registered memory in a file that the driver maps too; it reads as zeros.
     *
     * @param lengthBytes bytes, 1 to 2^40.
     * @param context     of the region itself, returned by {@link MemoryRegion#context()}.
     * @return the region.
     * @throws FabricException {@link FabricErrno#EINVAL} for another length, {@link FabricErrno#ENOSPC} if the
     *     directory has no room, also after the memory of closed regions without references was collected (the text
     *     says how many bytes this client keeps in use), or what else the driver answers.
     */
    public MemoryRegion allocate(long lengthBytes, long context) {
        return allocate(lengthBytes, new MemoryRegionAttr().context(context));
    }

    /**
     * Makes registered memory in a file that the driver maps too; it reads as zeros. With {@link Flags#REMOTE_READ} or
     * {@link Flags#REMOTE_WRITE} among the rights, peers of this domain's endpoints access it by its key.
     *
     * @param lengthBytes bytes, 1 to 2^40.
     * @param attr        rights, key, flags and context; read before the return.
     * @return the region.
     * @throws FabricException as {@link #allocate(long, long)}; {@link FabricErrno#ENOKEY} if another region of the
     *     domain has the key, {@link FabricErrno#EINVAL} for other bits among the rights, {@link FabricErrno#EBADFLAGS}
     *     for flags other than {@link Flags#RMA_EVENT}.
     */
    public MemoryRegion allocate(long lengthBytes, MemoryRegionAttr attr) {
        MemoryRegionAttr wanted = Codes.required(attr, "attr").copy();
        requireLength(lengthBytes);
        return regions.allocate(lengthBytes, wanted);
    }

    /**
     * Makes registered memory of a file, for local use and for peers by attributes; see
     * {@link #allocatePersistent(Path, long, MemoryRegionAttr)}.
     *
     * @param path        of the file.
     * @param lengthBytes bytes, 1 to 2^40.
     * @return the region.
     * @throws FabricException as {@link #allocatePersistent(Path, long, MemoryRegionAttr)}.
     */
    public MemoryRegion allocatePersistent(Path path, long lengthBytes) {
        return allocatePersistent(path, lengthBytes, new MemoryRegionAttr());
    }

    /**
     * Makes registered memory of a file, whose bytes survive application and driver (FI_RMA_PMEM). A peer's write with
     * {@link Flags#COMMIT_COMPLETE} ends when its bytes are on stable storage; other writes, and stores of this
     * application, are in the file when the system has written them. The file holds the bytes of the region and nothing
     * else. It is made if there is none; a shorter one is extended by zeros. The client opens it and passes it to the
     * driver. It should be in one region at a time.
     *
     * <p>When the region is closed the file stays. Buffers of the region show the file as long as they are in use, also
     * after the end of the fabric.
     *
     * @param path        of the file, on a file system with stable storage.
     * @param lengthBytes bytes, 1 to 2^40.
     * @param attr        rights, key, flags and context; read before the return.
     * @return the region.
     * @throws FabricException {@link FabricErrno#EOPNOTSUPP} for a file in a tmpfs, ramfs or hugetlbfs, {@link
     *     FabricErrno#EINVAL} for another length, if something else than a regular file is there or the file is longer,
     *     {@link FabricErrno#ENOSPC} without room, the errors of {@link #allocate(long, MemoryRegionAttr)}, or what
     *     else system and driver answer.
     */
    public MemoryRegion allocatePersistent(Path path, long lengthBytes, MemoryRegionAttr attr) {
        MemoryRegionAttr wanted = Codes.required(attr, "attr").copy();
        Codes.required(path, "path");
        requireLength(lengthBytes);
        return regions.allocatePersistent(path, lengthBytes, wanted);
    }

    /**
     * Registers memory of this process as a region whose own context is 0.
     *
     * @param memory native.
     * @return the region.
     * @throws FabricException as {@link #register(MemorySegment, long)}.
     */
    public MemoryRegion register(MemorySegment memory) {
        return register(memory, 0);
    }

    /**
     * Registers memory of this process for operations of this domain; see {@link #register(MemorySegment,
     * MemoryRegionAttr)}.
     *
     * @param memory  native; its scope must stay alive until the region is closed and its operations have ended.
     * @param context of the region itself, returned by {@link MemoryRegion#context()}.
     * @return the region.
     * @throws FabricException as {@link #register(MemorySegment, MemoryRegionAttr)}.
     */
    public MemoryRegion register(MemorySegment memory, long context) {
        return register(memory, new MemoryRegionAttr().context(context));
    }

    /**
     * Registers memory of this process (fi_mr_reg(3)), with rights and a key for peers. An embedded driver in mode
     * INVOKER uses it in place. Any other driver <b>copies</b> it ({@link MemoryRegion#isCopied()}), because only
     * memory in a file can be mapped by two processes:
     *
     * <ul>
     * <li>The bytes of a send, a write or an operand are copied when the driver takes the operation, those of a
     *     receive, a read or an old value before its entry is written. So all of them keep their completion semantics.
     * <li>A peer's write is copied to this memory before it is answered, reported and counted, and a peer's read when
     *     it is served, over the links loopback and shm. Atomic operations of peers end with {@code FI_EOPNOTSUPP},
     *     because a copy is not atomic; so do commits. Over tcp, rxm and verbs the peer's reads and writes are refused
     *     too.
     * <li>The price is a system call for each copy, 1.4 µs for up to 4 KiB and a quarter of a millisecond for 1 MiB
     *     where it was measured, and as much memory of the driver's directory as the region has bytes. Use
     *     {@link #allocate(long, MemoryRegionAttr)} where the choice is free.
     * </ul>
     *
     * <p>The first such registration passes the driver a descriptor of this process's whole memory
     * ({@code /proc/self/mem}), until the fabric is closed; the driver accesses nothing but registered ranges. Memory
     * that is unmapped before the region is closed makes operations and accesses end with {@code FI_EFAULT}; if
     * something else is mapped there meanwhile, it is that memory which they use.
     *
     * @param memory native and writable; its scope must stay alive until the region is closed and its operations have
     *               ended.
     * @param attr   rights, key, flags and context; read before the return.
     * @return the region.
     * @throws FabricException {@link FabricErrno#EINVAL} for heap memory, length 0 or more than 2^40; with a driver
     *     that copies also {@link FabricErrno#EFAULT} if nothing is mapped there, {@link FabricErrno#EACCES} if the
     *     system does not open {@code /proc/self/mem}, {@link FabricErrno#EOPNOTSUPP} for rights of peers where a card
     *     executes their accesses; and as {@link #allocate(long, MemoryRegionAttr)}.
     */
    public MemoryRegion register(MemorySegment memory, MemoryRegionAttr attr) {
        MemoryRegionAttr wanted = Codes.required(attr, "attr").copy();
        Codes.required(memory, "memory");
        if (!memory.isNative() || memory.byteSize() < 1 || memory.byteSize() > MemoryRegionDescriptor.MAX_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL, "the memory is " + (memory.isNative() ? "native" : "heap")
                + " with " + memory.byteSize() + " bytes, needed is native with 1 to "
                + MemoryRegionDescriptor.MAX_LENGTH);
        }
        return regions.register(memory, wanted);
    }

    /**
     * Opens an endpoint whose own context is 0; nothing is reserved before it is enabled.
     *
     * @param endpointInfo a match of {@link Fabric#info(Info)}, perhaps edited.
     * @return the endpoint, to be bound and enabled.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if closed, {@link FabricErrno#ENOSYS} and
     *     {@link FabricErrno#EINVAL} for an API version that is not the domain's, {@link FabricErrno#EINVAL} for an
     *     info of another domain or of none, for {@code tx_attr} or {@code rx_attr} with a capability or a mode bit
     *     that the info itself has not, for an unknown traffic class, and for a {@link Info#handle()} that is neither a
     *     connection request nor a passive endpoint of the same fabric; {@link FabricErrno#EOPBADSTATE} if that is
     *     closed, answered or in use.
     */
    public Endpoint openEndpoint(Info endpointInfo) {
        return openEndpoint(endpointInfo, 0);
    }

    /**
     * Opens an endpoint; nothing is reserved before it is enabled. A {@code srcAddr} of the form
     * {@code jfabric://driver/name} asks for that name, else the driver chooses one. Without a traffic class of its own
     * it gets that of the domain, and without an authorization key that of the domain.
     *
     * @param endpointInfo a match of {@link Fabric#info(Info)}, perhaps edited.
     * @param context      of the endpoint itself.
     * @return the endpoint, to be bound and enabled.
     * @throws FabricException as {@link #openEndpoint(Info)}.
     */
    public Endpoint openEndpoint(Info endpointInfo, long context) {
        Info wanted = settled(endpointInfo);
        return endpoints.open(() -> {
            DomainSockets.refuse(wanted);
            requireRestartable(wanted);
            EndpointHandle.take(wanted, fabric);
            return new Endpoint(this, wanted, context, driver, null, null);
        });
    }

    private void requireRestartable(Info wanted) {
        boolean isKept = wanted.epAttr().type() == EndpointType.RDM
            && !BufferedMode.isAskedFor(wanted) && (wanted.caps() & (Flags.TRIGGER | Flags.MULTICAST)) == 0
            && wanted.epAttr().txCtxCnt() != FabricAddress.SHARED_CONTEXT
            && wanted.epAttr().rxCtxCnt() != FabricAddress.SHARED_CONTEXT;
        fabric.requireRestartable(isKept, "an endpoint of type " + wanted.epAttr().type() + " with these capabilities",
            "Open one of type RDM without BUFFERED_RECV, TRIGGER and MULTICAST, with contexts of its own");
    }

    private Info settled(Info endpointInfo) {
        Info wanted = Codes.required(endpointInfo, "endpointInfo").copy();
        Fabric.requireVersion(wanted, info.fabricAttr().apiVersion(), "domain");
        EndpointInfo.settle(wanted, info, fabric.driverName());
        // completion queues are shared by the domain's endpoints, so who keeps room in them is one decision
        wanted.domainAttr().resourceManagement(info.domainAttr().resourceManagement());
        return wanted;
    }

    /** Opens a context of a scalable endpoint; under the fabric's lock. */
    Endpoint openContext(ScalableContext role, Info wanted, long ownContext) {
        return endpoints.add(new Endpoint(this, wanted, ownContext, driver, null, role));
    }

    /**
     * Opens a scalable endpoint whose own context is 0.
     *
     * @param endpointInfo as for {@link #openScalableEndpoint(Info, long)}.
     * @return the endpoint.
     * @throws FabricException as {@link #openScalableEndpoint(Info, long)}.
     */
    public ScalableEndpoint openScalableEndpoint(Info endpointInfo) {
        return openScalableEndpoint(endpointInfo, 0);
    }

    /**
     * Opens a scalable endpoint (fi_scalable_ep): {@code ep_attr.tx_ctx_cnt} transmit contexts and {@code rx_ctx_cnt}
     * receive contexts under one address, which it has from now on. A count of 0 is one context;
     * {@link FabricAddress#SHARED_CONTEXT} is one to which a shared context is to be bound.
     *
     * @param endpointInfo a match of {@link Fabric#info(Info)}, perhaps edited.
     * @param context      of the endpoint itself.
     * @return the endpoint, whose contexts are to be opened, bound and enabled.
     * @throws FabricException {@link FabricErrno#ENOSYS} if the link or the type of endpoint has one context for each
     *     direction only, {@link FabricErrno#EINVAL} for more contexts than the domain has or a
     *     {@link Info#handle()}, {@link FabricErrno#EADDRINUSE} if the name asked for by {@code srcAddr} is taken, and
     *     as {@link #openEndpoint(Info)}.
     */
    public ScalableEndpoint openScalableEndpoint(Info endpointInfo, long context) {
        Info wanted = settled(endpointInfo);
        return scalableEndpoints.open(() -> {
            fabric.requireRestartable(false, "a scalable endpoint", "Open ordinary endpoints");
            return ScalableEndpoint.open(this, wanted, context, ConnectionData.endpointName(wanted.srcAddr()));
        });
    }

    /**
     * Opens an active socket endpoint, which transfers. Experimental: may change between versions.
     *
     * @param endpointInfo a match of {@link Fabric#info(Info)} for a type of socket endpoints; or that of a CONNREQ
     *                     event, whose connection it takes over.
     * @param context      of the endpoint itself.
     * @return the endpoint, to be bound and enabled.
     * @throws FabricException {@link FabricErrno#EOPNOTSUPP} from API version 2.0 on,
     *     {@link FabricErrno#EINVAL} for an info of another type or driver, or another handle than
     *     an open request; {@link FabricErrno#EOPBADSTATE} if the domain is closed or the request was answered.
     */
    public SocketEndpoint openSocketEndpoint(Info endpointInfo, long context) {
        return openSocket(endpointInfo, context, false);
    }

    /**
     * Opens a passive socket endpoint, which listens for streams. Experimental: may change between versions.
     *
     * @param endpointInfo as for {@link #openSocketEndpoint(Info, long)}, without a handle; its {@code srcAddr} is the
     *                     address to listen at, without one it is any address of the host at a free port.
     * @param context      of the endpoint itself.
     * @return the endpoint, to be bound to an event queue.
     * @throws FabricException as {@link #openSocketEndpoint(Info, long)}; {@link FabricErrno#EINVAL} for datagrams.
     */
    public SocketEndpoint openPassiveSocketEndpoint(Info endpointInfo, long context) {
        return openSocket(endpointInfo, context, true);
    }

    private SocketEndpoint openSocket(Info endpointInfo, long context, boolean isPassive) {
        Info wanted = Codes.required(endpointInfo, "endpointInfo").copy();
        fabric.requireVersion(wanted);
        EndpointInfo.settle(wanted, info, fabric.driverName());
        return socketEndpoints.open(() -> {
            fabric.requireRestartable(false, "a socket endpoint", "Open an endpoint of type RDM");
            return sockets.open(wanted, context, isPassive);
        });
    }

    /**
     * Opens an endpoint with flags (fi_endpoint2). In libfabric they serve providers that are stacked on each other;
     * there is no such flag here, and {@link Flags#PEER_TRANSFER} is refused like the others.
     *
     * @param endpointInfo as for {@link #openEndpoint(Info)}.
     * @param context      of the endpoint itself.
     * @param flags        0.
     * @return the endpoint, to be bound and enabled.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for flags, and as {@link #openEndpoint(Info)}.
     */
    public Endpoint openEndpoint2(Info endpointInfo, long context, long flags) {
        if (flags != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "flags are "
                + Flags.toString(flags, Flags.Kind.OPERATION) + ", an endpoint is opened with none",
                "Open it with flags 0.");
        }
        return openEndpoint(endpointInfo, context);
    }

    /**
     * Opens a shared transmit context (fi_stx_context), which endpoints are bound to that were opened with
     * {@code ep_attr.tx_ctx_cnt} {@link org.jfabric.info.FabricAddress#SHARED_CONTEXT}.
     *
     * @param attr    its attributes, 0 for those of the domain; an endpoint may ask for none beyond them.
     * @param context of the shared context itself.
     * @return the context.
     * @throws FabricException {@link FabricErrno#EINVAL} for attributes beyond the domain's or that no link offers,
     *     {@link FabricErrno#ENOSYS} if the domain's link offers none, {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public SharedTransmitContext openSharedTransmitContext(TxAttr attr, long context) {
        return transmitContexts.open(() -> {
            requireSharing("transmit", info.domainAttr().maxEpStxCtx());
            return new SharedTransmitContext(this, ContextAttributes.settle(attr, info), context);
        });
    }

    /**
     * Opens a shared receive context (fi_srx_context): receives that are posted to it take messages to any of the
     * endpoints that are bound to it, and the entry goes to the queue of the endpoint to which the message came.
     *
     * <p>The result is enabled, and takes the receive calls of an endpoint, {@link Endpoint#cancel} among them; its
     * class is {@link FidClass#SRX_CTX}. It is bound by {@link Endpoint#bind(Fid, long)} to endpoints that were opened
     * with {@code ep_attr.rx_ctx_cnt} {@link org.jfabric.info.FabricAddress#SHARED_CONTEXT}, all with the same address
     * vector. A receive call without flags writes an entry if the endpoint's queue is not bound with
     * {@code SELECTIVE_COMPLETION}. Entries take slots of the driver's share of the queue, {@code cqDriverShare}: if
     * all are unread, messages wait. A receive that is cancelled has its entry in the queue of the endpoint that was
     * bound first, and none without endpoints. Multi-receive buffers are not offered.
     *
     * @param attr    its attributes, 0 for those of the domain; an endpoint may ask for none beyond them.
     * @param context of the shared context itself.
     * @return the context, enabled.
     * @throws FabricException {@link FabricErrno#EINVAL} for attributes beyond the domain's or that no link offers,
     *     {@link FabricErrno#EOPNOTSUPP} for multi-receive, {@link FabricErrno#ENOSYS} if the domain's link offers
     *     none, {@link FabricErrno#EOPBADSTATE} if closed, or what the driver answers.
     */
    public Endpoint openSharedReceiveContext(RxAttr attr, long context) {
        return endpoints.open(() -> {
            requireSharing("receive", info.domainAttr().maxEpSrxCtx());
            RxAttr settled = ContextAttributes.settle(attr, info);
            Endpoint shared = new Endpoint(
                this, ContextAttributes.receiveContext(info, settled), context, driver,
                new ReceiveSharing(settled, conductor.invoker(), locks), null);
            shared.enable();
            return shared;
        });
    }

    private void requireSharing(String direction, long offered) {
        fabric.requireRestartable(false, "a shared context", "Open endpoints with contexts of their own");
        if (offered == 0) {
            throw new FabricException(FabricErrno.ENOSYS, "the domain offers no shared " + direction + " contexts",
                "Open a domain whose domain_attr says that it does.");
        }
    }

    /**
     * Returns the info that the domain was opened with.
     *
     * @return a copy.
     */
    public Info info() {
        return info.copy();
    }

    @Override
    public FidClass fidClass() {
        return FidClass.DOMAIN;
    }

    @Override
    public long context() {
        return context;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /**
     * Closes the domain. Has no effect if it is already closed.
     *
     * @throws FabricException with {@link FabricErrno#EBUSY} and their names while objects of it are open.
     */
    @Override
    public void close() {
        fabric.close(this);
    }

    void requireEmpty() {
        if (!children.all().isEmpty()) {
            throw new FabricException(FabricErrno.EBUSY, "objects of the domain are open: " + children.all(),
                "Close them first, or the whole fabric.");
        }
    }

    /** Closes it once it is empty, also if that is when the driver answers late. */
    void closeWhenEmpty() {
        synchronized (lock()) {
            closesWhenEmpty = true;
            onLateAnswer();
        }
    }

    /** The driver has closed something later than the time allowed; under the fabric's lock. */
    void onLateAnswer() {
        if (closesWhenEmpty && children.all().isEmpty()) {
            close();
        }
    }

    @Override
    public String toString() {
        return "Domain{endpoints=" + endpoints.all().size() + ", completionQueues="
            + reports.completionQueues().size() + ", counters=" + reports.counters().size() + ", addressVectors="
            + addressVectors.all().size() + ", regions=" + regions.all().size() + (closed ? ", closed" : "") + '}';
    }

    /** Its deferred work. */
    DomainWork work() {
        return work;
    }

    /** Whether the addresses of its endpoints are those of sockets, not names within drivers. */
    boolean usesSocketNames() {
        return addressImage() == AddressFormat.SOCKADDR;
    }

    /** The binary format of addresses. */
    AddressFormat addressImage() {
        return info.epAttr().protocol().addressImage();
    }

    /** Whether regions have keys of a card, which peers access without the driver (FI_MR_PROV_KEY). */
    boolean hasCardKeys() {
        return (info.domainAttr().mrMode() & MrMode.PROV_KEY) != 0;
    }

    /** The fabric's one lock of control calls. */
    Object lock() {
        return fabric.lock();
    }

    Fabric fabric() {
        return fabric;
    }

    /** Whether operations are posted without a slot of a completion queue. */
    boolean mayOverrun() {
        return info.domainAttr().resourceManagement() == ResourceManagement.DISABLED;
    }

    List<Endpoint> endpoints() {
        return endpoints.all();
    }

    /** Where its open regions are in this process. */
    LocalMemory memory() {
        return regions.memory();
    }

    /** The client's number of it, from 1. */
    long number() {
        return number;
    }

    long insert(AddressVector vector, String address) {
        AddressReady ready = conductor.commands().insertAddress(
            vector.id(), address, number -> vector.addressOf(number) != null);
        vector.onInserted(ready.fiAddr(), ready.address().isEmpty() ? address : ready.address());
        return ready.fiAddr();
    }

    /** Submits them all; the insertion gets the result of each. */
    void insert(AddressVector vector, String[] addresses, AddressInsertion insertion) {
        for (int i = 0; i < addresses.length; i++) {
            int index = i;
            try {
                conductor.commands().insertAddress(vector.id(), addresses[i],
                    (answer, failure) -> insertion.onAnswer(index, answer, failure));
            } catch (FabricException refused) {
                insertion.onAnswer(index, null, refused);
            }
        }
        insertion.onSubmitted();
    }

    void requireDriver() {
        driver.requireAlive();
    }

    /** Closes one of its objects, once the driver has, if it is open. */
    void close(Fid child) {
        children.close(child);
    }

    private static void beginClose(Endpoint endpoint) {
        if (endpoint.sharedReceives() != null) {
            requireUnused("shared receive context", endpoint.sharedReceives().endpoints());
        }
        endpoint.beginClose();
    }

    private void onClosed(Endpoint endpoint) {
        endpoint.giveBackCredits();
        fabric.onClosed(endpoint);
        endpoint.activation().release();
    }

    private void requireUnused(AddressVector vector) {
        requireUnused("address vector", vector.endpoints());
        requireUnused("address vector", socketEndpoints.all().stream().filter(each -> each.uses(vector)).toList());
    }

    /** From now on sends that end with an error count as not drained; under the lock. */
    void onDrainBegins() {
        reports.onDrainBegins();
    }

    /** Sends that ended with an error since {@link #onDrainBegins()}. */
    long failedSinceDrainBegan() {
        return reports.failedSinceDrainBegan();
    }

    /** Whether the driver accesses files of the application; under the lock. */
    boolean hasPersistentRegions() {
        return regions.hasPersistent();
    }

    /**
     * Whether objects of the domain are used by several threads at a time, so that they keep them apart. Levels that
     * only serialise one object or one endpoint let several endpoints meet at a completion queue; with an embedded
     * driver also whatever belongs to different completion queues meets in the engine.
     */
    boolean locks() {
        return locks;
    }

    /** What an embedded driver sees of it while its objects have no locks. */
    private final class Unlocked implements UnlockedDomain {
        @Override
        public void requireNoHandler() {
            reports.requireNoHandler();
        }

        @Override
        public void startLocking() {
            locks = true;
            reports.startLocking();
            // after the queues, whose locks they take
            endpoints.all().forEach(Endpoint::startLocking);
        }
    }

    /** Whether the application serializes what drives the domain forward. */
    private static boolean isUnified(DomainAttr attr) {
        return attr.controlProgress() == Progress.CONTROL_UNIFIED || attr.dataProgress() == Progress.CONTROL_UNIFIED;
    }

    /** With FI_THREAD_COMPLETION threads with queues of their own share an embedded driver, unless they take turns. */
    private static boolean needsLocks(Threading threading, boolean embedded) {
        return switch (threading) {
            case SAFE, FID, ENDPOINT -> true;
            case COMPLETION -> embedded;
            case UNSPEC, DOMAIN -> false;
        };
    }

    /** Objects that are open end with it, as the fabric does; the end of the connection closes them in the driver. */
    void markClosed() {
        children.endAll();
        closed = true;
        sockets.stop();
        if (connection().embedded() != null) {
            connection().embedded().onDomainClosed(unlocked);
        }
    }

    /** The driver is gone: suspends all submissions, then finds out which operations were lost; under the lock. */
    void suspend() {
        endpoints.all().forEach(Endpoint::suspend);
        reports.seal();
    }

    /** Opens with the next driver all that is open here, in an order in which each finds what it needs. */
    void reopen() {
        reports.reopen();
        addressVectors.all().forEach(vector -> vector.reopen(commands()));
        regions.reopen();
        for (Endpoint endpoint : endpoints.all()) {
            if (endpoint.state() == Endpoint.ENABLED) {
                endpoint.activation().repeat();
            }
        }
        regions.reopenBindings();
    }

    /** Null unless the driver is embedded, in mode INVOKER. */
    Invoker invoker() {
        return conductor.invoker();
    }

    DriverProxy commands() {
        return conductor.commands();
    }

    DriverConnection connection() {
        return conductor.connection();
    }

    private void requireOpen() {
        if (closed) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the domain is closed", "Open another one.");
        }
    }

    private static void requireLength(long lengthBytes) {
        if (lengthBytes < 1 || lengthBytes > MemoryRegionDescriptor.MAX_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL, "the length is " + lengthBytes + " bytes, needed is 1 to "
                + MemoryRegionDescriptor.MAX_LENGTH);
        }
    }

    /** Refuses to close what endpoints use. */
    static void requireUnused(String what, List<? extends Fid> users) {
        if (!users.isEmpty()) {
            throw new FabricException(FabricErrno.EBUSY,
                "the " + what + " is bound to endpoints that are open: " + users,
                "Close them first.");
        }
    }

}
