package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jfabric.AddressVector;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A driver that ends while threads wait for events, or for the end of insertions. */
@Tag("conformance")
@Timeout(120)
class EventQueueDriverEndTest {
    private static final int EAGAIN = -FabricErrno.EAGAIN;
    private static final long DEADLINE_S = Deadline.s(30);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private Path base;

    @BeforeEach
    void makeBase() {
        base = TestDirectory.create();
    }

    @AfterEach
    void end() throws InterruptedException {
        TestDirectory.delete(base);
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(DEADLINE_S, TimeUnit.SECONDS), "a thread still waits");
    }

    @Test
    void shouldWakeEveryKindOfSleeperWhenTheDriverDies() throws Exception {
        try (DriverProcess driver = DriverProcess.start(base.resolve("alpha"));
            Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()))) {
            List<Future<Integer>> sleepers = sleepers(fabric);
            EventQueue filled = open(fabric, WaitObject.UNSPEC);
            assertEquals(1, filled.write(EventType.NOTIFY.code(), null, 2, 1, 0));
            driver.kill();
            for (Future<Integer> sleeper : sleepers) {
                assertEquals(-FabricErrno.ENODEV, sleeper.get(DEADLINE_S, TimeUnit.SECONDS));
            }
            EventEntry entry = new EventEntry();
            assertEquals(1, filled.sread(entry, -1, 0), "what was queued is read first");
            assertEquals(-FabricErrno.ENODEV, filled.sread(entry, -1, 0));
            assertThrows(FabricException.class, () -> fabric.openEventQueue(new EventQueueAttr()));
            filled.close();
            assertEquals(-FabricErrno.EOPBADSTATE, filled.read(entry, 0));
        }
    }

    @Test
    void shouldWakeEveryKindOfSleeperWhenTheFabricIsClosed() throws Exception {
        try (DriverProcess driver = DriverProcess.start(base.resolve("alpha"))) {
            for (int round = 0; round < 30; round++) {
                Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()));
                List<Future<Integer>> sleepers = sleepers(fabric);
                for (int i = 0; i < round; i++) {
                    Thread.yield();
                }
                assertEquals(0, fabric.close(0));
                for (Future<Integer> sleeper : sleepers) {
                    assertEquals(-FabricErrno.EOPBADSTATE, sleeper.get(DEADLINE_S, TimeUnit.SECONDS));
                }
            }
        }
    }

    @Test
    void shouldEndAWaitWhenTheEmbeddedDriverWasClosed() {
        FabricDriver driver = embed();
        try (Fabric fabric = driver.fabric()) {
            EventQueue queue = open(fabric, WaitObject.UNSPEC);
            EventEntry entry = new EventEntry();
            assertEquals(EAGAIN, queue.sread(entry, 20_000_000, 0));
            driver.close();
            assertEquals(-FabricErrno.ENODEV, queue.sread(entry, -1, 0));
        }
    }

    @Test
    void shouldWakeTheThreadThatRunsTheCyclesByAnEventOfAnotherOne() throws Exception {
        try (FabricDriver driver = embed();
            Fabric fabric = driver.fabric()) {
            EventQueue queue = open(fabric, WaitObject.UNSPEC);
            EventEntry entry = new EventEntry();
            for (int i = 0; i < 100; i++) {
                int number = i;
                Future<Integer> writer = threads.submit(() -> queue.write(number, null, 0, 0, 0));
                assertEquals(1, queue.sread(entry, -1, 0));
                assertEquals(number, entry.event());
                assertEquals(1, writer.get(DEADLINE_S, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    void shouldEndEachInsertionOnceWhenTheDriverDiesMeanwhile() {
        int calls = 50;
        int each = 4;
        for (int round = 0; round < 3; round++) {
            try (DriverProcess driver = DriverProcess.start(base.resolve("alpha" + round));
                Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()))) {
                EventQueue queue = fabric.openEventQueue(
                    new EventQueueAttr().size(4096).waitObject(WaitObject.UNSPEC));
                AddressVector vector = fabric.domain(fabric.info(new Info().caps(Flags.TAGGED)).best())
                    .openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
                vector.bind(queue, 0);
                long[][] fiAddrs = new long[calls][each];
                int made = 0;
                for (; made < calls; made++) {
                    String[] names = new String[each];
                    for (int i = 0; i < each; i++) {
                        names[i] = "jfabric://alpha" + round + "/x" + made + '-' + i;
                    }
                    if (made == 10 * (round + 1)) {
                        driver.kill();
                    }
                    try {
                        assertEquals(0, vector.insert(names, fiAddrs[made], made, 0));
                    } catch (FabricException gone) {
                        break;
                    }
                }
                assertEnded(queue, made, each, fiAddrs);
            }
        }
    }

    private static void assertEnded(EventQueue queue, int made, int each, long[][] fiAddrs) {
        EventEntry entry = new EventEntry();
        EventError error = new EventError();
        int[] failed = new int[made];
        boolean[] ended = new boolean[made];
        int result;
        while ((result = queue.sread(entry, Deadline.ns(20), 0)) != -FabricErrno.ENODEV) {
            if (result == -FabricErrno.EAVAIL) {
                assertEquals(1, queue.readErr(error, 0));
                failed[(int) error.context()]++;
            } else {
                assertEquals(1, result, () -> FabricErrno.name(queue.read(entry, 0)));
                int call = (int) entry.context();
                assertTrue(!ended[call], "call " + call + " ended twice");
                ended[call] = true;
                assertEquals(each, entry.data() + failed[call], "call " + call);
                assertEquals(failed[call],
                    Arrays.stream(fiAddrs[call]).filter(one -> one == FabricAddress.ADDR_NOTAVAIL).count());
            }
        }
        for (int call = 0; call < made; call++) {
            assertTrue(ended[call], "call " + call + " of " + made + " has no end");
        }
    }

    private FabricDriver embed() {
        return FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(base.resolve("one")).threadingMode(ThreadingMode.INVOKER).build());
    }

    /** A thread in each way to wait for an event. */
    private List<Future<Integer>> sleepers(Fabric fabric) {
        List<Future<Integer>> sleepers = new ArrayList<>();
        for (WaitObject object : List.of(
            WaitObject.UNSPEC, WaitObject.YIELD, WaitObject.FD, WaitObject.MUTEX_COND)) {
            EventQueue queue = open(fabric, object);
            sleepers.add(threads.submit(() -> queue.sread(new EventEntry(), -1, 0)));
        }
        sleepers.add(threads.submit(selecting(open(fabric, WaitObject.FD))));
        sleepers.add(threads.submit(awaiting(open(fabric, WaitObject.MUTEX_COND))));
        return sleepers;
    }

    private static EventQueue open(Fabric fabric, WaitObject object) {
        return fabric.openEventQueue(new EventQueueAttr().flags(Flags.WRITE).waitObject(object));
    }

    private static Callable<Integer> selecting(EventQueue queue) {
        // asked for before the queue may be closed: from then on the channel is open until it is closed here
        SelectableChannel channel = queue.channel();
        return () -> {
            try (channel; Selector selector = Selector.open()) {
                channel.register(selector, SelectionKey.OP_READ);
                int result;
                while ((result = queue.read(new EventEntry(), 0)) == EAGAIN) {
                    selector.select();
                    selector.selectedKeys().clear();
                }
                return result;
            }
        };
    }

    private static Callable<Integer> awaiting(EventQueue queue) {
        return () -> {
            queue.mutexCond().lock().lock();
            try {
                int result;
                while ((result = queue.read(new EventEntry(), 0)) == EAGAIN) {
                    queue.mutexCond().condition().await();
                }
                return result;
            } finally {
                queue.mutexCond().lock().unlock();
            }
        };
    }
}
