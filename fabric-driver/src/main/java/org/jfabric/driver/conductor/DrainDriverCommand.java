package org.jfabric.driver.conductor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jfabric.codec.control.Done;
import org.jfabric.codec.control.DrainDriver;
import org.jfabric.codec.control.DriverDraining;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.OwnerId;

/**
 * Ends the driver when no send of any client is outstanding. It gives up when its time is over or its client ends.
 * Owner: conductor.
 */
final class DrainDriverCommand extends Command {
    private static final int MAX_NAMED = 5;

    /** Those of the endpoints of one progress thread. */
    private record Sends(long count, List<String> named) {
    }

    private enum State {
        BEGIN,
        COUNT,
        DECIDE
    }

    private final Drain drain;
    private final DrainDriver message;
    private State state = State.BEGIN;
    private boolean begun;
    private long beginNs;
    /** As counted last. */
    private long outstanding;
    /** By number of the progress thread. */
    private final Sends[] sends;

    DrainDriverCommand(CommandRequest request, DrainDriver message) {
        super(request);
        session().requireDriversUser("a drain of the driver");
        OwnerId owner = new OwnerId(message.ownerIdHigh(), message.ownerIdLow());
        if (!owner.equals(context().files().owner())) {
            // nor may what a broken client has written into its ring end the driver
            throw new FabricException(FabricErrno.EINVAL,
                "the driver to be drained is " + owner + ", this one is " + context().files().owner(),
                "Connect to the driver that is meant.");
        }
        drain = context().drain();
        this.message = message;
        sends = new Sends[context().threads().count()];
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case BEGIN -> {
                begin(nowNs);
                state = State.COUNT;
            }
            case COUNT -> {
                state = State.DECIDE;
                List<ClientSession> clients = List.copyOf(registry().sessions());
                onThreads(thread -> count(clients, thread));
            }
            default -> {
                return decide(nowNs);
            }
        }
        return Step.AGAIN;
    }

    private void begin(long nowNs) {
        if (!drain.isAllowed()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "the driver in " + context().directory() + " belongs to the application of process "
                    + ProcessHandle.current().pid(), "That application ends it: FabricDriver.close().");
        }
        if (drain.isActive()) {
            throw new FabricException(FabricErrno.EALREADY,
                "another process drains the driver in " + context().directory() + " already", "Wait for its end.");
        }
        beginNs = nowNs;
        begun = true;
        announce(true);
        context().log().event(EventKind.DRAIN_BEGAN, session().id(), 0, message.timeoutNs(), 0, "");
    }

    private Step decide(long nowNs) {
        outstanding = Stream.of(sends).mapToLong(Sends::count).sum();
        if (outstanding == 0) {
            // the clients are notified of the end itself
            session().proxy().send(new Done(correlationId()));
            over(0, "the driver ends");
            drain.finish();
            return Step.ENDED;
        }
        if (session().isEnding()) {
            over(outstanding, "given up: the tool has ended");
            announce(false);
            return Step.ENDED;
        }
        if (nowNs - beginNs >= message.timeoutNs()) {
            throw timedOut();
        }
        state = State.COUNT;
        return Step.LATER;
    }

    private FabricException timedOut() {
        String named = Stream.of(sends).flatMap(each -> each.named.stream()).limit(MAX_NAMED)
            .collect(Collectors.joining(", "));
        String seen = outstanding + " outstanding send(s) after " + TimeUnit.NANOSECONDS.toMillis(message.timeoutNs())
            + " ms: " + named;
        return new FabricException(FabricErrno.ETIMEDOUT, seen,
            message.force() != 0 ? "The driver ends all the same, and these sends fail."
                : "The driver continues to serve. 'fabric queues' shows which peers they wait for; give more time, stop"
                    + " the senders, or use --force.");
    }

    @Override
    protected void undo() {
        if (!begun) {
            return;
        }
        if (message.force() != 0) {
            over(outstanding, "the driver ends with outstanding sends");
            drain.finish();
        } else {
            over(outstanding, "given up");
            announce(false);
        }
    }

    private void over(long sends, String text) {
        context().log().event(EventKind.DRAIN_ENDED, session().id(), 0, sends, 0, text);
    }

    private void announce(boolean begins) {
        drain.active(begins);
        registry().sessions().forEach(each -> each.proxy().send(new DriverDraining(begins ? 1 : 0)));
    }

    /** Progress thread: what was posted before counts, whether the driver had taken it or not. */
    private void count(List<ClientSession> clients, int thread) {
        long count = 0;
        List<String> named = new ArrayList<>();
        for (ClientSession session : clients) {
            ProgressClient client = session.progress(thread);
            context().threads().get(thread).agent().takePosted(client);
            for (EngineEndpoint endpoint : client.session().endpoints()) {
                long outstanding = endpoint.outstandingSends();
                count += outstanding;
                if (outstanding != 0 && named.size() < MAX_NAMED) {
                    named.add(outstanding + " of " + endpoint.settings().address());
                }
            }
        }
        sends[thread] = new Sends(count, named);
    }
}
