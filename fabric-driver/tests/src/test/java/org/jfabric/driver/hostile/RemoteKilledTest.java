package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients and drivers that are killed in the middle of long writes and reads of remote memory: each access of the
 * others ends once, no byte outside of its range is touched, and all others go on.
 */
@Tag("hostile")
@Timeout(120)
class RemoteKilledTest {
    private static final String[] OPTIONS = {"jfabric.tcp.interface=lo"};
    private static final int LENGTH = 1 << 20;
    private static final int GUARD = 4096;
    private static final int ACCESSES = 8;
    private static final byte UNTOUCHED = 0x5C;
    private static final int ROUNDS = Effort.rounds(1, 4);
    /** The connection is lost, or the other side is found gone when the access begins. */
    private static final Set<Integer> LOST = Set.of(
        FabricErrno.ECONNRESET, FabricErrno.EIO, FabricErrno.ECONNREFUSED, FabricErrno.ESHUTDOWN,
        FabricErrno.EHOSTUNREACH);
    /** The same for memory that the driver copies: it may be gone before the process's end is noticed. */
    private static final Set<Integer> LOST_COPY = Stream.concat(LOST.stream(), Stream.of(FabricErrno.EFAULT))
        .collect(Collectors.toSet());

    /** No test kills these: a driver takes longer to start than most tests. */
    private static Path base;
    private static DriverProcess alpha;
    private static DriverProcess beta;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final long seed = System.nanoTime();
    private final SplittableRandom random = new SplittableRandom(seed);
    private Bystanders bystanders;

    @BeforeAll
    static void startDrivers() {
        base = TestDirectory.create();
        alpha = DriverProcess.launch(base.resolve("alpha"), OPTIONS);
        beta = DriverProcess.launch(base.resolve("beta"), OPTIONS);
        alpha.awaitReady();
        beta.awaitReady();
    }

    @AfterAll
    static void endDrivers() {
        alpha.close();
        beta.close();
        TestDirectory.delete(base);
    }

    @BeforeEach
    void start() {
        System.out.println("seed " + seed);
        bystanders = opened(new Bystanders("loopback", alpha.directory(), alpha.directory()));
    }

    @AfterEach
    void closeAll() throws Exception {
        try (DriverView view = new DriverView(alpha.directory())) {
            bystanders.assertGoOn(8);
            WatchedDriver.assertExplained(view);
        } finally {
            while (!opened.isEmpty()) {
                opened.pop().close();
            }
        }
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    private FabricNode node(String link, Path directory) {
        FabricNode node = opened(new FabricNode(Fabric.connect(new FabricConfig().directory(directory)), link,
            new Info().caps(Flags.RMA | Flags.MSG | Flags.TAGGED | Flags.SOURCE), 64, 0, () -> { }));
        node.memory.buffer().setMemory(0, FabricNode.MEMORY, UNTOUCHED);
        return node;
    }

    /** The driver of the other side: the same for loopback. */
    private static DriverProcess other(String link) {
        return link.equals("loopback") ? alpha : beta;
    }

    private static MemoryRegion expose(FabricNode node, int length) {
        MemoryRegion region = node.domain.allocate(
            length, new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(5));
        region.buffer().setMemory(0, length, UNTOUCHED);
        return region;
    }

    private void pause() {
        LockSupport.parkNanos(random.nextInt(4) == 0 ? 0 : random.nextLong(3_000_000));
    }

    private static void post(FabricNode node, long to) {
        post(node, to, 0);
    }

    private static void post(FabricNode node, long to, int first) {
        for (int i = first; i < first + ACCESSES; i++) {
            assertEquals(0, i % 2 == 0
                ? node.endpoint.remoteMemory().write(node.memory.address(), LENGTH, to, 0, 5, i)
                : node.endpoint.remoteMemory().read(node.memory.address(2 * LENGTH), LENGTH, to, 0, 5, i));
        }
    }

    /** Each once; how many of them failed. */
    private int assertAllEnd(FabricNode node, int count) {
        return assertAllEnd(node, count, false, LOST);
    }

    /** Where reads are mapped, one may find that the region was closed while it copied. */
    private int assertAllEnd(FabricNode node, int count, boolean readsAreMapped, Set<Integer> lost) {
        BitSet ended = new BitSet();
        int failed = 0;
        for (int i = 0; i < count; i++) {
            FabricNode.Entry entry = Deadline.awaitValue("an access' end", node::poll);
            boolean isRead = entry.context() % 2 != 0;
            assertTrue(entry.err() == 0 || lost.contains(entry.err())
                || readsAreMapped && isRead && entry.err() == FabricErrno.EKEYREJECTED,
                () -> entry + ", seed " + seed);
            ended.set((int) entry.context());
            failed += entry.err() == 0 ? 0 : 1;
        }
        assertEquals(count, ended.cardinality(), "seed " + seed);
        node.assertQuiet(20);
        assertUntouched(node.memory, 0, 2 * LENGTH);
        assertUntouched(node.memory, 3 * LENGTH, FabricNode.MEMORY);
        return failed;
    }

    private static void assertUntouched(MemoryRegion region, int from, int to) {
        FabricNode.assertAll(UNTOUCHED, region, from, to);
    }

    @ParameterizedTest
    @ValueSource(strings = {"loopback", "shm", "tcp"})
    void shouldEndEachAccessToTheMemoryOfAClientThatIsKilled(String link) {
        killOwner(link, "expose", Effort.rounds(1, 3), LOST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"loopback", "shm"})
    void shouldEndEachAccessToMemoryThatTheDriverCopiesOfAClientThatIsKilled(String link) {
        killOwner(link, "exposeOwn", Effort.rounds(1, 2), LOST_COPY);
    }

    private void killOwner(String link, String mode, int rounds, Set<Integer> lost) {
        DriverProcess other = other(link);
        FabricNode node = node(link, alpha.directory());
        int failed = 0;
        for (int round = 0; round < rounds; round++) {
            try (TestProcess child = ChildMain.start(mode, other.directory(), link)) {
                long to = node.av.insert(child.hear("ready"));
                post(node, to);
                assertEquals(0, assertAllEnd(node, ACCESSES), "seed " + seed);
                pause();
                Thread killer = new Thread(child::kill, "killer");
                killer.start();
                // at least one is begun after its end
                int posted = 0;
                for (boolean last = false; !last; posted += ACCESSES) {
                    last = !killer.isAlive();
                    post(node, to, posted);
                    failed += assertAllEnd(node, ACCESSES, link.equals("shm"), lost);
                }
                Deadline.awaitParked("the end of the process", () -> !killer.isAlive());
                // the name is free again
                assertEquals(0, node.endpoint.remoteMemory().write(node.memory.address(), 8, to, 0, 5, 99));
                FabricNode.Entry entry = Deadline.awaitValue("the end of a late access", node::poll);
                assertTrue(lost.contains(entry.err()) || entry.err() == 0, entry::toString);
            }
        }
        assertTrue(failed > 0, "seed " + seed);
    }

    @ParameterizedTest
    @ValueSource(strings = {"loopback", "shm", "tcp"})
    void shouldKeepTheBytesAroundTheRangeWhenTheInitiatorIsKilled(String link) {
        DriverProcess other = other(link);
        FabricNode node = node(link, alpha.directory());
        MemoryRegion region = expose(node, 2 * GUARD + LENGTH);
        for (int round = 0; round < ROUNDS; round++) {
            try (TestProcess child = ChildMain.start("access", other.directory(), link, node.endpoint.name(), "5")) {
                child.hear("running");
                pause();
                child.kill();
            }
            assertUntouched(region, 0, GUARD);
            assertUntouched(region, GUARD + LENGTH, 2 * GUARD + LENGTH);
            node.assertQuiet(20);
            bystanders.assertGoOn(4);
        }
        assertUntouched(node.memory, 0, FabricNode.MEMORY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void shouldEndEachAccessWhenTheDriverOfTheTargetIsKilled(String link) {
        for (int round = 0; round < ROUNDS; round++) {
            DriverProcess killed = opened(DriverProcess.start(base.resolve("killed-" + link), OPTIONS));
            FabricNode node = node(link, alpha.directory());
            FabricNode there = node(link, killed.directory());
            expose(there, LENGTH);
            long to = node.av.insert(there.endpoint.name());
            post(node, to);
            assertEquals(0, assertAllEnd(node, ACCESSES), "seed " + seed);
            post(node, to);
            pause();
            killed.kill();
            assertAllEnd(node, ACCESSES);
            bystanders.assertGoOn(4);
            node.close();
        }
    }

    /** The owner of the memory is ended, over shm too; the connection of the drivers stays. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndOnlyTheClientWhoseRegionIsCutUnderAnAccessOfAnotherDriver(boolean isTarget) {
        // with an error log of its own
        Path watched = opened(DriverProcess.start(base.resolve("watched-" + isTarget), OPTIONS)).directory();
        FabricNode node = node("shm", beta.directory());
        MemoryRegion region = expose(node, 2 * GUARD + LENGTH);
        Bystanders across = opened(new Bystanders("shm", watched, beta.directory()));
        for (int round = 0; round < ROUNDS; round++) {
            ControlClient client = new ControlClient(watched, () -> { });
            ControlClient.Queues queues = client.open(
                "cut-" + round + '-' + Long.toHexString(seed), "", Flags.RMA | Flags.TAGGED | Flags.MSG, 0, null);
            ControlClient.Region own = client.expose(LENGTH, Flags.REMOTE_READ | Flags.REMOTE_WRITE, 5);
            long to = node.av.insert(queues.address);
            long dest = client.insert(queues, node.endpoint.name());
            if (isTarget) {
                post(node, to);
                assertEquals(0, assertAllEnd(node, ACCESSES), "seed " + seed);
                post(node, to);
                pause();
                CutFiles.cut(watched, CutFiles.nameOf(own.file()), 8192);
                // one that certainly needs what is cut off
                post(node, to, ACCESSES);
                assertTrue(assertAllEnd(node, 2 * ACCESSES) > 0, "seed " + seed);
            } else {
                for (int i = 0; i < ACCESSES; i++) {
                    RemoteGarbageTest.post(client, queues,
                        Flags.RMA | Flags.COMPLETION | (i % 2 == 0 ? Flags.WRITE : Flags.READ), dest, GUARD, 5, i,
                        own.address(0), LENGTH);
                }
                pause();
                CutFiles.cut(watched, CutFiles.nameOf(own.file()), 8192);
                RemoteGarbageTest.post(client, queues,
                    Flags.RMA | Flags.WRITE | Flags.COMPLETION | Flags.REMOTE_CQ_DATA, dest, GUARD, 5, 99,
                    own.address(0), LENGTH);
                assertUntouched(region, 0, GUARD);
                assertUntouched(region, GUARD + LENGTH, 2 * GUARD + LENGTH);
            }
            Deadline.awaitParked("the client's end", client::isEnded);
            client.close();
            node.assertQuiet(20);
            across.assertGoOn(4);
        }
        assertUntouched(region, 0, GUARD);
        assertUntouched(region, GUARD + LENGTH, 2 * GUARD + LENGTH);
        try (DriverView view = new DriverView(watched)) {
            WatchedDriver.assertLogged(view, "was ended", "was cut");
            WatchedDriver.assertExplained(view);
        }
    }
}
