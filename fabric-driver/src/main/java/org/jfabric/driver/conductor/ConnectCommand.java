package org.jfabric.driver.conductor;

import org.jfabric.codec.control.ConnectEndpoint;
import org.jfabric.codec.control.Done;
import org.jfabric.driver.link.support.HostNames;

/**
 * {@code fi_connect}: resolves the peer's host if it has a name, then begins the connection. The result is an event.
 * Owner: conductor.
 */
final class ConnectCommand extends Command {
    private enum State {
        RESOLVE,
        CONNECT,
        BEGUN
    }

    private final ConnectEndpoint message;
    private State state = State.RESOLVE;
    private String address;

    ConnectCommand(CommandRequest request, ConnectEndpoint message) {
        super(request);
        this.message = message;
        address = message.address();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case RESOLVE -> {
                session().requireEndpoint(message.endpointId());
                InsertAddressCommand.requireIfOurs(address);
                state = State.CONNECT;
                if (HostNames.isHost(address)) {
                    background(() -> address = HostNames.resolve(address).toString());
                }
            }
            case CONNECT -> {
                // it may have been closed meanwhile
                EndpointResource endpoint = session().requireEndpoint(message.endpointId());
                state = State.BEGUN;
                onThread(endpoint.thread(), () -> endpoint.endpoint().connect(address, message.cmData()));
            }
            default -> {
                return answer(new Done(correlationId()));
            }
        }
        return Step.AGAIN;
    }
}
