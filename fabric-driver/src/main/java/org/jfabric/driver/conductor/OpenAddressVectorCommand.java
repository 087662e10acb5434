package org.jfabric.driver.conductor;

import org.jfabric.codec.control.OpenAddressVectorDecoder;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/** {@code fi_av_open}: an empty table, which needs no file. Owner: conductor. */
final class OpenAddressVectorCommand extends Command {
    private final int typeCode;
    private final long flags;
    private final int rxCtxBits;
    private final boolean isNamed;
    private final long id;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    OpenAddressVectorCommand(CommandRequest request) {
        super(request);
        OpenAddressVectorDecoder decoder = new OpenAddressVectorDecoder().wrap(
            request.body(), 0, OpenAddressVectorDecoder.BLOCK_LENGTH, OpenAddressVectorDecoder.SCHEMA_VERSION);
        typeCode = decoder.avTypeRaw();
        flags = decoder.flags();
        rxCtxBits = decoder.rxCtxBits();
        isNamed = decoder.nameLength() != 0;
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        check();
        session().addressVectors().put(id, new AddressVectorResource(id, rxCtxBits, context().threads().count()));
        session().proxy().addressVectorReady(correlationId(), id);
        return Step.ENDED;
    }

    private void check() {
        AddressVectorType.of(typeCode);
        // asynchronous insertions use the same commands; only the client uses the event queue
        if ((flags & ~Flags.EVENT) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags 0x" + Long.toHexString(flags) + " of an address vector, known is FI_EVENT",
                "Open it without other flags.");
        }
        if (isNamed) {
            throw new FabricException(
                FabricErrno.EOPNOTSUPP, "an address vector with a name", "Open one without name.");
        }
        if (rxCtxBits < 0 || rxCtxBits > FabricAddress.MAX_RX_CTX_BITS) {
            throw new FabricException(FabricErrno.EINVAL,
                "an address vector with " + rxCtxBits + " receive context bits",
                "Use 0 to " + FabricAddress.MAX_RX_CTX_BITS + '.');
        }
    }
}
