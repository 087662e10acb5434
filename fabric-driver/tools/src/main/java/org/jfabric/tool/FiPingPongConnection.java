package org.jfabric.tool;

import java.util.concurrent.TimeUnit;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.PassiveEndpoint;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Makes the connection of endpoints of type msg: the server listens, the client connects, both without private data.
 * Owner: one thread.
 */
final class FiPingPongConnection {
    private final EventQueue events;
    private final PassiveEndpoint passive;
    private final long timeoutNs;
    private final EventEntry entry = new EventEntry();

    /**
     * Listens, if it is a server.
     *
     * @param timeoutNs longest wait for the other side, in nanoseconds.
     */
    FiPingPongConnection(Fabric fabric, Info info, boolean isServer, long timeoutNs) {
        this.timeoutNs = timeoutNs;
        events = fabric.openEventQueue(new EventQueueAttr());
        passive = isServer ? fabric.openPassiveEndpoint(info) : null;
        if (isServer) {
            passive.bind(events, 0);
            passive.listen();
        }
    }

    /** Address that the client connects to. */
    String name() {
        return passive.name();
    }

    /**
     * Takes the client's request.
     *
     * @param armed called as soon as receives can be posted, before the other side can send.
     */
    Endpoint accept(Domain domain, CompletionQueue queue, Armed armed) {
        await(EventType.CONNREQ);
        Endpoint endpoint = open(domain, entry.info(), queue, armed);
        endpoint.accept();
        await(EventType.CONNECTED);
        return endpoint;
    }

    Endpoint connect(Domain domain, Info info, String address, CompletionQueue queue, Armed armed) {
        Endpoint endpoint = open(domain, info, queue, armed);
        endpoint.connect(address);
        await(EventType.CONNECTED);
        return endpoint;
    }

    /** Notified of an endpoint that is enabled and not connected yet. */
    interface Armed {
        void onEnabled(Endpoint endpoint);
    }

    private Endpoint open(Domain domain, Info info, CompletionQueue queue, Armed armed) {
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(events, 0);
        endpoint.enable();
        armed.onEnabled(endpoint);
        return endpoint;
    }

    private void await(EventType wanted) {
        long end = System.nanoTime() + timeoutNs;
        while (true) {
            int read = events.read(entry, 0);
            if (read == -FabricErrno.EAVAIL) {
                EventError error = new EventError();
                events.readErr(error, 0);
                throw new ToolException("The connection failed with " + FabricErrno.name(error.err())
                    + " where " + wanted + " was awaited.");
            }
            if (read < 0 && read != -FabricErrno.EAGAIN) {
                throw new ToolException("The event queue cannot be read: " + FabricErrno.name(-read) + '.');
            }
            if (read > 0) {
                if (entry.type() == wanted) {
                    return;
                }
                throw new ToolException("The connection came to " + entry.type() + " where " + wanted
                    + " was awaited.");
            }
            if (System.nanoTime() - end > 0) {
                throw new ToolException("No connection was made within " + TimeUnit.NANOSECONDS.toSeconds(timeoutNs)
                    + " s; the other side has the reason.");
            }
            Thread.yield();
        }
    }
}
