package org.jfabric.client;

import org.jfabric.PeerPath;
import org.jfabric.Verdict;
import org.jfabric.layout.ViewDescriptor;

import java.util.ArrayList;
import java.util.List;

/**
 * The commands of connections; each waits for its answer, as those of {@link ClientConductor}. How a connection goes is
 * told by events.
 *
 * <p>Any thread; with an embedded driver the thread that uses the domain.
 */
public final class ConnectionCommands {
    private final ClientConductor conductor;
    private final ConnectionProxy proxy;

    ConnectionCommands(ClientConductor conductor, DriverProxy proxy) {
        this.conductor = conductor;
        this.proxy = new ConnectionProxy(proxy);
    }

    /**
     * Opens a passive endpoint.
     *
     * @param address  wanted, or null.
     * @param linkName of the link, or null for all.
     * @param authKey  that requests must show.
     * @return number and address.
     */
    public DriverEvent.PassiveEndpointReady openPassiveEndpoint(String address, String linkName, byte[] authKey) {
        return (DriverEvent.PassiveEndpointReady) conductor.call("opening a passive endpoint",
            id -> proxy.openPassiveEndpoint(id, address, linkName, authKey));
    }

    /**
     * Gives a passive endpoint another address.
     *
     * @param passiveId the passive endpoint.
     * @param address   wanted.
     * @return its address.
     */
    public String namePassiveEndpoint(long passiveId, String address) {
        return ((DriverEvent.AddressReady) conductor.call("naming a passive endpoint " + address,
            id -> proxy.namePassiveEndpoint(id, passiveId, address))).address();
    }

    /**
     * Lets a passive endpoint listen.
     *
     * @param passiveId the passive endpoint.
     * @param backlog   requests that may wait; negative: as the driver is configured.
     * @return its address, completed by the link.
     */
    public String listen(long passiveId, int backlog) {
        return ((DriverEvent.AddressReady) conductor.call(
            "listening", id -> proxy.listen(id, passiveId, backlog))).address();
    }

    /**
     * Begins a connection.
     *
     * @param endpointId the endpoint, enabled.
     * @param address    where a passive endpoint listens.
     * @param cmData     private data.
     */
    public void connect(long endpointId, String address, byte[] cmData) {
        conductor.call("connecting to " + address, id -> proxy.connect(id, endpointId, address, cmData));
    }

    /**
     * Accepts a request.
     *
     * @param endpointId the endpoint, enabled.
     * @param requestId  as told.
     * @param cmData     private data.
     */
    public void accept(long endpointId, long requestId, byte[] cmData) {
        conductor.call("accepting a connection", id -> proxy.accept(id, endpointId, requestId, cmData));
    }

    /**
     * Rejects a request.
     *
     * @param requestId as told.
     * @param cmData    private data.
     */
    public void reject(long requestId, byte[] cmData) {
        conductor.call("rejecting a connection", id -> proxy.reject(id, requestId, cmData));
    }

    /**
     * Asks how a peer is reached.
     *
     * @param endpointId the endpoint, enabled.
     * @param address    of the endpoint, for the answer.
     * @param fiAddr     of the peer.
     * @return the path with all verdicts.
     */
    public PeerPath path(long endpointId, String address, long fiAddr) {
        PendingCommand command = conductor.issue("explaining a path", id -> proxy.path(id, endpointId, fiAddr));
        DriverEvent.PathReady ready = (DriverEvent.PathReady) conductor.await(command);
        List<Verdict> verdicts = new ArrayList<>();
        for (DriverEvent part : command.parts()) {
            if (part instanceof DriverEvent.InfoVerdict verdict) {
                verdicts.add(verdict.verdict());
            }
        }
        PeerPath.State state = switch (ready.state()) {
            case ViewDescriptor.PEER_UP -> PeerPath.State.UP;
            case ViewDescriptor.PEER_CONNECTING -> PeerPath.State.CONNECTING;
            default -> PeerPath.State.DOWN;
        };
        return new PeerPath(ready.linkName(), address, ready.remoteAddress(), state, verdicts);
    }

    /**
     * Joins a multicast group.
     *
     * @param endpointId the endpoint, enabled.
     * @param flags      of the call.
     * @param address    of the group.
     * @return its number and its address with a port.
     */
    public DriverEvent.AddressReady join(long endpointId, long flags, String address) {
        return (DriverEvent.AddressReady) conductor.call(
            "joining " + address, id -> proxy.join(id, endpointId, flags, address));
    }

    /**
     * Leaves a multicast group.
     *
     * @param endpointId the endpoint.
     * @param fiAddr     number of the group.
     */
    public void leave(long endpointId, long fiAddr) {
        conductor.call("leaving a group", id -> proxy.leave(id, endpointId, fiAddr));
    }

    /**
     * Ends a connection.
     *
     * @param endpointId the endpoint.
     */
    public void shutdown(long endpointId) {
        conductor.call("shutting down", id -> proxy.shutdown(id, endpointId));
    }
}
