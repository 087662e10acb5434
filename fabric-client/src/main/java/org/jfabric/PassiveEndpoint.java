package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.codec.control.ConnectionRequested;
import org.jfabric.codec.control.OpenPassiveEndpoint;
import org.jfabric.codec.control.PassiveEndpointReady;
import org.jfabric.codec.control.RejectConnection;
import org.jfabric.info.Codes;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.EndpointSource;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;

/**
 * An endpoint that transfers nothing: it listens for requests of connections, or keeps an address for an active
 * endpoint (fi_passive_ep).
 *
 * <pre>{@code
 * passive.bind(events, 0);
 * passive.listen();
 * }</pre>
 *
 * <p>Use: {@link Fabric#openPassiveEndpoint(Info)}, {@link #bind(EventQueue, long)}, {@link #listen()}. Each request is
 * an {@link EventType#CONNREQ} in the event queue, with the peer's private data and an {@link Info} to open an endpoint
 * with, which then accepts. It has its address from the start. To keep an address only: set this object as
 * {@link Info#handle()}, open an endpoint with that info, close this object.
 *
 * <p>Every call is a control call and may come from any thread. Source: fi_cm(3); fi_endpoint(3), sections
 * fi_passive_ep, fi_pep_bind and fi_control.
 */
public final class PassiveEndpoint implements Fid, EndpointSource {
    private static final int OPEN = 0;
    private static final int LISTENING = 1;
    private static final int TAKEN_OVER = 2;
    private static final int CLOSED = 3;
    private static final int DEFAULT_BACKLOG = -1;
    private static final UnsafeBuffer NO_DATA = new UnsafeBuffer(0, 0);

    private final Fabric fabric;
    private final Info info;
    private final long context;
    private final long id;
    /** Written under the fabric's lock, also read for events. */
    private volatile String name;
    private int backlog = DEFAULT_BACKLOG;
    private volatile EventQueue eventQueue;
    private volatile int state = OPEN;
    /** An active endpoint is open that is to get its address and has not; under the fabric's lock. */
    private boolean isReserved;

    private PassiveEndpoint(Fabric fabric, Info info, long context, long id, String name) {
        this.fabric = fabric;
        this.info = info;
        this.context = context;
        this.id = id;
        this.name = name;
    }

    /** Opens one; under the fabric's lock. */
    static PassiveEndpoint open(Fabric fabric, Info wanted, long context, DriverState driver) {
        if (!wanted.connects()) {
            throw new FabricException(FabricErrno.EINVAL, "ep_attr.type is " + wanted.epAttr().type(),
                "Ask Fabric.info for EndpointType.MSG, and open the passive endpoint with a match.");
        }
        driver.requireAlive();
        PassiveEndpointReady ready = fabric.commands().call("opening a passive endpoint",
            new OpenPassiveEndpoint(wanted.srcAddr(), wanted.linkName(), wanted.epAttr().authKey()));
        return new PassiveEndpoint(fabric, wanted, context, ready.passiveId(), ready.address());
    }

    /**
     * Binds the event queue that reports requests, before it listens (fi_pep_bind).
     *
     * @param queue of the same fabric.
     * @param flags 0; no bits are defined.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other flags, {@link FabricErrno#EINVAL} if there is one
     *     already or for another fabric's, {@link FabricErrno#EOPBADSTATE} once it listens, was taken over, or if one
     *     of both is closed.
     */
    public void bind(EventQueue queue, long flags) {
        Codes.required(queue, "queue");
        synchronized (fabric.lock()) {
            requireIdle();
            if (flags != 0) {
                throw new FabricException(FabricErrno.EBADFLAGS,
                    "bind flags are " + Codes.hex(flags) + ", an event queue has none", "Bind it with flags 0.");
            }
            if (queue.fabric() != fabric || eventQueue != null) {
                throw new FabricException(FabricErrno.EINVAL, eventQueue != null ? "an event queue is bound already"
                    : "an event queue of another fabric cannot be bound", "Bind one of the same fabric, once.");
            }
            if (!queue.isOpen()) {
                throw new FabricException(FabricErrno.EOPBADSTATE, "an event queue that is closed cannot be bound",
                    "Open another one.");
            }
            eventQueue = queue;
            queue.users().add(this);
        }
    }

    @Override
    public void bind(Fid object, long flags) {
        if (Codes.required(object, "object") instanceof EventQueue queue) {
            bind(queue, flags);
        } else {
            throw new FabricException(FabricErrno.EINVAL, "an object of class " + object.fidClass()
                + " cannot be bound to a passive endpoint", "Bind an event queue.");
        }
    }

    /**
     * Requests that may wait for their answers (FI_BACKLOG); more are refused with {@link FabricErrno#ECONNREFUSED}.
     * Without this call the driver's option {@code jfabric.engine.backlog} holds.
     *
     * @param requests 0 or more.
     * @throws FabricException {@link FabricErrno#EINVAL} for less, {@link FabricErrno#EOPBADSTATE} once it listens, was
     *     taken over, or is closed.
     */
    public void setBacklog(int requests) {
        synchronized (fabric.lock()) {
            requireIdle();
            if (requests < 0) {
                throw new FabricException(
                    FabricErrno.EINVAL, "the backlog is " + requests, "Use 0 or more requests.");
            }
            backlog = requests;
        }
    }

    /**
     * Begins to take requests (fi_listen).
     *
     * @throws FabricException {@link FabricErrno#ENOEQ} without an event queue, {@link FabricErrno#EOPBADSTATE} if it
     *     listens already, was taken over, or is closed, {@link FabricErrno#EADDRINUSE} if a link cannot listen at the
     *     address, or what else the driver answers.
     */
    public void listen() {
        synchronized (fabric.lock()) {
            requireIdle();
            if (eventQueue == null) {
                throw new FabricException(FabricErrno.ENOEQ, "no event queue is bound, which reports requests",
                    "Bind one before listen().");
            }
            fabric.commands().listen(id, backlog, address -> {
                if (state == OPEN) {
                    name = address;
                    state = LISTENING;
                }
            });
        }
    }

    /**
     * Rejects a request without private data.
     *
     * @param request as a CONNREQ event reported it.
     * @throws FabricException as {@link #reject(ConnectionRequest, DirectBuffer, int, int)}.
     */
    public void reject(ConnectionRequest request) {
        reject(request, NO_DATA, 0, 0);
    }

    /**
     * Rejects a request (fi_reject): the peer's event queue gets an error entry with
     * {@link FabricErrno#ECONNREFUSED} and the data. Nothing happens if the peer is gone.
     *
     * @param request as a CONNREQ event reported it of this passive endpoint.
     * @param param   private data for the peer; what exceeds {@link EndpointOption#CM_DATA_SIZE} is cut off.
     * @param offset  of the data.
     * @param length  of the data in bytes.
     * @throws FabricException {@link FabricErrno#EINVAL} for the request of another passive endpoint or a range outside
     *     of the buffer, {@link FabricErrno#EOPBADSTATE} if it has an answer, or this object is closed.
     */
    public void reject(ConnectionRequest request, DirectBuffer param, int offset, int length) {
        Codes.required(request, "request");
        byte[] data = ConnectionData.take(param, offset, length, fabric.cmDataSize());
        synchronized (fabric.lock()) {
            if (request.passive() != this) {
                throw new FabricException(FabricErrno.EINVAL, request + " is one of another passive endpoint",
                    "Reject it there: ConnectionRequest.passive().");
            }
            reject(request, data);
        }
    }

    private void reject(ConnectionRequest request, byte[] data) {
        request.answer();
        fabric.commands().call("rejecting a connection", new RejectConnection(request.id(), data));
    }

    /**
     * Its address, under which peers connect (fi_getname).
     *
     * @return for example {@code jfabric://default/pep-3f2a9c01d4e5b677-1}.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public String name() {
        synchronized (fabric.lock()) {
            if (state == CLOSED) {
                throw closed();
            }
            return name;
        }
    }

    /**
     * Gives it another address, before it listens (fi_setname).
     *
     * @param address for example {@code jfabric://default/quotes}, of this driver, or that of a socket if it has one.
     * @throws FabricException {@link FabricErrno#EADDRINUSE} if it is taken, {@link FabricErrno#EADDRNOTAVAIL} for an
     *     address of another driver, {@link FabricErrno#EINVAL} for a malformed address,
     *     {@link FabricErrno#EOPBADSTATE} once it listens, was taken over, or is closed.
     */
    public void setname(String address) {
        Codes.required(address, "address");
        synchronized (fabric.lock()) {
            requireIdle();
            fabric.commands().namePassiveEndpoint(id, address, given -> name = given);
        }
    }

    /**
     * The value of an option (fi_getopt).
     *
     * @param option {@link EndpointOption#CM_DATA_SIZE}: most private data of a request.
     * @return bytes.
     * @throws FabricException {@link FabricErrno#ENOPROTOOPT} for another option, {@link FabricErrno#EOPBADSTATE} if
     *     closed.
     */
    public long getopt(EndpointOption option) {
        requireOpen();
        if (Codes.required(option, "option") != EndpointOption.CM_DATA_SIZE) {
            throw unsupported(option, "read");
        }
        return fabric.cmDataSize();
    }

    /**
     * Sets an option (fi_setopt): a passive endpoint has none that can be set.
     *
     * @param option any.
     * @param value  any.
     * @throws FabricException {@link FabricErrno#ENOPROTOOPT}, or {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public void setopt(EndpointOption option, long value) {
        requireOpen();
        throw unsupported(Codes.required(option, "option"), "set");
    }

    /**
     * Returns the info that the endpoint was opened with.
     *
     * @return a copy.
     */
    public Info info() {
        return info.copy();
    }

    @Override
    public FidClass fidClass() {
        return FidClass.PEP;
    }

    @Override
    public long context() {
        return context;
    }

    @Override
    public boolean isOpen() {
        return state != CLOSED;
    }

    /**
     * Closes it: it listens no more, and requests without an answer are rejected. Connections that were accepted
     * continue, and an endpoint that was opened with it as its handle has its address, or gets it. Has no effect if it
     * is already closed.
     *
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} as {@link Fid#close()}.
     */
    @Override
    public void close() {
        synchronized (fabric.lock()) {
            if (state != CLOSED) {
                if (isReserved) {
                    // the driver's object keeps the address meanwhile
                    markClosed();
                } else {
                    fabric.close(this);
                }
            }
        }
    }

    @Override
    public String toString() {
        return "PassiveEndpoint{" + name + switch (state) {
            case LISTENING -> ", listening";
            case TAKEN_OVER -> ", taken over";
            case CLOSED -> ", closed";
            default -> "";
        } + '}';
    }

    Fabric fabric() {
        return fabric;
    }

    long id() {
        return id;
    }

    /** Null before one is bound. Any thread. */
    EventQueue eventQueue() {
        return eventQueue;
    }

    /** An active endpoint gets its address; under the fabric's lock. */
    void takeOver() {
        requireIdle();
        state = TAKEN_OVER;
        isReserved = true;
        unbind();
    }

    boolean isReserved() {
        return isReserved;
    }

    /** The active endpoint has its address, or is closed without it; under the fabric's lock. */
    void onLeft() {
        boolean wasReserved = isReserved;
        isReserved = false;
        if (wasReserved && state == CLOSED) {
            fabric.close(this);
        }
    }

    /** Forgets what it was bound to; under the fabric's lock. */
    void markClosed() {
        state = CLOSED;
        unbind();
    }

    void closeRequest(ConnectionRequest request) {
        synchronized (fabric.lock()) {
            if (request.isOpen()) {
                reject(request, new byte[0]);
            }
        }
    }

    /** The event of a request, on the client's thread. */
    void onRequest(ConnectionRequested requested) {
        EventQueue queue = eventQueue;
        if (queue != null && state != CLOSED) {
            Info offered = info.copy();
            if (!requested.linkName().equals(offered.linkName())) {
                // it came by another link than the info was made for, as requests from the same driver may
                offered.linkName(requested.linkName());
                offered.epAttr().protocol(Protocol.UNSPEC).protocolVersion(0);
                offered.fabricAttr().provName(null);
            }
            String address = name;
            String peerAddress = requested.peerAddress();
            offered.srcAddr(address).destAddr(peerAddress)
                .handle(new ConnectionRequest(this, requested.requestId(), address, peerAddress));
            queue.report(EventType.CONNREQ, this, offered, 0, requested.cmData());
        }
    }

    private void unbind() {
        if (eventQueue != null) {
            eventQueue.users().remove(this);
        }
    }

    private void requireOpen() {
        if (state == CLOSED) {
            throw closed();
        }
    }

    private void requireIdle() {
        requireOpen();
        if (state != OPEN) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the passive endpoint "
                + (state == LISTENING ? "listens" : "was taken over by an active one"), "Open another one.");
        }
    }

    private static FabricException closed() {
        return new FabricException(FabricErrno.EOPBADSTATE, "the passive endpoint is closed", "Open another one.");
    }

    private static FabricException unsupported(EndpointOption option, String what) {
        return new FabricException(FabricErrno.ENOPROTOOPT, "option " + option + " of a passive endpoint cannot be "
            + what, "The only option is CM_DATA_SIZE, which can be read.");
    }
}
