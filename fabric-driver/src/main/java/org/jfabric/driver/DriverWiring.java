package org.jfabric.driver;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.ConductorSettings;
import org.jfabric.driver.conductor.Drain;
import org.jfabric.driver.conductor.DriverConductor;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.MetricsConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.engine.Engine;
import org.jfabric.driver.engine.EngineCounters;
import org.jfabric.driver.engine.EngineSettings;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.PeerAcceptor;
import org.jfabric.driver.log.AgentLog;
import org.jfabric.driver.log.DriverLog;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.log.EventRecord;
import org.jfabric.driver.metrics.MetricsBean;
import org.jfabric.driver.metrics.MetricsServer;
import org.jfabric.driver.metrics.MetricsSource;
import org.jfabric.driver.progress.CycleTimes;
import org.jfabric.driver.progress.DriverLinkServices;
import org.jfabric.driver.progress.FaultInspector;
import org.jfabric.driver.progress.ProgressAgent;
import org.jfabric.driver.progress.ProgressProxy;
import org.jfabric.driver.progress.ProgressThread;
import org.jfabric.driver.progress.ProgressThreads;
import org.jfabric.driver.progress.QueuePoller;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.PreloadedSockets;
import org.jfabric.driver.resource.ResourceAgent;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.Sleepers;
import org.jfabric.driver.resource.StageTimes;
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
 * <p>Inboxes and wake-ups: SHARED has one thread and one inbox. In DEDICATED each progress thread has an inbox and
 * never sleeps, and the conductor sleeps in the watcher. In INVOKER the resource thread sleeps in the watcher, and the
 * duty cycles poll the inbox.
 */
final class DriverWiring implements AutoCloseable {
    private static final int BACKLOG = 512;
    private static final long BUSY_POLL_INTERVAL_NS = 100_000;
    private static final int SEGMENT_BURST = 4;
    /** Polls after which what one thread has left to do is left to the sleeping ones. */
    private static final int SETTLING_POLLS = 4;
    /** Cycles after a pause while the watching thread has reported more than one of them handles. */
    private static final int CATCH_UP_CYCLES = 16;
    /** A longer time without cycles is a pause, which counts no more than this for time-outs. */
    private static final long LONGEST_WAIT_NS = 250_000_000;
    private static final int LAST_CYCLES = 1000;
    private static final long CLOSE_TIMEOUT_NS = 5_000_000_000L;

    private final DriverConfig config;
    private final Environment environment;
    private final DriverDirectory directory;
    private final OwnerId owner;
    private final CncFile cnc;
    /** Null if no events are kept. */
    private final EventRecord record;
    private final DriverLog logs;
    /** For threads that are no agents. */
    private final AgentLog log;
    private final SharedFiles files;
    private final DescriptorWatcher watcher;
    private final DescriptorWatcher resourceWatcher;
    private final ResourceAgent resource;
    private final Inbox conductorInbox;
    /** By number of the progress thread. */
    private final List<ProgressThread> threads = new ArrayList<>();
    private final DriverConductor conductor;
    private final CycleClock clock;
    /** Null but in INVOKER. */
    private final Sleepers sleepers;
    private final MetricsSource metricsSource;
    /** Null unless there is a port for it. */
    private final MetricsServer metrics;
    /** Null unless it has a name. */
    private final MetricsBean metricsBean;
    private final Drain drain = new Drain();

    /**
     * Wires a driver.
     *
     * @param config      its options.
     * @param err         for errors that the error log has no room for, and for the log.
     * @param providers   of the links, the preferred one first.
     * @param isDaemon    whether the driver is the purpose of its process.
     * @param environment clock, random numbers and threads.
     */
    DriverWiring(DriverConfig config, PrintStream err, List<LinkProvider> providers, boolean isDaemon,
        Environment environment) {
        this.config = config;
        this.environment = environment;
        ThreadingMode mode = config.get(ThreadingConfig.MODE);
        PreloadedSockets.choose(config.get(LinkConfig.SOCKET_LIBRARY));
        directory = DriverDirectory.open(config);
        Undo undo = new Undo();
        undo.push(directory);
        try {
            owner = environment.ownerId();
            cnc = new CncFile(directory, owner, config, err, environment);
            undo.push(cnc);
            record = EventRecord.create(directory.fd(), owner, config, cnc);
            if (record != null) {
                undo.push(record);
            }
            logs = DriverLog.open(config, isDaemon, cnc, err, record);
            undo.push(logs);
            log = logs.agent("driver", false);
            warn();
            watcher = new DescriptorWatcher();
            undo.push(watcher);
            resourceWatcher = mode == ThreadingMode.INVOKER ? watcher : new DescriptorWatcher();
            undo.push(resourceWatcher);
            resource = new ResourceAgent(resourceWatcher, logs.agent("resource", false), environment.hasThreads());
            undo.push(resource);
            conductorInbox = new Inbox();
            sleepers = mode != ThreadingMode.INVOKER ? null : new Sleepers(
                cnc.address(), watcher, config.get(ThreadingConfig.PARK_TIMEOUT_NS), this::onFirstSleeper);
            conductorInbox.waker(sleepers == null ? watcher::wake : sleepers::wake);
            resource.sleepers(sleepers);
            files = new SharedFiles(directory.fd(), owner, cnc.counters(), environment);
            clock = newClock();
            FaultInspector faults = new FaultInspector(files, cnc.counters(), log, this::repair);
            List<List<PeerAcceptor>> acceptors = makeThreads(providers, files, faults, undo);
            int listenFd = listen();
            undo.push(() -> Libc.close(listenFd));
            conductor = new DriverConductor(
                new ConductorContext(config, directory.path(), directory.gid(), files, resource, conductorInbox,
                    new ProgressThreads(threads), providers, cnc.counters(), logs.agent("conductor", false), drain),
                conductorSettings(mode),
                watcher,
                mode == ThreadingMode.DEDICATED ? newClock() : clock,
                faults,
                listenFd,
                acceptors);
            // all counters that every driver has are there now
            cnc.keep();
            metricsSource = new MetricsSource(cnc.countersReader(), directory.path());
            undo.push(metricsSource);
            metricsBean = registerMetrics();
            if (metricsBean != null) {
                undo.push(metricsBean);
            }
            metrics = openMetrics();
            undo.clear();
        } finally {
            undo.run();
        }
    }

    private CycleClock newClock() {
        // a thread of the driver that sleeps is woken by what arrives
        return new CycleClock(environment, Math.max(LONGEST_WAIT_NS, config.get(ThreadingConfig.PARK_TIMEOUT_NS)));
    }

    /** After a failed access: the driver's own files. */
    private boolean repair() {
        if (record != null) {
            record.closeIfCut();
        }
        return cnc.repair();
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
    AgentLog log() {
        return log;
    }

    MetricsSource metricsSource() {
        return metricsSource;
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
        if (config.get(ThreadingConfig.MODE) != ThreadingMode.DEDICATED) {
            return 1;
        }
        threads.forEach(thread -> thread.proxy().inbox().post(task));
        return 1 + threads.size();
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

    /** The duty cycles of the data path, one for each progress thread. */
    List<ProgressAgent> progressAgents() {
        return threads.stream().map(ProgressThread::agent).toList();
    }

    /** The only one of a mode without progress threads of its own. */
    ProgressAgent progress() {
        return threads.getFirst().agent();
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

    Environment environment() {
        return environment;
    }

    /** What resource threads would do, for a driver that has none. */
    private int pollResources() {
        return environment.hasThreads() ? 0 : resource.poll();
    }

    /** One cycle of all agents on the calling thread. */
    int cycle() {
        int work = pollResources();
        for (ProgressThread thread : threads) {
            work += thread.agent().doWork(ProgressAgent.LINK_BATCH);
        }
        return work + conductor.doWork();
    }

    /** The same with another limit of messages from each peer. */
    int cycle(int messageLimit) {
        ProgressThread only = threads.getFirst();
        int work = pollResources() + only.agent().doWork(messageLimit) + conductor.doWork();
        only.engine().findQuick();
        return work;
    }

    /** As {@link org.jfabric.client.EmbeddedDriver#catchUp}. */
    int catchUp(int messageLimit) {
        clock.catchUp(true);
        try {
            int work = cycle(messageLimit);
            for (int i = 1; i < CATCH_UP_CYCLES && !conductorInbox.isEmpty(); i++) {
                work += cycle(messageLimit);
            }
            return work;
        } finally {
            clock.catchUp(false);
        }
    }

    /** As {@link org.jfabric.client.EmbeddedDriver#needsCycle()}; in INVOKER both agents have one inbox. */
    boolean needsCycle() {
        ProgressThread only = threads.getFirst();
        return !only.engine().isQuick() || !only.agent().isFast() || conductor.hasWork();
    }

    /** As {@link org.jfabric.client.EmbeddedDriver#prepareSleep()}, after a cycle. */
    boolean prepareSleep() {
        ProgressThread only = threads.getFirst();
        sleepers.arm();
        if (only.agent().pollBeforeSleep() != 0 || !conductorInbox.isEmpty() || conductor.hasPendingEvents()
            || conductor.hasPosted()) {
            return false;
        }
        if (hasTimers()) {
            sleepers.limit();
        }
        only.agent().onWoken();
        return true;
    }

    /** Whether a deadline passes while the threads sleep. */
    boolean hasTimers() {
        return threads.getFirst().engine().hasTimers() || conductor.hasTimers();
    }

    /** As {@link org.jfabric.client.EmbeddedDriver#settle()}. */
    void settle() {
        if (!sleepers.isArmed()) {
            return;
        }
        ProgressThread only = threads.getFirst();
        for (int i = 0; i < SETTLING_POLLS; i++) {
            if (only.agent().pollMessages(ProgressAgent.LINK_BATCH) == 0 && only.engine().arm()) {
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
        threads.getFirst().engine().onMayPark();
    }

    /** All threads have ended: what they did is finished here. */
    @Override
    public void close() {
        // what clients have submitted is taken, but a client that submits more and more is not waited for
        int cycles = 0;
        while (cycles < LAST_CYCLES && cycle() > 0) {
            cycles++;
        }
        conductor.closeClients("the driver closes");
        long deadlineNs = environment.nanoTime() + CLOSE_TIMEOUT_NS;
        while (!conductor.isQuiet() && environment.nanoTime() - deadlineNs < 0) {
            if (cycle() == 0) {
                environment.pause();
            }
        }
        threads.forEach(thread -> thread.engine().close());
        conductor.onEnded();
        resource.close();
        conductorInbox.drain(Integer.MAX_VALUE);
        threads.forEach(thread -> thread.proxy().inbox().drain(Integer.MAX_VALUE));
        watcher.close();
        if (resourceWatcher != watcher) {
            resourceWatcher.close();
        }
        closeMetrics();
        log.driver(EventKind.DRIVER_CLOSED, directory.path() + " is closed");
        logs.close();
        if (sleepers != null) {
            sleepers.close();
        }
        if (record != null) {
            record.close();
        }
        cnc.close();
        directory.close();
    }

    /**
     * Ends the driver as the end of its process would: sockets close, and nothing is written to clients, peers or
     * files. For simulations; no thread runs cycles any more.
     */
    void abandon() {
        conductor.abandon();
        threads.forEach(thread -> thread.engine().close());
        resource.close();
        conductorInbox.drain(Integer.MAX_VALUE);
        files.abandon();
        watcher.close();
        if (resourceWatcher != watcher) {
            resourceWatcher.close();
        }
        closeMetrics();
        logs.close();
        if (sleepers != null) {
            sleepers.close();
        }
        if (record != null) {
            record.close();
        }
        cnc.close();
        directory.abandon();
    }

    private MetricsServer openMetrics() {
        int port = config.get(MetricsConfig.PORT);
        return port < 0 ? null : MetricsServer.open(
            port, metricsSource, () -> !drain.isActive());
    }

    private MetricsBean registerMetrics() {
        String name = config.get(MetricsConfig.JMX_NAME);
        return name.equals(MetricsConfig.NO_JMX) ? null : MetricsBean.register(name, metricsSource);
    }

    private void closeMetrics() {
        metricsSource.close();
        if (metrics != null) {
            metrics.close();
        }
        if (metricsBean != null) {
            metricsBean.close();
        }
    }

    /** Makes the progress threads, each with links of its own; returns the acceptors of each. */
    private List<List<PeerAcceptor>> makeThreads(
        List<LinkProvider> providers, SharedFiles files, FaultInspector faults, Undo undo) {
        List<List<PeerAcceptor>> acceptors = new ArrayList<>();
        ConcurrentMap<String, Integer> threadsByAddress = new ConcurrentHashMap<>();
        for (int i = 0; i < config.get(ThreadingConfig.PROGRESS_THREADS); i++) {
            Inbox inbox = config.get(ThreadingConfig.MODE) == ThreadingMode.DEDICATED ? new Inbox() : conductorInbox;
            CycleClock threadClock = i == 0 ? clock : newClock();
            AgentLog threadLog = logs.agent("progress-" + i, true);
            DriverLinkServices services = new DriverLinkServices(
                directory.path(), files, resource, watcher, inbox, threadClock, cnc.countersManager(), threadLog);
            if (config.get(ThreadingConfig.PROGRESS_THREADS) > 1) {
                services.onThread(i, threadsByAddress);
            }
            services.measure(StageTimes.open(
                config.get(MetricsConfig.STAGE_SAMPLING), services.engineCounters(config)::open));
            List<Link> links = open(providers, services, undo);
            acceptors.add(links.stream().map(Link::acceptor).filter(Objects::nonNull).toList());
            threads.add(thread(i, links, services, threadLog, inbox, threadClock, faults));
        }
        return acceptors;
    }

    private List<Link> open(List<LinkProvider> providers, DriverLinkServices services, Undo undo) {
        List<Link> links = new ArrayList<>();
        Link between = null;
        for (LinkProvider provider : providers) {
            if (provider.joinsLinks()) {
                continue;
            }
            Link link = provider.open(services, config);
            undo.push(link::close);
            links.add(link);
            if (provider.staysInDriver() && config.get(ThreadingConfig.PROGRESS_THREADS) > 1) {
                between = LinkProviders.openBetweenThreads(services, config, provider.name());
                undo.push(between::close);
                links.add(between);
            }
        }
        if (between != null) {
            LinkProviders.shareGroups(between, links);
        }
        LinkProviders.reachHosts(providers, links, services, config);
        return links;
    }

    private ProgressThread thread(
        int index, List<Link> links, DriverLinkServices services, AgentLog threadLog, Inbox inbox,
        CycleClock threadClock, FaultInspector faults) {
        EngineCounters counters = services.engineCounters(config);
        Engine engine = new Engine(engineSettings(config), links, threadLog, counters, threadClock);
        engine.numberRequests(index, config.get(ThreadingConfig.PROGRESS_THREADS));
        ProgressAgent agent = progress(index, engine, inbox, threadClock, faults);
        agent.measure(
            new CycleTimes(counters, cnc.counters(), config.get(MetricsConfig.SLOW_CYCLE_NS), threadLog),
            services.stages());
        if (config.get(ThreadingConfig.PROGRESS_THREADS) > 1) {
            agent.countRequestsAt(services.counterAddress(index == 0 ? "requests (progress thread 0)" : "requests"));
        }
        return new ProgressThread(index, engine, agent,
            new ProgressProxy(inbox, conductorInbox, config.get(ThreadingConfig.MODE) != ThreadingMode.DEDICATED));
    }

    private ProgressAgent progress(
        int index, Engine engine, Inbox inbox, CycleClock threadClock, FaultInspector faults) {
        QueuePoller poller = new QueuePoller(
            config.get(EngineConfig.QUEUE_POLL_BATCH), config.get(EngineConfig.COLD_ROTATION_CYCLES));
        ThreadingMode mode = config.get(ThreadingConfig.MODE);
        int cpu = mode == ThreadingMode.INVOKER ? -1 : config.get(ThreadingConfig.PROGRESS_CPU);
        ProgressAgent agent = new ProgressAgent(
            engine, poller, faults, inbox, threadClock, cnc.counters(), index == 0 ? cnc.address() : 0,
            cpu < 0 ? cpu : cpu + index);
        if (index > 0) {
            agent.roleName("jfabric-progress-" + index);
        }
        if (mode == ThreadingMode.DEDICATED) {
            agent.ownThread();
        }
        agent.sleepers(sleepers);
        return agent;
    }

    private int listen() {
        Path socket = directory.path().resolve(DriverDirectory.SOCKET_NAME);
        int fd = UnixSocket.listen(socket, BACKLOG, directory.gid());
        if (fd < 0) {
            throw new NativeCallException("bind", -fd, socket.toString());
        }
        return fd;
    }

    private ConductorSettings conductorSettings(ThreadingMode mode) {
        return switch (mode) {
            case DEDICATED -> new ConductorSettings(true, -1, config.get(ThreadingConfig.CONDUCTOR_CPU));
            case SHARED -> new ConductorSettings(false, BUSY_POLL_INTERVAL_NS, -1);
            case INVOKER -> new ConductorSettings(false, -1, -1);
        };
    }

    private static EngineSettings engineSettings(DriverConfig config) {
        long budgetBytes = config.get(EngineConfig.UNEXPECTED_BUDGET_BYTES);
        if (budgetBytes > Integer.MAX_VALUE) {
            throw new FabricException(FabricErrno.EINVAL,
                EngineConfig.UNEXPECTED_BUDGET_BYTES.name() + " is " + budgetBytes
                    + " bytes, one endpoint can hold at most " + Integer.MAX_VALUE, "Lower it.");
        }
        return new EngineSettings(
            (int) budgetBytes,
            Math.toIntExact(config.get(EngineConfig.CREDIT_WINDOW_BYTES)),
            config.get(EngineConfig.ANNOUNCEMENT_LIMIT),
            SEGMENT_BURST);
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
