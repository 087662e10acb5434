package org.jfabric.driver;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.ConductorSettings;
import org.jfabric.driver.conductor.Drain;
import org.jfabric.driver.conductor.DriverConductor;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.engine.Engine;
import org.jfabric.driver.engine.EngineCounters;
import org.jfabric.driver.engine.EngineSettings;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.PeerAcceptor;
import org.jfabric.driver.log.DriverLog;
import org.jfabric.driver.metrics.MetricsServer;
import org.jfabric.driver.progress.CycleTimes;
import org.jfabric.driver.progress.DriverLinkServices;
import org.jfabric.driver.progress.FaultInspector;
import org.jfabric.driver.progress.ProgressAgent;
import org.jfabric.driver.progress.ProgressProxy;
import org.jfabric.driver.progress.QueuePoller;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.ResourceAgent;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.Sleepers;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.OwnerId;

/**
 * Assembles the driver for a threading mode, and closes its components in the opposite order.
 *
 * <p>Inboxes and wake-ups: SHARED has one thread and one inbox. In DEDICATED the progress thread never sleeps, and the
 * conductor sleeps in the watcher. In INVOKER the resource thread sleeps in the watcher, and the duty cycles poll the
 * inbox.
 */
final class DriverWiring implements AutoCloseable {
    private static final int BACKLOG = 512;
    private static final long BUSY_POLL_INTERVAL_NS = 100_000;
    private static final int SEGMENT_BURST = 4;
    /** Polls after which what one thread has left to do is left to the sleeping ones. */
    private static final int SETTLING_POLLS = 4;
    private static final long CLOSE_TIMEOUT_NS = 5_000_000_000L;

    private final DriverConfig config;
    private final DriverDirectory directory;
    private final OwnerId owner;
    private final CncFile cnc;
    private final DriverLog log;
    private final DescriptorWatcher watcher;
    private final DescriptorWatcher resourceWatcher;
    private final ResourceAgent resource;
    private final Inbox progressInbox;
    private final Inbox conductorInbox;
    private final Engine engine;
    private final ProgressAgent progress;
    private final DriverConductor conductor;
    private final CycleClock clock;
    /** Null but in INVOKER. */
    private final Sleepers sleepers;
    /** Null unless there is a port for it. */
    private final MetricsServer metrics;
    private final Drain drain = new Drain();

    /**
     * Wires a driver.
     *
     * @param config    its options.
     * @param err       for errors that the error log has no room for, and for the log.
     * @param providers of the links, the preferred one first.
     * @param isDaemon  whether the driver is the purpose of its process.
     */
    DriverWiring(DriverConfig config, PrintStream err, List<LinkProvider> providers, boolean isDaemon) {
        this.config = config;
        ThreadingMode mode = config.threading().mode();
        directory = DriverDirectory.open(config);
        Undo undo = new Undo();
        undo.push(directory);
        try {
            owner = OwnerId.random();
            cnc = new CncFile(directory, owner, config, err);
            undo.push(cnc);
            log = DriverLog.open(config, isDaemon, cnc, err);
            undo.push(log);
            warn();
            watcher = new DescriptorWatcher();
            undo.push(watcher);
            resourceWatcher = mode == ThreadingMode.INVOKER ? watcher : new DescriptorWatcher();
            undo.push(resourceWatcher);
            resource = new ResourceAgent(resourceWatcher, log);
            undo.push(resource);
            conductorInbox = new Inbox();
            progressInbox = mode == ThreadingMode.DEDICATED ? new Inbox() : conductorInbox;
            sleepers = mode != ThreadingMode.INVOKER ? null : new Sleepers(
                cnc.address(), watcher, config.threading().parkTimeoutNs(), this::onFirstSleeper);
            conductorInbox.waker(sleepers == null ? watcher::wake : sleepers::wake);
            resource.sleepers(sleepers);
            SharedFiles files = new SharedFiles(directory.fd(), owner, cnc.counters());
            clock = new CycleClock();
            DriverLinkServices services = new DriverLinkServices(
                directory.path(), files, resource, watcher, progressInbox, clock, cnc.countersManager(), log);
            List<Link> links = new ArrayList<>();
            for (LinkProvider provider : providers) {
                Link link = provider.open(services, config);
                undo.push(link::close);
                links.add(link);
            }
            engine = new Engine(
                engineSettings(config.engine()), links, log, services.engineCounters(config.metrics()), clock);
            FaultInspector faults = new FaultInspector(files, cnc.counters(), log, cnc::repair);
            progress = progress(faults, services.engineCounters(config.metrics()));
            int listenFd = listen();
            undo.push(() -> Libc.close(listenFd));
            conductor = new DriverConductor(
                new ConductorContext(config, directory.path(), files, resource, conductorInbox,
                    new ProgressProxy(progressInbox, conductorInbox, mode != ThreadingMode.DEDICATED),
                    progress, engine, providers, cnc.counters(), log, drain),
                conductorSettings(mode),
                watcher,
                mode == ThreadingMode.DEDICATED ? new CycleClock() : clock,
                faults,
                listenFd,
                acceptor(links));
            // all counters that every driver has are there now
            cnc.keep();
            metrics = openMetrics();
            undo.clear();
        } finally {
            undo.run();
        }
    }

    private void warn() {
        if (directory.warning() != null) {
            log.onError(new FabricException(
                FabricErrno.ENOSPC, directory.warning(), "The driver runs; make room for the next time."));
        }
    }

    DriverDirectory directory() {
        return directory;
    }

    OwnerId owner() {
        return owner;
    }

    /** Also the handler of errors. */
    DriverLog log() {
        return log;
    }

    SystemCounters counters() {
        return cnc.counters();
    }

    /**
     * Has each thread of the driver run something in its next cycle; any thread.
     *
     * @return number of threads.
     */
    int onEachThread(Runnable task) {
        conductorInbox.post(task);
        if (progressInbox == conductorInbox) {
            return 1;
        }
        progressInbox.post(task);
        return 2;
    }

    /** Of the data path's cycle. */
    CycleClock clock() {
        return clock;
    }

    long cncAddress() {
        return cnc.address();
    }

    DescriptorWatcher watcher() {
        return watcher;
    }

    ResourceAgent resource() {
        return resource;
    }

    Inbox conductorInbox() {
        return conductorInbox;
    }

    ProgressAgent progress() {
        return progress;
    }

    DriverConductor conductor() {
        return conductor;
    }

    Drain drain() {
        return drain;
    }

    String driverName() {
        return directory.path().getFileName().toString();
    }

    DriverConfig config() {
        return config;
    }

    /** Port of the metrics, -1 without. */
    int metricsPort() {
        return metrics == null ? -1 : metrics.port();
    }

    /** One cycle on the calling thread. */
    int cycle() {
        return progress.doWork(ProgressAgent.LINK_BATCH) + conductor.doWork();
    }

    /** The same with another limit of messages from each peer. */
    int cycle(int messageLimit) {
        int work = progress.doWork(messageLimit) + conductor.doWork();
        engine.findQuick();
        return work;
    }

    /** As {@link org.jfabric.client.EmbeddedDriver#needsCycle()}; in INVOKER both agents have one inbox. */
    boolean needsCycle() {
        return !engine.isQuick() || !progress.isFast() || conductor.hasWork();
    }

    /** As {@link org.jfabric.client.EmbeddedDriver#prepareSleep()}, after a cycle. */
    boolean prepareSleep() {
        sleepers.arm();
        if (progress.pollBeforeSleep() != 0 || !conductorInbox.isEmpty() || conductor.hasPendingEvents()) {
            return false;
        }
        if (engine.hasTimers() || conductor.hasTimers()) {
            sleepers.limit();
        }
        progress.onWoken();
        return true;
    }

    /** As {@link org.jfabric.client.EmbeddedDriver#settle()}. */
    void settle() {
        if (!sleepers.isArmed()) {
            return;
        }
        for (int i = 0; i < SETTLING_POLLS; i++) {
            if (progress.pollMessages(ProgressAgent.LINK_BATCH) == 0 && engine.arm()) {
                return;
            }
        }
        sleepers.wake();
    }

    Sleepers sleepers() {
        return sleepers;
    }

    private void onFirstSleeper() {
        // in this order: a peer that connects in between reads the word or gets the frame
        cnc.setMayPark();
        engine.onMayPark();
    }

    /** All threads have ended: what they did is finished here. */
    @Override
    public void close() {
        conductor.closeClients("the driver closes");
        long deadlineNs = System.nanoTime() + CLOSE_TIMEOUT_NS;
        while (!conductor.isQuiet() && System.nanoTime() - deadlineNs < 0) {
            if (cycle() == 0) {
                Thread.yield();
            }
        }
        engine.close();
        resource.close();
        conductorInbox.drain(Integer.MAX_VALUE);
        progressInbox.drain(Integer.MAX_VALUE);
        watcher.close();
        if (resourceWatcher != watcher) {
            resourceWatcher.close();
        }
        closeMetrics();
        log.driver("closed", directory.path() + " is closed");
        log.close();
        if (sleepers != null) {
            sleepers.close();
        }
        cnc.close();
        directory.close();
    }

    private MetricsServer openMetrics() {
        int port = config.metrics().port();
        return port < 0 ? null : MetricsServer.open(port, cnc.countersReader());
    }

    private void closeMetrics() {
        if (metrics != null) {
            metrics.close();
        }
    }

    private ProgressAgent progress(FaultInspector faults, EngineCounters counters) {
        QueuePoller poller = new QueuePoller(
            config.engine().queuePollBatch(), config.engine().coldRotationCycles());
        ThreadingMode mode = config.threading().mode();
        ProgressAgent agent = new ProgressAgent(
            engine, poller, faults, progressInbox, clock, cnc.counters(), cnc.address(),
            mode == ThreadingMode.INVOKER ? -1 : config.threading().progressCpu());
        if (mode == ThreadingMode.DEDICATED) {
            agent.ownThread();
        }
        agent.sleepers(sleepers);
        agent.measure(new CycleTimes(counters, cnc.counters(), config.metrics().slowCycleNs()));
        return agent;
    }

    private int listen() {
        int fd = UnixSocket.listen(directory.path().resolve(DriverDirectory.SOCKET_NAME), BACKLOG);
        if (fd < 0) {
            throw new NativeCallException(
                "bind", -fd, directory.path().resolve(DriverDirectory.SOCKET_NAME).toString());
        }
        return fd;
    }

    private ConductorSettings conductorSettings(ThreadingMode mode) {
        return switch (mode) {
            case DEDICATED -> new ConductorSettings(true, -1, config.threading().conductorCpu());
            case SHARED -> new ConductorSettings(false, BUSY_POLL_INTERVAL_NS, -1);
            case INVOKER -> new ConductorSettings(false, -1, -1);
        };
    }

    private static PeerAcceptor acceptor(List<Link> links) {
        for (Link link : links) {
            if (link.acceptor() != null) {
                return link.acceptor();
            }
        }
        return null;
    }

    private static EngineSettings engineSettings(EngineConfig config) {
        if (config.unexpectedBudgetBytes() > Integer.MAX_VALUE) {
            throw new FabricException(FabricErrno.EINVAL,
                EngineConfig.UNEXPECTED_BUDGET_BYTES.name() + " is " + config.unexpectedBudgetBytes()
                    + " bytes, one endpoint can hold at most " + Integer.MAX_VALUE, "Lower it.");
        }
        return new EngineSettings(
            (int) config.unexpectedBudgetBytes(),
            (int) config.creditWindowBytes(),
            config.announcementLimit(),
            SEGMENT_BURST,
            config.straightPath());
    }

    /** Closes in the opposite order what a failed start has opened. */
    private static final class Undo {
        private final List<AutoCloseable> opened = new ArrayList<>();

        void push(AutoCloseable closeable) {
            opened.add(closeable);
        }

        void clear() {
            opened.clear();
        }

        void run() {
            for (int i = opened.size() - 1; i >= 0; i--) {
                try {
                    opened.get(i).close();
                } catch (Exception ex) {
                    // the first failure, which is on its way, says more
                    continue;
                }
            }
        }
    }
}
