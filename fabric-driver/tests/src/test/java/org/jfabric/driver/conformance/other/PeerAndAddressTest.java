package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Peers that go, names that are found, and levels that are not given. */
@Tag("conformance")
@Timeout(180)
class PeerAndAddressTest {
    private static final long ANY = -1L;
    private static final Info HINTS = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);

    @Test
    void shouldEndOnlyWhatConcernsADriverThatDiesAndReachItsSuccessor() {
        Path base = TestDirectory.create();
        List<String> told = new CopyOnWriteArrayList<>();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        AddressVector[] vector = new AddressVector[1];
        FabricListener listener = new FabricListener() {
            @Override
            public void onPeerDown(Endpoint endpoint, long fiAddr, int errno, String address) {
                // an address vector may be asked here
                told.add(vector[0].straddr(fiAddr) + '|' + vector[0].lookup(fiAddr) + '|' + vector[0].size());
            }

            @Override
            public void onError(Throwable error) {
                failures.add(error);
            }
        };
        try (DriverProcess alpha = DriverProcess.launch(base.resolve("alpha"));
            DriverProcess beta = DriverProcess.launch(base.resolve("beta"));
            DriverProcess gamma = DriverProcess.launch(base.resolve("gamma"));
            FabricNode a = node(alpha, new FabricConfig().listener(listener));
            FabricNode b = node(beta, new FabricConfig());
            FabricNode c = node(gamma, new FabricConfig())) {
            vector[0] = a.av;
            long toB = a.av.insert(b.endpoint.name());
            long toC = a.av.insert(c.endpoint.name());
            exchange(a, b, toB);
            exchange(a, c, toC);
            // entries that beta has written and its client has not read
            b.endpoint.trecv(b.memory.address(), 64, ANY, 77, 0, 70);
            a.endpoint.tsend(a.memory.address(), 64, toB, 77, 71);
            a.await(71);
            waitForSpace(b, 1);
            // in every state: announced, waiting behind them, directed receive; and one that another peer will take
            int outstanding = 80;
            for (int i = 0; i < outstanding; i++) {
                assertEquals(0, a.endpoint.tsend(a.memory.address(), 100_000, toB, 5, 1000 + i));
            }
            a.endpoint.trecv(a.memory.address(), 64, toB, 9, 0, 2000);
            a.endpoint.trecv(a.memory.address(), 64, ANY, 9, 0, 3000);
            a.awaitRead(outstanding + 3);
            a.assertQuiet(100);
            beta.kill();
            boolean[] ended = new boolean[outstanding + 1];
            for (int i = 0; i <= outstanding; i++) {
                FabricNode.Entry entry = a.await();
                assertEquals(FabricErrno.ECONNRESET, entry.err(), entry::toString);
                int index = entry.context() == 2000 ? outstanding : (int) entry.context() - 1000;
                assertTrue(!ended[index], entry::toString);
                ended[index] = true;
            }
            exchange(a, c, toC);
            c.endpoint.tsend(c.memory.address(), 64, c.av.insert(a.endpoint.name()), 9, 4);
            c.await(4);
            a.await(3000);
            // the orphan: what was written first, then the errno, again and again
            b.await(70);
            UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
            for (int i = 0; i < 3; i++) {
                awaitGone(b, entry);
                assertEquals(-FabricErrno.EOPBADSTATE, b.endpoint.tsend(b.memory.address(), 8, 0, 1, 1));
            }
            // by another thread
            long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
            while (told.isEmpty() && System.nanoTime() - deadline < 0) {
                Thread.yield();
            }
            assertEquals(List.of(), failures);
            assertEquals(List.of(b.endpoint.name() + '|' + b.endpoint.name() + "|2"), told);
            successor(base, a, toB, b.endpoint.name());
        } finally {
            TestDirectory.delete(base);
        }
    }

    @Test
    void shouldNotKeepTheMemoryOfRegionsThatAPeerHasClosed() {
        Path base = TestDirectory.create();
        try (DriverProcess alpha = DriverProcess.launch(base.resolve("alpha"));
            DriverProcess beta = DriverProcess.launch(base.resolve("beta"));
            FabricNode a = node(alpha, new FabricConfig());
            FabricNode b = node(beta, new FabricConfig())) {
            long toB = a.av.insert(b.endpoint.name());
            exchange(a, b, toB);
            for (int round = 0; round < 6; round++) {
                try (MemoryRegion region = a.domain.allocate(1 << 20)) {
                    long deadline = System.nanoTime() + Deadline.ns(20);
                    do {
                        assertTrue(System.nanoTime() - deadline < 0, "the region was never mapped");
                        b.endpoint.trecv(b.memory.address(), 1 << 20, ANY, 1, 0, 1);
                        a.endpoint.tsend(region.address(), 1 << 20, toB, 1, 2);
                        b.await(1);
                        a.await(2);
                    } while (mappedRegions(beta, alpha, "") - mappedRegions(beta, alpha, "(deleted)") < 2);
                }
            }
            // the one in use and the one closed last; others are unmapped beside the messages
            long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
            while (mappedRegions(beta, alpha, "") > 3) {
                assertTrue(System.nanoTime() - deadline < 0, () -> "still mapped: " + mappedRegions(beta, alpha, ""));
                Thread.yield();
            }
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static int mappedRegions(DriverProcess of, DriverProcess owner, String mark) {
        try (var lines = Files.lines(Path.of("/proc/" + of.process().pid() + "/maps"))) {
            return (int) lines.filter(
                line -> line.contains(owner.directory() + "/") && line.contains(".mr") && line.contains(mark)).count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void successor(Path base, FabricNode a, long toB, String name) {
        try (DriverProcess again = DriverProcess.start(base.resolve("beta"));
            Fabric fabric = Fabric.connect(new FabricConfig().directory(again.directory()))) {
            Info named = HINTS.copy().srcAddr(name);
            try (FabricNode b = new FabricNode(fabric, "shm", named, 512, 1, () -> { })) {
                assertEquals(name, b.endpoint.name());
                exchange(a, b, toB);
            }
        }
    }

    private static void awaitGone(FabricNode node, UnsafeBuffer entry) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        int result;
        while ((result = node.cq.read(entry, 0, 1)) == -FabricErrno.EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, "the driver's end was not noticed");
            Thread.yield();
        }
        assertEquals(-FabricErrno.ENODEV, result);
    }

    /** Waits for unread entries without reading them. */
    private static void waitForSpace(FabricNode node, int count) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (node.cq.read(null, 0, 0) != 0) {
            assertTrue(System.nanoTime() - deadline < 0, "no entry of " + count);
            Thread.yield();
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldSayHowManySendsWereNotDrainedAtClose(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.b.endpoint.trecv(pair.b.memory.address(), 1 << 20, ANY, 1, 0, 1);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 1 << 20, pair.toB, 1, 2));
            pair.b.await(1);
            pair.a.await(2);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                    pair.a.memory.address(), setup.heldLength(), 0, pair.toB, 2, 10 + i, setup.heldFlags()));
            }
            long before = System.nanoTime();
            assertEquals(3, pair.a.fabric.close(50_000_000L));
            assertTrue(System.nanoTime() - before >= 50_000_000L);
            assertEquals(0, pair.a.fabric.close(50_000_000L));
            assertEquals(-FabricErrno.EOPBADSTATE, pair.a.endpoint.tsend(0, 0, 0, 0, 0));
        }
    }

    @Test
    void shouldCountSendsThatFailDuringTheDrainAsNotDrainedEmbedded() {
        Path base = TestDirectory.create();
        FabricDriver beta = embed(base.resolve("beta"));
        try (FabricDriver alpha = embed(base.resolve("alpha"))) {
            Runnable pump = () -> {
                alpha.cycle();
                beta.cycle();
            };
            FabricNode a = new FabricNode(alpha.fabric(), "shm", HINTS, 512, 1, pump);
            FabricNode b = new FabricNode(beta.fabric(), "shm", HINTS, 512, 2, pump);
            long toB = sendsThatFailFirst(a, b);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, a.endpoint.tsend(a.memory.address(), 1 << 20, toB, 2, 10 + i));
            }
            // this side notices it in the cycles of its close
            beta.close();
            assertEquals(3, a.fabric.close(Deadline.ns(20)));
        } finally {
            beta.close();
            TestDirectory.delete(base);
        }
    }

    @Test
    void shouldCountSendsThatFailDuringTheDrainAsNotDrained() throws InterruptedException {
        Path base = TestDirectory.create();
        try (DriverProcess alpha = DriverProcess.launch(base.resolve("alpha"));
            DriverProcess beta = DriverProcess.launch(base.resolve("beta"));
            FabricNode a = node(alpha, new FabricConfig());
            FabricNode b = node(beta, new FabricConfig())) {
            long toB = sendsThatFailFirst(a, b);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, a.endpoint.tsend(a.memory.address(), 1 << 20, toB, 2, 10 + i));
            }
            Thread closing = Thread.currentThread();
            Thread killer = new Thread(() -> {
                // between two looks at the sends
                while (closing.getState() != Thread.State.TIMED_WAITING) {
                    Thread.yield();
                }
                beta.kill();
            });
            killer.start();
            assertEquals(3, a.fabric.close(Deadline.ns(20)));
            killer.join();
        } finally {
            TestDirectory.delete(base);
        }
    }

    /** Sends before the drain, one good and one that fails: neither may be counted. */
    private static long sendsThatFailFirst(FabricNode a, FabricNode b) {
        long toB = a.av.insert(b.endpoint.name());
        exchange(a, b, toB);
        assertEquals(0, a.endpoint.tsend(a.memory.address(), 64, a.av.insert(a.endpoint.name() + "-none"), 2, 9));
        assertTrue(a.await().err() != 0);
        return toB;
    }

    private static FabricDriver embed(Path directory) {
        return FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.INVOKER).build());
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldDrainWhatWasSubmittedBeforeItCloses(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int count = 50;
            // an embedded peer answers a connect only while it is asked: it is not, while this side closes
            exchange(pair.a, pair.b, pair.toB);
            for (int i = 0; i < count; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, i, 0, i));
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 64, pair.toB, i, i));
            }
            if (setup == Setup.LOOPBACK_EMBEDDED) {
                // both sides belong to the one fabric
                assertEquals(0, pair.a.fabric.close(Deadline.ns(5)));
                return;
            }
            assertEquals(0, pair.a.fabric.close(Deadline.ns(5)));
            for (int i = 0; i < count; i++) {
                pair.b.await(i);
            }
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldUseANumberOfTheTableAgainForAnotherAddress(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            AddressVector vector = pair.a.domain.openAddressVector(new AddressVectorAttr());
            String name = pair.b.endpoint.name();
            for (int i = 0; i < 10; i++) {
                assertEquals(i, vector.insert(pair.neighbour(pair.b, i)));
            }
            assertEquals(3, vector.insert(pair.neighbour(pair.b, 3)), "the same address has one number");
            assertEquals(10, vector.size());
            vector.remove(4);
            assertEquals(FabricErrno.EINVAL, errno(() -> vector.lookup(4)));
            assertEquals(FabricErrno.EINVAL, errno(() -> vector.remove(4)));
            assertTrue(vector.straddr(4).contains("4"), vector.straddr(4));
            assertEquals(4, vector.insert(name));
            assertEquals(name, vector.lookup(4));
            assertEquals(pair.neighbour(pair.b, 5), vector.straddr(5));
            assertEquals(10, vector.insert(pair.neighbour(pair.b, 100)));
            vector.close();
            // the same on the vector in use: the number leads to another endpoint from now on
            pair.a.av.remove(pair.toB);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 1, 1));
            assertEquals(FabricErrno.EINVAL, pair.a.await().err());
            assertEquals(pair.toB, pair.a.av.insert(pair.a.endpoint.name()));
            pair.a.endpoint.trecv(pair.a.memory.address(64), 64, ANY, 1, 0, 2);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 1, 3));
            assertEquals(5, pair.a.await().context() + pair.a.await().context());
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFindAnEndpointByItsServiceAndFreeTheNameAtItsClose(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.b.endpoint.publish("prices");
            String driver = pair.b.fabric.driverName();
            long found = pair.a.av.insertService(driver, "prices");
            assertEquals(pair.toB, found, "a service stands for the endpoint's own address");
            assertEquals(pair.b.endpoint.name(), pair.a.av.lookup(found));
            exchange(pair.a, pair.b, found);
            Endpoint other = pair.b.domain.openEndpoint(pair.b.info);
            other.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
            other.bind(pair.b.av);
            other.enable();
            assertEquals(FabricErrno.EADDRINUSE, errno(() -> other.publish("prices")));
            assertEquals(FabricErrno.EINVAL, errno(() -> other.publish("a/b")));
            pair.b.endpoint.close();
            other.publish("prices");
            long moved = pair.a.av.insertService(driver, "prices");
            assertNotEquals(found, moved);
            assertEquals(other.name(), pair.a.av.lookup(moved));
        }
    }

    private static FabricNode node(DriverProcess driver, FabricConfig config) {
        config.directory(driver.awaitReady().directory());
        return new FabricNode(Fabric.connect(config), "shm", HINTS, 512, 1, () -> { });
    }

    private static void exchange(FabricNode from, FabricNode to, long dest) {
        for (int length : new int[] {8, 4000, 200_000}) {
            from.fill(1 << 20, length, length);
            to.endpoint.trecv(to.memory.address(2 << 20), length, ANY, 6, 0, 60);
            from.endpoint.tsend(from.memory.address(1 << 20), length, dest, 6, 61);
            to.await(60);
            from.await(61);
            to.assertFilled(2 << 20, length, length);
        }
    }

    private static int errno(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
