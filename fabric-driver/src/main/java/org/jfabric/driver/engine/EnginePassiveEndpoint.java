package org.jfabric.driver.engine;

import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A passive endpoint: listens at one or more links and keeps the requests that have no answer yet.
 *
 * <p>A request counts against the backlog until it is accepted or rejected, also if its peer has given up meanwhile: so
 * what an application does not look at stays bounded. Owner: progress agent.
 */
public final class EnginePassiveEndpoint {
    private static final byte[] NO_DATA = {};

    /** Told once whether it listens. */
    public interface Listening {
        /**
         * All links listen.
         *
         * @param address under which peers connect.
         */
        void onListening(String address);

        /**
         * A link does not; none does now.
         *
         * @param errno positive fabric errno.
         */
        void onFailed(int errno);
    }

    /** A request and the link that it came by. */
    record Waiting(IncomingConnection request, ConnectionManager manager) {
    }

    private final long id;
    private final EngineSession session;
    private final Engine engine;
    private final List<Listener> listeners = new ArrayList<>();
    /** In the order of asking. */
    private final Map<Long, Waiting> waiting = new LinkedHashMap<>();
    private int backlog;
    private int awaited;
    private Listening listening;
    private boolean closed;

    EnginePassiveEndpoint(Engine engine, EngineSession session, long id) {
        this.engine = engine;
        this.session = session;
        this.id = id;
    }

    /**
     * Begins to listen.
     *
     * @param links      by which requests come; all connect.
     * @param address    wanted.
     * @param bound      the same, of links that bind addresses; else null.
     * @param authKey    that requests must show.
     * @param newBacklog requests that may wait for their answers.
     * @param told       how it went; never from inside this call.
     */
    public void listen(
        List<Link> links, String address, BoundAddress bound, byte[] authKey, int newBacklog, Listening told) {
        backlog = newBacklog;
        listening = told;
        awaited = links.size();
        for (Link link : links) {
            ConnectionManager manager = link.connections();
            Handler handler = new Handler(link.name(), manager);
            listeners.add(bound == null ? manager.listen(address, authKey, newBacklog, handler)
                : manager.listen(bound, authKey, newBacklog, handler));
        }
    }

    /**
     * Takes a request out to be answered.
     *
     * @param requestId as told.
     * @return null if it has its answer already.
     */
    Waiting take(long requestId) {
        return waiting.remove(requestId);
    }

    /** Listens no more; requests without an answer are rejected. */
    void close() {
        closed = true;
        listeners.forEach(Listener::close);
        listeners.clear();
        waiting.values().forEach(each -> each.request.reject(NO_DATA));
        waiting.clear();
    }

    private final class Handler extends ListenerHandler {
        private final String linkName;
        private final ConnectionManager manager;

        Handler(String linkName, ConnectionManager manager) {
            this.linkName = linkName;
            this.manager = manager;
        }

        @Override
        public void onListening(String address) {
            if (!closed && --awaited == 0 && listening != null) {
                Listening told = listening;
                listening = null;
                told.onListening(address);
            }
        }

        @Override
        public void onFailed(int errno) {
            if (closed) {
                return;
            }
            Listening told = listening;
            listening = null;
            listeners.forEach(Listener::close);
            listeners.clear();
            if (told != null) {
                told.onFailed(errno);
            } else {
                session.listener().onConnectionFailed(session.clientId(), id, errno, NO_DATA);
            }
        }

        @Override
        public boolean onRequest(IncomingConnection request) {
            if (closed || waiting.size() >= backlog) {
                return false;
            }
            long requestId = engine.nextRequestId();
            waiting.put(requestId, new Waiting(request, manager));
            session.listener().onConnectionRequest(
                session.clientId(), id, requestId, linkName, request.remoteAddress(), request.cmData());
            return true;
        }
    }
}
