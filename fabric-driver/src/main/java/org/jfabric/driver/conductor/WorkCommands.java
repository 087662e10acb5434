package org.jfabric.driver.conductor;

import org.jfabric.codec.control.ControlWork;
import org.jfabric.codec.control.Done;
import org.jfabric.codec.control.QueueCounterWork;
import org.jfabric.codec.control.WorkAction;
import org.jfabric.driver.engine.SessionWork;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * {@code FI_QUEUE_WORK} with counter operations, {@code FI_CANCEL_WORK}, {@code FI_FLUSH_WORK}: changes on the progress
 * threads. Work that the client has posted into its queues before is taken first. Owner: conductor.
 */
final class WorkCommands {
    private WorkCommands() {
    }

    static Command queue(CommandRequest request, QueueCounterWork message) {
        // each progress thread knows the counters; one of them makes the change
        return new OnThreads(request, null, (work, thread) -> {
            if (thread == 0) {
                work.queue(message.domain(), message.workId(), message.counterId(), message.threshold(),
                    message.targetId(), message.value(), message.isSet() != 0);
            }
            return true;
        });
    }

    static Command control(CommandRequest request, ControlWork message) {
        if (message.action() == WorkAction.CANCEL.value()) {
            return new OnThreads(request, new FabricException(FabricErrno.ENOENT,
                "work " + message.workId() + " does not wait", "It has started or ended, or was never queued."),
                (work, thread) -> work.cancel(message.workId()));
        }
        if (message.action() == WorkAction.FLUSH.value()) {
            return new OnThreads(request, null, (work, thread) -> {
                work.flush(message.domain(), message.counterId());
                return true;
            });
        }
        if (message.action() == WorkAction.REQUIRE_UNUSED.value()) {
            return new OnThreads(request, null, (work, thread) -> {
                work.requireUnused(message.counterId());
                return true;
            });
        }
        throw new FabricException(FabricErrno.EINVAL, "action " + message.action() + " on deferred work is not known",
            "Known are 1 to 3: cancel, flush, ask whether a counter is unused.");
    }

    /** A change on every progress thread. */
    @FunctionalInterface
    private interface WorkChange {
        /** Makes it; returns whether there was something to do. */
        boolean make(SessionWork work, int thread);
    }

    private static final class OnThreads extends Command {
        private final WorkChange change;
        private final boolean[] done;
        private final FabricException otherwise;
        private boolean made;

        /** Fails with an exception, unless it is null, if no thread has made a change. */
        OnThreads(CommandRequest request, FabricException otherwise, WorkChange change) {
            super(request);
            this.change = change;
            this.otherwise = otherwise;
            this.done = new boolean[context().threads().count()];
        }

        @Override
        protected Step step(long nowNs) {
            if (!made) {
                made = true;
                onThreads(thread -> {
                    ProgressClient client = session().progress(thread);
                    context().threads().get(thread).agent().takePosted(client);
                    done[thread] = change.make(client.session().work(), thread);
                });
                return Step.AGAIN;
            }
            boolean any = false;
            for (boolean each : done) {
                any |= each;
            }
            if (!any && otherwise != null) {
                throw otherwise;
            }
            return answer(new Done(correlationId()));
        }
    }
}
