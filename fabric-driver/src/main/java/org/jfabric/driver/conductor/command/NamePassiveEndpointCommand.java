package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.PassiveEndpointResource;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.link.FabricName;

/** {@code fi_setname} of a passive endpoint. Owner: conductor. */
public final class NamePassiveEndpointCommand extends Command {
    private final long passiveId;
    private final String address;
    private final ServiceNames names;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param passiveId     the passive endpoint.
     * @param address       its new address.
     * @param names         of this driver.
     */
    public NamePassiveEndpointCommand(
        ConductorContext context,
        ClientSession session,
        long correlationId,
        long passiveId,
        String address,
        ServiceNames names) {
        super(context, session, correlationId);
        this.passiveId = passiveId;
        this.address = address;
        this.names = names;
    }

    /** A passive endpoint that neither listens nor was taken over. */
    static PassiveEndpointResource idle(ClientSession session, long passiveId) {
        PassiveEndpointResource passive = session.passiveEndpoints().get(passiveId);
        if (passive == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "passive endpoint " + passiveId + " is not open", "Do not use it after its close.");
        }
        if (passive.listens() || passive.name() == null) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "passive endpoint " + passiveId
                + (passive.listens() ? " listens" : " was taken over by an active one"), "Open another one.");
        }
        return passive;
    }

    /** The name within this driver that an address asks for. */
    static String nameOf(ConductorContext context, String address) {
        AddressCheck.require(address);
        if (!context.driverName().equals(FabricName.driverOf(address))) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, address + " is an address of another driver",
                "Use an address of this one: " + FabricName.of(context.driverName(), "<endpoint>") + '.');
        }
        String name = FabricName.endpointOf(address);
        EnableEndpointCommand.checkName("passive endpoint", context.driverName(), name);
        return name;
    }

    @Override
    protected Step step(long nowNs) {
        PassiveEndpointResource passive = idle(session(), passiveId);
        if (passive.bound() != null) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "passive endpoint " + passiveId + " has the address "
                + passive.bound().address() + " of a socket, which does not change",
                "Open another one with the address as srcAddr.");
        }
        String name = nameOf(context(), address);
        if (!name.equals(passive.name())) {
            if (!names.addEndpoint(name, passiveId)) {
                throw EnableEndpointCommand.taken(context(), name);
            }
            names.removeEndpoint(passive.name());
            passive.name(name);
        }
        session().proxy().addressReady(correlationId(), 0, FabricName.of(context().driverName(), name));
        return Step.ENDED;
    }
}
