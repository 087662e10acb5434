package org.jfabric.driver.conductor.command;

import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.link.FabricName;

/**
 * {@code fi_connect}: finds the passive endpoint behind a service name, then begins. How it goes is an event. Owner:
 * conductor.
 */
public final class ConnectEndpointCommand extends Command {
    private enum State {
        CHECK,
        RESOLVED,
        BEGUN
    }

    private final long endpointId;
    private final String address;
    private final byte[] cmData;
    private final AddressResolver resolver;
    private State state = State.CHECK;
    private String resolved;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param endpointId    the endpoint.
     * @param address       where to.
     * @param cmData        private data.
     * @param names         of this driver.
     */
    public ConnectEndpointCommand(
        ConductorContext context,
        ClientSession session,
        long correlationId,
        long endpointId,
        String address,
        byte[] cmData,
        ServiceNames names) {
        super(context, session, correlationId);
        this.endpointId = endpointId;
        this.address = address;
        this.cmData = cmData;
        this.resolver = new AddressResolver(context, names);
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                ChangeConnectionCommand.endpoint(session(), endpointId);
                state = State.RESOLVED;
                resolve();
            }
            case RESOLVED -> {
                // it may have been closed while files were looked at
                EndpointResource endpoint = ChangeConnectionCommand.endpoint(session(), endpointId);
                state = State.BEGUN;
                onProgress(() -> endpoint.endpoint().connection().connect(resolved, cmData));
            }
            default -> {
                session().proxy().done(correlationId());
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }

    private void resolve() {
        if (!address.startsWith(FabricName.SCHEME)) {
            // of another link, which says whether it reaches it
            resolved = address;
            return;
        }
        AddressResolver.check(address);
        if (resolver.isLocal(address)) {
            resolved = resolver.resolve(address);
        } else {
            background(() -> resolved = resolver.resolve(address));
        }
    }
}
