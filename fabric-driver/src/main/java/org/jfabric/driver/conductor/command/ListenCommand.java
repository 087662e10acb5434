package org.jfabric.driver.conductor.command;

import org.jfabric.FabricException;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.PassiveEndpointResource;
import org.jfabric.driver.engine.EnginePassiveEndpoint;

/** {@code fi_listen}: ends when every link of the passive endpoint listens, or one does not. Owner: conductor. */
public final class ListenCommand extends Command {
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
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param passiveId     the passive endpoint.
     * @param backlog       requests that may wait; negative: as configured.
     */
    public ListenCommand(
        ConductorContext context, ClientSession session, long correlationId, long passiveId, int backlog) {
        super(context, session, correlationId);
        this.passiveId = passiveId;
        this.backlog = backlog < 0 ? context.config().engine().backlog() : backlog;
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
            PassiveEndpointResource failed = passive;
            context().proxy().execute(new QuietChange(context(), () -> context().engine().removePassiveEndpoint(
                session().progress().session(), failed.endpoint())));
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
}
