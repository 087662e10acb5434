package org.jfabric.driver.conductor.command;

import org.jfabric.FabricAttr;
import org.jfabric.FabricErrno;
import org.jfabric.Info;
import org.jfabric.Reason;
import org.jfabric.Verdict;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.link.LinkProvider;

import java.util.List;

/** {@code fi_getinfo}: every link's match and verdict, the best match first. Owner: conductor. */
public final class QueryInfoCommand extends Command {
    private final Info hints;

    /**
     * Takes the hints.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param hints         what the application asks for.
     */
    public QueryInfoCommand(ConductorContext context, ClientSession session, long correlationId, Info hints) {
        super(context, session, correlationId);
        this.hints = hints;
    }

    @Override
    protected Step step(long nowNs) {
        if (Integer.compareUnsigned(hints.fabricAttr().apiVersion(), FabricAttr.API_VERSION) > 0) {
            session().proxy().infoEnd(correlationId(), FabricErrno.ENOSYS);
            return Step.ENDED;
        }
        String driver = context().driverName();
        List<LinkProvider> providers = context().providers();
        List<Verdict> verdicts = providers.stream().map(provider -> verdict(provider, hints, driver)).toList();
        int matches = 0;
        for (int score = Integer.MAX_VALUE;;) {
            int best = best(verdicts, score);
            if (best == Integer.MIN_VALUE) {
                break;
            }
            for (int i = 0; i < verdicts.size(); i++) {
                if (verdicts.get(i).chosen() && verdicts.get(i).score() == best) {
                    session().proxy().infoMatch(
                        correlationId(), providers.get(i).info(hints, driver, context().config()));
                    matches++;
                }
            }
            score = best;
        }
        for (Verdict verdict : verdicts) {
            session().proxy().infoVerdict(correlationId(), verdict);
        }
        session().proxy().infoEnd(correlationId(), matches == 0 ? FabricErrno.ENODATA : 0);
        return Step.ENDED;
    }

    private Verdict verdict(LinkProvider provider, Info wanted, String driver) {
        String link = wanted.linkName();
        if (link != null && !link.isEmpty() && !link.equals(provider.name())) {
            return new Verdict(provider.name(), false, 0, List.of(new Reason(
                "link name", provider.name(), link, "Leave the link's name out, or ask for this one.")));
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
