package org.jfabric.driver.conductor.command;

import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.EndpointResource;

/** {@code fi_close} of a multicast group. Owner: conductor. */
public final class LeaveGroupCommand extends Command {
    private final long endpointId;
    private final long fiAddr;
    private boolean left;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param endpointId    the member.
     * @param fiAddr        the group.
     */
    public LeaveGroupCommand(
        ConductorContext context, ClientSession session, long correlationId, long endpointId, long fiAddr) {
        super(context, session, correlationId);
        this.endpointId = endpointId;
        this.fiAddr = fiAddr;
    }

    @Override
    protected Step step(long nowNs) {
        if (!left) {
            EndpointResource endpoint = ChangeConnectionCommand.endpoint(session(), endpointId);
            left = true;
            onProgress(() -> endpoint.endpoint().leave(fiAddr));
            return Step.AGAIN;
        }
        session().proxy().done(correlationId());
        return Step.ENDED;
    }
}
