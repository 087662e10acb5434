package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.Reason;
import org.jfabric.Verdict;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;

import java.util.ArrayList;
import java.util.List;

/** By which link a peer is reached, and why not by the others. Owner: conductor. */
public final class ExplainPathCommand extends Command {
    private final long endpointId;
    private final long fiAddr;
    private EngineEndpoint endpoint;
    /** What the progress thread has seen: the peer's address and its state, and the endpoint's links that reach it. */
    private String address;
    private int state;
    private final List<String> reaching = new ArrayList<>();

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param endpointId    the endpoint.
     * @param fiAddr        of the peer.
     */
    public ExplainPathCommand(
        ConductorContext context, ClientSession session, long correlationId, long endpointId, long fiAddr) {
        super(context, session, correlationId);
        this.endpointId = endpointId;
        this.fiAddr = fiAddr;
    }

    @Override
    protected Step step(long nowNs) {
        if (endpoint == null) {
            endpoint = ChangeConnectionCommand.endpoint(session(), endpointId).endpoint();
            onProgress(this::look);
            return Step.AGAIN;
        }
        if (address == null) {
            throw endpoint.settings().connects()
                ? new FabricException(FabricErrno.ENOTCONN, "the endpoint has no peer", "Connect it first.")
                : new FabricException(FabricErrno.EINVAL, "fi_addr " + fiAddr + " is not in the address vector",
                    "Insert the peer's address first.");
        }
        for (LinkProvider provider : context().providers()) {
            session().proxy().infoVerdict(correlationId(), verdict(provider));
        }
        session().proxy().pathReady(correlationId(), state, reaching.isEmpty() ? "" : reaching.getFirst(),
            address);
        return Step.ENDED;
    }

    private void look() {
        address = endpoint.peers().address(fiAddr);
        if (address != null) {
            state = endpoint.peers().state(address);
            for (Link link : context().engine().links(endpoint.linkNames())) {
                if (link.reaches(address)) {
                    reaching.add(link.name());
                }
            }
        }
    }

    private Verdict verdict(LinkProvider provider) {
        String name = provider.name();
        if (!endpoint.linkNames().contains(name)) {
            return rejected(name, new Reason("links of the endpoint", String.join(", ", endpoint.linkNames()), name,
                "Open the endpoint with a match of this link; an endpoint has links of one kind of address"));
        }
        Verdict reach = provider.verdict(new Info().destAddr(address), context().driverName(), context().config());
        if (!reaching.contains(name)) {
            return reach.chosen() ? rejected(name, new Reason(
                "address of the peer", address, "one that this link reaches", "")) : reach;
        }
        List<String> enabled = context().config().link().enabled();
        Reason order = new Reason("first link that reaches " + address, reaching.getFirst(), name,
            name.equals(reaching.getFirst()) ? "Used for that, in the order of " + LinkConfig.ENABLED.name() + " ("
                + String.join(", ", enabled) + ")"
                : "Put it first in " + LinkConfig.ENABLED.name() + ", or open the endpoint with a match of it");
        boolean chosen = name.equals(reaching.getFirst());
        return new Verdict(name, chosen, chosen ? reach.score() : 0, List.of(order));
    }

    private static Verdict rejected(String name, Reason reason) {
        return new Verdict(name, false, 0, List.of(reason));
    }
}
