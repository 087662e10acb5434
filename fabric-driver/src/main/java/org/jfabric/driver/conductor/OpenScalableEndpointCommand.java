package org.jfabric.driver.conductor;

import org.jfabric.codec.control.OpenScalableEndpoint;
import org.jfabric.codec.control.ScalableEndpointReady;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/** {@code fi_scalable_ep}: takes a name; the contexts choose their links. Owner: conductor. */
final class OpenScalableEndpointCommand extends Command {
    private final OpenScalableEndpoint message;
    private final ServiceNames names;
    private final long id;
    private String takenName;

    OpenScalableEndpointCommand(CommandRequest request, OpenScalableEndpoint message) {
        super(request);
        this.message = message;
        names = registry().names();
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        context().drain().requireInactive(context().directory());
        requireCount("transmit", message.txCtxCnt());
        requireCount("receive", message.rxCtxCnt());
        String driver = context().driverName();
        String name = message.endpointName().isEmpty()
            ? FabricName.unnamed("sep", context().files().owner(), id) : message.endpointName();
        ServiceNames.check("endpoint", driver, name);
        if (FabricName.of(driver, name).length() > FabricName.MAX_LENGTH - ContextName.MAX_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL,
                "the scalable endpoint's address " + FabricName.of(driver, name) + " is longer than "
                    + (FabricName.MAX_LENGTH - ContextName.MAX_LENGTH) + " characters",
                "Use a shorter name: its contexts have longer ones.");
        }
        if (!names.addEndpoint(name, id)) {
            throw ServiceNames.taken(driver, name);
        }
        takenName = name;
        session().scalableEndpoints().put(id, new ScalableEndpointResource(
            id, name, (message.caps() & Flags.NAMED_RX_CTX) != 0, message.txCtxCnt(), message.rxCtxCnt()));
        return answer(new ScalableEndpointReady(correlationId(), id, FabricName.of(driver, name)));
    }

    @Override
    protected void undo() {
        if (takenName != null) {
            session().scalableEndpoints().remove(id);
            names.removeEndpoint(takenName);
        }
    }

    private static void requireCount(String side, int count) {
        if (count < 0 || count > ContextName.MAX_CONTEXTS) {
            throw new FabricException(FabricErrno.EINVAL,
                "a scalable endpoint with " + count + ' ' + side + " contexts",
                "Ask for at most " + ContextName.MAX_CONTEXTS + '.');
        }
    }
}
