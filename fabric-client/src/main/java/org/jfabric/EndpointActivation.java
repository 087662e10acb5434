package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.ContextPlace;
import org.jfabric.client.CounterIds;
import org.jfabric.client.EmbeddedDriver;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.InfoCodec;
import org.jfabric.client.QueuePort;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.ReceiveQueue;
import org.jfabric.client.RecordedPort;
import org.jfabric.client.TransmitQueue;
import org.jfabric.codec.control.EnableEndpoint;
import org.jfabric.codec.control.EndpointReady;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.layout.FileType;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * What an endpoint has at the driver from when it is enabled until it is closed: the files of its queues, the port that
 * it posts to, the names under which it is published. At the next driver of a client that comes back it gets all of
 * them again, by the same steps.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class EndpointActivation {
    private final Endpoint endpoint;
    private final Domain domain;
    private final Fabric fabric;
    private List<MemorySegment> queues = List.of();
    private final List<String> services = new ArrayList<>();

    EndpointActivation(Endpoint endpoint, Domain domain) {
        this.endpoint = endpoint;
        this.domain = domain;
        this.fabric = domain.fabric();
    }

    /** Everything that stands behind {@link Endpoint#enable()}; all checks are done. */
    void enable() {
        Info wanted = endpoint.requested();
        if (endpoint.state() == Endpoint.ENABLED) {
            // a client that comes back keeps the names and ports that drivers have chosen
            wanted = wanted.copy().srcAddr(endpoint.name());
        }
        EnableEndpoint command = command(wanted);
        EndpointReady ready = fabric.withRoom(() -> domain.commands().call("enabling an endpoint", command));
        List<MemorySegment> files = new ArrayList<>();
        boolean enabled = false;
        try {
            endpoint.openSlab(domain.connection(), ready);
            EmbeddedDriver embedded = domain.connection().embedded();
            EndpointPort port = embedded != null ? embedded.port(ready.endpointId()) : queuePort(ready, files);
            queues = files;
            endpoint.onEnabled(ready, port, domain.memory());
            enabled = true;
            fabric.onEnabled(endpoint);
        } finally {
            if (!enabled) {
                release(files);
                fabric.discard(ObjectKind.ENDPOINT, ready.endpointId());
            }
        }
        endpoint.connection().leavePassive();
    }

    /** Does it again with the next driver. */
    void repeat() {
        String before = endpoint.name();
        enable();
        if (!endpoint.name().equals(before)) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "the driver gave endpoint " + before + " the address "
                + endpoint.name(), "Start the next driver with the name of the one before.");
        }
        for (String service : services) {
            domain.commands().publishService(endpoint.id(), service, () -> { });
        }
    }

    void publish(String service) {
        synchronized (domain.lock()) {
            domain.commands().publishService(endpoint.id(), service, () -> services.add(service));
        }
    }

    /** The driver has closed the endpoint. */
    void release() {
        release(queues);
        queues = List.of();
        endpoint.connection().leavePassive();
    }

    private void release(List<MemorySegment> files) {
        files.forEach(each -> domain.connection().release(each, false));
        if (endpoint.slab() != null) {
            domain.connection().release(endpoint.slab().file(), true);
        }
    }

    private EnableEndpoint command(Info hints) {
        EndpointBindings bindings = endpoint.bindings();
        CounterIds counters = bindings.counterIds();
        ContextPlace place = endpoint.role() == null ? ContextPlace.NONE : endpoint.role().place();
        return new EnableEndpoint(
            endpoint.context(),
            bindings.txCq() == null ? 0 : bindings.txCq().id(),
            bindings.txFlags(),
            bindings.rxCq() == null ? 0 : bindings.rxCq().id(),
            bindings.rxFlags(),
            bindings.addressVector() == null ? 0 : bindings.addressVector().id(),
            // event queues are the client's own
            0,
            counters.sends(), counters.receives(),
            endpoint.bufferedLimits().limit(), endpoint.bufferedLimits().min(),
            endpoint.connection().requestId(),
            endpoint.connection().passiveId(),
            domain.number(),
            counters.reads(), counters.writes(), counters.remoteReads(), counters.remoteWrites(),
            bindings.receiveContextId(),
            place.scalableId(), place.index(), place.transmits() ? 1 : 0,
            InfoCodec.fields(hints), hints.srcAddr(), hints.destAddr(), hints.linkName(),
            hints.fabricAttr().provName(), hints.fabricAttr().name(), hints.domainAttr().name(),
            InfoCodec.authKey(hints),
            ConnectionData.endpointName(hints.srcAddr()), null);
    }

    private EndpointPort queuePort(EndpointReady ready, List<MemorySegment> files) {
        EndpointBindings bindings = endpoint.bindings();
        QueueSignal signal = domain.connection().signal(ready.activityIndex());
        bindings.driverSignal(signal);
        QueuePort port = new QueuePort(transmitQueue(ready, signal, files), receiveQueue(ready, signal, files));
        return !fabric.reconnects() ? port : new RecordedPort(port,
            bindings.txCq() == null ? null : bindings.txCq().operations(),
            bindings.rxCq() == null ? null : bindings.rxCq().operations(), bindings::onLost);
    }

    private TransmitQueue transmitQueue(EndpointReady ready, QueueSignal signal, List<MemorySegment> files) {
        if (ready.transmitQueueFile() == 0) {
            return null;
        }
        MemorySegment file = openRing(
            FileType.TRANSMIT_QUEUE, ready.transmitQueueFile(), ready.transmitQueueLength());
        files.add(file);
        return new TransmitQueue(
            file.address(), ready.transmitQueueLength(), ready.txSize(), signal, domain.connection().memoryOf(file));
    }

    private ReceiveQueue receiveQueue(EndpointReady ready, QueueSignal signal, List<MemorySegment> files) {
        if (ready.receiveQueueFile() == 0) {
            return null;
        }
        MemorySegment file = openRing(FileType.RECEIVE_QUEUE, ready.receiveQueueFile(), ready.receiveQueueLength());
        files.add(file);
        return new ReceiveQueue(
            file.address(), ready.receiveQueueLength(), ready.rxSize(), signal, domain.connection().memoryOf(file));
    }

    private MemorySegment openRing(FileType type, long number, int length) {
        if (!RecordRingDescriptor.isValidCapacity(length)) {
            throw new FabricException(FabricErrno.EIO, "the driver answered a queue of " + length + " bytes");
        }
        return domain.connection().open(type, number, 0, RecordRingDescriptor.HEADER_LENGTH + (long) length);
    }
}
