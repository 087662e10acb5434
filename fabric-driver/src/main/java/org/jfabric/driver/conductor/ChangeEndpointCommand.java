package org.jfabric.driver.conductor;

import org.jfabric.codec.control.AcceptConnection;
import org.jfabric.codec.control.Done;
import org.jfabric.codec.control.LeaveGroup;
import org.jfabric.codec.control.RejectConnection;
import org.jfabric.codec.control.ShutdownEndpoint;

/**
 * One change on the progress thread, answered as soon as it is done: {@code fi_accept}, {@code fi_reject},
 * {@code fi_shutdown}, leaving a group. The further progress of a connection is reported by events. Owner: conductor.
 */
final class ChangeEndpointCommand extends Command {
    private final int thread;
    private final Runnable change;
    private boolean made;

    /**
     * Takes the change.
     *
     * @param request as it arrived; not kept.
     */
    ChangeEndpointCommand(CommandRequest request, int thread, Runnable change) {
        super(request);
        this.thread = thread;
        this.change = change;
    }

    static Command accept(CommandRequest request, AcceptConnection message) {
        EndpointResource endpoint = request.session().requireEndpoint(message.endpointId());
        return new ChangeEndpointCommand(
            request, endpoint.thread(), () -> endpoint.endpoint().accept(message.requestId(), message.cmData()));
    }

    static Command reject(CommandRequest request, RejectConnection message) {
        ClientSession session = request.session();
        int thread = request.context().threads().ofRequest(message.requestId());
        return new ChangeEndpointCommand(request, thread,
            () -> session.progress(thread).session().reject(message.requestId(), message.cmData()));
    }

    static Command shutdown(CommandRequest request, ShutdownEndpoint message) {
        EndpointResource endpoint = request.session().requireEndpoint(message.endpointId());
        return new ChangeEndpointCommand(request, endpoint.thread(), () -> endpoint.endpoint().shutdown());
    }

    static Command leave(CommandRequest request, LeaveGroup message) {
        EndpointResource endpoint = request.session().requireEndpoint(message.endpointId());
        return new ChangeEndpointCommand(
            request, endpoint.thread(), () -> endpoint.endpoint().links().leave(message.fiAddr()));
    }

    @Override
    protected Step step(long nowNs) {
        if (!made) {
            made = true;
            onThread(thread, change);
            return Step.AGAIN;
        }
        return answer(new Done(correlationId()));
    }
}
