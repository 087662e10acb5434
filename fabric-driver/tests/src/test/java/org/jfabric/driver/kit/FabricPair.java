package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.client.QueueSnapshot;
import org.jfabric.client.QueueWatch;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.BestName;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;

/** Two endpoints that can reach each other, set up as a {@link Setup} says; everything goes with {@link #close}. */
public final class FabricPair implements AutoCloseable {
    private static final long LOOK_TIMEOUT_NS = Deadline.ns(20);

    public final Setup setup;
    public final FabricNode a;
    public final FabricNode b;
    /** The other one in the address vector of each. */
    public final long toB;
    public final long toA;
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final Path base;
    /** Null if the drivers are embedded. */
    private final Daemons daemons;
    private final Runnable pump;

    public FabricPair(Setup setup) {
        this(setup, usualHints(), 512);
    }

    public FabricPair(Setup setup, Info hints, int cqSize) {
        this(setup, hints, cqSize, daemons(setup, false));
    }

    private FabricPair(Setup setup, Info hints, int cqSize, Daemons daemons) {
        this.setup = setup;
        this.daemons = daemons;
        boolean twoDrivers = setup.hasTwoDrivers();
        Fabric first;
        Fabric second;
        if (setup.daemon) {
            resources.push(daemons);
            base = null;
            pump = () -> { };
            daemons.start(twoDrivers ? List.of("alpha", "beta") : List.of("alpha"));
            first = attach(daemons.directory("alpha"));
            second = attach(daemons.directory(twoDrivers ? "beta" : "alpha"));
        } else {
            base = TestDirectory.create();
            FabricDriver alpha = embed("alpha");
            first = alpha.fabric();
            FabricDriver beta = twoDrivers ? embed("beta") : alpha;
            second = twoDrivers ? beta.fabric() : first;
            pump = () -> {
                alpha.cycle();
                if (beta != alpha) {
                    beta.cycle();
                }
            };
        }
        a = new FabricNode(first, setup.link, hints, cqSize, 0xAA, pump);
        b = new FabricNode(second, setup.link, hints, cqSize, 0xBB, pump);
        resources.push(a);
        resources.push(b);
        toB = a.av.insert(b.endpoint.name());
        toA = b.av.insert(a.endpoint.name());
    }

    /** With daemons that no other test uses: this one kills them, or lets them log errors. */
    public static FabricPair withOwnDaemons(Setup setup) {
        return withOwnDaemons(setup, usualHints(), 512);
    }

    public static FabricPair withOwnDaemons(Setup setup, Info hints, int cqSize) {
        return new FabricPair(setup, hints, cqSize, daemons(setup, true));
    }

    /** Before anything is made: whether this run wants the test at all. */
    private static Daemons daemons(Setup setup, boolean isOwn) {
        setup.assumeWanted();
        return !setup.daemon ? null : isOwn ? Daemons.own() : Daemons.shared();
    }

    public static Info usualHints() {
        return new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
    }

    /** A further endpoint with a queue, a vector and memory of its own; closed with the fabric of the other. */
    public FabricNode sibling(FabricNode of, Info hints, long endpointContext) {
        return new FabricNode(of.fabric, setup.link, hints, 64, endpointContext, pump);
    }

    /** A further endpoint at the first application, which shares its queue and vector. */
    public Endpoint open(Info info) {
        Endpoint endpoint = a.domain.openEndpoint(info);
        endpoint.bind(a.cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(a.av);
        endpoint.enable();
        return endpoint;
    }

    /** An endpoint of the first application and the one of the second send each other a message. */
    public void assertTransfers(Endpoint endpoint) {
        int length = 64;
        assertEquals(0, b.endpoint.trecv(b.memory.address(), length, -1L, 77, 0, 1));
        a.fill(0, length, 5);
        assertEquals(0, endpoint.tsend(a.memory.address(), length, toB, 77, 2));
        assertEquals(length, b.await(1).len());
        b.assertFilled(0, length, 5);
        a.await(2);
        long to = b.av.insert(endpoint.name());
        assertEquals(0, endpoint.trecv(a.memory.address(length), length, -1L, 78, 0, 3));
        assertEquals(0, b.endpoint.tsend(b.memory.address(), length, to, 78, 4));
        a.await(3);
        b.await(4);
        a.assertFilled(length, length, 5);
    }

    /** What the queues of an endpoint hold, seen from outside; the embedded drivers' cycles are run meanwhile. */
    public QueueSnapshot look(FabricNode node) {
        assumeFalse(setup.refusesSharedMemory(), "the drivers are not reached by their sockets");
        String address = node.endpoint.name();
        FutureTask<QueueSnapshot> look = new FutureTask<>(() -> {
            try (QueueWatch watch = QueueWatch.connect(directoryOf(node), LOOK_TIMEOUT_NS)) {
                QueueSnapshot seen = watch.next(0);
                while (!seen.address().equals(address)) {
                    seen = watch.next(seen.endpointId());
                }
                return seen;
            }
        });
        Thread watcher = new Thread(look, "watcher");
        watcher.start();
        while (!look.isDone()) {
            pump.run();
            Thread.yield();
        }
        try {
            watcher.join();
            return look.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    /** Directory of the driver that an endpoint belongs to. */
    public Path directoryOf(FabricNode node) {
        return directory(node.fabric.driverName());
    }

    /** An address beside that of an endpoint: valid, and perhaps nobody's. */
    public String neighbour(FabricNode node, int number) {
        String name = node.endpoint.name();
        if (BestName.isName(name)) {
            BestName known = BestName.parse(name);
            Map<String, String> ways = new LinkedHashMap<>(known.ways());
            ways.put("tcp", SocketName.parse(known.way("tcp")).withPort(1 + number).toString());
            return new BestName(known.folder(), known.driver(), known.endpoint() + '-' + number, ways).toString();
        }
        return setup.isForeign() ? SocketName.parse(name).withPort(1 + number).toString() : name + '-' + number;
    }

    /** Lets the embedded drivers go on. */
    public void pump() {
        pump.run();
    }

    /** Directory of the driver with that name: alpha has the first endpoint. */
    public Path directory(String driver) {
        return daemons == null ? base.resolve(driver) : daemons.directory(driver);
    }

    /** Kills the driver process that the second endpoint lives in, which may be the one of both. */
    public void killDriverOfB() {
        daemons.kill(b.fabric.driverName());
    }

    private FabricDriver embed(String name) {
        DriverConfig.Builder config = DriverConfig.builder()
            .directory(base.resolve(name)).threadingMode(ThreadingMode.INVOKER);
        setup.options().forEach(each -> config.set(each.split("=")[0], each.split("=")[1]));
        FabricDriver driver = FabricDriver.launchEmbedded(config.build());
        resources.push(driver);
        if (setup.refusesSharedMemory()) {
            BestNodes.refuseSharedMemory(base.resolve(name));
        }
        return driver;
    }

    private static Fabric attach(Path directory) {
        return Fabric.connect(new FabricConfig().directory(directory));
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
        if (base != null) {
            TestDirectory.delete(base);
        }
    }
}
