package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.progress.EndpointQueues;
import org.jfabric.driver.resource.SharedFile;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** An enabled endpoint of a client. Owner: conductor; endpoint and queues belong to the progress thread. */
public final class EndpointResource {
    private final EngineEndpoint endpoint;
    private final EndpointQueues queues;
    private final SharedFile transmitFile;
    private final SharedFile receiveFile;
    private final SharedFile slabFile;
    private final int transmitLength;
    private final int receiveLength;
    private final int activityIndex;
    private final CompletionQueueResource transmitCompletions;
    private final CompletionQueueResource receiveCompletions;
    private final List<CounterResource> counters;
    private final AddressVectorResource addresses;
    private final List<String> services = new ArrayList<>();
    private boolean sharesName;

    /**
     * An endpoint and what it uses.
     *
     * @param endpoint            of the engine.
     * @param queues              the driver's ends, or null for an embedding client.
     * @param transmitFile        {@code .tq}, or null.
     * @param receiveFile         {@code .rq}, or null.
     * @param slabFile            {@code .slab}, or null.
     * @param transmitLength      bytes of its ring, or 0.
     * @param receiveLength       bytes of its ring, or 0.
     * @param activityIndex       of its activity byte.
     * @param transmitCompletions bound for sends.
     * @param receiveCompletions  bound for receives.
     * @param addresses           bound, or null of a connection-oriented endpoint.
     */
    public EndpointResource(
        EngineEndpoint endpoint,
        EndpointQueues queues,
        SharedFile transmitFile,
        SharedFile receiveFile,
        SharedFile slabFile,
        int transmitLength,
        int receiveLength,
        int activityIndex,
        CompletionQueueResource transmitCompletions,
        CompletionQueueResource receiveCompletions,
        List<CounterResource> counters,
        AddressVectorResource addresses) {
        this.endpoint = endpoint;
        this.queues = queues;
        this.transmitFile = transmitFile;
        this.receiveFile = receiveFile;
        this.slabFile = slabFile;
        this.transmitLength = transmitLength;
        this.receiveLength = receiveLength;
        this.activityIndex = activityIndex;
        this.transmitCompletions = transmitCompletions;
        this.receiveCompletions = receiveCompletions;
        this.counters = counters;
        this.addresses = addresses;
    }

    /**
     * Its number.
     *
     * @return from 1.
     */
    public long id() {
        return endpoint.settings().id();
    }

    /**
     * Its name within the driver.
     *
     * @return last part of its address.
     */
    public String name() {
        return endpoint.settings().name();
    }

    /**
     * The engine's part.
     *
     * @return the endpoint.
     */
    public EngineEndpoint endpoint() {
        return endpoint;
    }

    /**
     * The driver's ends of its queues.
     *
     * @return the queues, or null for an embedding client.
     */
    public EndpointQueues queues() {
        return queues;
    }

    /**
     * The memory of its queues and its slab.
     *
     * @return those of them that there are.
     */
    public List<SharedFile> files() {
        return Stream.of(transmitFile, receiveFile, slabFile).filter(Objects::nonNull).toList();
    }

    /**
     * Number of its receive slab's file.
     *
     * @return from 1, or 0 if there is none.
     */
    public long slabFileNumber() {
        return slabFile == null ? 0 : slabFile.number();
    }

    /**
     * Number of its transmit queue's file.
     *
     * @return from 1, or 0 if there is none.
     */
    public long transmitFileNumber() {
        return transmitFile == null ? 0 : transmitFile.number();
    }

    /**
     * Number of its receive queue's file.
     *
     * @return from 1, or 0 if there is none.
     */
    public long receiveFileNumber() {
        return receiveFile == null ? 0 : receiveFile.number();
    }

    /**
     * Length of its transmit queue.
     *
     * @return bytes of the ring.
     */
    public int transmitLength() {
        return transmitLength;
    }

    /**
     * Length of its receive queue.
     *
     * @return bytes of the ring.
     */
    public int receiveLength() {
        return receiveLength;
    }

    /**
     * Its activity byte.
     *
     * @return index in the client's control file.
     */
    public int activityIndex() {
        return activityIndex;
    }

    /**
     * Names published for it.
     *
     * @return the live list.
     */
    public List<String> services() {
        return services;
    }

    /**
     * Its address vector.
     *
     * @return the vector, or null of a connection-oriented endpoint.
     */
    public AddressVectorResource addresses() {
        return addresses;
    }

    /** It does not use its queues, counters and address vector any more. */
    public void unbind() {
        transmitCompletions.unbind();
        receiveCompletions.unbind();
        counters.forEach(CounterResource::unbind);
        if (addresses != null) {
            addresses.unbind();
        }
    }

    /** Its name is that of the passive endpoint whose request it accepts. */
    public void shareName() {
        sharesName = true;
    }

    /**
     * Whether the name is another object's, and stays when this endpoint goes.
     *
     * @return true of an endpoint that accepts a request.
     */
    public boolean sharesName() {
        return sharesName;
    }
}
