package org.jfabric.driver.soak;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.simulation.soak.SoakDrivers;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;

/** Real drivers, in this process or as daemons. */
final class SetupDrivers extends SoakDrivers {
    private final SoakSetup setup;
    private final Path base = TestDirectory.create();
    private final List<FabricDriver> embedded = new ArrayList<>();
    private final List<DriverProcess> processes = new ArrayList<>();
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();

    SetupDrivers(SoakSetup setup, Random random) {
        super(setup.link, setup.isInvoker(), random);
        this.setup = setup;
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

    @Override
    protected Fabric open(int driver) {
        Fabric fabric = setup.daemon
            ? Fabric.connect(new FabricConfig().directory(processes.get(driver).directory()))
            : embedded.get(driver).fabric();
        resources.push(fabric::close);
        return fabric;
    }

    /** Lets drivers without threads work, and others have the processor. */
    @Override
    protected void pump() {
        if (setup.isInvoker()) {
            for (FabricDriver driver : embedded) {
                driver.cycle();
            }
        } else {
            Thread.yield();
        }
    }

    @Override
    protected long nanoTime() {
        return System.nanoTime();
    }

    @Override
    protected long patienceNs() {
        return Deadline.ns(30);
    }

    @Override
    protected String replay(long seed) {
        return SoakOptions.replay(setup, seed);
    }

    @Override
    protected String state() {
        StringBuilder text = new StringBuilder(setup.toString()).append('\n');
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

    @Override
    protected List<String> errors() {
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
