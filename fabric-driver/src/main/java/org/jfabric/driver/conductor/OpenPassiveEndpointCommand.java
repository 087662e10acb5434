package org.jfabric.driver.conductor;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.codec.control.OpenPassiveEndpoint;
import org.jfabric.codec.control.PassiveEndpointReady;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;

/** {@code fi_passive_ep}: takes a name. Owner: conductor. */
final class OpenPassiveEndpointCommand extends Command {
    private final String address;
    private final String linkName;
    private final byte[] authKey;
    private final ServiceNames names;
    private final long id;
    private PassiveEndpointResource passive;
    private String takenName;
    /** Provides the address, if the links use addresses of the operating system; else null. */
    private LinkProvider binder;

    OpenPassiveEndpointCommand(CommandRequest request, OpenPassiveEndpoint message) {
        super(request);
        address = message.address();
        linkName = message.linkName();
        authKey = message.authKey();
        names = registry().names();
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        if (passive == null) {
            context().drain().requireInactive(context().directory());
            open();
            return Step.AGAIN;
        }
        if (binder != null) {
            takeSocketName();
        }
        session().passiveEndpoints().put(id, passive);
        return answer(new PassiveEndpointReady(correlationId(), id, passive.address(context().driverName())));
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
            throw ServiceNames.taken(context().driverName(), name);
        }
        takenName = name;
    }

    /** The system lets several sockets bind an address at which none of them listens. */
    private void takeSocketName() {
        String name = passive.bound().address();
        if (!names.addEndpoint(name, id)) {
            throw ServiceNames.taken(context().driverName(), name);
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

    /** One address cannot be of both kinds, so that a link with sockets listens alone, and only if it is requested. */
    private boolean isWanted(LinkProvider provider) {
        boolean isNamed = linkName.equals(provider.name());
        if (provider.usesSocketNames()) {
            return isNamed;
        }
        // endpoints of this driver are reached by the loopback link, whatever link was requested
        return linkName.isEmpty() || isNamed || provider.staysInDriver() && !asksForSockets();
    }

    private boolean asksForSockets() {
        return context().providers().stream()
            .anyMatch(each -> each.name().equals(linkName) && each.usesSocketNames());
    }
}
