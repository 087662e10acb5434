package org.jfabric.driver.conductor;

import org.agrona.UnsafeApi;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.driver.progress.ProgressThreads;
import org.jfabric.driver.resource.ClientMemory;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.ControlFileDescriptor;
import org.jfabric.layout.RecordConsumer;

import java.util.BitSet;
import java.util.List;

/**
 * A client: its rings, its objects and its life. Owner: conductor.
 */
public final class ClientSession {
    /** {@link #fd()} of the client that embeds the driver: both are in one process. */
    public static final int EMBEDDED = -1;

    private final long id;
    private final String name;
    private final int fd;
    private final int pid;
    private final long uid;
    private final SharedFile controlFile;
    private final long closesAddress;
    private final RecordConsumer commands;
    private final ClientProxy proxy;
    private final ProgressClient[] progress;
    private final Long2ObjectHashMap<CompletionQueueResource> completionQueues = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<CounterResource> counters = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<WaitSetResource> waitSets = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<ViewResource> views = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<TableUse> tables = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<AddressVectorResource> addressVectors = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<PassiveEndpointResource> passiveEndpoints = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<ScalableEndpointResource> scalableEndpoints = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<EndpointResource> endpoints = new Long2ObjectHashMap<>();
    private final Int2ObjectHashMap<RegionResource> regions = new Int2ObjectHashMap<>();
    private final PassedFile passedFile = new PassedFile();
    /** Null until it registers memory of its process. */
    private ClientMemory memory;
    private final BitSet activityIndices = new BitSet();
    private int listeningThread = CompletionQueueResource.UNPLACED;
    private int activeCommands;
    private boolean ending;
    private boolean isLost;

    /**
     * A client without objects.
     *
     * @param fd          its socket, or {@link #EMBEDDED}.
     * @param proxy       the driver's end of the event ring.
     */
    ClientSession(
        long id,
        String name,
        int fd,
        SharedFile controlFile,
        int ringLength,
        RecordConsumer commands,
        ClientProxy proxy,
        ProgressClient[] progress) {
        this.id = id;
        this.name = name;
        this.fd = fd;
        this.pid = pid(fd);
        this.uid = fd == EMBEDDED ? Libc.geteuid() : UnixSocket.peerCredentials(fd);
        this.controlFile = controlFile;
        this.closesAddress = controlFile.address() + ControlFileDescriptor.closesOffset(ringLength);
        this.commands = commands;
        this.proxy = proxy;
        this.progress = progress;
    }

    /** The process at the other end of a socket; 0 if it is in another PID namespace. */
    static int pid(int fd) {
        return Math.max(0, fd == EMBEDDED ? (int) ProcessHandle.current().pid() : UnixSocket.peerPid(fd));
    }

    /** Its number, from 1. */
    public long id() {
        return id;
    }

    /** Its name for logs and tools. Returns the printable ASCII, may be empty. */
    String name() {
        return name;
    }

    /** Its socket. Returns a descriptor that is open as long as the client is, or {@link #EMBEDDED}. */
    int fd() {
        return fd;
    }

    /** Its process. Returns the process id, 0 if it is in another PID namespace. */
    int pid() {
        return pid;
    }

    /** Its user. Returns the user id, as the kernel recorded it when the process connected. */
    long uid() {
        return uid;
    }

    /** Whether it is of the driver's own user, and not only of a user of the group that the driver serves. */
    boolean isOfDriversUser() {
        return uid == Libc.geteuid();
    }

    /**
     * Refuses a command that concerns other clients than those of its user.
     *
     * @throws FabricException {@code FI_EACCES}.
     */
    void requireDriversUser(String what) {
        if (!isOfDriversUser()) {
            throw new FabricException(FabricErrno.EACCES, what + " for user " + uid + ", the driver is of user "
                + Libc.geteuid(), "Run the command as that user.");
        }
    }

    /**
     * Whether it has announced its close. Always true for a client that embeds the driver, which cannot end alone, and
     * also true if its control file was truncated, which is reported separately.
     */
    boolean hasClosed() {
        if (isEmbedded()) {
            return true;
        }
        try {
            boolean closed = UnsafeApi.getIntAcquire(null, closesAddress) != 0;
            FaultPoint.pass();
            return closed;
        } catch (InternalError ex) {
            return true;
        }
    }

    /** Whether it embeds the driver in INVOKER mode, so that it posts to the engine without queues. */
    boolean isEmbedded() {
        return fd == EMBEDDED;
    }

    public SharedFile controlFile() {
        return controlFile;
    }

    /** The driver's end of its command ring. */
    RecordConsumer commands() {
        return commands;
    }

    /** The sender of its answers and events. */
    ClientProxy proxy() {
        return proxy;
    }

    /** A progress thread's part; only for calls made there. */
    ProgressClient progress(int thread) {
        return progress[thread];
    }

    /**
     * The progress thread that writes the client's completion queues. Returns its number; {@link
     * CompletionQueueResource#UNPLACED} if none does, or several do.
     */
    int threadOfQueues() {
        List<Integer> used = completionQueues.values().stream().map(CompletionQueueResource::thread)
            .filter(each -> each != CompletionQueueResource.UNPLACED).distinct().toList();
        return used.size() == 1 ? used.getFirst() : CompletionQueueResource.UNPLACED;
    }

    /** The progress thread of the client's listeners. Returns its number; chosen by the first call. */
    int listeningThread(ProgressThreads threads) {
        if (listeningThread == CompletionQueueResource.UNPLACED) {
            int used = threadOfQueues();
            listeningThread = used == CompletionQueueResource.UNPLACED ? threads.leastUsed() : used;
        }
        return listeningThread;
    }

    Long2ObjectHashMap<CompletionQueueResource> completionQueues() {
        return completionQueues;
    }

    Long2ObjectHashMap<CounterResource> counters() {
        return counters;
    }

    Long2ObjectHashMap<WaitSetResource> waitSets() {
        return waitSets;
    }

    /**
     * The wait resource of a completion queue, counter or wait set. Returns null if no such object is open, or if a
     * queue or counter has none of its own.
     */
    WaitResource waitResource(long objectId) {
        CompletionQueueResource queue = completionQueues.get(objectId);
        if (queue != null) {
            return queue.waitResource();
        }
        CounterResource counter = counters.get(objectId);
        if (counter != null) {
            return counter.waitResource();
        }
        WaitSetResource waitSet = waitSets.get(objectId);
        return waitSet == null ? null : waitSet.waitResource();
    }

    Long2ObjectHashMap<AddressVectorResource> addressVectors() {
        return addressVectors;
    }

    Long2ObjectHashMap<TableUse> tables() {
        return tables;
    }

    Long2ObjectHashMap<ViewResource> views() {
        return views;
    }

    Long2ObjectHashMap<ScalableEndpointResource> scalableEndpoints() {
        return scalableEndpoints;
    }

    Long2ObjectHashMap<PassiveEndpointResource> passiveEndpoints() {
        return passiveEndpoints;
    }

    Long2ObjectHashMap<EndpointResource> endpoints() {
        return endpoints;
    }

    /**
     * An enabled endpoint.
     *
     * @throws FabricException {@code FI_EINVAL} if it is not enabled.
     */
    EndpointResource requireEndpoint(long endpointId) {
        EndpointResource endpoint = endpoints.get(endpointId);
        if (endpoint == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "endpoint " + endpointId + " is not enabled", "Enable it first, and do not use it after its close.");
        }
        return endpoint;
    }

    Int2ObjectHashMap<RegionResource> regions() {
        return regions;
    }

    /** The descriptor that it passes over its socket. Returns always the same object. */
    PassedFile passedFile() {
        return passedFile;
    }

    /** The memory of its process. Returns null before it has passed it. */
    ClientMemory memory() {
        return memory;
    }

    /**
     * It has passed the memory of its process, which belongs to this session until its end.
     *
     * @param newMemory takes the place of memory that it had passed before.
     */
    void memory(ClientMemory newMemory) {
        closeMemory();
        memory = newMemory;
    }

    /** Regions keep it open as long as operations use them. */
    void closeMemory() {
        if (memory != null) {
            memory.release();
            memory = null;
        }
    }

    /** Takes an activity byte. Returns its index, or -1 if all are taken. */
    int takeActivityIndex() {
        int index = activityIndices.nextClearBit(0);
        if (index >= ControlFileDescriptor.ACTIVITY_LENGTH) {
            return -1;
        }
        activityIndices.set(index);
        return index;
    }

    /**
     * Releases an activity byte.
     *
     * @param index from {@link #takeActivityIndex()}.
     */
    void giveActivityIndex(int index) {
        activityIndices.clear(index);
    }

    /** A command has begun that uses the client's objects. */
    void onCommandBegun() {
        activeCommands++;
    }

    void onCommandEnded() {
        activeCommands--;
    }

    /** The number of commands that have begun and not ended. */
    int activeCommands() {
        return activeCommands;
    }

    /** Whether the client has ended or is being ended: the driver does not read its memory any more. */
    boolean isEnding() {
        return ending;
    }

    /** The client ends: the driver does not read its memory any more. */
    void end(boolean loses) {
        ending = true;
        isLost = loses;
        passedFile.close();
    }

    /** Whether it does not end in order. */
    boolean isLost() {
        return isLost;
    }

    @Override
    public String toString() {
        return "client " + id + (name.isEmpty() ? "" : " (" + name + ')');
    }
}
