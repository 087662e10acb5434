package org.jfabric.driver.conductor.command;

import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.link.support.HostNames;

/**
 * {@code fi_connect}: looks the peer's host up if it has a name, then begins the connection. How that goes on is an
 * event. Owner: conductor.
 */
public final class ConnectCommand extends Command {
    private enum State {
        RESOLVE,
        CONNECT,
        BEGUN
    }

    private final long endpointId;
    private final byte[] cmData;
    private State state = State.RESOLVE;
    private String address;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param endpointId    the endpoint.
     * @param address       where a passive endpoint listens.
     * @param cmData        private data.
     */
    public ConnectCommand(
        ConductorContext context, ClientSession session, long correlationId, long endpointId, String address,
        byte[] cmData) {
        super(context, session, correlationId);
        this.endpointId = endpointId;
        this.address = address;
        this.cmData = cmData;
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case RESOLVE -> {
                ChangeConnectionCommand.endpoint(session(), endpointId);
                AddressCheck.requireIfOurs(address);
                state = State.CONNECT;
                if (HostNames.isHost(address)) {
                    background(() -> address = HostNames.resolve(address).toString());
                }
            }
            case CONNECT -> {
                // it may have been closed meanwhile
                EndpointResource endpoint = ChangeConnectionCommand.endpoint(session(), endpointId);
                state = State.BEGUN;
                onProgress(() -> endpoint.endpoint().connect(address, cmData));
            }
            default -> {
                session().proxy().done(correlationId());
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }
}
