package org.jfabric;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.DriverProxy;
import org.jfabric.client.DriverState;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenPassiveEndpoint;
import org.jfabric.codec.control.PassiveEndpointReady;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;

/**
 * The passive endpoints of a fabric.
 *
 * <p>Owner: control calls, under the fabric's lock; the client's thread finds them for events.
 */
final class PassiveEndpoints {
    private final Fabric fabric;
    private final ClientConductor conductor;
    private final DriverState driver;
    private final Map<Long, PassiveEndpoint> open = new ConcurrentHashMap<>();

    PassiveEndpoints(Fabric fabric, ClientConductor conductor, DriverState driver) {
        this.fabric = fabric;
        this.conductor = conductor;
        this.driver = driver;
    }

    PassiveEndpoint open(Info wanted, long context) {
        if (!wanted.connects()) {
            throw new FabricException(FabricErrno.EINVAL, "ep_attr.type is " + wanted.epAttr().type(),
                "Ask Fabric.info for EndpointType.MSG, and open the passive endpoint with a match.");
        }
        driver.requireAlive();
        PassiveEndpointReady ready = conductor.commands().call("opening a passive endpoint",
            new OpenPassiveEndpoint(wanted.srcAddr(), wanted.linkName(), wanted.epAttr().authKey()));
        PassiveEndpoint passive = new PassiveEndpoint(this, wanted, context, ready.passiveId(), ready.address());
        open.put(passive.id(), passive);
        return passive;
    }

    Fabric fabric() {
        return fabric;
    }

    Object lock() {
        return fabric.lock();
    }

    DriverProxy commands() {
        return conductor.commands();
    }

    /** Most private data of a request. */
    int cmDataSize() {
        return conductor.connection().attachment().cmDataSize();
    }

    void close(PassiveEndpoint passive) {
        commands().closeObject(ObjectKind.PASSIVE_ENDPOINT, passive.id(), () -> {
            passive.markClosed();
            open.remove(passive.id());
        });
    }

    /** The fabric is closing, and the driver closes its side by itself. */
    void markAllClosed() {
        open.values().forEach(PassiveEndpoint::markClosed);
        open.clear();
    }

    /** Null if it is closed. Any thread. */
    PassiveEndpoint find(long id) {
        return open.get(id);
    }

    /** Those that are open. Any thread. */
    Collection<PassiveEndpoint> all() {
        return open.values();
    }
}
