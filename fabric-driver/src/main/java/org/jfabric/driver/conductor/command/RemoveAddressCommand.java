package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.conductor.AddressVectorResource;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;

/** {@code fi_av_remove}. Owner: conductor. */
public final class RemoveAddressCommand extends Command {
    private final long avId;
    private final long fiAddr;
    private final long flags;
    private boolean removed;
    private int result;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param avId          number of the address vector.
     * @param fiAddr        place in it.
     * @param flags         of the call, needed 0.
     */
    public RemoveAddressCommand(
        ConductorContext context, ClientSession session, long correlationId, long avId, long fiAddr, long flags) {
        super(context, session, correlationId);
        this.avId = avId;
        this.fiAddr = fiAddr;
        this.flags = flags;
    }

    @Override
    protected Step step(long nowNs) {
        if (!removed) {
            AddressVectorResource vector = session().addressVectors().get(avId);
            if (vector == null || flags != 0) {
                throw new FabricException(vector == null ? FabricErrno.EINVAL : FabricErrno.EBADFLAGS,
                    "removal from address vector " + avId + (vector == null ? ", which is not open" : " with flags 0x"
                        + Long.toHexString(flags) + ", needed 0"),
                    "Remove from an open address vector, without flags.");
            }
            removed = true;
            onProgress(() -> result = vector.table().remove(fiAddr));
            return Step.AGAIN;
        }
        if (result < 0) {
            throw new FabricException(-result,
                "address " + fiAddr + " is not in address vector " + avId, "Remove each address once.");
        }
        session().proxy().done(correlationId());
        return Step.ENDED;
    }
}
