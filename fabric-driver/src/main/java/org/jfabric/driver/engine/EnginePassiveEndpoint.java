package org.jfabric.driver.engine;

import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.log.EventKind;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A passive endpoint: listens on one or more links and keeps the requests that are not answered yet.
 *
 * <p>A request counts against the backlog until it is accepted or rejected, even if its peer has cancelled it. So the
 * number of unanswered requests is bounded. Owner: progress agent.
 */
public final class EnginePassiveEndpoint {
    private static final byte[] NO_DATA = {};

    /** Receives the result of {@link #listen}, once. */
    public interface Listening {
        void onListening(String address);

        /**
         * A link cannot listen; the other links have stopped listening.
         *
         * @param errno positive fabric errno.
         */
        void onFailed(int errno);
    }

    /** A request, and the connection manager of the link on which it arrived. */
    record Waiting(IncomingConnection request, ConnectionManager manager) {
    }

    private final long id;
    private final EngineSession session;
    private final Engine engine;
    private final List<Listener> listeners = new ArrayList<>();
    /** In the order of arrival. */
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
     * @param bound        the bound address, for links that bind addresses; else null.
     * @param authKey      key that requests must carry.
     * @param newListening receives the result, never inside this call.
     */
    public void listen(
        List<Link> links, String address, BoundAddress bound, byte[] authKey, int newBacklog,
        Listening newListening) {
        backlog = newBacklog;
        listening = newListening;
        awaited = links.size();
        for (Link link : links) {
            ConnectionManager manager = link.connections();
            Handler handler = new Handler(link.name(), manager);
            listeners.add(bound == null ? manager.listen(address, authKey, newBacklog, handler)
                : manager.listen(bound, authKey, newBacklog, handler));
        }
    }

    /** Removes a request in order to answer it. Returns the request, or null if it is answered already. */
    Waiting take(long requestId) {
        return waiting.remove(requestId);
    }

    /** Stops listening and rejects the unanswered requests. */
    void close() {
        closed = true;
        listeners.forEach(Listener::close);
        listeners.clear();
        waiting.values().forEach(each -> each.request.reject(NO_DATA));
        waiting.clear();
    }

    private void log(EventKind kind, long first, String text) {
        engine.log().event(kind, session.clientId(), id, first, 0, text);
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
                Listening current = listening;
                listening = null;
                log(EventKind.LISTENING, 0, address);
                current.onListening(address);
            }
        }

        @Override
        public void onFailed(int errno) {
            if (closed) {
                return;
            }
            Listening current = listening;
            listening = null;
            listeners.forEach(Listener::close);
            listeners.clear();
            log(EventKind.CONNECTION_FAILED, errno, linkName);
            if (current != null) {
                current.onFailed(errno);
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
            log(EventKind.CONNECTION_REQUESTED, requestId, request.remoteAddress());
            session.listener().onConnectionRequest(
                session.clientId(), id, requestId, linkName, request.remoteAddress(), request.cmData());
            return true;
        }
    }
}
