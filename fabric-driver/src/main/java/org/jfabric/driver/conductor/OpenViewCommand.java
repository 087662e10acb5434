package org.jfabric.driver.conductor;

import org.jfabric.codec.control.OpenViewDecoder;
import org.jfabric.driver.engine.QueueView;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.ViewDescriptor;

/**
 * Opens a view of the queues of the endpoint with the next greater number, of the requesting client or of another one
 * of its user; the driver's own user views those of all. Creates the file, then lets the progress thread write it.
 * Owner: conductor.
 */
final class OpenViewCommand extends Command {
    private enum State {
        MAKE,
        BEGIN,
        ANSWER
    }

    private final EndpointResource endpoint;
    private final int thread;
    private final long id;
    private State state = State.MAKE;
    private SharedFile file;
    private QueueView view;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    OpenViewCommand(CommandRequest request) {
        super(request);
        OpenViewDecoder decoder = new OpenViewDecoder().wrap(
            request.body(), 0, OpenViewDecoder.BLOCK_LENGTH, OpenViewDecoder.SCHEMA_VERSION);
        endpoint = registry().endpointAfter(decoder.afterEndpointId(), session());
        thread = endpoint == null ? 0 : endpoint.thread();
        id = registry().nextId();
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
                // the view of an endpoint that was closed meanwhile shows that it is closed
                onThread(thread, () -> context().threads().get(thread).agent().addView(view));
            }
            default -> {
                ViewResource resource = new ViewResource(id, endpoint.id(), thread, view, file);
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
            session().progress(thread).session(),
            context().threads().get(thread).engine().settings().unexpectedBudgetBytes(),
            file.address());
    }
}
