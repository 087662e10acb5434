package org.jfabric.driver.conductor;

import org.jfabric.codec.control.OpenView;
import org.jfabric.codec.control.ViewReady;
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

    OpenViewCommand(CommandRequest request, OpenView message) {
        super(request);
        endpoint = registry().endpointAfter(message.afterEndpointId(), session());
        thread = endpoint == null ? 0 : endpoint.thread();
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        if (endpoint == null) {
            return answer(new ViewReady(correlationId(), 0, 0, 0));
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
                session().views().put(id, new ViewResource(id, endpoint.id(), thread, view, file));
                return answer(new ViewReady(correlationId(), id, file.number(), endpoint.id()));
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
