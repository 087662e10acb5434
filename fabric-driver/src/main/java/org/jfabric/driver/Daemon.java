package org.jfabric.driver;

import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.driver.config.ConfigPrinter;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricException;

/**
 * A process whose purpose is a driver: it runs until a signal comes, a tool has drained it or the driver cannot
 * continue, and notifies the manager of services. Owner: the main thread.
 */
final class Daemon {
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int CHECKS_PER_WATCHDOG = 4;

    private final DriverConfig config;
    private final PrintStream out;
    private final PrintStream err;
    private final ServiceManager manager = new ServiceManager(System.getenv(), ProcessHandle.current().pid());
    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicInteger status = new AtomicInteger(1);
    private final Thread hook = new Thread(this::onSignal, "jfabric-shutdown");
    private volatile boolean drained;
    /** Threads of the driver that have run a cycle since the last sign of life, and how many there are. */
    private AtomicInteger running = new AtomicInteger();
    private int threads;

    Daemon(DriverConfig config, PrintStream out, PrintStream err) {
        this.config = config;
        this.out = out;
        this.err = err;
    }

    /** As {@link FabricDriver#run(DriverConfig, PrintStream, PrintStream)}. */
    int run() {
        try {
            status.set(serve());
        } finally {
            ended.countDown();
        }
        return status.get();
    }

    private void onSignal() {
        end.countDown();
        await(ended);
        out.flush();
        err.flush();
        Runtime.getRuntime().halt(status.get());
    }

    private void onDrained() {
        drained = true;
        end.countDown();
    }

    private int serve() {
        try {
            // before the launch, whose log lines may be taken as the sign that the driver can be stopped
            Runtime.getRuntime().addShutdownHook(hook);
            try (FabricDriver driver = FabricDriver.launchDaemon(config)) {
                return serve(driver);
            }
        } catch (FabricException | NativeCallException | IllegalStateException ex) {
            removeHook();
            err.println(ex.getMessage());
            return 1;
        }
    }

    private int serve(FabricDriver driver) {
        driver.wiring().drain().allow(this::onDrained);
        String warning = driver.warning();
        if (warning != null) {
            err.println(warning);
        }
        out.print(ConfigPrinter.print(config));
        if (driver.metricsPort() >= 0) {
            out.println("metrics at http://127.0.0.1:" + driver.metricsPort() + "/metrics");
        }
        out.println("jfabric driver ready in " + driver.directory());
        out.flush();
        manager.ready(state(driver));
        boolean stopped = runsUntilStopped(driver);
        String reason = !stopped ? reasonOfEnd(driver) : drained ? "it was drained" : "a signal came";
        manager.stopping(reason);
        if (!stopped) {
            removeHook();
            err.println(reason);
            return 1;
        }
        return 0;
    }

    private static String state(FabricDriver driver) {
        try {
            long clients = driver.wiring().counters().value(SystemCounter.CLIENTS);
            return clients + (clients == 1 ? " client in " : " clients in ") + driver.directory();
        } catch (InternalError cut) {
            // the file of the counters was cut; the agents make it whole, and this thread has nothing to end for it
            return "the file of the counters was cut in " + driver.directory();
        }
    }

    private static String reasonOfEnd(FabricDriver driver) {
        if (!driver.wiring().directory().isInPlace()) {
            return driver.directory() + " was deleted, or another directory is in its place: no client can find this"
                + " driver any more, so it ends. Start it again, and keep others from deleting there.";
        }
        return "a thread of the driver ended by an error, see the error log of " + driver.directory()
            + "; the driver ends, so that its clients notice";
    }

    /** Returns true after a stop signal or when the driver was drained, false if the driver cannot continue. */
    private boolean runsUntilStopped(FabricDriver driver) {
        boolean interrupted = false;
        boolean stopped = false;
        long checkNs = manager.watchdogNs() == 0 ? CHECK_NS
            : Math.min(CHECK_NS, Math.max(1, manager.watchdogNs() / CHECKS_PER_WATCHDOG));
        while (!stopped && driver.isRunning() && driver.wiring().directory().isInPlace()) {
            try {
                stopped = end.await(checkNs, TimeUnit.NANOSECONDS);
            } catch (InterruptedException ex) {
                interrupted = true;
            }
            if (!stopped) {
                manager.status(state(driver));
                showLife(driver);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return stopped;
    }

    /** A sign of life is sent only if all threads of the driver have run a cycle since the last one. */
    private void showLife(FabricDriver driver) {
        if (manager.watchdogNs() > 0 && running.get() == threads) {
            manager.alive();
            AtomicInteger next = new AtomicInteger();
            running = next;
            threads = driver.wiring().onEachThread(next::incrementAndGet);
        }
    }

    private void removeHook() {
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
