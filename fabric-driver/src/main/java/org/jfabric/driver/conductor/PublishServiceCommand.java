package org.jfabric.driver.conductor;

import org.jfabric.codec.control.Done;
import org.jfabric.codec.control.PublishService;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** Publishes a further name of an endpoint on this host. Owner: conductor. */
final class PublishServiceCommand extends Command {
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

    PublishServiceCommand(CommandRequest request, PublishService message) {
        super(request);
        endpointId = message.endpointId();
        service = message.service();
        names = registry().names();
    }

    @Override
    protected Step step(long nowNs) {
        if (state == State.CHECK) {
            check();
            taken = true;
            state = State.WRITTEN;
            String address = address();
            background(() -> ServiceNames.write(context().directory(), service, address));
            return Step.AGAIN;
        }
        if (session().endpoints().get(endpointId) != endpoint) {
            throw new FabricException(FabricErrno.EOPBADSTATE,
                "endpoint " + endpointId + " was closed while \"" + service + "\" was published",
                "Publish first, then close.");
        }
        endpoint.services().add(service);
        return answer(new Done(correlationId()));
    }

    @Override
    protected void undo() {
        if (taken) {
            names.removeService(service);
            afterwards(() -> ServiceNames.delete(context().directory(), service));
        }
    }

    private String address() {
        return ContextName.endpoint(endpoint.endpoint().settings().address());
    }

    private void check() {
        endpoint = session().requireEndpoint(endpointId);
        ServiceNames.check("service", context().driverName(), service);
        if (!names.addService(service, endpointId, address())) {
            throw new FabricException(FabricErrno.EADDRINUSE,
                "the name " + service + " is taken in driver " + context().driverName(),
                "Choose another, or close the endpoint that has it: " + FabricName.of(context().driverName(), service));
        }
    }
}
