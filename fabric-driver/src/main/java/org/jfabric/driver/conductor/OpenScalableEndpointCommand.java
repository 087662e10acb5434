package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.jfabric.codec.control.OpenScalableEndpointDecoder;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/** {@code fi_scalable_ep}: takes a name; the contexts choose their links. Owner: conductor. */
final class OpenScalableEndpointCommand extends Command {
    private final long caps;
    private final int txCtxCnt;
    private final int rxCtxCnt;
    private final String wantedName;
    private final ServiceNames names;
    private final long id;
    private String takenName;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    OpenScalableEndpointCommand(CommandRequest request) {
        super(request);
        OpenScalableEndpointDecoder decoder = new OpenScalableEndpointDecoder().wrap(
            request.body(), 0, OpenScalableEndpointDecoder.BLOCK_LENGTH, OpenScalableEndpointDecoder.SCHEMA_VERSION);
        // as a plain number: the accessor is an object with a method for each bit
        caps = request.body().getLong(OpenScalableEndpointDecoder.capsEncodingOffset(), LITTLE_ENDIAN);
        txCtxCnt = decoder.txCtxCnt();
        rxCtxCnt = decoder.rxCtxCnt();
        wantedName = decoder.endpointName();
        names = registry().names();
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        context().drain().requireInactive(context().directory());
        requireCount("transmit", txCtxCnt);
        requireCount("receive", rxCtxCnt);
        String driver = context().driverName();
        String name = wantedName.isEmpty() ? FabricName.unnamed("sep", context().files().owner(), id) : wantedName;
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
            id, name, (caps & Flags.NAMED_RX_CTX) != 0, txCtxCnt, rxCtxCnt));
        session().proxy().scalableEndpointReady(correlationId(), id, FabricName.of(driver, name));
        return Step.ENDED;
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
