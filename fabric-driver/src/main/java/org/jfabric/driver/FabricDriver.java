package org.jfabric.driver;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.client.EmbeddedDriver;
import org.jfabric.client.LocalDrivers;
import org.jfabric.driver.conductor.ConductorIdleStrategy;
import org.jfabric.driver.config.ConfigPrinter;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.progress.ParkingIdleStrategy;
import org.jfabric.ffi.CpuQuota;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A driver: launched in an application's process or as a daemon of its own.
 *
 * <p>Close it once, from any thread in DEDICATED and SHARED; in INVOKER from the thread that runs its cycles.
 */
public final class FabricDriver implements AutoCloseable {
    private static final int CLOSE_RETRY_MS = 20;
    private static final long CHECK_THREADS_MS = 500;

    private final DriverConfig config;
    private final DriverWiring wiring;
    /** Empty in mode INVOKER. */
    private final List<AgentRunner> progressRunners;
    private final AgentRunner conductorRunner;
    private final InvokedDriver invoked;
    private boolean closed;

    private FabricDriver(DriverConfig config, List<LinkProvider> providers) {
        this.config = config;
        this.wiring = new DriverWiring(config, System.err, providers);
        ThreadingConfig threading = config.threading();
        switch (threading.mode()) {
            case DEDICATED -> {
                progressRunners = wiring.progressAgents().stream().map(agent -> new AgentRunner(
                    BusySpinIdleStrategy.INSTANCE, wiring.errorHandler(), null, agent)).toList();
                conductorRunner = new AgentRunner(
                    new ConductorIdleStrategy(
                        wiring.conductor(), wiring.watcher(), wiring.conductorInbox(), threading.parkTimeoutNs()),
                    wiring.errorHandler(), null, wiring.conductor());
                invoked = null;
            }
            case SHARED -> {
                progressRunners = List.of(new AgentRunner(
                    new ParkingIdleStrategy(
                        wiring.progress(), wiring.watcher(), wiring.conductorInbox(), wiring.counters(),
                        wiring.clock(), wiring.cncAddress(), threading.idleSpinNs(), threading.parkTimeoutNs()),
                    wiring.errorHandler(), null, new SharedAgent(wiring)));
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
        return launchEmbedded(config, LinkProviders.enabled(config.link()));
    }

    /** Launches a driver with the given links, the preferred one first. */
    static FabricDriver launchEmbedded(DriverConfig config, List<LinkProvider> providers) {
        NativeAccess.check();
        FabricDriver driver = new FabricDriver(config, providers);
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
        if (config.threading().mode().isManualProgress()) {
            throw new FabricException(FabricErrno.EINVAL,
                "threading mode INVOKER of a driver without an application that runs its cycles",
                "Use DEDICATED or SHARED, or launchEmbedded.");
        }
        return launchEmbedded(config);
    }

    /**
     * Runs a daemon until it is stopped (SIGTERM, SIGINT).
     *
     * @param args properties files; a later one wins.
     */
    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    static int run(String[] args, PrintStream out, PrintStream err) {
        try {
            DriverConfig.Builder builder = DriverConfig.builder();
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
     * status would be 143. Other shutdown hooks are not waited for.
     *
     * @param config its options; the mode must not be INVOKER.
     * @param out    receives the options and a line when the driver is ready.
     * @param err    receives error messages.
     * @return exit status: 0 after a signal or when a tool has drained it, 1 if the driver could not be launched or
     *     closed, one of its threads ended by an error, or its directory is gone.
     */
    public static int run(DriverConfig config, PrintStream out, PrintStream err) {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        AtomicInteger status = new AtomicInteger(1);
        Thread hook = new Thread(() -> {
            end.countDown();
            await(ended);
            out.flush();
            err.flush();
            Runtime.getRuntime().halt(status.get());
        }, "jfabric-shutdown");
        try {
            status.set(run(config, end, hook, out, err));
        } finally {
            ended.countDown();
        }
        return status.get();
    }

    private static int run(
        DriverConfig config, CountDownLatch end, Thread hook, PrintStream out, PrintStream err) {
        try (FabricDriver driver = launch(config)) {
            Runtime.getRuntime().addShutdownHook(hook);
            driver.wiring.drain().allow(end::countDown);
            String warning = driver.warning();
            if (warning != null) {
                err.println(warning);
            }
            out.print(ConfigPrinter.print(config));
            out.println("jfabric driver ready in " + driver.directory());
            out.flush();
            if (!runsUntil(end, driver)) {
                removeHook(hook);
                err.println(driver.reasonOfEnd());
                return 1;
            }
        } catch (FabricException | NativeCallException | IllegalStateException ex) {
            err.println(ex.getMessage());
            return 1;
        }
        return 0;
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
     * @return the port to calls without queues.
     * @throws FabricException {@code FI_EOPBADSTATE} in other modes than INVOKER.
     */
    // for the client, which sees the package of the type
    @SuppressWarnings("exports")
    public EmbeddedDriver embedded() {
        if (invoked == null) {
            throw new FabricException(FabricErrno.EOPBADSTATE,
                "threading mode " + config.threading().mode() + " runs the cycles itself",
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
     * @param fabricConfig timeouts, name and listener; the directory is this driver's.
     * @return an open fabric.
     */
    public Fabric fabric(FabricConfig fabricConfig) {
        return invoked != null
            ? Fabric.embedded(invoked, fabricConfig) : Fabric.connect(fabricConfig.directory(directory()));
    }

    /**
     * Runs one duty cycle; INVOKER only.
     *
     * @return work done, 0 if there was nothing to do.
     * @throws FabricException {@code FI_EOPBADSTATE} in other modes.
     */
    public int cycle() {
        embedded();
        return invoked.lockedCycle();
    }

    /**
     * Warns if threads would slow each other down.
     *
     * @return null, or a sentence with the thread that spins, the number of cores and the remedy.
     */
    public String warning() {
        double cores = CpuQuota.availableCores();
        int threads = config.threading().progressThreads();
        if (config.threading().mode() != ThreadingMode.DEDICATED || cores > 1 && cores >= threads) {
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
        LocalDrivers.remove(wiring.owner());
        close(conductorRunner);
        progressRunners.forEach(this::close);
        if (invoked != null) {
            invoked.close();
        } else {
            wiring.close();
        }
    }

    private void start() {
        String warning = warning();
        if (warning != null) {
            wiring.errorHandler().onError(new FabricException(FabricErrno.EAGAIN, warning, "Or give it more cores."));
        }
        progressRunners.forEach(AgentRunner::startOnThread);
        if (invoked != null) {
            // no other thread could watch the sockets
            wiring.resource().start();
        }
        if (conductorRunner != null) {
            AgentRunner.startOnThread(conductorRunner);
        }
    }

    private void close(AgentRunner runner) {
        if (runner != null) {
            wiring.watcher().wake();
            runner.close(CLOSE_RETRY_MS, thread -> wiring.watcher().wake());
        }
    }

    private String reasonOfEnd() {
        if (!wiring.directory().isInPlace()) {
            return directory() + " was deleted, or another directory is in its place: no client can find this driver"
                + " any more, so it ends. Start it again, and keep others from deleting there.";
        }
        return "a thread of the driver ended by an error, see the error log of " + directory()
            + "; the driver ends, so that its clients notice";
    }

    /** Returns true after a stop signal or when the driver was drained, false if the driver cannot continue. */
    private static boolean runsUntil(CountDownLatch end, FabricDriver driver) {
        boolean interrupted = false;
        boolean stopped = false;
        while (!stopped && driver.isRunning() && driver.wiring.directory().isInPlace()) {
            try {
                stopped = end.await(CHECK_THREADS_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException ex) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return stopped;
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

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ex) {
            // the process ends already for another reason, with its own status
            return;
        }
    }

    private static void await(CountDownLatch latch) {
        boolean interrupted = false;
        for (;;) {
            try {
                latch.await();
                break;
            } catch (InterruptedException ex) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
