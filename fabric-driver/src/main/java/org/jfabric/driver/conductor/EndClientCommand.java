package org.jfabric.driver.conductor;

import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Closes all objects of a client that has ended: first in the engine, then its connection, the names and the memory.
 * Regions that operations of other clients still read are unmapped after the last of them. Owner: conductor.
 */
final class EndClientCommand extends Command {
    private enum State {
        COMMANDS,
        ENGINE,
        NAMES,
        FILES
    }

    private final ServiceNames names;
    private final WaitChannels channels;
    private final Runnable leave;
    private final List<SharedFile> deleted = new ArrayList<>();
    private final List<SharedFile> unmapped = new ArrayList<>();
    private State state = State.COMMANDS;

    /**
     * A client to be ended.
     *
     * @param session  of the client, already marked as ending.
     */
    EndClientCommand(ConductorContext context, Registry registry, ClientSession session, Runnable leave) {
        super(context, registry, session);
        this.leave = leave;
        this.names = registry.names();
        this.channels = registry.waitChannels();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case COMMANDS -> {
                // commands that create objects of the client must end before the objects can be closed
                if (session().activeCommands() > 0) {
                    return Step.LATER;
                }
                state = State.ENGINE;
                List<PassiveEndpointResource> passive = List.copyOf(session().passiveEndpoints().values());
                session().endpoints().values().forEach(
                    endpoint -> context().threads().addEndpoints(endpoint.thread(), -1));
                boolean isLost = session().isLost();
                List<TableUse> tables = List.copyOf(session().tables().values());
                tables.forEach(use -> use.leave(registry(), isLost));
                onThreads(thread -> {
                    if (isLost) {
                        session().progress(thread).session().lose();
                    }
                    context().threads().get(thread).agent().endClient(session().progress(thread));
                    tables.forEach(use -> use.unwatch(thread, context().threads().get(thread).agent()));
                    // also the addresses of passive endpoints that never listened
                    passive.stream().filter(each -> each.thread() == thread)
                        .forEach(PassiveEndpointResource::closeBound);
                });
            }
            case ENGINE -> {
                state = State.NAMES;
                session().proxy().close();
                session().closeMemory();
                leave.run();
                List<String> services = new ArrayList<>();
                collect(services);
                // On the thread that also writes these files: the names are free from now on, and a file that another
                // client publishes under one of them is written after this.
                background(() -> {
                    for (String service : services) {
                        try {
                            ServiceNames.delete(context().directory(), service);
                        } catch (IOException ex) {
                            // the memory must be freed nevertheless
                            context().log().onError(ex);
                        }
                    }
                });
            }
            case NAMES -> {
                state = State.FILES;
                background(() -> {
                    deleted.forEach(SharedFile::delete);
                    unmapped.forEach(SharedFile::unmap);
                }, sizeBytes(deleted));
            }
            default -> {
                context().counters().add(SystemCounter.CLIENTS, -1);
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void onRefused(Throwable cause) {
        context().counters().add(SystemCounter.CLIENTS, -1);
        context().log().onError(cause);
        leave.run();
    }

    private void collect(List<String> services) {
        ClientSession session = session();
        SystemCounters counters = context().counters();
        for (EndpointResource endpoint : session.endpoints().values()) {
            unmapped.addAll(endpoint.files().all());
            services.addAll(endpoint.services());
            endpoint.services().forEach(names::removeService);
            if (!endpoint.sharesName()) {
                names.removeEndpoint(endpoint.name());
            }
        }
        for (PassiveEndpointResource passive : session.passiveEndpoints().values()) {
            if (passive.name() != null) {
                names.removeEndpoint(passive.name());
            }
        }
        session.scalableEndpoints().values().forEach(each -> names.removeEndpoint(each.name()));
        for (CompletionQueueResource queue : session.completionQueues().values()) {
            unmapped.add(queue.file());
            channels.close(queue.waitResource());
        }
        for (CounterResource counter : session.counters().values()) {
            unmapped.add(counter.file());
            channels.close(counter.waitResource());
        }
        for (WaitSetResource waitSet : session.waitSets().values()) {
            unmapped.add(waitSet.file());
            channels.close(waitSet.waitResource());
        }
        for (ViewResource view : session.views().values()) {
            unmapped.add(view.file());
        }
        session.tables().values().stream().filter(TableUse::wasLast)
            .forEach(use -> unmapped.add(use.table().file()));
        unmapped.add(session.controlFile());
        deleted.addAll(unmapped);
        for (RegionResource region : session.regions().values()) {
            if (region.file() != null) {
                deleted.add(region.file());
            }
        }
        counters.add(SystemCounter.ENDPOINTS, -session.endpoints().size());
        counters.add(SystemCounter.COMPLETION_QUEUES, -session.completionQueues().size());
        counters.add(SystemCounter.COUNTERS, -session.counters().size());
        counters.add(SystemCounter.REGIONS, -session.regions().size());
        session.endpoints().clear();
        session.passiveEndpoints().clear();
        session.scalableEndpoints().clear();
        session.completionQueues().clear();
        session.counters().clear();
        session.waitSets().clear();
        session.views().clear();
        session.tables().clear();
        session.addressVectors().clear();
        session.regions().clear();
    }
}
