package org.jfabric.driver.conductor;

import org.jfabric.codec.control.ListenDecoder;
import org.jfabric.driver.engine.EnginePassiveEndpoint;
import org.jfabric.driver.progress.ProgressCommand;
import org.jfabric.info.FabricException;

/** {@code fi_listen}: ends when every link of the passive endpoint listens, or one does not. Owner: conductor. */
final class ListenCommand extends Command {
    private enum State {
        CHECK,
        LISTENING
    }

    private final long passiveId;
    private final int backlog;
    private State state = State.CHECK;
    private PassiveEndpointResource passive;
    private boolean answered;
    private String address;
    private int errno;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    ListenCommand(CommandRequest request) {
        super(request);
        ListenDecoder decoder = new ListenDecoder().wrap(
            request.body(), 0, ListenDecoder.BLOCK_LENGTH, ListenDecoder.SCHEMA_VERSION);
        passiveId = decoder.passiveId();
        backlog = decoder.backlog() < 0 ? context().config().engine().backlog() : decoder.backlog();
    }

    @Override
    protected Step step(long nowNs) {
        if (state == State.CHECK) {
            passive = NamePassiveEndpointCommand.idle(session(), passiveId);
            passive.listens(true);
            state = State.LISTENING;
            onProgress(this::listen);
            return Step.AGAIN;
        }
        if (!answered) {
            return Step.LATER;
        }
        if (errno != 0) {
            throw new FabricException(errno, "passive endpoint " + passiveId + " cannot listen at "
                + passive.address(context().driverName()), "Give it another name, or close what has it.");
        }
        session().proxy().addressReady(correlationId(), 0, address);
        return Step.ENDED;
    }

    @Override
    protected void undo() {
        if (state == State.LISTENING) {
            passive.listens(false);
            context().proxy().execute(new Removal());
        }
    }

    private void listen() {
        EnginePassiveEndpoint endpoint =
            context().engine().addPassiveEndpoint(session().progress().session(), passiveId);
        passive.endpoint(endpoint);
        endpoint.listen(context().engine().links(passive.linkNames()), passive.address(context().driverName()),
            passive.bound(), passive.authKey(), backlog,
            new EnginePassiveEndpoint.Listening() {
                @Override
                public void onListening(String ready) {
                    context().inbox().post(() -> {
                        address = ready;
                        answered = true;
                    });
                }

                @Override
                public void onFailed(int why) {
                    context().inbox().post(() -> {
                        errno = why;
                        answered = true;
                    });
                }
            });
    }

    /** Removes a passive endpoint that does not listen from the engine; no command waits for it. */
    private final class Removal extends ProgressCommand {
        @Override
        protected void onProgress() {
            context().engine().removePassiveEndpoint(session().progress().session(), passive.endpoint());
        }

        @Override
        protected void onDone() {
            // no command waits for it
        }

        @Override
        protected void onFailed(Throwable cause) {
            context().log().onError(cause);
        }
    }
}
