package org.jfabric.driver.conductor;

import org.jfabric.codec.control.AddressReady;
import org.jfabric.codec.control.Listen;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.engine.Engine;
import org.jfabric.driver.engine.EnginePassiveEndpoint;
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

    ListenCommand(CommandRequest request, Listen message) {
        super(request);
        passiveId = message.passiveId();
        backlog = message.backlog() < 0 ? context().config().get(EngineConfig.BACKLOG) : message.backlog();
    }

    @Override
    protected Step step(long nowNs) {
        if (state == State.CHECK) {
            passive = NamePassiveEndpointCommand.idle(session(), passiveId);
            passive.listens(true);
            state = State.LISTENING;
            passive.thread(thread());
            onThread(passive.thread(), this::listen);
            return Step.AGAIN;
        }
        if (!answered) {
            return Step.LATER;
        }
        if (errno != 0) {
            throw new FabricException(errno, "passive endpoint " + passiveId + " cannot listen at "
                + passive.address(context().driverName()), "Give it another name, or close what has it.");
        }
        return answer(new AddressReady(correlationId(), 0, address));
    }

    @Override
    protected void undo() {
        if (state == State.LISTENING) {
            passive.listens(false);
            int thread = passive.thread();
            aheadOnThread(thread, () -> context().threads().get(thread).engine().removePassiveEndpoint(
                session().progress(thread).session(), passive.endpoint()));
        }
    }

    /**
     * All listeners of a client are on one thread, because endpoints that accept may share a completion queue; those of
     * a card are on the first.
     */
    private int thread() {
        boolean isFirst = context().providers().stream()
            .anyMatch(each -> passive.linkNames().contains(each.name()) && each.staysOnFirstThread());
        return isFirst ? 0 : session().listeningThread(context().threads());
    }

    private void listen() {
        Engine engine = context().threads().get(passive.thread()).engine();
        EnginePassiveEndpoint endpoint =
            engine.addPassiveEndpoint(session().progress(passive.thread()).session(), passiveId);
        passive.endpoint(endpoint);
        endpoint.listen(engine.links(passive.linkNames()), passive.address(context().driverName()),
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
