package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.DriverEvent;
import org.jfabric.client.DriverState;

import java.util.ArrayList;
import java.util.List;

/**
 * Connection management of an active endpoint (fi_cm): connect, accept, shut down, names; multicast groups.
 *
 * <p>These are control calls. connect and accept begin something and return; how it goes is told by the event queue of
 * the endpoint: {@link EventType#CONNECTED} with the private data of the answer, or an error entry with that of the
 * refusal; later {@link EventType#SHUTDOWN} when the peer has ended the connection, closed its endpoint, or is lost
 * ({@link EventEntry#data()} is 0, or the errno of the loss). Sends are taken from CONNECTED to the end, receives
 * always once the endpoint is enabled; those without a message end with {@link FabricErrno#ECANCELED} when the
 * connection ends. What came before the end can still be received. After a refusal an endpoint may connect again; after
 * a connection it is used up.
 *
 * <p>Owner: control calls under the fabric's lock; events on the client's thread, or in the cycle of an embedded
 * driver.
 */
abstract sealed class ConnectionCalls extends TaggedCalls permits Endpoint {
    private static final int IDLE = 0;
    private static final int CONNECTING = 1;
    private static final int CONNECTED = 2;
    private static final int ENDED = 3;
    private static final UnsafeBuffer NO_DATA = new UnsafeBuffer(0, 0);

    private final Domain domain;
    private final Info info;
    /** Of what changes by control calls and by events; never held over a command. */
    private final Object connectionLock = new Object();
    private int connection = IDLE;
    private String peer;
    /** Under the fabric's lock. */
    private final List<MulticastGroup> groups = new ArrayList<>();

    ConnectionCalls(Domain domain, Info info, long context, DriverState driver) {
        super(context, driver);
        this.domain = domain;
        this.info = info;
    }

    /**
     * Connects without private data.
     *
     * @param address as for {@link #connect(String, DirectBuffer, int, int)}.
     * @throws FabricException as that.
     */
    public void connect(String address) {
        connect(address, NO_DATA, 0, 0);
    }

    /**
     * Asks a passive endpoint for a connection (fi_connect); enables the endpoint if it is not.
     *
     * @param address where it listens.
     * @param param   private data for the listener; what exceeds {@link EndpointOption#CM_DATA_SIZE} is cut off.
     * @param offset  of the data.
     * @param length  of the data in bytes.
     * @throws FabricException {@link FabricErrno#ENOSYS} of a connectionless endpoint, {@link FabricErrno#EOPBADSTATE}
     *     if it is closed, connecting, connected, or was, or was opened to accept a request, {@link FabricErrno#EINVAL}
     *     for what is no address, or for a range outside of the buffer, {@link FabricErrno#EHOSTUNREACH} if no link of
     *     the endpoint reaches the address; and as {@link Endpoint#enable()}.
     */
    public void connect(String address, DirectBuffer param, int offset, int length) {
        Codes.required(address, "address");
        requireConnectionOriented("connect");
        byte[] data = ConnectionData.take(param, offset, length, domain);
        synchronized (domain.lock()) {
            if (info.handle() instanceof ConnectionRequest) {
                throw badState("was opened to accept a connection", "Accept, or open another endpoint to connect.");
            }
            enable();
            begin();
            boolean begun = false;
            try {
                domain.connections().connect(id(), address, data);
                begun = true;
            } finally {
                giveUpUnless(begun);
            }
        }
    }

    /**
     * Accepts without private data.
     *
     * @throws FabricException as {@link #accept(DirectBuffer, int, int)}.
     */
    public void accept() {
        accept(NO_DATA, 0, 0);
    }

    /**
     * Accepts the request that the endpoint was opened for (fi_accept); enables it if it is not. If the peer has given
     * up meanwhile an error entry tells {@link FabricErrno#ECONNABORTED}.
     *
     * @param param  private data for the peer; what exceeds {@link EndpointOption#CM_DATA_SIZE} is cut off.
     * @param offset of the data.
     * @param length of the data in bytes.
     * @throws FabricException {@link FabricErrno#ENOSYS} of a connectionless endpoint, {@link FabricErrno#EOPBADSTATE}
     *     if it was not opened with the info of a request, if that has an answer already or its passive endpoint is
     *     closed, or if the endpoint is closed, {@link FabricErrno#EINVAL} for a range outside of the buffer; and as
     *     {@link Endpoint#enable()}.
     */
    public void accept(DirectBuffer param, int offset, int length) {
        requireConnectionOriented("accept");
        byte[] data = ConnectionData.take(param, offset, length, domain);
        synchronized (domain.lock()) {
            if (!(info.handle() instanceof ConnectionRequest request)) {
                throw badState("was not opened to accept a connection", "Open it with the info of a CONNREQ event.");
            }
            request.requireWaiting();
            enable();
            begin();
            boolean begun = false;
            try {
                request.answer();
                domain.connections().accept(id(), request.id(), data);
                begun = true;
            } finally {
                giveUpUnless(begun);
            }
        }
    }

    /**
     * Ends the connection (fi_shutdown): nothing is sent or received any more, operations that are outstanding end with
     * {@link FabricErrno#ECANCELED}, and the peer's event queue tells SHUTDOWN.
     *
     * @param flags 0; no bits are defined.
     * @throws FabricException {@link FabricErrno#ENOSYS} of a connectionless endpoint, {@link FabricErrno#EBADFLAGS}
     *     for flags, {@link FabricErrno#ENOTCONN} if it is not connected, {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public void shutdown(long flags) {
        requireConnectionOriented("shutdown");
        if (flags != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags are " + Codes.hex(flags) + ", none are defined", "Shut down with flags 0.");
        }
        synchronized (domain.lock()) {
            if (state == CLOSED) {
                throw badState("is closed", "Open another one.");
            }
            synchronized (connectionLock) {
                requireConnected();
                end();
            }
            try {
                domain.connections().shutdown(id());
            } catch (FabricException refused) {
                // the peer's end came first
                if (refused.errno() != FabricErrno.ENOTCONN) {
                    throw refused;
                }
            }
        }
    }

    /**
     * Joins a multicast group (fi_join). When the call returns the endpoint is a member, and its event queue, if one is
     * bound, has a {@link EventType#JOIN_COMPLETE} with the group and the context. Closing the group leaves it.
     *
     * @param address multicast address as a {@link SocketName}; with port 0 messages are received at the endpoint's own
     *                port, so that all members have to have the same.
     * @param flags   {@link Flags#SEND} to send only, {@link Flags#RECV}, or 0 for both.
     * @param opContext of the group, and of the event.
     * @return the group, whose {@link MulticastGroup#fiAddr()} is the destination of sends.
     * @throws FabricException {@link FabricErrno#EOPNOTSUPP} without {@link Flags#MULTICAST} among the endpoint's
     *     capabilities, {@link FabricErrno#EBADFLAGS} for other flags, {@link FabricErrno#EINVAL} for what is no group,
     *     {@link FabricErrno#EOPBADSTATE} if not enabled or closed, or why the system does not let it join.
     */
    public MulticastGroup join(String address, long flags, long opContext) {
        Codes.required(address, "address");
        synchronized (domain.lock()) {
            if (state != ENABLED) {
                throw badState("is not enabled", "Enable it first.");
            }
            Endpoint self = (Endpoint) this;
            DriverEvent.AddressReady ready = domain.connections().join(id(), flags, address);
            AddressVector vector = self.bindings().addressVector();
            vector.onInserted(ready.fiAddr(), ready.address());
            MulticastGroup group = new MulticastGroup(domain, self, ready.address(), ready.fiAddr(), opContext);
            groups.add(group);
            EventQueue events = self.bindings().eventQueue();
            if (events != null) {
                events.report(EventType.JOIN_COMPLETE, group, opContext, 0);
            }
            return group;
        }
    }

    void onLeft(MulticastGroup group) {
        groups.remove(group);
    }

    void closeGroups() {
        groups.forEach(MulticastGroup::markClosed);
        groups.clear();
    }

    /**
     * Address of the peer of a connected endpoint (fi_getpeer).
     *
     * @return the address; of one that was connected still the same.
     * @throws FabricException {@link FabricErrno#ENOSYS} of a connectionless endpoint, {@link FabricErrno#ENOTCONN} if
     *     it was never connected.
     */
    public String peer() {
        requireConnectionOriented("getpeer");
        synchronized (connectionLock) {
            if (peer == null) {
                requireConnected();
            }
            return peer;
        }
    }

    /**
     * As {@link #peer()}, into memory (fi_getpeer).
     *
     * @param addr    receives the address in ASCII, without an end mark; as much as there is room for.
     * @param offset  of the address.
     * @param addrlen on the way in element 0 is the room in bytes, on the way out the length of the address.
     * @return 0, {@code -FI_ETOOSMALL} if there is less room than needed, {@code -FI_EINVAL} for a range outside of the
     *     buffer, or the negative errno of {@link #peer()}.
     */
    public int getpeer(MutableDirectBuffer addr, int offset, int[] addrlen) {
        try {
            return ConnectionData.put(peer(), addr, offset, addrlen);
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    /**
     * As {@link Endpoint#name()}, into memory (fi_getname).
     *
     * @param addr    as for {@link #getpeer}.
     * @param offset  as for {@link #getpeer}.
     * @param addrlen as for {@link #getpeer}.
     * @return 0, {@code -FI_ETOOSMALL}, {@code -FI_EINVAL}, or the negative errno of {@link Endpoint#name()}.
     */
    public int getname(MutableDirectBuffer addr, int offset, int[] addrlen) {
        try {
            return ConnectionData.put(name(), addr, offset, addrlen);
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    /**
     * Asks for another address, before the endpoint is enabled (fi_setname). Whether it can have it is found out then.
     *
     * @param address for example {@code jfabric://default/quotes}, of this driver, or that of a socket over links with
     *     such addresses.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} once enabled, if closed, or if it was opened for a
     *     connection request or has the address of a passive endpoint, {@link FabricErrno#EADDRNOTAVAIL} for an address
     *     of another driver, {@link FabricErrno#EINVAL} for what is no address.
     */
    public void setname(String address) {
        Codes.required(address, "address");
        synchronized (domain.lock()) {
            if (state != OPEN || info.handle() != null) {
                throw badState(state == CLOSED ? "is closed" : state == ENABLED ? "is enabled"
                    : "has the address of its handle", "Name an endpoint before it is enabled.");
            }
            if (domain.usesSocketNames()) {
                ConnectionData.requireSocket(address);
            } else {
                ConnectionData.requireOwn(address, domain.fabric().driverName());
            }
            info.srcAddr(address);
        }
    }

    abstract void enable();

    abstract String name();

    abstract long id();

    abstract Domain domain();

    /** A link has completed its address. */
    abstract void rename(String address);

    /** The request that it was opened for, 0 for none. */
    final long requestId() {
        return info.handle() instanceof ConnectionRequest request ? request.id() : 0;
    }

    /** The passive endpoint that it has taken over, 0 for none. */
    final long passiveId() {
        return info.handle() instanceof PassiveEndpoint passive && passive.isOpen() ? passive.id() : 0;
    }

    final void onConnected(DriverEvent.ConnectionMade event) {
        synchronized (connectionLock) {
            connection = CONNECTED;
            peer = event.peerAddress();
            rename(event.localAddress());
            if (transmitSide() != null) {
                connectTransmit();
            }
        }
    }

    final void onConnectionFailed() {
        synchronized (connectionLock) {
            connection = IDLE;
        }
    }

    /** False if the application has ended it before. */
    final boolean onConnectionEnded() {
        synchronized (connectionLock) {
            if (connection != CONNECTED) {
                return false;
            }
            end();
            return true;
        }
    }

    private void begin() {
        synchronized (connectionLock) {
            if (connection != IDLE) {
                throw badState(connection == CONNECTING ? "is connecting"
                    : connection == CONNECTED ? "is connected" : "was connected", "Open another one.");
            }
            // before the command: its events may come before its answer
            connection = CONNECTING;
        }
    }

    private void giveUpUnless(boolean begun) {
        if (!begun) {
            onConnectionFailed();
        }
    }

    private void end() {
        connection = ENDED;
        if (transmitSide() != null) {
            disconnectTransmit(transmitSide());
        }
    }

    private void requireConnected() {
        if (connection != CONNECTED) {
            throw new FabricException(FabricErrno.ENOTCONN, "the endpoint is not connected"
                + (connection == ENDED ? " any more" : ""), "Wait for the event CONNECTED.");
        }
    }

    private void requireConnectionOriented(String what) {
        if (!info.connects()) {
            throw new FabricException(FabricErrno.ENOSYS, what + " of an endpoint of type " + info.epAttr().type(),
                "Open it with EndpointType.MSG.");
        }
    }

    private FabricException badState(String what, String remedy) {
        return new FabricException(FabricErrno.EOPBADSTATE, "the endpoint " + what, remedy);
    }
}
