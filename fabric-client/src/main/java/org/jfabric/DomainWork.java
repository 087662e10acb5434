package org.jfabric;

import java.util.concurrent.atomic.AtomicLong;
import org.jfabric.client.ClientConductor;
import org.jfabric.codec.control.ControlWork;
import org.jfabric.codec.control.QueueCounterWork;
import org.jfabric.codec.control.WorkAction;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * The deferred work of one domain: transfers are posted into the queues of their endpoints, changes of counters and all
 * control of queued work are commands.
 *
 * <p>Any thread. Source: fi_trigger(3), section Experimental Deferred Work Queues.
 */
final class DomainWork {
    /** Bits of a work's number that count; those above are the domain's number. */
    private static final int NUMBER_BITS = 40;

    private final Domain domain;
    private final ClientConductor conductor;
    private final boolean isOffered;
    private final AtomicLong lastNumber = new AtomicLong();

    DomainWork(Domain domain, ClientConductor conductor, long caps) {
        this.domain = domain;
        this.conductor = conductor;
        this.isOffered = (caps & Flags.TRIGGER) != 0;
    }

    /** Whether counters of the domain may start something. */
    boolean isOffered() {
        return isOffered;
    }

    int queue(DeferredWork work) {
        if (!domain.isOpen()) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (!isOffered) {
            return -FabricErrno.EOPNOTSUPP;
        }
        if (work == null || !work.isComplete(domain) || !work.trigger().isValid(domain)) {
            return -FabricErrno.EINVAL;
        }
        long before = work.id();
        work.id(domain.number() << NUMBER_BITS | lastNumber.incrementAndGet());
        int result = work.changesCounter() ? queueChange(work) : post(work);
        if (result != 0) {
            work.id(before);
        }
        return result;
    }

    private static int post(DeferredWork work) {
        EndpointTriggers triggers = work.endpoint().triggers();
        if (triggers == null) {
            return work.endpoint().isUsable() ? -FabricErrno.EOPNOTSUPP : -FabricErrno.EOPBADSTATE;
        }
        return work.post(triggers);
    }

    private int queueChange(DeferredWork work) {
        return answer(() -> conductor.commands().queueCounterWork(new QueueCounterWork(
            domain.number(), work.id(), work.trigger().counter().id(), work.trigger().threshold(), work.target().id(),
            work.value(), work.isSet() ? 1 : 0)));
    }

    int cancel(DeferredWork work) {
        if (work == null) {
            return -FabricErrno.EINVAL;
        }
        return work.id() == 0 ? -FabricErrno.ENOENT : control(WorkAction.CANCEL, work.id(), 0);
    }

    int flush() {
        return control(WorkAction.FLUSH, 0, 0);
    }

    int flush(Counter counter) {
        return counter == null || counter.domain() != domain || !counter.isOpen() ? -FabricErrno.EINVAL
            : control(WorkAction.FLUSH, 0, counter.id());
    }

    /** Refuses to close a counter for which something waits. */
    void requireUnused(Counter counter) {
        if (isOffered && control(WorkAction.REQUIRE_UNUSED, 0, counter.id()) == -FabricErrno.EBUSY) {
            throw new FabricException(FabricErrno.EBUSY, "work waits for counter " + counter.id()
                + ", or is to count there", "Cancel the work, or let the counter start it.");
        }
    }

    private int control(WorkAction action, long workId, long counterId) {
        if (!domain.isOpen()) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (!isOffered) {
            return -FabricErrno.EOPNOTSUPP;
        }
        return answer(() -> conductor.commands().call("asking for queued work: " + action,
            new ControlWork(domain.number(), workId, counterId, action.value())));
    }

    /** The answer of a command as a number. */
    private static int answer(Runnable command) {
        try {
            command.run();
            return 0;
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }
}
