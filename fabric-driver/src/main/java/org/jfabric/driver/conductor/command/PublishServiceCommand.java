package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.link.FabricName;

/** Publishes a further name of an endpoint on this host. Owner: conductor. */
public final class PublishServiceCommand extends Command {
    private enum State {
        CHECK,
        WRITTEN
    }

    private final long endpointId;
    private final String service;
    private final ServiceNames names;
    private State state = State.CHECK;
    private EndpointResource endpoint;
    private boolean taken;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param endpointId    the endpoint.
     * @param service       the name.
     * @param names         of this driver.
     */
    public PublishServiceCommand(
        ConductorContext context,
        ClientSession session,
        long correlationId,
        long endpointId,
        String service,
        ServiceNames names) {
        super(context, session, correlationId);
        this.endpointId = endpointId;
        this.service = service;
        this.names = names;
    }

    @Override
    protected Step step(long nowNs) {
        if (state == State.CHECK) {
            check();
            taken = true;
            state = State.WRITTEN;
            String address = endpoint.endpoint().settings().address();
            background(() -> ServiceNames.write(context().directory(), service, address));
            return Step.AGAIN;
        }
        if (session().endpoints().get(endpointId) != endpoint) {
            throw new FabricException(FabricErrno.EOPBADSTATE,
                "endpoint " + endpointId + " was closed while \"" + service + "\" was published",
                "Publish first, then close.");
        }
        endpoint.services().add(service);
        session().proxy().done(correlationId());
        return Step.ENDED;
    }

    @Override
    protected void undo() {
        if (taken) {
            names.removeService(service);
            afterwards(() -> ServiceNames.delete(context().directory(), service));
        }
    }

    private void check() {
        endpoint = session().endpoints().get(endpointId);
        if (endpoint == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "endpoint " + endpointId + " is not enabled", "Enable it first, and do not use it after its close.");
        }
        EnableEndpointCommand.checkName("service", context().driverName(), service);
        if (!names.addService(service, endpointId, endpoint.endpoint().settings().address())) {
            throw new FabricException(FabricErrno.EADDRINUSE,
                "the name " + service + " is taken in driver " + context().driverName(),
                "Choose another, or close the endpoint that has it: " + FabricName.of(context().driverName(), service));
        }
    }
}
