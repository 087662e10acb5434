package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.IbUdName;
import org.jfabric.PeerPath;
import org.jfabric.SocketName;
import org.jfabric.driver.conductor.AddressVectorResource;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.support.HostNames;

import java.nio.file.Path;
import java.util.List;

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
    /** An endpoint with this vector, none of which has a link to the address; else null. */
    private EngineEndpoint unreaching;

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
                requireHost();
                state = State.INSERTED;
                List<EngineEndpoint> users = session().endpoints().values().stream()
                    .filter(resource -> resource.addresses() == vector).map(EndpointResource::endpoint).toList();
                onProgress(() -> insert(users));
            }
            default -> {
                if (unreaching != null) {
                    throw unreachable();
                }
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

    /** Where an endpoint is bound to every address of its host, peers have to be told one of these. */
    private void requireHost() {
        if (SocketName.isName(resolved) && SocketName.parse(resolved).inetAddress().isAnyLocalAddress()) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL,
                resolved + " is the wildcard address, which names no host",
                "Insert an address of the peer's host, with the same port.");
        }
    }

    /** Whether somebody is there is not asked: a peer may be inserted before it is opened. */
    private void insert(List<EngineEndpoint> users) {
        for (EngineEndpoint user : users) {
            if (!ExplainPathCommand.reaching(context(), user, resolved).isEmpty()) {
                unreaching = null;
                break;
            }
            unreaching = user;
        }
        if (unreaching == null) {
            fiAddr = vector.table().insert(resolved);
        }
    }

    private FabricException unreachable() {
        PeerPath none = new PeerPath("", unreaching.settings().address(), resolved, PeerPath.State.DOWN,
            ExplainPathCommand.verdicts(context(), unreaching, resolved, List.of()));
        return new FabricException(FabricErrno.EADDRNOTAVAIL,
            "no link of the endpoint reaches the address: " + none.explain().stripTrailing(),
            "Insert an address that a link of the endpoint reaches, or open the endpoint with a match of its link.");
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
