package org.jfabric.driver.conductor;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;

/**
 * {@code fi_endpoint}: the links by which an endpoint reaches its peers, and the attributes that all of them offer.
 *
 * @param names of all its links, the preferred one first.
 */
record EndpointLinks(LinkProvider first, List<String> names, Info offer) {

    /**
     * Chooses the links.
     *
     * @return at least one link.
     * @throws FabricException {@code FI_ENODEV}, or another errno if no link offers the request.
     */
    static EndpointLinks choose(ConductorContext context, EndpointRequest request) {
        EndpointType type = request.hints().epAttr().type();
        if (type == EndpointType.SOCK_STREAM || type == EndpointType.SOCK_DGRAM) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "an endpoint of type " + type + ": sockets are the client's own, the driver only offers them",
                "Open it by Domain.openSocketEndpoint.");
        }
        List<LinkProvider> wanted =
            context.providers().stream().filter(provider -> request.wants(provider.name())).toList();
        if (wanted.isEmpty()) {
            throw new FabricException(FabricErrno.ENODEV,
                "link " + request.hints().linkName() + " is not loaded in this driver",
                LinkConfig.absent(request.hints().linkName()).reasons().getFirst().remedy());
        }
        // the fabric is open already: its name has been compared
        Info hints = request.hints().copy();
        hints.fabricAttr().name(null);
        LinkProvider first = first(context, hints, wanted);
        EndpointLinks links = new EndpointLinks(
            first, new ArrayList<>(), first.info(hints, context.driverName(), context.config()));
        if (first.joinsLinks()) {
            links.names.addAll(first.links(hints, context.driverName(), context.config()));
        } else if (first.usesSocketNames()) {
            // two links cannot listen at one socket
            links.names.add(first.name());
        } else {
            links.addLinksOfDrivers(context, hints, wanted);
            links.addOwnDriver(context);
        }
        return links;
    }

    private static LinkProvider first(ConductorContext context, Info hints, List<LinkProvider> wanted) {
        List<Verdict> rejected = new ArrayList<>();
        for (LinkProvider provider : wanted) {
            Verdict verdict = provider.verdict(hints, context.driverName(), context.config());
            if (verdict.chosen()) {
                return provider;
            }
            rejected.add(verdict);
        }
        throw refusal(rejected);
    }

    /**
     * All links by which endpoints with drivers' names are reached. Provider and protocol of a match are those of its
     * own link, and a destination is only one of the peers: neither limits what the other links are used for.
     */
    private void addLinksOfDrivers(ConductorContext context, Info hints, List<LinkProvider> wanted) {
        Info shared = hints.copy().destAddr(null);
        shared.fabricAttr().provName(null);
        shared.epAttr().protocol(Protocol.UNSPEC).protocolVersion(0);
        for (LinkProvider provider : wanted) {
            if (provider == first) {
                names.add(provider.name());
            } else if (!provider.usesSocketNames()
                && provider.verdict(shared, context.driverName(), context.config()).chosen()) {
                Info info = provider.info(shared, context.driverName(), context.config());
                if (isAlike(info)) {
                    names.add(provider.name());
                    limitMessages(info);
                }
            }
        }
    }

    /** Whether another link can serve the endpoint as well: it has one type and one address. */
    private boolean isAlike(Info info) {
        return offer.epAttr().type() == info.epAttr().type() && offer.addrFormat() == info.addrFormat();
    }

    /** Endpoints of this driver are reached by the loopback link, whatever link was requested. */
    private void addOwnDriver(ConductorContext context) {
        for (LinkProvider provider : context.providers()) {
            if (provider.staysInDriver() && !names.contains(provider.name())) {
                names.addFirst(provider.name());
            }
        }
    }

    private void limitMessages(Info info) {
        if (info.epAttr().maxMsgSize() < offer.epAttr().maxMsgSize()) {
            offer.epAttr().maxMsgSize(info.epAttr().maxMsgSize());
        }
    }

    private static FabricException refusal(List<Verdict> rejected) {
        StringBuilder text = new StringBuilder("no link offers what the endpoint asks for");
        int errno = FabricErrno.EINVAL;
        for (Verdict verdict : rejected) {
            text.append("; ").append(verdict);
            for (Reason reason : verdict.reasons()) {
                String condition = reason.condition();
                if (condition.endsWith("op_flags")) {
                    return new FabricException(
                        FabricErrno.EBADFLAGS, "no link offers the default operation flags; " + verdict,
                        "Ask for a level that is offered; fabric info --why shows which are.");
                }
                if (condition.endsWith("caps") || condition.endsWith("type")) {
                    errno = FabricErrno.EOPNOTSUPP;
                }
            }
        }
        return new FabricException(errno, text.toString(), "Ask for less; fabric info --why shows what is offered.");
    }
}
