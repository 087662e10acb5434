package org.jfabric.driver.conductor;

import org.jfabric.codec.control.AddressVectorReady;
import org.jfabric.codec.control.OpenAddressVector;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/** {@code fi_av_open}: an empty table, which needs no file. Owner: conductor. */
final class OpenAddressVectorCommand extends Command {
    private final OpenAddressVector message;
    private final long id;

    OpenAddressVectorCommand(CommandRequest request, OpenAddressVector message) {
        super(request);
        this.message = message;
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        check();
        session().addressVectors().put(
            id, new AddressVectorResource(id, message.rxCtxBits(), context().threads().count()));
        return answer(new AddressVectorReady(correlationId(), id));
    }

    private void check() {
        AddressVectorType.of(message.avType());
        // asynchronous insertions use the same commands; only the client uses the event queue
        if ((message.flags() & ~Flags.EVENT) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags 0x" + Long.toHexString(message.flags()) + " of an address vector, known is FI_EVENT",
                "Open it without other flags.");
        }
        if (!message.name().isEmpty()) {
            throw new FabricException(
                FabricErrno.EOPNOTSUPP, "an address vector with a name", "Open one without name.");
        }
        if (message.rxCtxBits() < 0 || message.rxCtxBits() > FabricAddress.MAX_RX_CTX_BITS) {
            throw new FabricException(FabricErrno.EINVAL,
                "an address vector with " + message.rxCtxBits() + " receive context bits",
                "Use 0 to " + FabricAddress.MAX_RX_CTX_BITS + '.');
        }
    }
}
