package org.jfabric.driver.kit;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.MulticastGroup;
import org.jfabric.MulticastReader;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.JoinAttr;
import org.jfabric.test.TestDirectory;

/** The endpoints of one group: a writer and its readers, each with its own application. */
public final class GroupRig implements AutoCloseable {
    /** Where they live. */
    public enum Place {
        /** All in one embedded driver, whose cycles their calls run. */
        ONE_DRIVER(false),
        /** Each in an embedded driver of its own. */
        DRIVERS(false),
        /** Clients of driver processes: the first reader with the writer, the others in another one. */
        PROCESSES(true),
        /** The same with two progress threads each; the first reader is on another one than the writer. */
        THREADS(true);

        private final boolean isDaemon;

        Place(boolean isDaemon) {
            this.isDaemon = isDaemon;
        }
    }

    public static final String GROUP = "jfabric://alpha/quotes";

    public final FabricNode writer;
    public final List<FabricNode> readers = new ArrayList<>();
    private final Place place;
    private final String[] options;
    private final Path base = TestDirectory.create();
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final Map<String, DriverProcess> processes = new HashMap<>();
    private final Map<String, FabricDriver> embedded = new HashMap<>();
    private final List<FabricDriver> cycled = new ArrayList<>();

    /** Peers that were lost: endpoint, errno and address of each. */
    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final FabricListener lost = new FabricListener() {
        @Override
        public void onPeerDown(Endpoint endpoint, long fiAddr, int errno, String address) {
            events.add(event(endpoint, errno, address));
        }
    };

    private static String event(Endpoint endpoint, int errno, String address) {
        return endpoint.name() + ' ' + FabricErrno.name(errno) + ' ' + address;
    }

    /** The next event must be that an endpoint has lost another one. */
    public void awaitLost(FabricNode node, int errno, String address) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (!events.remove(event(node.endpoint, errno, address))) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not lost " + FabricErrno.name(errno) + ' ' + address + ": " + events);
            }
            pump();
            // a call in which the application's events arrive
            node.awaitStep();
        }
    }

    /** Events that were not awaited. */
    public Queue<String> events() {
        return events;
    }

    public GroupRig(Place place, int count, String... options) {
        this.place = place;
        this.options = place == Place.THREADS ? withThreads(options) : options;
        if (place.isDaemon) {
            // both start at the same time
            for (String name : List.of("alpha", "beta")) {
                processes.put(name, DriverProcess.launch(base.resolve(name), this.options));
            }
        }
        if (place == Place.THREADS) {
            // takes the first thread, so that the writer is on the one that other drivers do not ask first
            node("alpha", hints());
        }
        writer = node("alpha", hints());
        for (int i = 0; i < count; i++) {
            readers.add(node(driverOf(i), hints()));
        }
    }

    private static String[] withThreads(String... options) {
        String[] all = Arrays.copyOf(options, options.length + 2);
        all[options.length] = "jfabric.threading.mode=DEDICATED";
        all[options.length + 1] = "jfabric.threading.progressThreads=2";
        return all;
    }

    public static Info hints() {
        return new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.MULTICAST);
    }

    private String driverOf(int reader) {
        return switch (place) {
            case ONE_DRIVER -> "alpha";
            case DRIVERS -> "reader-" + reader;
            case PROCESSES -> reader == 0 ? "alpha" : "beta";
            case THREADS -> reader < 2 ? "alpha" : "beta";
        };
    }

    /** A further endpoint in the driver with that name. */
    public FabricNode node(String driver, Info hints) {
        Fabric fabric = place.isDaemon
            ? Fabric.connect(new FabricConfig().directory(process(driver).directory()).listener(lost))
            : embed(driver).fabric(new FabricConfig().listener(lost));
        FabricNode node = new FabricNode(fabric, "shm", hints, 4096, 0, this::pump);
        resources.push(node);
        return node;
    }

    /** The driver process with that name, which is started if it does not run. */
    public DriverProcess process(String name) {
        return processes.computeIfAbsent(name, each -> DriverProcess.launch(base.resolve(each), options)).awaitReady();
    }

    public void kill(String name) {
        processes.remove(name).kill();
    }

    /** Names of the drivers. */
    public Set<String> drivers() {
        return place.isDaemon ? processes.keySet() : embedded.keySet();
    }

    /** Directory of the driver with that name. */
    public Path directory(String driver) {
        return base.resolve(driver);
    }

    public FabricDriver embed(String name) {
        return embedded.computeIfAbsent(name, each -> {
            DriverConfig.Builder config = DriverConfig.builder()
                .directory(base.resolve(each)).threadingMode(ThreadingMode.INVOKER);
            for (String option : options) {
                config.set(option.split("=")[0], option.split("=")[1]);
            }
            FabricDriver driver = FabricDriver.launchEmbedded(config.build());
            cycled.add(driver);
            return driver;
        });
    }

    /** An embedded driver makes no more progress, as if its process were stopped. */
    public void stop(String driver) {
        cycled.remove(embedded.get(driver));
    }

    public void resume(String driver) {
        cycled.add(embedded.get(driver));
    }

    /** Joins as a reader, while the other embedded drivers go on, as the writer's has to answer. */
    public MulticastGroup read(FabricNode node) {
        return read(node, new JoinAttr());
    }

    /** The same with attributes. */
    public MulticastGroup read(FabricNode node, JoinAttr attr) {
        return joined(node, () -> node.endpoint.join(GROUP, 0, Flags.RECV, attr));
    }

    /** A reader in place. */
    public MulticastReader readInPlace(FabricNode node) {
        return joined(node, () -> node.endpoint.openReader(GROUP, 0, new JoinAttr()));
    }

    /** Joins while the other drivers make cycles. */
    private <T> T joined(FabricNode node, Callable<T> call) {
        FutureTask<T> join = new FutureTask<>(call);
        FabricDriver own = embedded.get(node.fabric.driverName());
        List<FabricDriver> others = new ArrayList<>(cycled);
        others.remove(own);
        Thread reader = new Thread(join, "reader");
        reader.start();
        while (!join.isDone()) {
            others.forEach(FabricDriver::cycle);
            Thread.yield();
        }
        try {
            reader.join();
            return join.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Lets the embedded drivers go on. */
    public void pump() {
        for (int i = 0; i < cycled.size(); i++) {
            cycled.get(i).cycle();
        }
    }

    @Override
    public void close() {
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        embedded.values().forEach(FabricDriver::close);
        processes.values().forEach(DriverProcess::close);
        TestDirectory.delete(base);
    }
}
