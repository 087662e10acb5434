package org.jfabric.driver.conductor.command;

import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.conductor.ViewResource;
import org.jfabric.driver.engine.QueueView;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.ViewDescriptor;

/**
 * Begins a look at the queues of an endpoint, the asking client's or another's: who may ask at all is decided by the
 * kernel, as for everything of this driver. Makes the file, then lets the progress thread write. Owner: conductor.
 */
public final class OpenViewCommand extends Command {
    private enum State {
        MAKE,
        BEGIN,
        ANSWER
    }

    private final EndpointResource endpoint;
    private final long id;
    private State state = State.MAKE;
    private SharedFile file;
    private QueueView view;

    /**
     * Takes the request.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param endpoint      to be looked at, or null if there is none.
     * @param id            number for the view.
     */
    public OpenViewCommand(
        ConductorContext context,
        ClientSession session,
        long correlationId,
        EndpointResource endpoint,
        long id) {
        super(context, session, correlationId);
        this.endpoint = endpoint;
        this.id = id;
    }

    @Override
    protected Step step(long nowNs) {
        if (endpoint == null) {
            session().proxy().viewReady(correlationId(), null);
            return Step.ENDED;
        }
        switch (state) {
            case MAKE -> {
                state = State.BEGIN;
                background(this::make);
            }
            case BEGIN -> {
                state = State.ANSWER;
                // an endpoint that was closed meanwhile is seen to be closed
                onProgress(() -> context().progress().addView(view));
            }
            default -> {
                ViewResource resource = new ViewResource(id, endpoint.id(), view, file);
                session().views().put(id, resource);
                session().proxy().viewReady(correlationId(), resource);
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        if (file != null) {
            file.delete();
            afterwards(file::unmap);
        }
    }

    private void make() {
        file = context().files().create(
            session().id(),
            context().files().nextNumber(),
            FileType.VIEW,
            0,
            ViewDescriptor.FILE_LENGTH,
            ViewDescriptor.FILE_LENGTH - FileHeaderDescriptor.HEADER_LENGTH,
            endpoint.id(),
            0);
        view = new QueueView(
            endpoint.endpoint(),
            session().progress().session(),
            context().engine().settings().unexpectedBudgetBytes(),
            file.address());
    }
}
