package org.jfabric.driver.conductor;

import org.jfabric.codec.control.ControlWorkDecoder;
import org.jfabric.codec.control.QueueCounterWorkDecoder;
import org.jfabric.codec.control.WorkAction;
import org.jfabric.driver.engine.SessionWork;
import org.jfabric.driver.progress.ProgressAgent;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * {@code FI_QUEUE_WORK} with counter operations, {@code FI_CANCEL_WORK}, {@code FI_FLUSH_WORK}: changes on the progress
 * thread. Work that the client has posted into its queues before is taken first. Owner: conductor.
 */
final class WorkCommands {
    private WorkCommands() {
    }

    static Command queue(CommandRequest request) {
        QueueCounterWorkDecoder decoder = new QueueCounterWorkDecoder().wrap(
            request.body(), 0, QueueCounterWorkDecoder.BLOCK_LENGTH, QueueCounterWorkDecoder.SCHEMA_VERSION);
        long domain = decoder.domain();
        long workId = decoder.workId();
        long counterId = decoder.counterId();
        long threshold = decoder.threshold();
        long targetId = decoder.targetId();
        long value = decoder.value();
        boolean isSet = decoder.isSet() != 0;
        return change(request,
            work -> work.queue(domain, workId, counterId, threshold, targetId, value, isSet));
    }

    static Command control(CommandRequest request) {
        ControlWorkDecoder decoder = new ControlWorkDecoder().wrap(
            request.body(), 0, ControlWorkDecoder.BLOCK_LENGTH, ControlWorkDecoder.SCHEMA_VERSION);
        long domain = decoder.domain();
        long workId = decoder.workId();
        long counterId = decoder.counterId();
        int action = decoder.actionRaw();
        if (action == WorkAction.CANCEL.value()) {
            return change(request, work -> work.cancel(workId));
        }
        if (action == WorkAction.FLUSH.value()) {
            return change(request, work -> work.flush(domain, counterId));
        }
        if (action == WorkAction.REQUIRE_UNUSED.value()) {
            return change(request, work -> work.requireUnused(counterId));
        }
        throw new FabricException(FabricErrno.EINVAL, "action " + action + " on deferred work is not known",
            "Known are 1 to 3: cancel, flush, ask whether a counter is unused.");
    }

    private static Command change(CommandRequest request, WorkChange change) {
        ProgressAgent progress = request.context().progress();
        ProgressClient client = request.session().progress();
        return new ChangeEndpointCommand(request, () -> {
            progress.takePosted(client);
            change.make(client.session().work());
        });
    }

    /** A change on the progress thread. */
    @FunctionalInterface
    private interface WorkChange {
        void make(SessionWork work);
    }
}
