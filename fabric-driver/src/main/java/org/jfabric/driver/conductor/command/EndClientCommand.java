package org.jfabric.driver.conductor.command;

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
import org.jfabric.driver.conductor.WaitSetResource;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes back everything of a client that is gone: first from the engine, then the names and the memory. Regions that
 * operations of others still read go with the last of them. Owner: conductor.
 */
public final class EndClientCommand extends Command {
    private enum State {
        COMMANDS,
        ENGINE,
        NAMES,
        FILES
    }

    private final ServiceNames names;
    private final WaitChannels channels;
    private final List<SharedFile> deleted = new ArrayList<>();
    private final List<SharedFile> unmapped = new ArrayList<>();
    private State state = State.COMMANDS;

    /**
     * A client to be ended.
     *
     * @param context  what commands work with.
     * @param session  of the client, already marked as ending.
     * @param names    of this driver.
     * @param channels at which applications wait.
     */
    public EndClientCommand(
        ConductorContext context, ClientSession session, ServiceNames names, WaitChannels channels) {
        super(context, session, 0);
        this.names = names;
        this.channels = channels;
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case COMMANDS -> {
                // what is being made for the client has to be finished before it can be taken back
                if (session().activeCommands() > 0) {
                    return Step.LATER;
                }
                state = State.ENGINE;
                List<PassiveEndpointResource> passive = List.copyOf(session().passiveEndpoints().values());
                onProgress(() -> {
                    context().progress().endClient(session().progress());
                    // also the addresses of those that never listened
                    passive.forEach(PassiveEndpointResource::closeBound);
                });
            }
            case ENGINE -> {
                state = State.NAMES;
                session().proxy().close();
                List<String> services = new ArrayList<>();
                collect(services);
                // On the thread that also writes these files: the names are free from now on, and what another client
                // publishes under one of them comes behind this.
                background(() -> {
                    for (String service : services) {
                        try {
                            ServiceNames.delete(context().directory(), service);
                        } catch (IOException ex) {
                            // the memory has to be given back all the same
                            context().errorHandler().onError(ex);
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
        context().errorHandler().onError(cause);
    }

    private void collect(List<String> services) {
        ClientSession session = session();
        SystemCounters counters = context().counters();
        for (EndpointResource endpoint : session.endpoints().values()) {
            unmapped.addAll(endpoint.files());
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
        session.completionQueues().clear();
        session.counters().clear();
        session.waitSets().clear();
        session.views().clear();
        session.addressVectors().clear();
        session.regions().clear();
    }
}
