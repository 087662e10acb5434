package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.IbUdName;
import org.jfabric.SocketName;
import org.jfabric.driver.conductor.AddressVectorResource;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.HostNames;

import java.nio.file.Path;

/**
 * {@code fi_av_insert} and {@code fi_av_insertsvc}: finds the endpoint behind a service name, or the host behind its
 * name, then inserts its own address. Owner: conductor.
 */
public final class InsertAddressCommand extends Command {
    private enum State {
        CHECK,
        RESOLVED,
        INSERTED
    }

    private final long avId;
    private final String address;
    private final long flags;
    private final ServiceNames names;
    private State state = State.CHECK;
    private AddressVectorResource vector;
    private String resolved;
    private long fiAddr;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param avId          number of the address vector.
     * @param flags         of the call.
     * @param address       to be inserted.
     * @param names         of this driver.
     */
    public InsertAddressCommand(
        ConductorContext context,
        ClientSession session,
        long correlationId,
        long avId,
        long flags,
        String address,
        ServiceNames names) {
        super(context, session, correlationId);
        this.avId = avId;
        this.flags = flags;
        this.address = address;
        this.names = names;
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                check();
                state = State.RESOLVED;
                resolve();
            }
            case RESOLVED -> {
                state = State.INSERTED;
                onProgress(() -> fiAddr = vector.table().insert(resolved));
            }
            default -> {
                if (fiAddr < 0) {
                    throw new FabricException((int) -fiAddr,
                        "the address vector is full", "Remove addresses that are not used any more.");
                }
                session().proxy().addressReady(correlationId(), fiAddr, resolved);
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }

    private void check() {
        vector = session().addressVectors().get(avId);
        if (vector == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "address vector " + avId + " is not open", "Open one first, and do not use it after its close.");
        }
        if ((flags & ~Flags.MORE) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags 0x" + Long.toHexString(flags) + " of an insertion, allowed is FI_MORE", "Insert without flags.");
        }
        AddressCheck.require(address);
    }

    private void resolve() {
        if (SocketName.isName(address)) {
            // one text for each address, because peers are known by it
            resolved = SocketName.parse(address).toString();
            return;
        }
        if (IbUdName.isName(address)) {
            resolved = IbUdName.parse(address).toString();
            return;
        }
        if (HostNames.isHost(address)) {
            background(() -> resolved = HostNames.resolve(address).toString());
            return;
        }
        String driver = FabricName.driverOf(address);
        String name = FabricName.endpointOf(address);
        if (driver.equals(context().driverName())) {
            resolved = names.resolve(driver, name);
        } else {
            Path directory = context().directory().resolveSibling(driver);
            background(() -> resolved = ServiceNames.resolve(directory, driver, name));
        }
    }
}
