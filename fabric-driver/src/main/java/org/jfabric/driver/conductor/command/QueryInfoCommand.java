package org.jfabric.driver.conductor.command;

import org.jfabric.AddressFormat;
import org.jfabric.FabricAttr;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Reason;
import org.jfabric.SocketName;
import org.jfabric.Verdict;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.support.HostNames;

import java.util.ArrayList;
import java.util.List;

/** {@code fi_getinfo}: every link's match and verdict, the best match first. Owner: conductor. */
public final class QueryInfoCommand extends Command {
    private static final long KNOWN_FLAGS = Flags.SOURCE | Flags.PROV_ATTR_ONLY | Flags.NUMERICHOST;

    private final long flags;
    private final Info hints;
    private final String node;
    private final String service;
    private boolean asked;
    /** What node and service mean to links with socket addresses, and why not; else null. */
    private String socketName;
    private Reason unresolved;

    /**
     * Takes the hints.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param flags         of the query.
     * @param hints         what the application asks for.
     * @param node          a driver or an address, of the destination or by the flags of the source; or empty.
     * @param service       an endpoint there, or empty.
     */
    public QueryInfoCommand(
        ConductorContext context, ClientSession session, long correlationId, long flags, Info hints, String node,
        String service) {
        super(context, session, correlationId);
        this.flags = flags;
        this.hints = hints;
        this.node = node;
        this.service = service;
    }

    @Override
    protected Step step(long nowNs) {
        if (Integer.compareUnsigned(hints.fabricAttr().apiVersion(), FabricAttr.API_VERSION) > 0) {
            session().proxy().infoEnd(correlationId(), FabricErrno.ENOSYS);
            return Step.ENDED;
        }
        if ((flags & ~KNOWN_FLAGS) != 0) {
            session().proxy().infoEnd(correlationId(), FabricErrno.EBADFLAGS);
            return Step.ENDED;
        }
        if (!asked && isHostAsked()) {
            asked = true;
            background(this::resolve);
            return Step.AGAIN;
        }
        session().proxy().infoEnd(correlationId(), matches() == 0 ? FabricErrno.ENODATA : 0);
        return Step.ENDED;
    }

    private int matches() {
        String driver = context().driverName();
        List<LinkProvider> providers = context().providers();
        if ((flags & Flags.PROV_ATTR_ONLY) != 0) {
            providers.forEach(provider -> session().proxy().infoMatch(correlationId(), identity(provider, driver)));
            return providers.size();
        }
        List<Info> wanted = providers.stream().map(this::wanted).toList();
        List<Verdict> verdicts = new ArrayList<>();
        for (int i = 0; i < providers.size(); i++) {
            verdicts.add(verdict(providers.get(i), wanted.get(i), driver));
        }
        int matches = 0;
        for (int score = Integer.MAX_VALUE;;) {
            int best = best(verdicts, score);
            if (best == Integer.MIN_VALUE) {
                break;
            }
            for (int i = 0; i < verdicts.size(); i++) {
                if (verdicts.get(i).chosen() && verdicts.get(i).score() == best) {
                    Info match = providers.get(i).info(wanted.get(i), driver, context().config());
                    if (!isLinkAsked() && !providers.get(i).usesSocketNames()) {
                        // an endpoint that is opened with it has every link of that kind of address
                        match.linkName(null);
                    }
                    if (isSource()) {
                        match.srcAddr(wanted.get(i).srcAddr());
                    }
                    session().proxy().infoMatch(correlationId(), match);
                    matches++;
                }
            }
            score = best;
        }
        for (Verdict verdict : verdicts) {
            session().proxy().infoVerdict(correlationId(), verdict);
        }
        return matches;
    }

    private boolean isLinkAsked() {
        return hints.linkName() != null && !hints.linkName().isEmpty();
    }

    private boolean isSource() {
        return (flags & Flags.SOURCE) != 0;
    }

    /** The hints as one link sees them: what node and service name depends on how its endpoints are called. */
    private Info wanted(LinkProvider provider) {
        boolean given = (isSource() ? hints.srcAddr() : hints.destAddr()) != null;
        String address = given ? null : provider.usesSocketNames() ? socketName : fabricName();
        if (address == null) {
            return hints;
        }
        return isSource() ? hints.copy().srcAddr(address) : hints.copy().destAddr(address);
    }

    private String fabricName() {
        if (!isSource()) {
            return node.isEmpty() ? null : address(node, service);
        }
        String driver = node.isEmpty() ? context().driverName() : node;
        // this driver without an endpoint is what every source is
        return service.isEmpty() && driver.equals(context().driverName()) ? null : address(driver, service);
    }

    /** Whether node and service can be a host and a port: a driver's name must not be looked up as that of a host. */
    private boolean isHostAsked() {
        return (!node.isEmpty() || !service.isEmpty())
            && (HostNames.isNumeric(node) || SocketName.isName(node) || HostNames.isPort(service)
                && !node.startsWith(FabricName.SCHEME))
            && context().providers().stream().anyMatch(LinkProvider::usesSocketNames);
    }

    /** Whether node and service name another driver's endpoint, so that no link with socket addresses is meant. */
    private boolean isDriverAsked() {
        boolean isHere = isSource() && (node.isEmpty() || node.equals(context().driverName())) && service.isEmpty();
        return !isHostAsked() && !isHere && !(node.isEmpty() && service.isEmpty());
    }

    private void resolve() {
        if (SocketName.isName(node)) {
            socketName = SocketName.parse(node).toString();
            return;
        }
        if ((flags & Flags.NUMERICHOST) != 0 && !node.isEmpty() && !HostNames.isNumeric(node)) {
            unresolved = new Reason("node", node, "an address as a number",
                "Leave NUMERICHOST out to have names looked up");
            return;
        }
        try {
            SocketName found = HostNames.resolve(node, service);
            socketName = node.isEmpty() && hints.addrFormat() == AddressFormat.SOCKADDR_IN6
                ? SocketName.IN6_SCHEME + "[::]:" + found.port() : found.toString();
        } catch (FabricException ex) {
            unresolved = new Reason("node", node + ':' + service, "a host and a port", ex.getMessage());
        }
    }

    private static String address(String node, String service) {
        return node.startsWith(FabricName.SCHEME) || service.isEmpty() ? node : FabricName.of(node, service);
    }

    /** Who is there, whatever the hints ask for; everything else keeps its default. */
    private Info identity(LinkProvider provider, String driver) {
        FabricAttr full = provider.info(new Info(), driver, context().config()).fabricAttr();
        Info info = new Info();
        info.fabricAttr().name(full.name()).provName(full.provName()).provVersion(full.provVersion())
            .apiVersion(hints.fabricAttr().apiVersion());
        return info;
    }

    private Verdict verdict(LinkProvider provider, Info wanted, String driver) {
        if (isLinkAsked() && !hints.linkName().equals(provider.name())) {
            return new Verdict(provider.name(), false, 0, List.of(new Reason(
                "link name", provider.name(), hints.linkName(), "Leave the link's name out, or ask for this one.")));
        }
        if (provider.usesSocketNames() && isDriverAsked()) {
            return new Verdict(provider.name(), false, 0, List.of(new Reason(
                "node", node + ' ' + service, "a host and a port",
                "Name a host and a port: those of this link have no drivers' names")));
        }
        if (provider.usesSocketNames()) {
            return unresolved == null ? provider.verdict(wanted, driver, context().config())
                : new Verdict(provider.name(), false, 0, List.of(unresolved));
        }
        if (isSource() && wanted.srcAddr() != null && !driver.equals(FabricName.driverOf(wanted.srcAddr()))) {
            return new Verdict(provider.name(), false, 0, List.of(new Reason(
                "source", wanted.srcAddr(), FabricName.of(driver, "<endpoint>"),
                "Name an endpoint of this driver, or ask the driver that the source belongs to")));
        }
        return provider.verdict(wanted, driver, context().config());
    }

    private static int best(List<Verdict> verdicts, int below) {
        int best = Integer.MIN_VALUE;
        for (Verdict verdict : verdicts) {
            if (verdict.chosen() && verdict.score() < below && verdict.score() > best) {
                best = verdict.score();
            }
        }
        return best;
    }
}
