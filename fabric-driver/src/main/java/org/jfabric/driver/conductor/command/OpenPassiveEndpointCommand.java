package org.jfabric.driver.conductor.command;

import org.jfabric.EndpointType;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.PassiveEndpointResource;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;

import java.util.ArrayList;
import java.util.List;

/** {@code fi_passive_ep}: takes a name. Owner: conductor. */
public final class OpenPassiveEndpointCommand extends Command {
    private final String address;
    private final String linkName;
    private final byte[] authKey;
    private final ServiceNames names;
    private final long id;
    private PassiveEndpointResource passive;
    private String takenName;
    /** Gives the address, where the links use those of the operating system; else null. */
    private LinkProvider binder;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param address       wanted, or empty.
     * @param linkName      of the link, or empty for all that connect.
     * @param authKey       that requests must show, empty for none.
     * @param names         of this driver.
     * @param id            number for the passive endpoint.
     */
    public OpenPassiveEndpointCommand(
        ConductorContext context,
        ClientSession session,
        long correlationId,
        String address,
        String linkName,
        byte[] authKey,
        ServiceNames names,
        long id) {
        super(context, session, correlationId);
        this.address = address;
        this.linkName = linkName;
        this.authKey = authKey;
        this.names = names;
        this.id = id;
    }

    @Override
    protected Step step(long nowNs) {
        if (passive == null) {
            open();
            return Step.AGAIN;
        }
        if (binder != null) {
            takeSocketName();
        }
        session().passiveEndpoints().put(id, passive);
        session().proxy().passiveEndpointReady(correlationId(), id, passive.address(context().driverName()));
        return Step.ENDED;
    }

    private void open() {
        List<String> linkNames = linkNames();
        String name = address.isEmpty() || binder != null
            ? FabricName.unnamed("pep", context().files().owner(), id)
            : NamePassiveEndpointCommand.nameOf(context(), address);
        passive = new PassiveEndpointResource(id, name, linkNames, authKey);
        if (binder != null) {
            Info wanted = NamePassiveEndpointCommand.wanted(address);
            background(() -> passive.bound(binder.bind(wanted, context().config())));
            return;
        }
        if (!names.addEndpoint(name, id)) {
            throw EnableEndpointCommand.taken(context(), name);
        }
        takenName = name;
    }

    /** The system lets several sockets have an address that none of them listens at. */
    private void takeSocketName() {
        String name = passive.bound().address();
        if (!names.addEndpoint(name, id)) {
            throw EnableEndpointCommand.taken(context(), name);
        }
        takenName = name;
        passive.name(name);
    }

    @Override
    protected void undo() {
        if (takenName != null) {
            names.removeEndpoint(takenName);
        }
        if (passive != null) {
            afterwards(passive::closeBound);
        }
    }

    private List<String> linkNames() {
        Info hints = new Info();
        hints.epAttr().type(EndpointType.MSG).authKey(authKey);
        List<String> chosen = new ArrayList<>();
        for (LinkProvider provider : context().providers()) {
            if (isWanted(provider) && provider.cmDataBytes() > 0
                && provider.verdict(hints, context().driverName(), context().config()).chosen()) {
                chosen.add(provider.name());
                binder = provider.usesSocketNames() ? provider : null;
            }
        }
        if (chosen.isEmpty() || !linkName.isEmpty() && !chosen.contains(linkName)) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                (linkName.isEmpty() ? "no link" : "link " + linkName) + " connects endpoints in this driver",
                "Ask Fabric.info for type FI_EP_MSG, and open the passive endpoint with a match.");
        }
        return chosen;
    }

    /** One address cannot be of both kinds, so that a link with sockets listens alone, and only if it is asked for. */
    private boolean isWanted(LinkProvider provider) {
        boolean isNamed = linkName.equals(provider.name());
        if (provider.usesSocketNames()) {
            return isNamed;
        }
        // endpoints of this driver are reached without a wire, whatever link was asked for
        return linkName.isEmpty() || isNamed || provider.name().equals(LoopbackLinkProvider.NAME) && !asksForSockets();
    }

    private boolean asksForSockets() {
        return context().providers().stream()
            .anyMatch(each -> each.name().equals(linkName) && each.usesSocketNames());
    }
}
