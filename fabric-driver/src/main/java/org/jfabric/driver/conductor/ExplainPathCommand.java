package org.jfabric.driver.conductor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.client.ReasonText;
import org.jfabric.codec.control.ExplainPath;
import org.jfabric.codec.control.InfoVerdict;
import org.jfabric.codec.control.PathReady;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.engine.EndpointWays;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.Verdict;

/** Explains by which link a peer is reached, and why the others are not used. Owner: conductor. */
final class ExplainPathCommand extends Command {
    private final ExplainPath message;
    private EngineEndpoint endpoint;
    /** Read on the progress thread: the peer's address and its state, and the endpoint's links that reach it. */
    private String address;
    private int state;
    private final List<String> reaching = new ArrayList<>();
    private final Map<String, Reason> obstacles = new HashMap<>();

    ExplainPathCommand(CommandRequest request, ExplainPath message) {
        super(request);
        this.message = message;
    }

    @Override
    protected Step step(long nowNs) {
        if (endpoint == null) {
            EndpointResource resource = session().requireEndpoint(message.endpointId());
            endpoint = resource.endpoint();
            onThread(resource.thread(), this::inspect);
            return Step.AGAIN;
        }
        if (address == null) {
            throw endpoint.settings().connects()
                ? new FabricException(FabricErrno.ENOTCONN, "the endpoint has no peer", "Connect it first.")
                : new FabricException(FabricErrno.EINVAL,
                    "fi_addr " + message.fiAddr() + " is not in the address vector",
                    "Insert the peer's address first.");
        }
        for (Verdict verdict : verdicts(context(), endpoint, address, reaching, obstacles)) {
            session().proxy().send(part(correlationId(), verdict));
        }
        return answer(new PathReady(
            correlationId(), state, reaching.isEmpty() ? "" : reaching.getFirst(), address));
    }

    /** A part of the answer. */
    static InfoVerdict part(long correlationId, Verdict verdict) {
        return new InfoVerdict(correlationId, verdict.chosen() ? 1 : 0, verdict.score(), verdict.linkName(),
            ReasonText.format(verdict.reasons()));
    }

    private void inspect() {
        address = endpoint.destination(message.fiAddr());
        if (address != null) {
            state = endpoint.peerState(address);
            reaching.addAll(endpoint.links().reaching(address));
            obstacles.putAll(endpoint.links().refusals(address));
            obstacles.putAll(endpoint.links().obstacles(address));
        }
    }

    /**
     * A verdict on every link of the driver.
     *
     * @param reaching  as {@link EndpointWays#reaching}.
     * @param obstacles as {@link EndpointWays#obstacles}, and {@link EndpointWays#refusals}.
     */
    static List<Verdict> verdicts(
        ConductorContext context, EngineEndpoint endpoint, String address, List<String> reaching,
        Map<String, Reason> obstacles) {
        return context.providers().stream().filter(provider -> !provider.joinsLinks())
            .map(provider -> verdict(context, provider, endpoint, address, reaching, obstacles)).toList();
    }

    private static Verdict verdict(
        ConductorContext context, LinkProvider provider, EngineEndpoint endpoint, String address,
        List<String> reaching, Map<String, Reason> obstacles) {
        String name = provider.name();
        if (obstacles.containsKey(name)) {
            return rejected(name, obstacles.get(name));
        }
        if (!endpoint.links().names().contains(name)) {
            return rejected(name, new Reason("links of the endpoint", String.join(", ", endpoint.links().names()), name,
                "Open the endpoint with a match of this link; an endpoint has links of one kind of address"));
        }
        Verdict reach = provider.verdict(new Info().destAddr(address), context.driverName(), context.config());
        if (!reaching.contains(name)) {
            return reach.chosen() ? rejected(name, unreached(endpoint.settings().address(), address)) : reach;
        }
        boolean chosen = name.equals(reaching.getFirst());
        Reason order = BestName.isName(address)
            ? new Reason("best link that connects to " + address, reaching.getFirst(), name,
                chosen ? "" : "Open the endpoint with a match of it, to use no other")
            : new Reason("first link that reaches " + address, reaching.getFirst(), name,
                chosen ? "Used for that, in the order of " + LinkConfig.ENABLED.name() + " ("
                    + String.join(", ", context.config().get(LinkConfig.ENABLED)) + ")"
                    : "Put it first in " + LinkConfig.ENABLED.name() + ", or open the endpoint with a match of it");
        return new Verdict(name, chosen, chosen ? reach.score() : 0, List.of(order));
    }

    private static Reason unreached(String own, String address) {
        if (!LocalAddresses.areOfTwoFamilies(own, address)) {
            return new Reason("address of the peer", address, "one that this link reaches", "");
        }
        boolean isIn6 = SocketName.parse(own).isIn6();
        return new Reason("address of the peer", address,
            "one of " + (isIn6 ? "IPv6" : "IPv4") + ", as " + own + " is",
            "Name another address of the peer, or open the endpoint with a source address of "
                + (isIn6 ? "IPv4" : "IPv6"));
    }

    private static Verdict rejected(String name, Reason reason) {
        return new Verdict(name, false, 0, List.of(reason));
    }
}
