package org.jfabric.driver.conductor;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.InfoCodec;
import org.jfabric.codec.control.InfoEnd;
import org.jfabric.codec.control.InfoMatch;
import org.jfabric.codec.control.QueryInfo;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.Verdict;

/** {@code fi_getinfo}: every link's match and verdict, the best match first. Owner: conductor. */
final class QueryInfoCommand extends Command {
    private static final long KNOWN_FLAGS = Flags.SOURCE | Flags.PROV_ATTR_ONLY | Flags.NUMERICHOST;

    private final long flags;
    private final Info hints;
    private final String node;
    private final String service;
    private boolean asked;
    /** The socket address of node and service, or the reason why there is none; else null. */
    private String socketName;
    private Reason unresolved;

    QueryInfoCommand(CommandRequest request, QueryInfo message) {
        super(request);
        flags = message.flags();
        hints = InfoCodec.hints(message);
        hints.fabricAttr().apiVersion(message.apiVersionWanted());
        node = message.node();
        service = message.service();
    }

    @Override
    protected Step step(long nowNs) {
        if (!FabricAttr.isOffered(hints.fabricAttr().apiVersion())) {
            return answer(new InfoEnd(correlationId(), FabricErrno.ENOSYS));
        }
        if ((flags & ~KNOWN_FLAGS) != 0) {
            return answer(new InfoEnd(correlationId(), FabricErrno.EBADFLAGS));
        }
        if (!asked && isHostAsked()) {
            asked = true;
            background(this::resolve);
            return Step.AGAIN;
        }
        return answer(new InfoEnd(correlationId(), matches() == 0 ? FabricErrno.ENODATA : 0));
    }

    private int matches() {
        String driver = context().driverName();
        List<LinkProvider> providers = context().providers();
        if ((flags & Flags.PROV_ATTR_ONLY) != 0) {
            providers.forEach(provider -> send(identity(provider, driver)));
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
                    if (isSourceNamed(wanted.get(i))) {
                        match.srcAddr(wanted.get(i).srcAddr());
                    }
                    send(match);
                    matches++;
                }
            }
            score = best;
        }
        if (isLinkAsked() && providers.stream().noneMatch(provider -> provider.name().equals(hints.linkName()))) {
            send(LinkConfig.absent(hints.linkName()));
        }
        for (Verdict verdict : verdicts) {
            send(verdict);
        }
        return matches;
    }

    private void send(Info match) {
        session().proxy().send(new InfoMatch(correlationId(), InfoCodec.fields(match), match.srcAddr(),
            match.destAddr(), match.linkName(), match.fabricAttr().provName(), match.fabricAttr().name(),
            match.domainAttr().name(), match.epAttr().authKey()));
    }

    private void send(Verdict verdict) {
        session().proxy().send(ExplainPathCommand.part(correlationId(), verdict));
    }

    private boolean isLinkAsked() {
        return hints.linkName() != null && !hints.linkName().isEmpty();
    }

    private boolean isSource() {
        return (flags & Flags.SOURCE) != 0;
    }

    /** Whether the hints, or node and service with FI_SOURCE, name the source. */
    private static boolean isSourceNamed(Info wanted) {
        return wanted.srcAddr() != null && !wanted.srcAddr().isEmpty();
    }

    /** The hints for one link: the meaning of node and service depends on the kind of its addresses. */
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
        // this driver's name without an endpoint restricts nothing: every source is on this driver
        return service.isEmpty() && driver.equals(context().driverName()) ? null : address(driver, service);
    }

    /** Whether node and service can be a host and a port: a driver's name must not be resolved as a host name. */
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
                "Leave NUMERICHOST out to have names resolved");
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

    /** Name and version of a provider, independent of the hints; all other attributes keep their defaults. */
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
        if (isSourceNamed(wanted) && !driver.equals(FabricName.driverOf(wanted.srcAddr()))) {
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
