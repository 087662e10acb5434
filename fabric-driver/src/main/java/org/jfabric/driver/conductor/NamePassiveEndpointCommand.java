package org.jfabric.driver.conductor;

import org.jfabric.codec.control.AddressReady;
import org.jfabric.codec.control.NamePassiveEndpoint;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

/** {@code fi_setname} of a passive endpoint. Owner: conductor. */
final class NamePassiveEndpointCommand extends Command {
    private final long passiveId;
    private final String address;
    private final ServiceNames names;
    /** Bound and not yet passed to the endpoint, if it uses addresses of the operating system; else null. */
    private BoundAddress newBound;

    NamePassiveEndpointCommand(CommandRequest request, NamePassiveEndpoint message) {
        super(request);
        passiveId = message.passiveId();
        address = message.address();
        names = registry().names();
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

    /** The requested name within this driver, from an address. */
    static String nameOf(ConductorContext context, String address) {
        InsertAddressCommand.require(address);
        if (!context.driverName().equals(FabricName.driverOf(address))) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, address + " is an address of another driver",
                "Use an address of this one: " + FabricName.of(context.driverName(), "<endpoint>") + '.');
        }
        String name = FabricName.endpointOf(address);
        ServiceNames.check("passive endpoint", context.driverName(), name);
        return name;
    }

    /** The hints with which an address of the operating system is taken; empty for any address. */
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
                throw ServiceNames.taken(context().driverName(), name);
            }
            names.removeEndpoint(passive.name());
            passive.name(name);
        }
        return answer(new AddressReady(correlationId(), 0, FabricName.of(context().driverName(), name)));
    }

    /** Another address of the operating system: bound first, then the old one is released. */
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
                throw ServiceNames.taken(context().driverName(), given.address());
            }
            names.removeEndpoint(passive.name());
            BoundAddress old = passive.bound();
            passive.bound(given);
            passive.name(given.address());
            afterwards(old::close);
        }
        newBound = null;
        return answer(new AddressReady(correlationId(), 0, passive.name()));
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
