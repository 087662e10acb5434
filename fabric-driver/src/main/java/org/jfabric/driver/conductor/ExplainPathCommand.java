package org.jfabric.driver.conductor;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.codec.control.ExplainPathDecoder;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.engine.Engine;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.Verdict;

/** Explains by which link a peer is reached, and why the others are not used. Owner: conductor. */
final class ExplainPathCommand extends Command {
    private final long endpointId;
    private final long fiAddr;
    private EngineEndpoint endpoint;
    /** Read on the progress thread: the peer's address and its state, and the endpoint's links that reach it. */
    private String address;
    private int state;
    private final List<String> reaching = new ArrayList<>();

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    ExplainPathCommand(CommandRequest request) {
        super(request);
        ExplainPathDecoder decoder = new ExplainPathDecoder().wrap(
            request.body(), 0, ExplainPathDecoder.BLOCK_LENGTH, ExplainPathDecoder.SCHEMA_VERSION);
        endpointId = decoder.endpointId();
        fiAddr = decoder.fiAddr();
    }

    @Override
    protected Step step(long nowNs) {
        if (endpoint == null) {
            EndpointResource resource = session().requireEndpoint(endpointId);
            endpoint = resource.endpoint();
            Engine engine = context().threads().get(resource.thread()).engine();
            onThread(resource.thread(), () -> inspect(engine));
            return Step.AGAIN;
        }
        if (address == null) {
            throw endpoint.settings().connects()
                ? new FabricException(FabricErrno.ENOTCONN, "the endpoint has no peer", "Connect it first.")
                : new FabricException(FabricErrno.EINVAL, "fi_addr " + fiAddr + " is not in the address vector",
                    "Insert the peer's address first.");
        }
        for (Verdict verdict : verdicts(context(), endpoint, address, reaching)) {
            session().proxy().infoVerdict(correlationId(), verdict);
        }
        session().proxy().pathReady(correlationId(), state, reaching.isEmpty() ? "" : reaching.getFirst(),
            address);
        return Step.ENDED;
    }

    private void inspect(Engine engine) {
        address = endpoint.destination(fiAddr);
        if (address != null) {
            state = endpoint.peerState(address);
            reaching.addAll(reaching(engine, endpoint, address));
        }
    }

    /**
     * The links of an endpoint that reach an address. Progress thread.
     *
     * @param engine   of that thread.
     * @param endpoint open.
     * @param address  of a peer.
     * @return names, the preferred one first.
     */
    static List<String> reaching(Engine engine, EngineEndpoint endpoint, String address) {
        return engine.links(endpoint.linkNames()).stream()
            .filter(link -> link.reaches(endpoint.settings().address(), address)).map(Link::name).toList();
    }

    /**
     * A verdict on every link of the driver.
     *
     * @param context  the parts of the driver that commands use.
     * @param endpoint whose links are considered.
     * @param address  of a peer.
     * @param reaching as {@link #reaching(Engine, EngineEndpoint, String)}.
     * @return in the order of the driver's links.
     */
    static List<Verdict> verdicts(
        ConductorContext context, EngineEndpoint endpoint, String address, List<String> reaching) {
        return context.providers().stream()
            .map(provider -> verdict(context, provider, endpoint, address, reaching)).toList();
    }

    private static Verdict verdict(
        ConductorContext context, LinkProvider provider, EngineEndpoint endpoint, String address,
        List<String> reaching) {
        String name = provider.name();
        if (!endpoint.linkNames().contains(name)) {
            return rejected(name, new Reason("links of the endpoint", String.join(", ", endpoint.linkNames()), name,
                "Open the endpoint with a match of this link; an endpoint has links of one kind of address"));
        }
        Verdict reach = provider.verdict(new Info().destAddr(address), context.driverName(), context.config());
        if (!reaching.contains(name)) {
            return reach.chosen() ? rejected(name, unreached(endpoint.settings().address(), address)) : reach;
        }
        List<String> enabled = context.config().link().enabled();
        Reason order = new Reason("first link that reaches " + address, reaching.getFirst(), name,
            name.equals(reaching.getFirst()) ? "Used for that, in the order of " + LinkConfig.ENABLED.name() + " ("
                + String.join(", ", enabled) + ")"
                : "Put it first in " + LinkConfig.ENABLED.name() + ", or open the endpoint with a match of it");
        boolean chosen = name.equals(reaching.getFirst());
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
