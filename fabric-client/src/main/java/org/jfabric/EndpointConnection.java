package org.jfabric;

import java.util.ArrayList;
import java.util.List;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.jfabric.codec.control.GroupJoined;
import org.jfabric.codec.control.ConnectionMade;
import org.jfabric.codec.control.ShutdownEndpoint;
import org.jfabric.info.BestName;
import org.jfabric.info.Codes;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.LogPosition;

/**
 * Connection management of one active endpoint (fi_cm): its connection and its peer, the names that it asks for, and
 * its multicast groups. The calls are described at those of {@link Endpoint}.
 *
 * <p>Owner: control calls under the fabric's lock; events on the client's thread, or in the cycle of an embedded
 * driver.
 */
final class EndpointConnection {
    private static final int IDLE = 0;
    private static final int CONNECTING = 1;
    private static final int CONNECTED = 2;
    private static final int ENDED = 3;

    private final Endpoint endpoint;
    private final Domain domain;
    private final Info info;
    /** Of what changes by control calls and by events; never held over a command. */
    private final Object lock = new Object();
    private int state = IDLE;
    private String peer;
    /** Under the fabric's lock. */
    private final List<MulticastGroup> groups = new ArrayList<>();

    EndpointConnection(Endpoint endpoint, Domain domain, Info info) {
        this.endpoint = endpoint;
        this.domain = domain;
        this.info = info;
    }

    void connect(String address, DirectBuffer param, int offset, int length) {
        Codes.required(address, "address");
        requireConnectionOriented("connect");
        byte[] data = ConnectionData.take(param, offset, length, domain);
        synchronized (domain.lock()) {
            if (info.handle() instanceof ConnectionRequest) {
                throw badState("was opened to accept a connection", "Accept, or open another endpoint to connect.");
            }
            endpoint.enable();
            begin();
            domain.commands().connect(endpoint.id(), address, data, this::onFailed);
        }
    }

    void accept(DirectBuffer param, int offset, int length) {
        requireConnectionOriented("accept");
        byte[] data = ConnectionData.take(param, offset, length, domain);
        synchronized (domain.lock()) {
            if (!(info.handle() instanceof ConnectionRequest request)) {
                throw badState("was not opened to accept a connection", "Open it with the info of a CONNREQ event.");
            }
            request.requireWaiting();
            endpoint.enable();
            begin();
            request.answer();
            domain.commands().accept(endpoint.id(), request.id(), data, this::onFailed);
        }
    }

    void shutdown(long flags) {
        requireConnectionOriented("shutdown");
        if (flags != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags are " + Codes.hex(flags) + ", none are defined", "Shut down with flags 0.");
        }
        synchronized (domain.lock()) {
            if (endpoint.state() == Endpoint.CLOSED) {
                throw badState("is closed", "Open another one.");
            }
            synchronized (lock) {
                if (state == ENDED) {
                    return;
                }
                requireConnected();
                end();
            }
            try {
                domain.commands().call("shutting down", new ShutdownEndpoint(endpoint.id()));
            } catch (FabricException refused) {
                // the peer's end came first
                if (refused.errno() != FabricErrno.ENOTCONN) {
                    throw refused;
                }
            }
            endpoint.bindings().eventQueue().report(EventType.SHUTDOWN, endpoint, null, 0, new byte[0]);
        }
    }

    MulticastGroup join(String address, long opContext, long flags, JoinAttr attr) {
        Codes.required(address, "address");
        Codes.required(attr, "attr");
        synchronized (domain.lock()) {
            boolean writes = flags == 0 || (flags & Flags.SEND) != 0;
            MulticastGroup group = joined(command(address, flags, attr, false), opContext, writes);
            report(group);
            return group;
        }
    }

    MulticastReader openReader(String address, long opContext, JoinAttr attr) {
        Codes.required(address, "address");
        Codes.required(attr, "attr");
        synchronized (domain.lock()) {
            requireNoReader();
            return reader(command(address, Flags.RECV, attr, true), opContext);
        }
    }

    PendingReader beginReader(String address, long opContext, JoinAttr attr) {
        Codes.required(address, "address");
        Codes.required(attr, "attr");
        synchronized (domain.lock()) {
            requireNoReader();
            requireEnabled();
            PendingReader pending = new PendingReader(this, domain.fabric(), opContext);
            domain.commands().join(endpoint.id(), address, attr.from(), pending::answered);
            return pending;
        }
    }

    private void requireNoReader() {
        domain.fabric().requireRestartable(
            false, "a group that is read in place", "Open it in a fabric of its own");
        CompletionQueue queue = endpoint.bindings().rxCq();
        // on whatever progress threads the endpoints of the queue are
        if (queue != null && queue.endpoints().stream().anyMatch(each -> each.connection().readsInPlace())) {
            throw new FabricException(FabricErrno.EBUSY, "the completion queue for receives of endpoint "
                + endpoint.name() + " has a reader in place", "Give the endpoint a queue of its own.");
        }
    }

    /** The reader of a membership that the driver has begun. */
    MulticastReader reader(GroupJoined ready, long opContext) {
        synchronized (domain.lock()) {
            requireEnabled();
            MulticastGroup group = joined(ready, opContext, false);
            MulticastReader reader = null;
            try {
                reader = MulticastReader.open(group, ready, endpoint.bindings().rxCq(), domain.fabric());
            } finally {
                if (reader == null) {
                    group.close();
                }
            }
            group.reader(reader);
            report(group);
            return reader;
        }
    }

    private void requireEnabled() {
        if (endpoint.state() != Endpoint.ENABLED) {
            throw badState("is not enabled", "Enable it first.");
        }
    }

    private GroupJoined command(String address, long flags, JoinAttr attr, boolean inPlace) {
        requireEnabled();
        return domain.commands().join(endpoint.id(), flags, address, attr.from(), inPlace);
    }

    private MulticastGroup joined(GroupJoined ready, long opContext, boolean writes) {
        AddressVector vector = endpoint.bindings().addressVector();
        vector.onInserted(ready.fiAddr(), ready.address());
        LogPosition start = ready.term() == 0 ? null : new LogPosition(
            new UUID(ready.logIdHigh(), ready.logIdLow()), ready.term(), ready.position());
        MulticastGroup group = new MulticastGroup(
            domain, endpoint, ready.address(), ready.fiAddr(), opContext, start,
            ready.log().length == 0 ? null : Path.of(new String(ready.log(), StandardCharsets.UTF_8)), writes);
        groups.add(group);
        return group;
    }

    private void report(MulticastGroup group) {
        EventQueue events = endpoint.bindings().eventQueue();
        if (events != null) {
            events.report(EventType.JOIN_COMPLETE, group, group.context(), 0);
        }
    }

    private boolean readsInPlace() {
        return groups.stream().anyMatch(MulticastGroup::isReadInPlace);
    }

    void onLeft(MulticastGroup group) {
        groups.remove(group);
    }

    void closeGroups() {
        groups.forEach(MulticastGroup::markClosed);
        groups.clear();
    }

    String peer() {
        requireConnectionOriented("getpeer");
        synchronized (lock) {
            if (peer == null) {
                requireConnected();
            }
            return peer;
        }
    }

    void setname(String address) {
        Codes.required(address, "address");
        synchronized (domain.lock()) {
            if (endpoint.role() != null) {
                throw badState("has the address of its scalable endpoint", "Name that one when it is opened.");
            }
            if (endpoint.state() != Endpoint.OPEN || info.handle() != null) {
                throw badState(endpoint.state() == Endpoint.CLOSED ? "is closed"
                    : endpoint.state() == Endpoint.ENABLED ? "is enabled" : "has the address of its handle",
                    "Name an endpoint before it is enabled.");
            }
            requireOwn(address);
            info.srcAddr(address);
        }
    }

    private void requireOwn(String address) {
        boolean hasSeveralLinks = info.epAttr().protocol().hasSeveralLinks();
        if (hasSeveralLinks ? ConnectionData.isSocket(address) : domain.usesSocketNames()) {
            ConnectionData.requireSocket(address);
        } else {
            // of several links one that an endpoint had before
            ConnectionData.requireOwn(hasSeveralLinks && BestName.isName(address)
                ? BestName.parse(address).fabricName() : address, domain.fabric().driverName());
        }
    }

    /** The request that the endpoint was opened for, 0 for none. */
    long requestId() {
        return info.handle() instanceof ConnectionRequest request ? request.id() : 0;
    }

    /** The passive endpoint that the endpoint has taken over, 0 for none. */
    long passiveId() {
        return info.handle() instanceof PassiveEndpoint passive && passive.isReserved() ? passive.id() : 0;
    }

    /** The endpoint has the address of the passive endpoint, or is closed without it. */
    void leavePassive() {
        if (info.handle() instanceof PassiveEndpoint passive) {
            passive.onLeft();
        }
    }

    void onConnected(ConnectionMade event) {
        synchronized (lock) {
            state = CONNECTED;
            peer = event.peerAddress();
            endpoint.rename(event.localAddress());
            endpoint.onConnection(true);
        }
    }

    void onFailed() {
        synchronized (lock) {
            state = IDLE;
        }
    }

    /** False if the application has ended it before. */
    boolean onEnded() {
        synchronized (lock) {
            if (state != CONNECTED) {
                return false;
            }
            end();
            return true;
        }
    }

    private void begin() {
        synchronized (lock) {
            if (state != IDLE) {
                throw badState(state == CONNECTING ? "is connecting"
                    : state == CONNECTED ? "is connected" : "was connected", "Open another one.");
            }
            // before the command: its events may come before its answer
            state = CONNECTING;
        }
    }

    private void end() {
        state = ENDED;
        endpoint.onConnection(false);
    }

    private void requireConnected() {
        if (state != CONNECTED) {
            throw new FabricException(FabricErrno.ENOTCONN, "the endpoint is not connected"
                + (state == ENDED ? " any more" : ""), "Wait for the event CONNECTED.");
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
