package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.conductor.AddressVectorResource;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.CompletionQueueResource;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.CounterResource;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.conductor.PassiveEndpointResource;
import org.jfabric.driver.conductor.RegionResource;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.conductor.ViewResource;
import org.jfabric.driver.conductor.WaitChannels;
import org.jfabric.driver.conductor.WaitResource;
import org.jfabric.driver.conductor.WaitSetResource;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;

import java.util.List;

/**
 * {@code fi_close}: takes the object out of the engine, deletes its names, gives its memory back. A region's mapping
 * goes with the last operation that uses it. Owner: conductor.
 */
public final class CloseObjectCommand extends Command {
    /** Code of the kind completion queue. */
    public static final int COMPLETION_QUEUE = 1;
    /** Code of the kind address vector. */
    public static final int ADDRESS_VECTOR = 2;
    /** Code of the kind memory region. */
    public static final int MEMORY_REGION = 3;
    /** Code of the kind endpoint. */
    public static final int ENDPOINT = 4;
    /** Code of the kind counter. */
    public static final int COUNTER = 8;
    /** Code of the kind wait set. */
    public static final int WAIT_SET = 9;
    /** Code of the kind view. */
    public static final int VIEW = 10;
    /** Code of the kind passive endpoint. */
    public static final int PASSIVE_ENDPOINT = 11;

    private enum State {
        BEGIN,
        TAKEN_OUT
    }

    private final int kind;
    private final long objectId;
    private final ServiceNames names;
    private final WaitChannels channels;
    private State state = State.BEGIN;
    private List<SharedFile> unmapped = List.of();
    private WaitResource unwatched;
    private WaitSetResource unbound;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param kind          code of the kind.
     * @param objectId      number of the object; of a region its index.
     * @param names         of this driver.
     * @param channels      at which applications wait.
     */
    public CloseObjectCommand(
        ConductorContext context,
        ClientSession session,
        long correlationId,
        int kind,
        long objectId,
        ServiceNames names,
        WaitChannels channels) {
        super(context, session, correlationId);
        this.kind = kind;
        this.objectId = objectId;
        this.names = names;
        this.channels = channels;
    }

    @Override
    protected Step step(long nowNs) {
        if (state == State.BEGIN) {
            state = State.TAKEN_OUT;
            begin();
            return Step.AGAIN;
        }
        unmapAfterwards(unmapped);
        channels.close(unwatched);
        if (unbound != null) {
            // only now: the progress thread wakes through the set's memory until it has let go of the queue or counter
            unbound.unbind();
        }
        session().proxy().done(correlationId());
        return Step.ENDED;
    }

    private void begin() {
        switch (kind) {
            case COMPLETION_QUEUE -> closeCompletionQueue();
            case ADDRESS_VECTOR -> closeAddressVector();
            case MEMORY_REGION -> closeRegion();
            case ENDPOINT -> closeEndpoint();
            case COUNTER -> closeCounter();
            case WAIT_SET -> closeWaitSet();
            case VIEW -> closeView();
            case PASSIVE_ENDPOINT -> closePassiveEndpoint();
            default -> throw new FabricException(FabricErrno.EINVAL,
                "objects of kind " + kind + " are not known",
                "Known are 1 to 4: queue, vector, region, endpoint; 8 to 11: counter, wait set, view, passive"
                    + " endpoint.");
        }
    }

    private void closeCompletionQueue() {
        CompletionQueueResource queue = session().completionQueues().get(objectId);
        requireOpen("completion queue", queue);
        requireUnbound("completion queue", queue.bound());
        session().completionQueues().remove(objectId);
        context().counters().add(SystemCounter.COMPLETION_QUEUES, -1);
        queue.file().delete();
        unmapped = List.of(queue.file());
        unwatched = queue.waitResource();
        unbound = queue.waitSet();
        onProgress(() -> context().progress().removeCompletionQueue(session().progress(), queue.writer()));
    }

    private void closeCounter() {
        CounterResource counter = session().counters().get(objectId);
        requireOpen("counter", counter);
        requireUnbound("counter", counter.bound());
        session().counters().remove(objectId);
        context().counters().add(SystemCounter.COUNTERS, -1);
        counter.file().delete();
        unmapped = List.of(counter.file());
        unwatched = counter.waitResource();
        unbound = counter.waitSet();
        onProgress(() -> context().progress().removeCounter(session().progress(), counter.writer()));
    }

    private void closeWaitSet() {
        WaitSetResource waitSet = session().waitSets().get(objectId);
        requireOpen("wait set", waitSet);
        if (waitSet.bound() > 0) {
            throw new FabricException(FabricErrno.EBUSY,
                "wait set " + objectId + " is used by " + waitSet.bound() + " queue(s) or counter(s)",
                "Close these first.");
        }
        session().waitSets().remove(objectId);
        waitSet.file().delete();
        unmapped = List.of(waitSet.file());
        unwatched = waitSet.waitResource();
        // a channel may just be on its way to the progress thread: it must have come back before it is closed
        onProgress(unwatched.point()::clearChannel);
    }

    private void closeView() {
        ViewResource view = session().views().remove(objectId);
        requireOpen("view", view);
        view.file().delete();
        unmapped = List.of(view.file());
        onProgress(() -> context().progress().removeView(view.view()));
    }

    private void closeAddressVector() {
        AddressVectorResource vector = session().addressVectors().get(objectId);
        requireOpen("address vector", vector);
        requireUnbound("address vector", vector.bound());
        session().addressVectors().remove(objectId);
    }

    private void closeRegion() {
        RegionResource region = session().regions().get((int) objectId);
        requireOpen("region", objectId == (int) objectId ? region : null);
        session().regions().remove((int) objectId);
        context().counters().add(SystemCounter.REGIONS, -1);
        if (region.file() != null) {
            region.file().delete();
        }
        onProgress(() -> session().progress().session().regions().close(region.index()));
    }

    private void closeEndpoint() {
        EndpointResource endpoint = session().endpoints().get(objectId);
        requireOpen("endpoint", endpoint);
        session().endpoints().remove(objectId);
        context().counters().add(SystemCounter.ENDPOINTS, -1);
        for (SharedFile file : endpoint.files()) {
            file.delete();
        }
        unmapped = endpoint.files();
        for (String service : endpoint.services()) {
            names.removeService(service);
            afterwards(() -> ServiceNames.delete(context().directory(), service));
        }
        if (!endpoint.sharesName()) {
            names.removeEndpoint(endpoint.name());
        }
        endpoint.unbind();
        onProgress(() -> {
            if (endpoint.queues() != null) {
                context().progress().removeQueues(endpoint.queues());
            }
            context().engine().removeEndpoint(endpoint.endpoint());
        });
        session().giveActivityIndex(endpoint.activityIndex());
    }

    private void closePassiveEndpoint() {
        PassiveEndpointResource passive = session().passiveEndpoints().get(objectId);
        requireOpen("passive endpoint", passive);
        session().passiveEndpoints().remove(objectId);
        if (passive.name() != null) {
            names.removeEndpoint(passive.name());
        }
        onProgress(() -> {
            context().engine().removePassiveEndpoint(session().progress().session(), passive.endpoint());
            passive.closeBound();
        });
    }

    private void requireOpen(String what, Object object) {
        if (object == null) {
            throw new FabricException(FabricErrno.EINVAL,
                what + ' ' + objectId + " is not open", "Close each object once.");
        }
    }

    private void requireUnbound(String what, int bound) {
        if (bound > 0) {
            throw new FabricException(FabricErrno.EBUSY,
                what + ' ' + objectId + " is used by " + bound + " endpoint side(s)", "Close the endpoints first.");
        }
    }
}
