package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.PassiveEndpoint;
import org.jfabric.WaitSet;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.SleepingSide;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.info.Threading;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Descriptors as wait objects with an embedded driver that no thread runs while the application sleeps. */
@Tag("conformance")
@Timeout(120)
class InvokedSleepTest {
    private static final int DEADLINE_MS = SleepingSide.DEADLINE_MS;

    private final Path base = TestDirectory.create();

    @AfterEach
    void delete() {
        TestDirectory.delete(base);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"shm", "tcp", "rxm", "udp", "packet"})
    @Requirement("CQ-052")
    void shouldNotBeWokenWhileNothingHappens(String link) {
        try (SleepingSide a = new SleepingSide(base.resolve("a"), link, false);
             SleepingSide b = new SleepingSide(base.resolve("b"), link, false)) {
            exchange(a, b);
            a.settle();
            b.settle();
            // three times as long as a parked driver sleeps at most
            assertFalse(a.sleep(300), "a cycle was asked for although nothing has happened");
            assertFalse(b.sleep(0));
        }
    }

    @Test
    void shouldLetAPeerRingThatHasBeenConnectedForLong() {
        try (SleepingSide a = SleepingSide.unprepared(base.resolve("a"), "shm");
             SleepingSide b = new SleepingSide(base.resolve("b"), "shm", false);
             FabricNode plain = new FabricNode(
                 a.driver.fabric(), "shm", new Info().caps(Flags.MSG), 64, 0, () -> { })) {
            // the connection of both drivers is up before the first queue with a descriptor is opened
            long toPlain = b.insert(plain.endpoint.name());
            plain.endpoint.recv(plain.memory.address(), 8, -1L, 5);
            b.send(toPlain, 1);
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            while (plain.poll() == null) {
                b.driver.cycle();
                assertTrue(System.nanoTime() < deadlineNs, "no message");
            }
            a.openQueue();
            a.enable();
            long toA = b.insert(a.endpoint.name());
            a.post(1);
            a.settle();
            b.send(toA, 2);
            Thread cycles = new Thread(() -> {
                for (int i = 0; i < 1_000_000 && !Thread.currentThread().isInterrupted(); i++) {
                    b.driver.cycle();
                }
            });
            cycles.start();
            assertEquals(1, a.await());
            cycles.interrupt();
            join(cycles);
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"loopback", "tcp"})
    @Requirement("REF-013")
    void shouldBeWokenByAnotherThreadOfTheApplication(String link) throws Exception {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
        hints.domainAttr().threading(Threading.SAFE);
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("a"))
                .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", "loopback,tcp").build());
             FabricNode owner = new FabricNode(driver.fabric(), link, hints, 64, 0, () -> { });
             WaitNode node = new WaitNode(owner, owner, WaitObject.FD); Selector selector = Selector.open()) {
            node.queue.channel().register(selector, SelectionKey.OP_READ);
            node.complete(0);
            node.awaitEntry();
            assertEquals(0, node.take());
            for (int round = 1; round < 50; round++) {
                node.post(round);
                sleepUntilAsked(node);
                int sent = round;
                // posts, and does nothing else
                Thread other = new Thread(() -> node.send(sent));
                other.start();
                long taken;
                while ((taken = node.take()) == -FabricErrno.EAGAIN) {
                    if (node.queue.tryWait() == 0) {
                        assertEquals(1, selector.select(DEADLINE_MS), "round " + round);
                        selector.selectedKeys().clear();
                    }
                }
                assertEquals(round, taken);
                other.join();
                sleepUntilAsked(node);
                Thread signaller = new Thread(node.queue::signal);
                signaller.start();
                assertEquals(1, selector.select(DEADLINE_MS), "signal of round " + round);
                selector.selectedKeys().clear();
                signaller.join();
                assertEquals(-FabricErrno.EAGAIN, node.queue.tryWait(), "takes the signal");
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"shm", "tcp"})
    @Requirement("REF-029")
    void shouldBeWokenByEventsOfConnections(String link) throws Exception {
        try (SleepingSide a = new SleepingSide(base.resolve("a"), link, false);
             SleepingSide b = new SleepingSide(base.resolve("b"), link, false)) {
            Info hints = new Info().caps(Flags.MSG).linkName(link);
            hints.epAttr().type(EndpointType.MSG);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            EventQueue events = b.fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.FD));
            PassiveEndpoint passive = b.fabric.openPassiveEndpoint(b.fabric.info(hints).best());
            passive.bind(events, 0);
            passive.listen();
            String name = passive.name();
            Thread server = new Thread(() -> {
                try {
                    EventEntry request = next(events, EventType.CONNREQ);
                    Endpoint endpoint = open(b, request.info(), events);
                    endpoint.accept();
                    next(events, EventType.CONNECTED);
                    next(events, EventType.SHUTDOWN);
                } catch (Throwable thrown) {
                    failure.set(thrown);
                }
            });
            server.start();
            EventQueue own = a.fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.FD));
            Endpoint endpoint = open(a, a.fabric.info(hints).best(), own);
            endpoint.connect(name);
            next(own, EventType.CONNECTED);
            endpoint.shutdown(0);
            a.driver.cycle();
            server.join(DEADLINE_MS);
            assertEquals(null, failure.get());
            assertFalse(server.isAlive(), "the server sleeps in " + List.of(server.getStackTrace()));
        }
    }

    @Test
    void shouldBeWokenWhenADeadlinePasses() throws Exception {
        // accepts connections and says nothing
        try (ServerSocketChannel silent = ServerSocketChannel.open();
             FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("a"))
                .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", "tcp")
                .set("jfabric.tcp.connectTimeoutNs", "300ms").build());
             FabricNode node = new FabricNode(
                 driver.fabric(), "tcp", new Info().caps(Flags.TAGGED | Flags.MSG), 64, 0, () -> { });
             Selector selector = Selector.open()) {
            silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            var queue = node.domain.openCompletionQueue(new CompletionQueueAttr().waitObject(WaitObject.FD));
            queue.channel().register(selector, SelectionKey.OP_READ);
            long to = node.av.insert(SocketName.of((InetSocketAddress) silent.getLocalAddress()).toString());
            SleepingSide.require(0, node.endpoint.tsend(node.memory.address(), 8, to, 1, 7));
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            FabricNode.Entry failed;
            while ((failed = node.poll()) == null) {
                assertTrue(System.nanoTime() < deadlineNs, "the send has not failed");
                if (queue.tryWait() == 0) {
                    assertEquals(1, selector.select(DEADLINE_MS), "the deadline has passed unnoticed");
                    selector.selectedKeys().clear();
                }
            }
            assertEquals(7, failed.context());
            assertTrue(failed.err() != 0, failed::toString);
        }
    }

    @Test
    @Requirement("CQ-030")
    void shouldWakeCountersAndWaitSetsToo() throws Exception {
        try (SleepingSide a = new SleepingSide(base.resolve("a"), "shm", false);
             SleepingSide b = new SleepingSide(base.resolve("b"), "shm", false); Selector selector = Selector.open();
             Counter counter = a.domain.openCounter(new CounterAttr().waitObject(WaitObject.FD));
             WaitSet set = a.fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.FD));
             CompletionQueue queue = a.domain.openCompletionQueue(
                 new CompletionQueueAttr().waitObject(WaitObject.SET).waitSetId(set.id()));
             Endpoint endpoint = a.domain.openEndpoint(a.info, 0)) {
            endpoint.bind(counter, Flags.RECV);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(a.vector);
            endpoint.enable();
            long to = b.insert(endpoint.name());
            exchange(a, b);
            counter.channel().register(selector, SelectionKey.OP_READ);
            set.channel().register(selector, SelectionKey.OP_READ);
            SleepingSide.require(0, endpoint.recv(a.memory.address(), 8, -1L, 1));
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            while (counter.tryWait() != 0 || set.tryWait() != 0) {
                assertTrue(System.nanoTime() < deadlineNs, "the driver always has something to do");
            }
            AtomicBoolean received = new AtomicBoolean();
            Thread sender = new Thread(() -> {
                b.send(to, 1);
                // a channel is opened first, in several steps of both drivers
                while (!received.get()) {
                    b.driver.cycle();
                    Thread.yield();
                }
            }, "sender");
            sender.start();
            try {
                while (counter.read() != 1) {
                    assertTrue(System.nanoTime() < deadlineNs, "the message does not come");
                    if (counter.tryWait() == 0 && set.tryWait() == 0) {
                        assertTrue(selector.select(DEADLINE_MS) > 0, "overslept");
                        selector.selectedKeys().clear();
                    }
                }
            } finally {
                received.set(true);
                sender.join();
            }
            assertEquals(0, set.await(0));
        }
    }

    @Test
    void shouldBeWokenByTheEndOfTheDriverAndAnswerAfterIt() {
        SleepingSide a = new SleepingSide(base.resolve("a"), "shm", false);
        EventQueue events = a.fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.FD));
        a.settle();
        a.driver.close();
        assertTrue(a.sleep(DEADLINE_MS), "overslept the end");
        a.queue.signal();
        assertEquals(-FabricErrno.EAGAIN, a.queue.tryWait());
        assertTrue(events.tryWait() <= 0);
        a.close();
    }

    private static Endpoint open(SleepingSide side, Info info, EventQueue events) {
        Endpoint endpoint = side.domain.openEndpoint(info, 0);
        endpoint.bind(side.domain.openCompletionQueue(new CompletionQueueAttr()), Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(events, 0);
        endpoint.enable();
        return endpoint;
    }

    /** The next event, at whose queue the thread sleeps. */
    private static EventEntry next(EventQueue events, EventType wanted) throws Exception {
        EventEntry entry = new EventEntry();
        try (Selector selector = Selector.open()) {
            SelectionKey key = events.channel().register(selector, SelectionKey.OP_READ);
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            for (;;) {
                assertTrue(System.nanoTime() < deadlineNs, () -> "no " + wanted + " at " + key);
                int read = events.read(entry, 0);
                if (read == 1) {
                    assertEquals(wanted.code(), entry.event());
                    return entry;
                }
                if (read == -FabricErrno.EAVAIL) {
                    EventError error = new EventError();
                    events.readErr(error, 0);
                    throw new AssertionError(error.toString());
                }
                assertEquals(-FabricErrno.EAGAIN, read);
                if (events.tryWait() == 0) {
                    assertEquals(1, selector.select(DEADLINE_MS), "overslept " + wanted + " at " + key);
                    selector.selectedKeys().clear();
                }
            }
        }
    }

    private static void sleepUntilAsked(WaitNode node) {
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (node.queue.tryWait() != 0) {
            assertTrue(System.nanoTime() < deadlineNs, "the driver always has something to do");
        }
    }

    private static void exchange(SleepingSide a, SleepingSide b) {
        long toB = a.insert(b.endpoint.name());
        b.post(1);
        a.send(toB, 1);
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (b.take() != 1) {
            a.driver.cycle();
            assertTrue(System.nanoTime() < deadlineNs, "no message");
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }
}
