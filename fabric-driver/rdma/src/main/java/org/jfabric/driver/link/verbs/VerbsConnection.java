package org.jfabric.driver.link.verbs;

import java.util.function.IntSupplier;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.jfabric.info.VerbsErrno;

/**
 * A connection, from its identifier to the end of its queue pair.
 *
 * <pre>
 *   active:    RESOLVING --address, route-> BUILDING --queue pair, rdma_connect--> CONNECTING --established--> UP
 *   passive:                                BUILDING --queue pair, rdma_accept---> CONNECTING --established--> UP
 *   shutdown:  UP --closed by the engine--> LINGERING --all sent--> DRAINING --all completed--> CLOSED
 *              UP --closed by the peer, an error--> DRAINING
 *              before UP --> CLOSED
 * </pre>
 *
 * <p>Owner: progress agent. All calls that concern the identifier are made on the resource thread, in order: when the
 * last one destroys it, no other is in progress.
 */
final class VerbsConnection extends CmTarget {
    private static final int RESOLVING = 0;
    private static final int BUILDING = 1;
    private static final int CONNECTING = 2;
    private static final int UP = 3;
    /** Closed by the engine: its sends are not complete. */
    private static final int LINGERING = 4;
    /** In the error state: work requests are flushed. */
    private static final int DRAINING = 5;
    private static final int CLOSED = 6;

    /** The same as in libfabric's verbs provider. */
    private static final int RESOLVE_TIMEOUT_MS = 2000;
    private static final long LINGER_NS = 1_000_000_000L;
    private static final long DRAIN_NS = 1_000_000_000L;
    /** Wait for the last completion of a shared receive after the card has reported the last one. */
    private static final long LAST_NS = 1_000_000L;
    /** The same wait if the device, such as rxe, does not report it. */
    private static final long UNTOLD_LAST_NS = 100_000_000L;
    private static final byte[] NO_DATA = {};

    private final VerbsLink link;
    private final RdmaCm cm;
    private final VerbsChannel channel;
    private final int number;
    private final boolean isAsking;
    private final byte[] data;
    private final Object memoryDomain;
    private final VerbsSettings settings;
    /** Protection domain of its queue pair; null if it has none. */
    private ProtectionDomain domain;
    /** Made by the resource thread on the active side; 0 before, or if there is none. */
    private long id;
    private ConnectionResources resources;
    /** Resources that the resource thread is making. */
    private ConnectionResources building;
    private boolean isFree;
    private int state;
    private long deadlineNs;
    /** The time from which no message can arrive in a shared receive. */
    private long lastReceiveNs;
    /** Why it is about to be closed; 0 without an error. */
    private int failure;
    private String reason;
    /** The device's own code for the failure, 0 if there is none. */
    private int provErrno;
    /** Text of the first flushed request, if there is one; an event may give a better reason. */
    private String flushReason;
    private int stepsFlushed;
    /** Its requests may use the application's memory until they have completed. */
    private boolean endsWithRegions;
    /** In the list of connections that are stepped in each poll. */
    boolean isActive;

    /**
     * Makes a connection that has not begun.
     *
     * @param id       of the request; 0 on the active side.
     * @param data     private data of the request or the answer.
     * @param memoryDomain as {@link org.jfabric.driver.link.LocalEndpoint#memoryDomain}.
     */
    VerbsConnection(VerbsLink link, long id, byte[] data, Object memoryDomain, ConnectionHandler handler) {
        this.link = link;
        this.cm = link.libraries().cm();
        this.id = id;
        this.isAsking = id == 0;
        this.data = data;
        this.memoryDomain = memoryDomain;
        this.settings = link.nextSettings();
        this.number = link.add(this);
        this.channel = new VerbsChannel(this, link, handler);
    }

    /** Whether it is in the protection domain of an application's domain. */
    boolean isOfOwner() {
        return memoryDomain != null;
    }

    /** Whether it has receives of its own. */
    boolean isOwning() {
        return settings.receives() != 0;
    }

    VerbsChannel channel() {
        return channel;
    }

    int number() {
        return number;
    }

    long id() {
        return id;
    }

    VerbsWriter writer() {
        return resources.writer();
    }

    RegionKeys keys() {
        return resources.keys();
    }

    // ---- connecting ----

    /** Begins to connect to a peer. */
    void ask(byte[] local, byte[] remote, int tos) {
        state = RESOLVING;
        CmTask.submit(link.services(), () -> {
            long made = cm.createId(link.cmChannel());
            id = Math.max(0, made);
            if (made > 0 && tos != 0) {
                // a refusal leaves the connection unmarked
                cm.setServiceType(made, tos);
            }
            return made < 0 ? (int) made : cm.resolveAddress(made, local, remote, RESOLVE_TIMEOUT_MS);
        }, result -> {
            if (state == RESOLVING && !link.isClosed()) {
                if (id != 0) {
                    link.register(id, this);
                }
                if (result < 0) {
                    fail(-result, NO_DATA);
                }
            }
        });
    }

    /** Submits a call of the connection manager; if it fails in the present state, the connection fails. */
    private void proceed(IntSupplier call) {
        int during = state;
        CmTask.submit(link.services(), call, result -> {
            if (result < 0 && state == during && !link.isClosed()) {
                fail(isAsking ? -result : FabricErrno.ECONNABORTED, NO_DATA);
            }
        });
    }

    /** Makes the queue pair on the resource thread, then connects or accepts. */
    void build() {
        state = BUILDING;
        domain = link.device(cm.context(id)).domain(memoryDomain).take();
        ConnectionResources made = new ConnectionResources(domain, link.libraries(), settings, id);
        building = made;
        link.services().submit(new ResourceTask() {
            @Override
            protected void execute() {
                made.open(number);
            }

            @Override
            protected void onDone() {
                if (!link.isClosed()) {
                    built();
                }
            }

            @Override
            protected void onFailed(Throwable cause) {
                if (link.isClosed()) {
                    return;
                }
                building = null;
                made.device().watch();
                if (state == BUILDING) {
                    link.onError(cause);
                    fail(cause instanceof FabricException e ? e.errno() : FabricErrno.EIO, NO_DATA);
                } else {
                    release();
                }
            }
        });
    }

    private void built() {
        resources = building;
        building = null;
        resources.device().watch();
        if (state != BUILDING) {
            release();
            return;
        }
        resources.device().poll(resources.queue());
        if (resources.shared() != null) {
            resources.device().serve(resources.shared());
            resources.shared().add(this);
        }
        if (resources.device().isLost()) {
            fail(FabricErrno.ENODEV, NO_DATA);
            return;
        }
        state = CONNECTING;
        byte[] wrapped = PrivateData.wrap(data);
        proceed(() -> isAsking ? cm.connect(id, wrapped) : cm.accept(id, wrapped));
    }

    @Override
    void onEvent(RdmaCm.CmEvent event) {
        switch (event.type()) {
            case VerbsConstants.CM_ADDR_RESOLVED -> {
                if (state == RESOLVING) {
                    proceed(() -> cm.resolveRoute(id, RESOLVE_TIMEOUT_MS));
                }
            }
            case VerbsConstants.CM_ROUTE_RESOLVED -> {
                if (state == RESOLVING) {
                    build();
                }
            }
            case VerbsConstants.CM_ESTABLISHED -> {
                if (state == CONNECTING) {
                    up(isAsking ? PrivateData.unwrap(event.data()) : NO_DATA);
                }
            }
            case VerbsConstants.CM_REJECTED ->
                fail(isAsking ? FabricErrno.ECONNREFUSED : FabricErrno.ECONNABORTED, PrivateData.unwrap(event.data()));
            case VerbsConstants.CM_ADDR_ERROR, VerbsConstants.CM_ROUTE_ERROR -> fail(FabricErrno.EHOSTUNREACH, NO_DATA);
            case VerbsConstants.CM_UNREACHABLE, VerbsConstants.CM_CONNECT_ERROR ->
                fail(isAsking ? FabricErrno.ETIMEDOUT : FabricErrno.ECONNABORTED, NO_DATA);
            case VerbsConstants.CM_DISCONNECTED -> onDisconnected();
            case VerbsConstants.CM_DEVICE_REMOVAL -> lost(FabricErrno.ENODEV, "its device was removed");
            default -> {
                // a changed address and the end of TIME_WAIT do not concern a connection
            }
        }
    }

    private void up(byte[] answer) {
        state = UP;
        channel.handler().onOpening();
        channel.connectionHandler().onConnected(
            SocketName.ofBytes(cm.localAddress(id)).toString(), peerName().toString(), answer);
        if (state == UP) {
            channel.handler().onUp(channel);
            link.activate(this);
        }
    }

    SocketName peerName() {
        return SocketName.ofBytes(cm.peerAddress(id));
    }

    /** Fails the connection and calls the handler now. */
    private void fail(int errno, byte[] refusal) {
        if (state < UP) {
            release();
            channel.connectionHandler().onFailed(errno, refusal);
        } else if (state == UP) {
            lost(errno, null);
        }
    }

    /** Fails the connection in the next poll. */
    void failLater(int errno) {
        link.later(() -> fail(errno, NO_DATA));
    }

    // ---- messages ----

    /** Processes the completion of a work request. */
    void onCompletion(WorkCompletions completions, int entry) {
        if (state == CLOSED) {
            // its queues are being freed
            return;
        }
        int request = (int) completions.id(entry);
        int status = completions.status(entry);
        boolean isReceive = (request & ConnectionResources.RECEIVE) != 0;
        link.activate(this);
        if (status != VerbsConstants.WC_SUCCESS) {
            if (isReceive) {
                resources.reader().flushed(request & ~ConnectionResources.RECEIVE);
            } else {
                // the reason is known before the operation that it belongs to ends
                onFailure(false, status, completions.vendorError(entry));
                resources.writer().failed(request,
                    status == VerbsConstants.WC_REM_ACCESS_ERR ? FabricErrno.EKEYREJECTED : 0, channel);
                return;
            }
            onFailure(true, status, completions.vendorError(entry));
        } else if (isReceive) {
            int slot = request & ~ConnectionResources.RECEIVE;
            if (completions.opcode(entry) == VerbsConstants.WC_RECV_RDMA_WITH_IMM) {
                resources.reader().written(slot, completions.length(entry), completions.immediate(entry));
            } else {
                resources.reader().completed(slot, completions.length(entry), completions.hasImmediate(entry),
                    completions.immediate(entry));
            }
        } else {
            resources.writer().completed(request, channel);
        }
    }

    private void onFailure(boolean isReceive, int status, int vendorError) {
        if (state != UP && state != LINGERING || failure != 0) {
            return;
        }
        provErrno = VerbsErrno.ofCompletion(status, vendorError);
        String text = link.libraries().ibverbs().statusText(status);
        String what = (isReceive ? "a receive" : "a send") + " ended with \"" + text + "\" (status " + status
            + ", vendor's code 0x" + Integer.toHexString(vendorError) + ')';
        switch (status) {
            // the card has moved the queue pair to the error state, and an event may give the reason
            case VerbsConstants.WC_WR_FLUSH_ERR -> {
                flushReason = flushReason == null ? what : flushReason;
                link.lookSoon();
            }
            case VerbsConstants.WC_RETRY_EXC_ERR -> lost(FabricErrno.ECONNRESET, what + ": its card does not answer");
            case VerbsConstants.WC_REM_INV_REQ_ERR ->
                lost(FabricErrno.EMSGSIZE, what + ": it has no receive for a message of that length");
            case VerbsConstants.WC_REM_ACCESS_ERR ->
                lost(FabricErrno.EIO, what + ": its card refuses the key, the range or the right of an access");
            default -> lost(FabricErrno.EIO, what);
        }
    }

    /** One step; 0 if there was nothing to do. */
    int step(int limit) {
        return switch (state) {
            case UP -> failure == 0 ? stepUp(limit) : stepEnd(limit);
            case LINGERING -> linger();
            case DRAINING -> drain();
            default -> 0;
        };
    }

    private int stepUp(int limit) {
        if (flushReason != null && stepsFlushed++ > 0) {
            lost(FabricErrno.ECONNRESET, flushReason);
            return 1;
        }
        VerbsReader reader = resources.reader();
        VerbsWriter writer = resources.writer();
        boolean wasEmpty = reader.isEmpty();
        int drained = reader.drain(channel, limit);
        if (state != UP) {
            return 1;
        }
        int work = wasEmpty || drained == VerbsReader.PAUSED ? 0 : 1;
        work += writer.poll(channel.handler());
        if (state != UP) {
            return 1;
        }
        work += reader.poll(channel, work == 0);
        if (drained == VerbsReader.REFUSED) {
            lost(FabricErrno.EIO, "sent a message that the endpoint cannot take");
        } else if (writer.failure() != 0 || reader.failure() != 0) {
            lost(FabricErrno.EIO, "the card takes no work requests: "
                + FabricErrno.name(Math.max(writer.failure(), reader.failure())));
        }
        return work;
    }

    /** Whether it has to be stepped again. */
    boolean hasWork() {
        return switch (state) {
            case UP -> failure != 0 || flushReason != null || !resources.reader().isEmpty()
                || resources.reader().hasFree() || resources.writer().hasWork();
            case LINGERING, DRAINING -> true;
            default -> false;
        };
    }

    /** Whether a send was refused, so that it can be tried again after the registration of a region. */
    boolean isRefused() {
        return state == UP && resources.writer().isRefused();
    }

    // ---- shutdown ----

    private void onDisconnected() {
        if (state == UP) {
            lost(FabricErrno.ESHUTDOWN, null);
        } else if (state == LINGERING) {
            beginDrain();
        } else {
            fail(FabricErrno.ECONNABORTED, NO_DATA);
        }
    }

    /** Ends the connection. The handler is called in a later step, after the messages that came before. */
    void lost(int errno, String why) {
        if (state < UP) {
            fail(errno, NO_DATA);
            return;
        }
        if (state == LINGERING) {
            beginDrain();
        } else if (state == UP && (failure == 0 || errno == FabricErrno.ENODEV)) {
            // messages in the memory of a device that is gone cannot wait for room
            failure = errno;
            reason = why;
            link.activate(this);
        }
    }

    /** Ends the connection because of an asynchronous event, unless it is {@link VerbsDevice#NO_EVENT}. */
    void lost(int errno, String why, int event) {
        if (state == UP && failure == 0 && event != VerbsDevice.NO_EVENT) {
            provErrno = VerbsErrno.ofEvent(event);
        }
        lost(errno, why);
    }

    int provErrno() {
        return provErrno;
    }

    /** Delivers the messages that have arrived, then reports the end; without waiting if a send has failed. */
    private int stepEnd(int limit) {
        VerbsReader reader = resources.reader();
        int drained = reader.drain(channel, limit);
        if (state != UP) {
            return 1;
        }
        if (failure == FabricErrno.ESHUTDOWN && !resources.writer().hasFailed()) {
            if (drained == VerbsReader.MORE || resources.queue().mayHaveMore) {
                // all earlier messages are delivered first
                return 1;
            }
            if (drained == VerbsReader.PAUSED && resources.writer().outstanding() == 0 && !channel.isExposing()) {
                return 0;
            }
        }
        if (reason != null) {
            link.onError(FabricErrno.EIO, "peer " + peerName() + ": " + reason,
                "The connection to it was closed; all others stay open.");
        }
        reader.abort(channel, failure);
        int errno = failure;
        beginDrain();
        channel.handler().onDown(errno);
        return 1;
    }

    /**
     * The engine closes the channel: sends that were reported as done are still sent. This does not hold if the card
     * uses memory of the application, which the application may reuse as soon as the engine has reported the end.
     */
    void close() {
        if (state == UP && failure == 0 && !usesRegions()
            && (resources.writer().outstanding() != 0 || resources.writer().hasWork())) {
            state = LINGERING;
            deadlineNs = System.nanoTime() + LINGER_NS;
            resources.writer().stop();
            resources.reader().stop();
            link.activate(this);
        } else if (state == UP) {
            beginDrain();
        } else if (state < UP) {
            release();
        }
    }

    /** Releases the application's memory before the engine reports the end; the rest of the shutdown follows later. */
    void quiesce() {
        if (state == UP && usesRegions()) {
            resources.toError();
        }
    }

    /** Whether the card, or the peer's card, may use memory of the application. */
    private boolean usesRegions() {
        return resources.writer().usesRegions() || channel.isExposing();
    }

    /** Waits until all posted sends have completed. */
    int linger() {
        resources.writer().poll(channel.handler());
        // not the cycle's time, which does not advance while the driver closes
        if (resources.writer().outstanding() == 0 || System.nanoTime() - deadlineNs > 0) {
            beginDrain();
        }
        return 0;
    }

    /** Disconnects: the peer gets an event, and all requests of the queue pair are flushed. */
    private void beginDrain() {
        state = DRAINING;
        resources.writer().stop();
        resources.reader().stop();
        endsWithRegions = usesRegions();
        if (endsWithRegions) {
            resources.device().beginEnd();
            resources.toError();
        }
        CmTask.submit(link.services(), () -> {
            cm.disconnect(id);
        });
        deadlineNs = System.nanoTime() + DRAIN_NS;
        lastReceiveNs = System.nanoTime() + UNTOLD_LAST_NS;
        link.activate(this);
    }

    /** The queue pair is in the error state and takes no more shared receives; those it took complete very soon. */
    void onLastReceive() {
        lastReceiveNs = System.nanoTime() + LAST_NS;
    }

    /** Receives of its own that are posted to the card. */
    int postedReceives() {
        return resources.reader().outstanding();
    }

    /** Ends a connection whose messages are not received, also if the peer has closed it already. */
    void giveUp(int errno, String why) {
        if (state == UP) {
            failure = errno;
            reason = why;
            link.activate(this);
        }
    }

    /** Receives that messages of this connection occupy. */
    int held() {
        return resources.reader().held();
    }

    private int drain() {
        int outstanding = resources.writer().outstanding() + resources.reader().outstanding();
        long now = link.services().nowNs();
        if (outstanding > 0 && now - deadlineNs < 0
            || resources.shared() != null && now - lastReceiveNs < 0) {
            return 0;
        }
        release();
        return 1;
    }

    /** Frees everything, on the resource thread. */
    private void release() {
        if (endsWithRegions) {
            resources.device().end();
        }
        state = CLOSED;
        link.remove(this);
        if (building != null) {
            // freed when the task that makes the queue pair is done
            return;
        }
        releaseQueues();
        CmTask.submit(link.services(), () -> free(false), result -> link.free(this));
    }

    private void releaseQueues() {
        if (resources != null) {
            resources.writer().release();
            resources.reader().stop();
            if (resources.shared() != null) {
                resources.shared().remove(this);
            }
        }
    }

    /** Frees the identifier and the resources, once: the driver may close while a task waits. Resource thread. */
    private int free(boolean isConnected) {
        if (isFree) {
            return 0;
        }
        isFree = true;
        if (isConnected) {
            cm.disconnect(id);
        }
        if (building != null) {
            building.close();
        }
        if (resources != null) {
            resources.close();
        }
        return id > 0 ? cm.destroyId(id) : 0;
    }

    /** The driver closes: frees everything behind the tasks that are queued for it, and calls no handler. */
    void closeNow() {
        boolean isConnected = state >= UP && state < DRAINING;
        if (building == null && state != CLOSED) {
            releaseQueues();
        }
        state = CLOSED;
        CmTask.submit(link.services(), () -> free(isConnected), result -> { });
    }

    /** Whether the engine has closed it while its sends are not complete. */
    boolean isLingering() {
        return state == LINGERING;
    }

    /** Its resources are freed. */
    void giveDomain() {
        if (domain != null) {
            domain.give();
            domain = null;
        }
    }

    long queuePair() {
        return resources == null ? 0 : resources.queuePair();
    }

    /** Whether it has resources of a device, or is making some. */
    boolean isOn(VerbsDevice device) {
        return building != null && building.device() == device || uses(device, 0);
    }

    /** Whether it uses a device and, unless the queue is 0, this completion queue of it. */
    boolean uses(VerbsDevice device, long queue) {
        return resources != null && resources.device() == device
            && (queue == 0 || resources.queue() != null && resources.queue().pointer() == queue);
    }
}
