package org.jfabric.driver.soak;

import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.test.TestDirectory;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** The drivers of one world, with options that the seed chooses: small limits, so that all of them are met. */
final class SoakDrivers implements AutoCloseable {
    /** More than all messages of a window take. */
    static final int LARGE_SHARE = 512;

    private final SoakSetup setup;
    private final Path base = TestDirectory.create();
    private final Map<String, String> options = new TreeMap<>();
    private final List<FabricDriver> embedded = new ArrayList<>();
    private final List<DriverProcess> processes = new ArrayList<>();
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    final int eagerLimitBytes;
    /** Of each completion queue; -1 for what is usual. */
    final int driverShare;

    SoakDrivers(SoakSetup setup, Random random) {
        this.setup = setup;
        eagerLimitBytes = 256 << random.nextInt(6);
        options.put("jfabric.engine.eagerLimitBytes", Integer.toString(eagerLimitBytes));
        int budget = 16 + random.nextInt(6);
        options.put("jfabric.engine.unexpectedBudgetBytes", Integer.toString(1 << budget));
        options.put("jfabric.engine.creditWindowBytes", Integer.toString(1 << 13 + random.nextInt(budget - 12)));
        options.put("jfabric.engine.announcementLimit", Integer.toString(1 << random.nextInt(7)));
        options.put("jfabric.engine.straightPath", random.nextInt(4) == 0 ? "OFF" : "ON");
        options.put("jfabric.engine.queuePollBatch", Integer.toString(1 << random.nextInt(6)));
        int ring = 16 + random.nextInt(4);
        options.put("jfabric.shm.ringLengthBytes", Integer.toString(1 << ring));
        options.put("jfabric.shm.segmentLengthBytes", Integer.toString(1 << 10 + random.nextInt(ring - 13)));
        options.put("jfabric.shm.regionCacheSize", Integer.toString(1 << random.nextInt(3)));
        if (random.nextBoolean()) {
            options.put("jfabric.queue.tqLengthBytes", "4096");
            options.put("jfabric.queue.rqLengthBytes", "4096");
        }
        driverShare = random.nextInt(3) == 0 ? LARGE_SHARE : random.nextBoolean() ? 1 + random.nextInt(12) : -1;
        options.put("jfabric.queue.cqDriverShare", Integer.toString(driverShare));
        if (random.nextInt(3) != 0) {
            options.put("jfabric.queue.slabLengthBytes", "65536");
        }
        if (random.nextInt(4) == 0) {
            options.put("jfabric.threading.idleSpinNs", "0");
        }
        options.put("jfabric.threading.progressThreads", Integer.toString(setup.progressThreads));
        try {
            for (int i = 0; i < setup.drivers(); i++) {
                start("d" + i);
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private void start(String name) {
        if (setup.daemon) {
            List<String> arguments = new ArrayList<>(List.of("-XX:+UseSerialGC", "-ea"));
            options.forEach((option, value) -> arguments.add(option + '=' + value));
            arguments.add("jfabric.threading.mode=" + setup.mode);
            DriverProcess process = DriverProcess.start(base.resolve(name), arguments.toArray(String[]::new));
            processes.add(process);
            resources.push(process);
        } else {
            DriverConfig.Builder builder =
                DriverConfig.builder().directory(base.resolve(name)).threadingMode(setup.mode);
            options.forEach(builder::set);
            FabricDriver driver = FabricDriver.launchEmbedded(builder.build());
            embedded.add(driver);
            resources.push(driver);
        }
    }

    /** A client of one of the drivers; it goes with its driver. */
    Fabric open(int driver) {
        Fabric fabric = setup.daemon
            ? Fabric.connect(new FabricConfig().directory(processes.get(driver).directory()))
            : embedded.get(driver).fabric();
        resources.push(fabric::close);
        return fabric;
    }

    /** Lets drivers without threads work, and others have the processor. */
    void pump() {
        if (setup.isInvoker()) {
            for (FabricDriver driver : embedded) {
                driver.cycle();
            }
        } else {
            Thread.yield();
        }
    }

    /** What went wrong in the drivers, if anything. */
    String state() {
        StringBuilder text = new StringBuilder();
        options.forEach((option, value) -> text.append("  ").append(option).append('=').append(value).append('\n'));
        for (FabricDriver driver : embedded) {
            text.append("  ").append(driver.directory()).append(driver.isRunning() ? " runs\n" : " HAS ENDED\n");
        }
        for (DriverProcess process : processes) {
            text.append("  ").append(process.directory())
                .append(process.process().isAlive() ? " runs\n" : " HAS ENDED: " + process.output() + '\n');
        }
        errors().forEach(error -> text.append("  ").append(error).append('\n'));
        return text.toString();
    }

    /** What the drivers' error logs say: nothing, as long as nobody makes mistakes. */
    List<String> errors() {
        List<Path> directories = new ArrayList<>();
        embedded.forEach(driver -> directories.add(driver.directory()));
        processes.forEach(process -> directories.add(process.directory()));
        List<String> errors = new ArrayList<>();
        for (Path directory : directories) {
            try (DriverView view = new DriverView(directory)) {
                view.errors().forEach(error -> errors.add(directory.getFileName() + ": " + error));
            }
        }
        return errors;
    }

    @Override
    public void close() {
        Throwable failure = null;
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception | Error e) {
                failure = e;
            }
        }
        TestDirectory.delete(base);
        if (failure != null) {
            throw new AssertionError("a driver or client did not close", failure);
        }
    }
}
