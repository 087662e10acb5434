package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.EndpointResource;

/**
 * {@code fi_connect}, {@code fi_accept}, {@code fi_reject}, {@code fi_shutdown}: one change on the progress thread. How
 * a connection goes on is an event. Owner: conductor.
 */
public final class ChangeConnectionCommand extends Command {
    private final Runnable change;
    private boolean made;

    /**
     * Takes the change.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param change        progress thread; what it throws refuses the command.
     */
    public ChangeConnectionCommand(
        ConductorContext context, ClientSession session, long correlationId, Runnable change) {
        super(context, session, correlationId);
        this.change = change;
    }

    /**
     * An enabled endpoint.
     *
     * @param session    whose it is.
     * @param endpointId its number.
     * @return the endpoint.
     * @throws FabricException {@code FI_EINVAL} if it is not there.
     */
    public static EndpointResource endpoint(ClientSession session, long endpointId) {
        EndpointResource endpoint = session.endpoints().get(endpointId);
        if (endpoint == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "endpoint " + endpointId + " is not enabled", "Enable it first, and do not use it after its close.");
        }
        return endpoint;
    }

    @Override
    protected Step step(long nowNs) {
        if (!made) {
            made = true;
            onProgress(change);
            return Step.AGAIN;
        }
        session().proxy().done(correlationId());
        return Step.ENDED;
    }
}
