package org.jfabric.driver.conductor.command;

import org.jfabric.EndpointType;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.SocketName;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.PassiveEndpointResource;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.support.HostNames;

/** {@code fi_setname} of a passive endpoint. Owner: conductor. */
public final class NamePassiveEndpointCommand extends Command {
    private final long passiveId;
    private final String address;
    private final ServiceNames names;
    /** Taken and not yet given to the endpoint, where addresses are the operating system's; else null. */
    private BoundAddress newBound;

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
        if (passive.listens() || passive.isBeingTaken() || passive.name() == null) {
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

    /** What a passive endpoint asks the operating system for; empty for any address. */
    static Info wanted(String address) {
        Info wanted = new Info().srcAddr(address.isEmpty() ? null : address);
        wanted.epAttr().type(EndpointType.MSG);
        return wanted;
    }

    @Override
    protected Step step(long nowNs) {
        PassiveEndpointResource passive = idle(session(), passiveId);
        if (passive.bound() != null) {
            return bind(passive);
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

    /** Another address of the operating system: bound first, and then the old one is given back. */
    private Step bind(PassiveEndpointResource passive) {
        if (newBound == null) {
            requireSocketName();
            LinkProvider binder = context().providers().stream()
                .filter(each -> passive.linkNames().contains(each.name())).findFirst().orElseThrow();
            Info wanted = wanted(address);
            background(() -> newBound = binder.bind(wanted, context().config()));
            return Step.AGAIN;
        }
        BoundAddress given = newBound;
        if (given.address().equals(passive.name())) {
            afterwards(given::close);
        } else {
            if (!names.addEndpoint(given.address(), passiveId)) {
                throw EnableEndpointCommand.taken(context(), given.address());
            }
            names.removeEndpoint(passive.name());
            BoundAddress old = passive.bound();
            passive.bound(given);
            passive.name(given.address());
            afterwards(old::close);
        }
        newBound = null;
        session().proxy().addressReady(correlationId(), 0, passive.name());
        return Step.ENDED;
    }

    private void requireSocketName() {
        if (!SocketName.isName(address) && !HostNames.isHost(address)) {
            throw new FabricException(FabricErrno.EINVAL, "\"" + (address.length() > 64
                ? address.substring(0, 64) + "..." : address) + "\" is no address of a socket",
                "Write " + SocketName.IN_SCHEME + "<address>:<port>, with a port from 0 (any) to 65535.");
        }
    }

    @Override
    protected void undo() {
        if (newBound != null) {
            afterwards(newBound::close);
        }
    }
}
