package org.jfabric.driver.conductor;

import java.util.List;
import org.jfabric.codec.control.CloseObject;
import org.jfabric.codec.control.Done;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.progress.ProgressThread;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * {@code fi_close}: removes the object from the engine, deletes its names and frees its memory. A region is unmapped
 * when the last operation that uses it has ended. Owner: conductor.
 */
final class CloseObjectCommand extends Command {
    private enum State {
        BEGIN,
        TAKEN_OUT
    }

    private final int kind;
    private final long objectId;
    private final ServiceNames names;
    private State state = State.BEGIN;
    private List<SharedFile> unmapped = List.of();
    private WaitResource unwatched;
    private WaitSetResource unbound;
    /** The region that was closed: a card may still access it for peers. */
    private RegisteredRegion unexposed;

    CloseObjectCommand(CommandRequest request, CloseObject message) {
        super(request);
        kind = message.kind();
        objectId = message.objectId();
        names = registry().names();
    }

    @Override
    protected Step step(long nowNs) {
        if (state == State.BEGIN) {
            state = State.TAKEN_OUT;
            begin();
            return Step.AGAIN;
        }
        if (unexposed != null && unexposed.isExposed()) {
            // the application may reuse memory of its own as soon as the region is closed
            return Step.LATER;
        }
        // first: threads are woken through the object's memory until its channel is closed
        registry().waitChannels().close(unwatched);
        unmapAfterwards(unmapped);
        if (unbound != null) {
            // only now: the progress thread wakes through the set's memory until it has removed the queue or counter
            unbound.unbind();
        }
        return answer(new Done(correlationId()));
    }

    private void begin() {
        switch (kindOf(kind)) {
            case COMPLETION_QUEUE -> closeCompletionQueue();
            case ADDRESS_VECTOR -> closeAddressVector();
            case MEMORY_REGION -> closeRegion();
            case ENDPOINT -> closeEndpoint();
            case COUNTER -> closeCounter();
            case WAIT_SET -> closeWaitSet();
            case VIEW -> closeView();
            case TABLE -> closeTable();
            case PASSIVE_ENDPOINT -> closePassiveEndpoint();
            case SCALABLE_ENDPOINT -> closeScalableEndpoint();
            default -> throw new FabricException(FabricErrno.EINVAL,
                "objects of kind " + kind + " are not known",
                "Known are 1 to 4: queue, vector, region, endpoint; 8 to 11: counter, wait set, view, passive"
                    + " endpoint; 15: scalable endpoint; 16: table.");
        }
    }

    /** The kind with a code; {@code NULL_VAL} for an unknown code, for which the codec would throw an exception. */
    private static ObjectKind kindOf(int code) {
        for (ObjectKind each : ObjectKind.values()) {
            if (each.value() == code) {
                return each;
            }
        }
        return ObjectKind.NULL_VAL;
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
        if (queue.thread() != CompletionQueueResource.UNPLACED) {
            onThread(queue.thread(), () -> context().threads().get(queue.thread()).agent().removeCompletionQueue(
                session().progress(queue.thread()), queue.writer()));
        }
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
        onThreads(thread -> {
            CounterWriter writer = counter.writer(thread);
            counter.regions().forEach(region -> region.copy(thread).unbind(writer));
            context().threads().get(thread).agent().removeCounter(session().progress(thread), writer);
        });
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
        // the channel may be on its way to the progress thread: that call must have ended before it is closed
        onThreads(thread -> unwatched.points()[thread].clearChannel());
    }

    private void closeView() {
        ViewResource view = session().views().remove(objectId);
        requireOpen("view", view);
        view.file().delete();
        unmapped = List.of(view.file());
        onThread(view.thread(), () -> context().threads().get(view.thread()).agent().removeView(view.view()));
    }

    private void closeTable() {
        TableUse use = session().tables().remove(objectId);
        requireOpen("table", use);
        use.leave(registry(), false);
        if (use.wasLast()) {
            use.table().file().delete();
            unmapped = List.of(use.table().file());
        }
        unbound = use.waitSet();
        onThread(TableUse.THREAD, () -> use.unwatch(
            TableUse.THREAD, context().threads().get(TableUse.THREAD).agent()));
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
        session().counters().values().forEach(counter -> counter.regions().remove(region));
        context().counters().add(SystemCounter.REGIONS, -1);
        if (region.file() != null) {
            region.file().delete();
        }
        // cards have the one of the first thread
        unexposed = region.copy(0);
        onThreads(thread -> session().progress(thread).session().regions().close(region.index()));
    }

    private void closeEndpoint() {
        EndpointResource endpoint = session().endpoints().get(objectId);
        requireOpen("endpoint", endpoint);
        requireUnbound("shared receive context", endpoint.users());
        session().endpoints().remove(objectId);
        context().counters().add(SystemCounter.ENDPOINTS, -1);
        for (SharedFile file : endpoint.files().all()) {
            file.delete();
        }
        unmapped = endpoint.files().all();
        for (String service : endpoint.services()) {
            names.removeService(service);
            afterwards(() -> ServiceNames.delete(context().directory(), service));
        }
        if (!endpoint.sharesName()) {
            names.removeEndpoint(endpoint.name());
        }
        endpoint.leaveScalable();
        endpoint.bound().unbind();
        ProgressThread thread = context().threads().get(endpoint.thread());
        context().threads().addEndpoints(thread.index(), -1);
        onThread(thread.index(), () -> {
            if (endpoint.queues() != null) {
                thread.agent().removeQueues(endpoint.queues());
            }
            thread.engine().removeEndpoint(endpoint.endpoint());
        });
        session().giveActivityIndex(endpoint.activityIndex());
    }

    private void closeScalableEndpoint() {
        ScalableEndpointResource scalable = session().scalableEndpoints().get(objectId);
        requireOpen("scalable endpoint", scalable);
        if (scalable.openContexts() > 0) {
            throw new FabricException(FabricErrno.EBUSY,
                "scalable endpoint " + objectId + " has " + scalable.openContexts() + " open context(s)",
                "Close these first.");
        }
        session().scalableEndpoints().remove(objectId);
        names.removeEndpoint(scalable.name());
    }

    private void closePassiveEndpoint() {
        PassiveEndpointResource passive = session().passiveEndpoints().get(objectId);
        requireOpen("passive endpoint", passive);
        session().passiveEndpoints().remove(objectId);
        if (passive.name() != null) {
            names.removeEndpoint(passive.name());
        }
        ProgressThread thread = context().threads().get(passive.thread());
        onThread(thread.index(), () -> {
            thread.engine().removePassiveEndpoint(
                session().progress(thread.index()).session(), passive.endpoint());
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
