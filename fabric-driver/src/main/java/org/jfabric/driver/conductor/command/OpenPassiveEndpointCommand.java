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
        List<String> linkNames = linkNames();
        String name = address.isEmpty() ? "pep-" + id : NamePassiveEndpointCommand.nameOf(context(), address);
        if (!names.addEndpoint(name, id)) {
            throw EnableEndpointCommand.taken(context(), name);
        }
        session().passiveEndpoints().put(id, new PassiveEndpointResource(id, name, linkNames, authKey));
        session().proxy().passiveEndpointReady(correlationId(), id, FabricName.of(context().driverName(), name));
        return Step.ENDED;
    }

    private List<String> linkNames() {
        Info hints = new Info();
        hints.epAttr().type(EndpointType.MSG).authKey(authKey);
        List<String> chosen = new ArrayList<>();
        for (LinkProvider provider : context().providers()) {
            // endpoints of this driver are reached without a wire, whatever link was asked for
            boolean wanted = linkName.isEmpty() || linkName.equals(provider.name())
                || provider.name().equals(LoopbackLinkProvider.NAME);
            if (wanted && provider.cmDataBytes() > 0
                && provider.verdict(hints, context().driverName(), context().config()).chosen()) {
                chosen.add(provider.name());
            }
        }
        if (chosen.isEmpty() || !linkName.isEmpty() && !chosen.contains(linkName)) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                (linkName.isEmpty() ? "no link" : "link " + linkName) + " connects endpoints in this driver",
                "Ask Fabric.info for type FI_EP_MSG, and open the passive endpoint with a match.");
        }
        return chosen;
    }
}
