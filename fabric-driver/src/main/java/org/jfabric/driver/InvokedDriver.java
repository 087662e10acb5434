package org.jfabric.driver;

import org.jfabric.client.Attachment;
import org.jfabric.client.EmbeddedDriver;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.LentMessages;
import org.jfabric.client.PollPauses;
import org.jfabric.client.Sleeper;
import org.jfabric.client.UseLock;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.conductor.OpenedClient;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.progress.ProgressAgent;
import org.jfabric.driver.resource.Environment;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A driver in INVOKER mode as its embedding client uses it. Owner: the one thread that runs the cycles; once there is a
 * lock, whichever thread owns it.
 */
final class InvokedDriver extends EmbeddedDriver {
    private static final long ATTACH_TIMEOUT_NS = 10_000_000_000L;
    private static final long DETACH_TIMEOUT_NS = 5_000_000_000L;

    private final DriverWiring wiring;
    private final ProgressAgent progress;
    /** Between the cycles that the application calls for itself. */
    private final PollPauses pauses;
    private boolean closed;

    InvokedDriver(DriverWiring wiring) {
        this.wiring = wiring;
        this.progress = wiring.progress();
        this.pauses = new PollPauses(wiring.environment().nanoTime());
    }

    @Override
    public Attachment attach() {
        requireOpen();
        Answer answer = new Answer();
        locked(() -> wiring.conductor().attachEmbedded(answer));
        Environment environment = wiring.environment();
        long deadlineNs = environment.nanoTime() + ATTACH_TIMEOUT_NS;
        while (answer.session == null && answer.errno == 0) {
            if (environment.nanoTime() - deadlineNs > 0) {
                throw new FabricException(FabricErrno.ETIMEDOUT,
                    "the control file in " + wiring.directory().path() + " was not made within 10 s",
                    "See whether the file system hangs.");
            }
            if (cycle() == 0) {
                environment.pause();
            }
        }
        if (answer.errno != 0) {
            throw new FabricException(answer.errno, answer.reason);
        }
        int ringLength = wiring.config().get(QueueConfig.CTL_RING_BYTES);
        return new Attachment(
            wiring.directory().path(),
            wiring.driverName(),
            wiring.owner(),
            answer.session.id(),
            answer.session.controlFile().number(),
            ringLength,
            ringLength,
            wiring.config().get(QueueConfig.BUFFERED_LIMIT_BYTES),
            Sizing.maxBufferedLimitBytes(wiring.config()),
            wiring.conductor().cmDataBytes());
    }

    @Override
    public void detach(long clientId) {
        locked(() -> {
            if (!closed) {
                wiring.conductor().detach(clientId);
                Environment environment = wiring.environment();
                long deadlineNs = environment.nanoTime() + DETACH_TIMEOUT_NS;
                // the application frees memory next that operations of this client use
                while (!wiring.conductor().hasLeft(clientId) && environment.nanoTime() - deadlineNs < 0) {
                    if (wiring.cycle() == 0) {
                        environment.pause();
                    }
                }
            }
        });
    }

    /** Runs a cycle for the application, whose thread does not own the lock. */
    int lockedCycle() {
        UseLock lock = lock();
        if (lock == null) {
            return cycleOrCatchUp();
        }
        lock.enter();
        try {
            return cycleOrCatchUp();
        } finally {
            lock.exit();
        }
    }

    private int cycleOrCatchUp() {
        if (!pauses.isAfterPause(nanoTime(), 1)) {
            return cycle();
        }
        int work = catchUp(ProgressAgent.LINK_BATCH);
        pauses.onEnd(nanoTime());
        return work;
    }

    private int cycle() {
        // a fabric may outlive its driver; what the driver worked on is unmapped then
        return closed ? 0 : wiring.cycle();
    }

    @Override
    public int cycle(int messageLimit) {
        return closed ? 0 : wiring.cycle(messageLimit);
    }

    @Override
    public int catchUp(int messageLimit) {
        return closed ? 0 : wiring.catchUp(messageLimit);
    }

    @Override
    public int pollMessages(int messageLimit) {
        return closed ? 0 : progress.pollMessages(messageLimit);
    }

    @Override
    public boolean needsCycle() {
        return closed || wiring.needsCycle();
    }

    @Override
    public boolean prepareSleep() {
        // the channels of a closed driver are at their end, and are not slept on
        return closed || wiring.prepareSleep();
    }

    @Override
    public void cancelSleep() {
        wiring.sleepers().disarm();
    }

    @Override
    public void wakeSleepers() {
        wiring.sleepers().wake();
    }

    @Override
    public void addSleeper(Sleeper sleeper) {
        locked(() -> wiring.sleepers().add(sleeper));
    }

    @Override
    public void removeSleeper(Sleeper sleeper) {
        wiring.sleepers().remove(sleeper);
    }

    @Override
    protected void settle() {
        if (!closed) {
            wiring.settle();
        }
    }

    /** Closes the driver: nothing of it may be touched any more, so other threads wait until that is so. */
    void close() {
        locked(() -> {
            wiring.close();
            closed = true;
        });
    }

    /** As {@link DriverWiring#abandon()}; calls of its clients have no effect afterwards. */
    void abandon() {
        locked(() -> {
            wiring.abandon();
            closed = true;
        });
    }

    @Override
    public EndpointPort port(long endpointId) {
        EndpointResource[] found = new EndpointResource[1];
        locked(() -> {
            requireOpen();
            found[0] = wiring.conductor().embeddedEndpoint(endpointId);
        });
        EndpointResource endpoint = found[0];
        if (endpoint == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "endpoint " + endpointId + " is not enabled", "Enable it first, and do not use it after its close.");
        }
        return endpoint.endpoint();
    }

    @Override
    public LentMessages lentMessages(long queueId) {
        LentMessages[] found = new LentMessages[1];
        locked(() -> {
            requireOpen();
            found[0] = wiring.conductor().embeddedLentMessages(queueId);
        });
        return found[0];
    }

    @Override
    public long nanoTime() {
        return wiring.environment().nanoTime();
    }

    @Override
    public void pause() {
        wiring.environment().pause();
    }

    @Override
    public void onFault(InternalError error) {
        if (!closed) {
            progress.onFault(error);
        }
    }

    private void locked(Runnable control) {
        UseLock lock = lock();
        if (lock == null) {
            control.run();
            return;
        }
        lock.enter();
        try {
            control.run();
        } finally {
            lock.exit();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new FabricException(FabricErrno.EOPBADSTATE,
                "the driver in " + wiring.directory().path() + " is closed", "Launch another one.");
        }
    }

    private static final class Answer implements OpenedClient {
        private ClientSession session;
        private int errno;
        private String reason;

        @Override
        public void onOpened(ClientSession opened) {
            session = opened;
        }

        @Override
        public void onRefused(int refusedErrno, String refusedReason) {
            errno = refusedErrno;
            reason = refusedReason;
        }
    }
}
