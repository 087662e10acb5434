package org.jfabric.driver.link.verbs;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.VerbsErrno;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.resource.ResourceTask;

import java.util.function.IntSupplier;

/**
 * A queue pair from its identifier to its end.
 *
 * <pre>
 *   we ask:    RESOLVING --address, way--> BUILDING --queue pair, rdma_connect--> CONNECTING --established--> UP
 *   they ask:                              BUILDING --queue pair, rdma_accept---> CONNECTING --established--> UP
 *   end:       UP --closed by the engine--> LINGERING --all sent--> DRAINING --all came back--> CLOSED
 *              UP --the peer's end, an error--> DRAINING
 *              before UP --> CLOSED
 * </pre>
 *
 * <p>Owner: progress agent. All calls that concern the identifier are made on the resource thread, in order, so that
 * the last one gives it back when no other is under way.
 */
final class VerbsConnection extends CmTarget {
    private static final int RESOLVING = 0;
    private static final int BUILDING = 1;
    private static final int CONNECTING = 2;
    private static final int UP = 3;
    /** Closed by the engine: what it has sent is still on its way. */
    private static final int LINGERING = 4;
    /** In error: work requests come back. */
    private static final int DRAINING = 5;
    private static final int CLOSED = 6;

    /** As libfabric's verbs provider waits. */
    private static final int RESOLVE_TIMEOUT_MS = 2000;
    private static final long LINGER_NS = 1_000_000_000L;
    private static final long DRAIN_NS = 1_000_000_000L;
    /** For the last completion of a shared receive, where the card says that it is the last. */
    private static final long LAST_NS = 1_000_000L;
    /** The same where it does not say so, as rxe. */
    private static final long UNTOLD_LAST_NS = 100_000_000L;
    private static final byte[] NO_DATA = {};

    private final VerbsLink link;
    private final RdmaCm cm;
    private final VerbsChannel channel;
    private final int number;
    private final boolean isAsking;
    private final byte[] data;
    /** Made by the resource thread if we ask; 0 before, or if there is none. */
    private long id;
    private ConnectionResources resources;
    /** On its way on the resource thread. */
    private ConnectionResources building;
    private boolean isFree;
    private int state;
    private long deadlineNs;
    /** When no message can come into a shared receive any more. */
    private long lastReceiveNs;
    /** Why it is about to end; 0 while nothing is wrong. */
    private int failure;
    private String reason;
    /** What the device said of it, 0 if it said nothing. */
    private int provErrno;
    /** Why the card has given requests back, if it has; an event may say more. */
    private String flushReason;
    private int stepsFlushed;
    /** Its requests may use the application's memory until they have come back. */
    private boolean endsWithRegions;
    /** In the list of those that are stepped in each poll. */
    boolean isActive;

    /**
     * A connection that has not begun.
     *
     * @param id       of the request; 0 if we ask.
     * @param data     private data of the request or the answer.
     */
    VerbsConnection(VerbsLink link, long id, byte[] data, ConnectionHandler handler) {
        this.link = link;
        this.cm = link.libraries().cm();
        this.id = id;
        this.isAsking = id == 0;
        this.data = data;
        this.number = link.add(this);
        this.channel = new VerbsChannel(this, link, handler);
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

    SendQueue sends() {
        return resources.sends();
    }

    RegionKeys keys() {
        return resources.device().keys();
    }

    // ---- the way up ----

    /** Asks a peer. */
    void ask(byte[] local, byte[] remote) {
        state = RESOLVING;
        CmTask.submit(link.services(), () -> {
            long made = cm.createId(link.cmChannel());
            id = Math.max(0, made);
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

    /** What the connection manager is asked to do while the connection is in one state; it fails if that does. */
    private void proceed(IntSupplier call) {
        int during = state;
        CmTask.submit(link.services(), call, result -> {
            if (result < 0 && state == during && !link.isClosed()) {
                fail(isAsking ? -result : FabricErrno.ECONNABORTED, NO_DATA);
            }
        });
    }

    /** Makes the queue pair on the resource thread, then asks or answers. */
    void build() {
        state = BUILDING;
        ConnectionResources made = new ConnectionResources(
            link.device(cm.context(id)), link.libraries(), link.settings(), id);
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
        if (resources.device().shared() != null) {
            resources.device().shared().add(this);
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
            case VerbsConstants.CM_DEVICE_REMOVAL -> lost(FabricErrno.ENODEV, "its device was taken away");
            default -> {
                // addresses that change and identifiers that leave their time of waiting are no matter of a connection
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

    /** It could not be made, which is told now. */
    private void fail(int errno, byte[] refusal) {
        if (state < UP) {
            release();
            channel.connectionHandler().onFailed(errno, refusal);
        } else if (state == UP) {
            lost(errno, null);
        }
    }

    /** It could not be made, which is told in the next poll. */
    void failLater(int errno) {
        link.later(() -> fail(errno, NO_DATA));
    }

    // ---- messages ----

    /** A work request has ended. */
    void onCompletion(WorkCompletions completions, int entry) {
        if (state == CLOSED) {
            // its queues are being given back
            return;
        }
        int request = (int) completions.id(entry);
        int status = completions.status(entry);
        boolean isReceive = (request & ConnectionResources.RECEIVE) != 0;
        link.activate(this);
        if (status != VerbsConstants.WC_SUCCESS) {
            if (isReceive) {
                resources.receives().flushed(request & ~ConnectionResources.RECEIVE);
            } else {
                resources.sends().failed(request);
            }
            onFailure(isReceive, status, completions.vendorError(entry));
        } else if (isReceive) {
            resources.receives().completed(request & ~ConnectionResources.RECEIVE, completions.length(entry),
                completions.hasImmediate(entry), completions.immediate(entry));
        } else {
            resources.sends().completed(request, channel);
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
            // the card has put the queue pair into error, and an event may say why
            case VerbsConstants.WC_WR_FLUSH_ERR -> {
                flushReason = flushReason == null ? what : flushReason;
                link.lookSoon();
            }
            case VerbsConstants.WC_RETRY_EXC_ERR -> lost(FabricErrno.ECONNRESET, what + ": its card does not answer");
            case VerbsConstants.WC_REM_INV_REQ_ERR ->
                lost(FabricErrno.EMSGSIZE, what + ": it has no receive for a message of that length");
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
        ReceiveQueue receives = resources.receives();
        SendQueue sends = resources.sends();
        boolean wasEmpty = receives.isEmpty();
        int drained = receives.drain(channel, limit);
        if (state != UP) {
            return 1;
        }
        int work = wasEmpty || drained == ReceiveQueue.PAUSED ? 0 : 1;
        work += sends.poll(channel.handler());
        if (state != UP) {
            return 1;
        }
        work += receives.poll(channel, work == 0);
        if (drained == ReceiveQueue.REFUSED) {
            lost(FabricErrno.EIO, "sent a message that the endpoint cannot take");
        } else if (sends.failure() != 0 || receives.failure() != 0) {
            lost(FabricErrno.EIO, "the card takes no work requests: "
                + FabricErrno.name(Math.max(sends.failure(), receives.failure())));
        }
        return work;
    }

    /** Whether it has to be stepped again. */
    boolean hasWork() {
        return switch (state) {
            case UP -> failure != 0 || flushReason != null || !resources.receives().isEmpty()
                || resources.receives().hasFree() || resources.sends().hasWork();
            case LINGERING, DRAINING -> true;
            default -> false;
        };
    }

    /** A region was registered: whoever waits for it may try again. */
    boolean isRefused() {
        return state == UP && resources.sends().isRefused();
    }

    // ---- the end ----

    private void onDisconnected() {
        if (state == UP) {
            lost(FabricErrno.ESHUTDOWN, null);
        } else if (state == LINGERING) {
            beginDrain();
        } else {
            fail(FabricErrno.ECONNABORTED, NO_DATA);
        }
    }

    /** It is over, which is told in the next step, behind what has come before. */
    void lost(int errno, String why) {
        if (state < UP) {
            fail(errno, NO_DATA);
            return;
        }
        if (state == LINGERING) {
            beginDrain();
        } else if (state == UP && (failure == 0 || errno == FabricErrno.ENODEV)) {
            // nobody can wait for room with messages in memory of a device that is gone
            failure = errno;
            reason = why;
            link.activate(this);
        }
    }

    /** It is over, because of an asynchronous event, if the number is one. */
    void lost(int errno, String why, int event) {
        if (state == UP && failure == 0 && event != VerbsDevice.NO_EVENT) {
            provErrno = VerbsErrno.ofEvent(event);
        }
        lost(errno, why);
    }

    int provErrno() {
        return provErrno;
    }

    /** What has come is handed over, then the end is told; but at once if a send of ours waits to hear of it. */
    private int stepEnd(int limit) {
        ReceiveQueue receives = resources.receives();
        int drained = receives.drain(channel, limit);
        if (state != UP) {
            return 1;
        }
        if (failure == FabricErrno.ESHUTDOWN && !resources.sends().hasFailed()) {
            if (drained == ReceiveQueue.MORE || resources.queue().mayHaveMore) {
                // what came before is handed over whole
                return 1;
            }
            if (drained == ReceiveQueue.PAUSED && resources.sends().outstanding() == 0 && !channel.isExposing()) {
                return 0;
            }
        }
        if (reason != null) {
            link.onError(FabricErrno.EIO, "peer " + peerName() + ": " + reason,
                "The connection to it was closed; all others go on.");
        }
        receives.abort(channel, failure);
        int errno = failure;
        beginDrain();
        channel.handler().onDown(errno);
        return 1;
    }

    /**
     * The engine closes the channel: what it was told has been sent is sent. But not if the card has memory of the
     * application, which may be used for something else as soon as the engine has told its end.
     */
    void close() {
        if (state == UP && failure == 0 && !usesRegions()
            && (resources.sends().outstanding() != 0 || resources.sends().hasWork())) {
            state = LINGERING;
            deadlineNs = System.nanoTime() + LINGER_NS;
            resources.sends().stop();
            resources.receives().stop();
            link.activate(this);
        } else if (state == UP) {
            beginDrain();
        } else if (state < UP) {
            release();
        }
    }

    /** The engine is about to tell that everything has ended; the rest of the end may take its time. */
    void quiesce() {
        if (state == UP && usesRegions()) {
            resources.toError();
        }
    }

    /** Whether the card, or the peer's, has memory of the application in its hands. */
    private boolean usesRegions() {
        return resources.sends().usesRegions() || channel.isExposing();
    }

    /** Waits until all is sent that was told to be. */
    int linger() {
        resources.sends().poll(channel.handler());
        // not the cycle's time, which stands still when the driver ends
        if (resources.sends().outstanding() == 0 || System.nanoTime() - deadlineNs > 0) {
            beginDrain();
        }
        return 0;
    }

    /** Puts the queue pair in error, so that everything comes back and the peer is told. */
    private void beginDrain() {
        state = DRAINING;
        resources.sends().stop();
        resources.receives().stop();
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

    /** In error, and no shared receive is taken for it any more; what was is told at once. */
    void onLastReceive() {
        lastReceiveNs = System.nanoTime() + LAST_NS;
    }

    /** Receives of its own that the card has. */
    int postedReceives() {
        return resources.receives().outstanding();
    }

    /** The end of a connection whose messages nobody takes, also of one that the peer has ended. */
    void giveUp(int errno, String why) {
        if (state == UP) {
            failure = errno;
            reason = why;
            link.activate(this);
        }
    }

    /** Receives in which messages of this connection wait. */
    int held() {
        return resources.receives().held();
    }

    private int drain() {
        int outstanding = resources.sends().outstanding() + resources.receives().outstanding();
        long now = link.services().nowNs();
        if (outstanding > 0 && now - deadlineNs < 0
            || resources.device().shared() != null && now - lastReceiveNs < 0) {
            return 0;
        }
        release();
        return 1;
    }

    /** Gives everything back, on the resource thread. */
    private void release() {
        if (endsWithRegions) {
            resources.device().end();
        }
        state = CLOSED;
        link.remove(this);
        if (building != null) {
            // the task that makes the queue pair gives it back when it is done
            return;
        }
        releaseQueues();
        CmTask.submit(link.services(), () -> free(false), result -> link.free(this));
    }

    private void releaseQueues() {
        if (resources != null) {
            resources.sends().release();
            resources.receives().stop();
            if (resources.device().shared() != null) {
                resources.device().shared().remove(this);
            }
        }
    }

    /** Once: the driver may end while it waits for its turn. Resource thread. */
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

    /** The driver ends: behind what the resource thread is doing for it, and nobody is told. */
    void closeNow() {
        boolean isConnected = state >= UP && state < DRAINING;
        if (building == null && state != CLOSED) {
            releaseQueues();
        }
        state = CLOSED;
        CmTask.submit(link.services(), () -> free(isConnected), result -> { });
    }

    /** Whether the engine has closed it and the card still has what it was told has been sent. */
    boolean isLingering() {
        return state == LINGERING;
    }

    long queuePair() {
        return resources == null ? 0 : resources.queuePair();
    }

    /** Whether it has anything of a device, or is about to. */
    boolean isOn(VerbsDevice device) {
        return building != null && building.device() == device || uses(device, 0);
    }

    /** Whether its completions come to a queue. */
    boolean uses(VerbsDevice device, long queue) {
        return resources != null && resources.device() == device
            && (queue == 0 || resources.queue() != null && resources.queue().pointer() == queue);
    }
}
