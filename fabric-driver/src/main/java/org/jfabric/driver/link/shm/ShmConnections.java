package org.jfabric.driver.link.shm;

import java.security.MessageDigest;
import java.util.HashMap;
import java.util.Map;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.ReliableLinkProvider;
import org.jfabric.info.FabricErrno;

/**
 * Connection management with endpoints of other drivers, by frames between the two drivers ({@link ShmRequests}).
 *
 * <p>Owner: progress agent.
 */
final class ShmConnections extends ConnectionManager {
    private final ShmLink link;
    private final Map<String, Listening> listeners = new HashMap<>();

    ShmConnections(ShmLink link) {
        this.link = link;
    }

    void close() {
        listeners.clear();
    }

    @Override
    public int cmDataBytes() {
        return ReliableLinkProvider.CM_DATA_BYTES;
    }

    @Override
    public Listener listen(String address, byte[] authKey, int backlog, ListenerHandler handler) {
        Listening listening = new Listening(address, authKey, handler);
        boolean taken = listeners.putIfAbsent(address, listening) != null;
        if (!taken) {
            link.opened(address);
        }
        link.later(() -> {
            if (taken) {
                handler.onFailed(FabricErrno.EADDRINUSE);
            } else if (listeners.get(address) == listening) {
                handler.onListening(address);
            }
        });
        return listening;
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler) {
        return link.connection(remoteAddress).requests().connect(endpoint, remoteAddress, cmData, handler);
    }

    /** Passes a request to its listener; 0, or the errno with which it is refused. */
    int offer(String address, byte[] authKey, ShmIncoming request) {
        Listening listening = listeners.get(address);
        if (listening == null) {
            return FabricErrno.ECONNREFUSED;
        }
        if (!MessageDigest.isEqual(listening.authKey, authKey)) {
            return FabricErrno.EKEYREJECTED;
        }
        return listening.handler.onRequest(request) ? 0 : FabricErrno.ECONNREFUSED;
    }

    private final class Listening extends Listener {
        private final String address;
        private final byte[] authKey;
        private final ListenerHandler handler;

        Listening(String address, byte[] authKey, ListenerHandler handler) {
            this.address = address;
            this.authKey = authKey;
            this.handler = handler;
        }

        @Override
        public void close() {
            if (listeners.remove(address, this)) {
                link.closed(address);
            }
        }
    }
}
