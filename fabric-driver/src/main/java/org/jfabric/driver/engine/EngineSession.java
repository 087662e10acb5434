package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.resource.RegionTable;

import java.util.ArrayList;
import java.util.List;

/**
 * What the engine holds for one client: its regions and endpoints. Owner: progress agent.
 */
public final class EngineSession {
    private final long clientId;
    private final SessionListener listener;
    private final RegionTable regions = new RegionTable();
    private final List<EngineEndpoint> endpoints = new ArrayList<>();
    private final List<EnginePassiveEndpoint> passiveEndpoints = new ArrayList<>();
    private boolean ended;

    /**
     * A session without endpoints.
     *
     * @param clientId the client's number.
     * @param listener told of violations and peers.
     */
    public EngineSession(long clientId, SessionListener listener) {
        this.clientId = clientId;
        this.listener = listener;
    }

    /**
     * The client's number.
     *
     * @return the id.
     */
    public long clientId() {
        return clientId;
    }

    /**
     * The client's registered memory.
     *
     * @return the table.
     */
    public RegionTable regions() {
        return regions;
    }

    /**
     * The client's endpoints.
     *
     * @return the live list; only {@link Engine} changes it.
     */
    public List<EngineEndpoint> endpoints() {
        return endpoints;
    }

    /**
     * The client's passive endpoints.
     *
     * @return the live list; only {@link Engine} changes it.
     */
    public List<EnginePassiveEndpoint> passiveEndpoints() {
        return passiveEndpoints;
    }

    /** Takes a connection request out to be answered. */
    EnginePassiveEndpoint.Waiting requireRequest(long requestId) {
        for (EnginePassiveEndpoint passive : passiveEndpoints) {
            EnginePassiveEndpoint.Waiting taken = passive.take(requestId);
            if (taken != null) {
                return taken;
            }
        }
        throw new FabricException(FabricErrno.ECONNABORTED, "connection request " + requestId
            + " does not wait any more", "Answer each request once, before its passive endpoint is closed.");
    }

    /**
     * Rejects a connection request.
     *
     * @param requestId as told.
     * @param cmData    private data, cut if the link takes less.
     * @throws FabricException {@code FI_ECONNABORTED} if it does not wait any more.
     */
    public void reject(long requestId, byte[] cmData) {
        EnginePassiveEndpoint.Waiting waiting = requireRequest(requestId);
        waiting.request().reject(Connection.cut(cmData, waiting.manager()));
    }

    /**
     * The conductor's side.
     *
     * @return the listener.
     */
    public SessionListener listener() {
        return listener;
    }

    /**
     * Whether the client's queues must not be read any more.
     *
     * @return true after {@link #corrupt} or the client's end.
     */
    public boolean isEnded() {
        return ended;
    }

    /** Nothing of this client is served any more. */
    public void end() {
        ended = true;
    }

    /**
     * The client broke the rules: stops serving it and asks the conductor to end it.
     *
     * @param reason what was seen.
     */
    public void corrupt(String reason) {
        if (!ended) {
            ended = true;
            listener.onCorruption(clientId, reason);
        }
    }
}
