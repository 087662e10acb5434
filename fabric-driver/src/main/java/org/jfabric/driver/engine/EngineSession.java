package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The engine's objects of one client: its regions and endpoints. Owner: progress agent.
 */
public final class EngineSession {
    private final long clientId;
    private final SessionListener listener;
    private final RegionTable regions = new RegionTable();
    private final List<EngineEndpoint> endpoints = new ArrayList<>();
    private final List<EnginePassiveEndpoint> passiveEndpoints = new ArrayList<>();
    private final SessionWork work = new SessionWork(endpoints);
    private boolean ended;
    private boolean lost;

    /** A session without endpoints. */
    public EngineSession(long clientId, SessionListener listener) {
        this.clientId = clientId;
        this.listener = listener;
    }

    /** The client's number. */
    public long clientId() {
        return clientId;
    }

    /** The client's registered memory. */
    public RegionTable regions() {
        return regions;
    }

    /** The client's endpoints. Returns the live list; only {@link Engine} changes it. */
    public List<EngineEndpoint> endpoints() {
        return endpoints;
    }

    /** The client's counters, and the work that waits for them. */
    public SessionWork work() {
        return work;
    }

    /** The client's passive endpoints. Returns the live list; only {@link Engine} changes it. */
    public List<EnginePassiveEndpoint> passiveEndpoints() {
        return passiveEndpoints;
    }

    /** Removes a connection request in order to answer it. */
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
     * @param cmData    private data, truncated if the link carries less.
     * @throws FabricException {@code FI_ECONNABORTED} if it does not wait any more.
     */
    public void reject(long requestId, byte[] cmData) {
        EnginePassiveEndpoint.Waiting waiting = requireRequest(requestId);
        waiting.request().reject(Connection.cut(cmData, waiting.manager()));
    }

    /** The listener for events of this client. */
    public SessionListener listener() {
        return listener;
    }

    /** Returns whether the client's queues must not be read any more. */
    public boolean isEnded() {
        return ended;
    }

    /** Stops serving this client. */
    public void end() {
        ended = true;
    }

    /** The client does not end in order: it died, or the driver ends it. Before {@link Engine#closeSession}. */
    public void lose() {
        lost = true;
    }

    /**
     * Why the client's endpoints close, for their peers. Returns {@link FabricErrno#ESHUTDOWN} in order, {@link
     * FabricErrno#ECONNRESET} after {@link #lose} or {@link #corrupt}.
     */
    int errnoOfClose() {
        return lost ? FabricErrno.ECONNRESET : FabricErrno.ESHUTDOWN;
    }

    /** The client violated the protocol: stops serving it and requests its end from the conductor. */
    public void corrupt(String reason) {
        if (!ended) {
            ended = true;
            lost = true;
            listener.onCorruption(clientId, reason);
        }
    }
}
