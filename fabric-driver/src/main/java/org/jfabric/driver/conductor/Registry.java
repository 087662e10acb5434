package org.jfabric.driver.conductor;

import java.util.Collection;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.stream.table.SharedTables;

/**
 * The clients of a driver, the names of its endpoints, the channels at which applications wait, and the next number for
 * an object. Owner: conductor.
 */
final class Registry {
    private final ServiceNames names = new ServiceNames();
    private final Long2ObjectHashMap<ClientSession> sessions = new Long2ObjectHashMap<>();
    private final SharedTables tables = new SharedTables();
    private final WaitChannels waitChannels;
    private long lastId;

    Registry(WaitChannels waitChannels) {
        this.waitChannels = waitChannels;
    }

    /** The next number; clients, queues, endpoints and all other numbered objects use one sequence. */
    long nextId() {
        return ++lastId;
    }

    /** Names of endpoints and services. */
    ServiceNames names() {
        return names;
    }

    /** Tables of newest values. */
    SharedTables tables() {
        return tables;
    }

    /** The sockets at which applications wait. */
    WaitChannels waitChannels() {
        return waitChannels;
    }

    /** A client, or null if it has ended. */
    ClientSession session(long clientId) {
        return sessions.get(clientId);
    }

    /** All clients that are not ending; the collection itself, which changes. */
    Collection<ClientSession> sessions() {
        return sessions.values();
    }

    void add(ClientSession session) {
        sessions.put(session.id(), session);
    }

    void remove(ClientSession session) {
        sessions.remove(session.id());
    }

    /** The endpoint with the next greater number, of a client whose queues the viewer may see, or null. */
    EndpointResource endpointAfter(long endpointId, ClientSession viewer) {
        EndpointResource next = null;
        for (ClientSession session : sessions.values()) {
            if (!viewer.isOfDriversUser() && session.uid() != viewer.uid()) {
                continue;
            }
            for (EndpointResource endpoint : session.endpoints().values()) {
                if (endpoint.id() > endpointId && (next == null || endpoint.id() < next.id())) {
                    next = endpoint;
                }
            }
        }
        return next;
    }
}
