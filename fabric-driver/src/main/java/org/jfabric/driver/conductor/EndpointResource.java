package org.jfabric.driver.conductor;

import org.jfabric.client.ContextPlace;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.progress.EndpointQueues;

import java.util.ArrayList;
import java.util.List;

/** An enabled endpoint of a client. Owner: conductor; endpoint and queues belong to the progress thread. */
public final class EndpointResource {
    private final EngineEndpoint endpoint;
    private final int thread;
    private final EndpointQueues queues;
    private final EndpointFiles files;
    private final int activityIndex;
    private final BoundObjects bound;
    private final List<String> services = new ArrayList<>();
    private boolean sharesName;
    /** The scalable endpoint that it is a context of, or null. */
    private ScalableEndpointResource scalable;
    private ContextPlace place;
    /** Of a shared receive context: the number of endpoints that use it. */
    private int users;
    /** Of the ring that its client reads in place, 0 for none; it may have been closed since. */
    private long ringNumber;

    /**
     * An endpoint and the objects that it uses.
     *
     * @param queues        the driver's ends, or null for an embedding client.
     */
    EndpointResource(
        EngineEndpoint endpoint,
        int thread,
        EndpointQueues queues,
        EndpointFiles files,
        int activityIndex,
        BoundObjects bound) {
        this.endpoint = endpoint;
        this.thread = thread;
        this.queues = queues;
        this.files = files;
        this.activityIndex = activityIndex;
        this.bound = bound;
    }

    /** Its client reads a group's ring in place. */
    void reads(long number) {
        ringNumber = number;
    }

    long ringNumber() {
        return ringNumber;
    }

    /** Its number, from 1. */
    long id() {
        return endpoint.settings().id();
    }

    /** Its name within the driver. */
    String name() {
        return endpoint.settings().name();
    }

    /** The engine's part. */
    public EngineEndpoint endpoint() {
        return endpoint;
    }

    /** The progress thread that serves it. */
    int thread() {
        return thread;
    }

    /** The driver's ends of its queues. Returns the queues, or null for an embedding client. */
    EndpointQueues queues() {
        return queues;
    }

    /** The memory of its queues and its slab. */
    EndpointFiles files() {
        return files;
    }

    int activityIndex() {
        return activityIndex;
    }

    /** The names published for it. */
    List<String> services() {
        return services;
    }

    /** Its queues, counters and address vector. */
    BoundObjects bound() {
        return bound;
    }

    /** Of a shared receive context: the number of endpoints that use it. */
    int users() {
        return users;
    }

    /** An endpoint uses this shared receive context, or does not any more. */
    void addUsers(int change) {
        users += change;
    }

    /** Its name is that of the passive endpoint whose request it accepts. */
    void shareName() {
        sharesName = true;
    }

    /** It is a context, whose name is no name of the driver's table. */
    void contextOf(ScalableEndpointResource parent, ContextPlace placeThere) {
        scalable = parent;
        place = placeThere;
        sharesName = true;
    }

    /** A context is closed; does nothing for an ordinary endpoint. */
    void leaveScalable() {
        if (scalable != null) {
            scalable.close(place);
        }
    }

    /** Whether the name belongs to another object, and stays when this endpoint is closed. */
    boolean sharesName() {
        return sharesName;
    }
}
