package org.jfabric.driver;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.client.EmbeddedDriver;
import org.jfabric.client.LocalDrivers;
import org.jfabric.driver.conductor.ConductorIdleStrategy;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.metrics.Metric;
import org.jfabric.driver.progress.ParkingIdleStrategy;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.PreloadedSockets;
import org.jfabric.ffi.CpuQuota;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.SocketLibrary;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A driver: launched in an application's process or as a daemon of its own.
 *
 * <pre>{@code
 * DriverConfig config = DriverConfig.builder().threadingMode(ThreadingMode.INVOKER).build();
 * try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Close it once, from any thread in DEDICATED and SHARED; in INVOKER from the thread that runs its cycles.
 */
public final class FabricDriver implements AutoCloseable {
    private static final int CLOSE_RETRY_MS = 20;

    private final DriverConfig config;
    private final DriverWiring wiring;
    /** Empty in mode INVOKER. */
    private final List<AgentRunner> progressRunners;
    private final AgentRunner conductorRunner;
    private final InvokedDriver invoked;
    private boolean closed;

    private FabricDriver(
        DriverConfig config, List<LinkProvider> providers, boolean isDaemon, Environment environment) {
        this.config = config;
        this.wiring = new DriverWiring(config, System.err, providers, isDaemon, environment);
        long parkTimeoutNs = config.get(ThreadingConfig.PARK_TIMEOUT_NS);
        switch (config.get(ThreadingConfig.MODE)) {
            case DEDICATED -> {
                progressRunners = wiring.progressAgents().stream().map(agent -> new AgentRunner(
                    BusySpinIdleStrategy.INSTANCE, wiring.log(), null, agent)).toList();
                conductorRunner = new AgentRunner(
                    new ConductorIdleStrategy(
                        wiring.conductor(), wiring.watcher(), wiring.conductorInbox(), parkTimeoutNs),
                    wiring.log(), null, wiring.conductor());
                invoked = null;
            }
            case SHARED -> {
                progressRunners = List.of(new AgentRunner(
                    new ParkingIdleStrategy(
                        wiring.progress(), wiring.watcher(), wiring.conductorInbox(), wiring.counters(),
                        wiring.clock(), wiring.cncAddress(), config.get(ThreadingConfig.IDLE_SPIN_NS), parkTimeoutNs),
                    wiring.log(), null, new SharedAgent(wiring)));
                conductorRunner = null;
                invoked = null;
            }
            default -> {
                progressRunners = List.of();
                conductorRunner = null;
                invoked = new InvokedDriver(wiring);
            }
        }
    }

    /**
     * Launches a driver in this process, in the mode of the configuration.
     *
     * @param config its options.
     * @return the running driver.
     * @throws FabricException if the directory cannot be used ({@code FI_EBUSY}: a driver runs there), or there is too
     *     little room.
     * @throws IllegalStateException naming the flags that the java command lacks.
     */
    public static FabricDriver launchEmbedded(DriverConfig config) {
        return launchEmbedded(config, LinkProviders.enabled(config));
    }

    /** Launches a driver with the given links, the preferred one first. */
    static FabricDriver launchEmbedded(DriverConfig config, List<LinkProvider> providers) {
        return launch(config, providers, false, Environment.SYSTEM);
    }

    /** Launches a driver; without threads if the environment has none and the mode is INVOKER. */
    static FabricDriver launch(
        DriverConfig config, List<LinkProvider> providers, boolean isDaemon, Environment environment) {
        NativeAccess.check();
        FabricDriver driver;
        try {
            driver = new FabricDriver(config, providers, isDaemon, environment);
        } catch (NativeCallException ex) {
            throw new FabricException(ex.errno(), "the driver cannot start: " + ex.getMessage(), null, ex);
        }
        driver.start();
        LocalDrivers.add(driver.wiring.owner());
        return driver;
    }

    /**
     * Launches a driver with threads of its own.
     *
     * @param config its options; the mode must not be INVOKER.
     * @return the running driver.
     * @throws FabricException as {@link #launchEmbedded}, and {@code FI_EINVAL} for INVOKER.
     */
    public static FabricDriver launch(DriverConfig config) {
        return launchWithThreads(config, false);
    }

    /** Launches the driver that is the purpose of this process. */
    static FabricDriver launchDaemon(DriverConfig config) {
        return launchWithThreads(config, true);
    }

    private static FabricDriver launchWithThreads(DriverConfig config, boolean isDaemon) {
        if (config.get(ThreadingConfig.MODE).isManualProgress()) {
            throw new FabricException(FabricErrno.EINVAL,
                "threading mode INVOKER of a driver without an application that runs its cycles",
                "Use DEDICATED or SHARED, or launchEmbedded.");
        }
        return launch(config, LinkProviders.enabled(config), isDaemon, Environment.SYSTEM);
    }

    /**
     * Runs a daemon until it is stopped (SIGTERM, SIGINT).
     *
     * @param args properties files; a later one wins. The other settings are those of {@link
     *     DriverConfig.Builder#host()}.
     */
    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    static int run(String[] args, PrintStream out, PrintStream err) {
        try {
            DriverConfig.Builder builder = DriverConfig.builder().host();
            for (String file : args) {
                builder.load(Path.of(file));
            }
            return run(builder.build(), out, err);
        } catch (FabricException ex) {
            err.println(ex.getMessage());
            return 1;
        }
    }

    /**
     * Runs a daemon until the process is stopped (SIGTERM, SIGINT).
     *
     * <p>On a signal it closes the driver and halts the process with the returned status; the virtual machine's own
     * status would be 143. Other shutdown hooks are not waited for. The manager of services that
     * {@code NOTIFY_SOCKET} names is notified as by sd_notify(3).
     *
     * @param config its options; the mode must not be INVOKER.
     * @param out    receives the options and a line when the driver is ready.
     * @param err    receives error messages.
     * @return exit status: 0 after a signal or when a tool has drained it, 1 if the driver could not be launched or
     *     closed, one of its threads ended by an error, or its directory is gone.
     */
    public static int run(DriverConfig config, PrintStream out, PrintStream err) {
        return new Daemon(config, out, err).run();
    }

    /**
     * Directory of the driver.
     *
     * @return its directory; clients connect by it.
     */
    public Path directory() {
        return wiring.directory().path();
    }

    /**
     * Its options.
     *
     * @return the configuration that it was launched with.
     */
    public DriverConfig config() {
        return config;
    }

    /**
     * The driver as its embedding client uses it.
     *
     * @throws FabricException {@code FI_EOPBADSTATE} in other modes than INVOKER.
     */
    EmbeddedDriver embedded() {
        if (invoked == null) {
            throw new FabricException(FabricErrno.EOPBADSTATE,
                "threading mode " + config.get(ThreadingConfig.MODE) + " runs the cycles itself",
                "Connect by the directory, or use INVOKER.");
        }
        return invoked;
    }

    /**
     * Opens a fabric on this driver with default settings.
     *
     * @return as {@link #fabric(FabricConfig)}.
     */
    public Fabric fabric() {
        return fabric(new FabricConfig());
    }

    /**
     * Opens a fabric on this driver: in INVOKER its calls run the cycles and post without queues, in the other modes it
     * attaches like any client.
     *
     * @param fabricConfig timeouts, name and listener; directory and user are this driver's.
     * @return an open fabric.
     */
    public Fabric fabric(FabricConfig fabricConfig) {
        FabricConfig own = Codes.required(fabricConfig, "fabricConfig").directory(directory()).driverUser("");
        return invoked == null ? Fabric.connect(own) : invoked.connect(() -> Fabric.connect(own));
    }

    /**
     * Runs one whole duty cycle; INVOKER only. After a pause of half a millisecond or more it does all that has waited.
     * Reading calls run cycles too, or the part of one that moves messages while they come in close succession, so an
     * application that reads often needs no call of this. One that reads seldom, or is busy elsewhere for long, calls
     * it to keep connections and other processes from waiting.
     *
     * @return work done, 0 if there was nothing to do.
     * @throws FabricException {@code FI_EOPBADSTATE} in other modes.
     */
    public int cycle() {
        embedded();
        return invoked.lockedCycle();
    }

    /**
     * The duty cycle as an agent of Agrona, for an {@code AgentInvoker}, an {@code AgentRunner} or a {@code
     * CompositeAgent} with agents of the application; INVOKER only. Use: {@code new AgentRunner(idle, errorHandler,
     * null, new CompositeAgent(application, driver.agent()))}; the agents end in this order, the driver last.
     *
     * <p>Its thread is the one that uses what {@link #fabric()} opens, for example in another agent of the same {@code
     * CompositeAgent}. Others connect by {@link #directory()}, as other processes do. The end of the agent closes the
     * driver, so close the runner, and not the driver, while it runs.
     *
     * @return {@code doWork} is {@link #cycle()}, {@code onClose} is {@link #close()}.
     * @throws FabricException {@code FI_EOPBADSTATE} in other modes.
     */
    public Agent agent() {
        embedded();
        return new Agent() {
            @Override
            public int doWork() {
                return invoked.lockedCycle();
            }

            @Override
            public void onClose() {
                close();
            }

            @Override
            public String roleName() {
                return "jfabric-" + wiring.driverName();
            }
        };
    }

    /**
     * Warns if threads would slow each other down.
     *
     * @return null, or a sentence with the thread that spins, the number of cores and the remedy.
     */
    public String warning() {
        double cores = CpuQuota.availableCores();
        int threads = config.get(ThreadingConfig.PROGRESS_THREADS);
        if (config.get(ThreadingConfig.MODE) != ThreadingMode.DEDICATED || cores > 1 && cores >= threads) {
            return null;
        }
        return (threads == 1 ? "the progress thread of mode DEDICATED spins" : threads
            + " progress threads of mode DEDICATED spin") + ", and this process has only " + cores
            + " core(s): clients and driver will wait for each other's time slices. Use jfabric.threading.mode=SHARED";
    }

    /** Ends all clients, releases all resources and removes the driver's files. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        wiring.log().driver(EventKind.DRIVER_CLOSING, directory() + " closes");
        LocalDrivers.remove(wiring.owner());
        close(conductorRunner);
        progressRunners.forEach(this::close);
        if (invoked != null) {
            invoked.close();
        } else {
            wiring.close();
        }
    }

    /** As {@link DriverWiring#abandon()}, in mode INVOKER. */
    synchronized void abandon() {
        if (!closed) {
            closed = true;
            LocalDrivers.remove(wiring.owner());
            invoked.abandon();
        }
    }

    /**
     * Reads a metric, for a registry of the application; docs/metrics.md has the names, those of the process
     * included. Any thread; it reads all metrics, so call it as often as a monitoring system asks, and not for each
     * message.
     *
     * @param name such as {@code jfabric_link_sent_messages}, without the suffix that OpenMetrics has.
     * @return the sum of all metrics of that name, whatever their labels are; NaN if there is none, the driver is
     *     closed, or its file was cut just now.
     */
    public double metric(String name) {
        List<Metric> metrics = wiring.metricsSource().read();
        return metrics == null ? Double.NaN : metrics.stream()
            .filter(metric -> metric.name().equals(name)).mapToDouble(metric -> metric.value().doubleValue())
            .reduce(Double::sum).orElse(Double.NaN);
    }

    /**
     * The port of 127.0.0.1 at which the metrics are served.
     *
     * @return 1 to 65535, or -1 if {@code jfabric.metrics.port} is -1.
     */
    public int metricsPort() {
        return wiring.metricsPort();
    }

    private void start() {
        String warning = warning();
        if (warning != null) {
            wiring.log().onError(new FabricException(FabricErrno.EAGAIN, warning, "Or give it more cores."));
        }
        progressRunners.forEach(AgentRunner::startOnThread);
        if (invoked != null) {
            // no other thread could watch the sockets
            wiring.resource().start();
        }
        if (conductorRunner != null) {
            AgentRunner.startOnThread(conductorRunner);
        }
        wiring.log().driver(EventKind.DRIVER_READY, directory() + ", process " + ProcessHandle.current().pid()
            + ", threading mode " + config.get(ThreadingConfig.MODE) + ", links " + config.get(LinkConfig.ENABLED)
            + (SocketLibrary.preloaded() == null ? "" : ", sockets of " + PreloadedSockets.name()));
    }

    /** For the daemon. */
    DriverWiring wiring() {
        return wiring;
    }

    private void close(AgentRunner runner) {
        if (runner != null) {
            wiring.watcher().wake();
            runner.close(CLOSE_RETRY_MS, thread -> wiring.watcher().wake());
        }
    }

    /**
     * Checks whether the driver's threads run. An unexpected error ends the thread that it occurs in.
     *
     * @return false after one of them has ended, also by {@link #close()}; always true in mode INVOKER until it is
     *     closed.
     */
    public boolean isRunning() {
        return !closed && progressRunners.stream().allMatch(FabricDriver::runs) && runs(conductorRunner);
    }

    private static boolean runs(AgentRunner runner) {
        Thread thread = runner == null ? null : runner.thread();
        return thread == null || thread.isAlive();
    }
}
