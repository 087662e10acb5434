package org.jfabric.driver.conductor;

import org.jfabric.codec.control.AcceptConnectionDecoder;
import org.jfabric.codec.control.RejectConnectionDecoder;
import org.jfabric.codec.control.ShutdownEndpointDecoder;

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

    static Command accept(CommandRequest request) {
        AcceptConnectionDecoder decoder = new AcceptConnectionDecoder().wrap(
            request.body(), 0, AcceptConnectionDecoder.BLOCK_LENGTH, AcceptConnectionDecoder.SCHEMA_VERSION);
        EndpointResource endpoint = request.session().requireEndpoint(decoder.endpointId());
        long requestId = decoder.requestId();
        byte[] cmData = new byte[decoder.cmDataLength()];
        decoder.getCmData(cmData, 0, cmData.length);
        return new ChangeEndpointCommand(
            request, endpoint.thread(), () -> endpoint.endpoint().accept(requestId, cmData));
    }

    static Command reject(CommandRequest request) {
        RejectConnectionDecoder decoder = new RejectConnectionDecoder().wrap(
            request.body(), 0, RejectConnectionDecoder.BLOCK_LENGTH, RejectConnectionDecoder.SCHEMA_VERSION);
        ClientSession session = request.session();
        long requestId = decoder.requestId();
        byte[] cmData = new byte[decoder.cmDataLength()];
        decoder.getCmData(cmData, 0, cmData.length);
        int thread = request.context().threads().ofRequest(requestId);
        return new ChangeEndpointCommand(
            request, thread, () -> session.progress(thread).session().reject(requestId, cmData));
    }

    static Command shutdown(CommandRequest request) {
        ShutdownEndpointDecoder decoder = new ShutdownEndpointDecoder().wrap(
            request.body(), 0, ShutdownEndpointDecoder.BLOCK_LENGTH, ShutdownEndpointDecoder.SCHEMA_VERSION);
        EndpointResource endpoint = request.session().requireEndpoint(decoder.endpointId());
        return new ChangeEndpointCommand(request, endpoint.thread(), () -> endpoint.endpoint().shutdown());
    }

    @Override
    protected Step step(long nowNs) {
        if (!made) {
            made = true;
            onThread(thread, change);
            return Step.AGAIN;
        }
        session().proxy().done(correlationId());
        return Step.ENDED;
    }
}
