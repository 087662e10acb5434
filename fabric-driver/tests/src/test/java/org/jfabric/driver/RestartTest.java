package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.AtomicRequest;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.Messenger;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.QueueReader;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.OwnThreads;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.jfabric.tool.ToolRun;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients whose daemon ends in each way and is started again in its directory. */
@Tag("slow") // runs daemons
class RestartTest {
    private static final long SEED = Long.getLong("jfabric.test.seed", 20);
    private static final int LENGTH = 64;
    private static final int QUEUE = 128;
    private static final long UNMATCHED = 1L << 40;

    private final Random random = new Random(SEED);
    private final Path directory = TestDirectory.create().resolve("restarted");
    private final List<FabricNode> nodes = new ArrayList<>();
    private DriverProcess driver;

    /** One end of the traffic: which operations are outstanding, and how each ended. */
    private static final class Side extends ClientEvents {
        private FabricNode node;
        private final Set<Long> outstanding = new HashSet<>();
        private final Map<Long, Integer> ended = new HashMap<>();
        private long peer;

        void posted(long context, int result) {
            assertEquals(0, result, () -> "posting " + context);
            outstanding.add(context);
        }

        void read() {
            for (FabricNode.Entry entry = node.poll(); entry != null; entry = node.poll()) {
                FabricNode.Entry seen = entry;
                assertTrue(outstanding.remove(entry.context()), () -> "not outstanding: " + seen + ", " + ended);
                ended.put(entry.context(), entry.err());
            }
        }
    }

    /** What the fabric reports. */
    private static class ClientEvents implements FabricListener {
        final AtomicInteger away = new AtomicInteger();
        final AtomicInteger back = new AtomicInteger();
        final List<Throwable> failures = new ArrayList<>();
        volatile FabricException gone;

        @Override
        public void onDriverAway(FabricException why) {
            away.incrementAndGet();
        }

        @Override
        public void onReconnected() {
            back.incrementAndGet();
        }

        @Override
        public void onDriverGone(FabricException why) {
            gone = why;
        }

        @Override
        public void onError(Throwable error) {
            failures.add(error);
        }

        @Override
        public String toString() {
            return "away " + away + ", back " + back + ", gone " + gone + ", failures " + failures;
        }
    }

    @AfterEach
    void close() {
        nodes.forEach(FabricNode::close);
        if (driver != null) {
            driver.close();
        }
    }

    private void start() {
        driver = DriverProcess.start(directory, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    }

    private static FabricConfig config(Path directory, FabricListener listener) {
        return new FabricConfig().directory(directory).listener(listener)
            .reconnectTimeoutNs(FabricNode.DEADLINE_NS);
    }

    private FabricNode node(FabricListener listener, long caps) {
        FabricNode node = new FabricNode(
            Fabric.connect(config(directory, listener)), "loopback", new Info().caps(caps), QUEUE, 0, () -> { });
        nodes.add(node);
        return node;
    }

    @Test
    void shouldEndEachOperationOnceOverEachEndOfTheDriver() {
        start();
        Side sender = new Side();
        Side receiver = new Side();
        sender.node = node(sender, Flags.TAGGED);
        receiver.node = node(receiver, Flags.TAGGED);
        sender.peer = sender.node.av.insert(receiver.node.endpoint.name());
        String senderName = sender.node.endpoint.name();
        long next = 1;
        int ends = 0;
        for (boolean isKilled : new boolean[] {true, false, true}) {
            int delivered = receiver.ended.size();
            next = exchange(sender, receiver, next, 200 + random.nextInt(200));
            assertTrue(receiver.ended.size() > delivered, () -> "nothing was delivered, seed " + SEED);
            // these are in flight, or have entries that are not read before the end
            next = post(sender, receiver, next, 1 + random.nextInt(20), random.nextInt(20));
            FabricNode.awaitStep(sender.node.domain);
            if (isKilled) {
                driver.kill();
            } else {
                driver.close();
            }
            ends++;
            int expected = ends;
            Deadline.awaitParked(() -> "both are away: " + sender + " " + receiver,
                () -> sender.away.get() == expected && receiver.away.get() == expected);
            assertEquals(-FabricErrno.EAGAIN, sender.node.endpoint.tsend(
                sender.node.memory.address(), LENGTH, sender.peer, 1, 1));
            assertEquals(FabricErrno.EAGAIN, assertThrows(FabricException.class,
                () -> sender.node.domain.openCounter(new CounterAttr())).errno());
            start();
            Deadline.awaitParked(() -> "both are back: " + sender + " " + receiver,
                () -> sender.back.get() == expected && receiver.back.get() == expected);
            Deadline.await("all operations have ended", () -> {
                sender.read();
                receiver.read();
                return sender.outstanding.isEmpty() && receiver.outstanding.isEmpty();
            }, () -> sender.outstanding + " " + receiver.outstanding + ", seed " + SEED);
            assertEquals(senderName, sender.node.endpoint.name());
        }
        next = exchange(sender, receiver, next, 200);
        assertEquals(next - 1, sender.ended.size());
        assertEquals(next - 1, receiver.ended.size());
        Set<Integer> errors = new HashSet<>(sender.ended.values());
        errors.addAll(receiver.ended.values());
        assertEquals(Set.of(0, FabricErrno.ECONNRESET), errors, () -> "seed " + SEED);
        assertNull(sender.gone);
        assertEquals(List.of(), sender.failures);
    }

    /** An application with all that outlives a driver. */
    private static final class Client extends ClientEvents implements AutoCloseable {
        private static final long CAPS = Flags.TAGGED | Flags.RMA | Flags.ATOMIC;
        private static final int MEMORY = 1 << 16;

        private final Fabric fabric;
        private final Domain domain;
        private final CompletionQueue queue;
        private final QueueReader reader;
        private final Counter sends;
        private final AddressVector vector;
        private final EventQueue events;
        private final Endpoint endpoint;
        private final MemoryRegion made;
        private final MemoryRegion registered;

        Client(Path directory, String name) {
            fabric = Fabric.connect(config(directory, this));
            Info info = fabric.info(new Info().caps(CAPS).linkName("loopback")).best();
            if (name != null) {
                info.srcAddr("jfabric://" + fabric.driverName() + "/" + name);
            }
            domain = fabric.domain(info);
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(QUEUE)
                .format(CompletionFormat.TAGGED).waitObject(WaitObject.UNSPEC));
            reader = new QueueReader(queue, () -> { });
            sends = domain.openCounter(new CounterAttr().waitObject(WaitObject.UNSPEC));
            vector = domain.openAddressVector(new AddressVectorAttr());
            events = fabric.openEventQueue(new EventQueueAttr());
            endpoint = domain.openEndpoint(info);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(sends, Flags.SEND | Flags.WRITE);
            endpoint.bind(vector);
            endpoint.bind(events, 0);
            endpoint.enable();
            // an address of a region that is closed, so that the indices of the others have a gap
            MemoryRegion closed = domain.allocate(LENGTH);
            made = domain.allocate(MEMORY, attr(7));
            registered = domain.register(Arena.ofAuto().allocate(MEMORY, 64), attr(1L << 50));
            closed.close();
        }

        private static MemoryRegionAttr attr(long key) {
            return new MemoryRegionAttr().requestedKey(key).access(Flags.SEND | Flags.RECV | Flags.READ | Flags.WRITE
                | Flags.REMOTE_READ | Flags.REMOTE_WRITE);
        }

        /** Kind and number of the next event. */
        String nextEvent() {
            EventEntry entry = new EventEntry();
            Deadline.awaitParked(() -> "an event of " + fabric, () -> events.read(entry, 0) == 1);
            assertSame(endpoint, entry.fid());
            return EventType.of(entry.event()) + " " + entry.data();
        }

        @Override
        public void close() {
            fabric.close();
        }
    }

    private void awaitBack(int times, ClientEvents... clients) {
        for (ClientEvents client : clients) {
            Deadline.awaitParked(() -> "it is back: " + client, () -> client.back.get() == times);
        }
    }

    @Test
    void shouldKeepNamesAddressesKeysAndValues() {
        start();
        try (Client target = new Client(directory, null); Client initiator = new Client(directory, "initiator")) {
            // numbers 0 and 2 are free when the driver ends
            long[] numbers = new long[4];
            assertEquals(4, initiator.vector.insert(new String[] {"jfabric://restarted/a", target.endpoint.name(),
                "jfabric://restarted/b", "jfabric://restarted/c"}, numbers, 0, 0));
            initiator.vector.remove(numbers[0]);
            initiator.vector.remove(numbers[2]);
            target.endpoint.publish("prices");
            String name = target.endpoint.name();
            long made = target.made.address();
            long registered = target.registered.address();
            target.made.buffer().putLong(8, 42);
            initiator.sends.add(100);
            access(initiator, target, numbers[1]);
            assertEquals(102, initiator.sends.read());

            for (int times = 1; times <= 2; times++) {
                driver.kill();
                start();
                awaitBack(times, target, initiator);
                assertEquals("NOTIFY " + FabricErrno.ENODEV, initiator.nextEvent());
                assertEquals("NOTIFY 0", initiator.nextEvent());
                assertEquals(name, target.endpoint.name());
                assertEquals(made, target.made.address());
                assertEquals(registered, target.registered.address());
                assertEquals(7, target.made.key());
                assertEquals(42, target.made.buffer().getLong(8));
                assertEquals(100 + 2 * times, initiator.sends.read());
                assertEquals(0, initiator.sends.readErr());
                access(initiator, target, numbers[1]);
                assertEquals(102 + 2 * times, initiator.sends.read());
            }
            assertEquals(numbers[1], initiator.vector.insertService(target.fabric.driverName(), "prices"));
            assertEquals(numbers[0], initiator.vector.insert("jfabric://restarted/d"));
            assertEquals(numbers[2], initiator.vector.insert("jfabric://restarted/e"));
            assertEquals("jfabric://restarted/initiator", initiator.endpoint.name());
        }
    }

    /** Writes to both regions of the peer, and sends a message out of memory of both kinds. */
    private static void access(Client from, Client to, long peer) {
        long value = from.sends.read();
        from.made.buffer().putLong(0, value);
        assertEquals(0, from.endpoint.remoteMemory().write(from.made.address(), 8, peer, 0, 7, value));
        assertEquals(value, from.reader.await().context());
        assertEquals(value, to.made.buffer().getLong(0));
        assertEquals(0, to.endpoint.trecv(to.made.address(64), 8, -1, value, 0, value));
        from.registered.buffer().putLong(0, value + 1);
        assertEquals(0, from.endpoint.tsend(from.registered.address(), 8, peer, value, value));
        assertEquals(0, from.reader.await().err());
        assertEquals(value, to.reader.await().context());
        assertEquals(value + 1, to.made.buffer().getLong(64));
        assertEquals(0, from.endpoint.remoteMemory().read(from.made.address(8), 8, peer, 8, 1L << 50, 3));
        assertEquals(0, from.reader.await().err());
    }

    @Test
    void shouldSayOfEachOperationInFlightWhatBecameOfIt() throws IOException {
        start();
        try (Client client = new Client(directory, null)) {
            long self = client.vector.insert(client.endpoint.name());
            assertEquals(0, client.endpoint.trecv(client.made.address(64), 8, -1, 5, 0, 51));
            FabricNode.awaitStep(client.domain);
            TestProcess.signal(driver.process(), "STOP");
            assertEquals(0, client.endpoint.tsend(client.made.address(), 8, self, 5, 52));
            assertEquals(0, client.endpoint.tsend(client.made.address(), 8, self, 6, 52));
            assertEquals(0, client.endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, self, 7));
            assertEquals(0, client.endpoint.remoteMemory().write(client.made.address(), 8, self, 0, 7, 53));
            assertEquals(0, client.endpoint.atomics().fetchAtomicmsg(new AtomicRequest()
                .operation(AtomicOperation.SUM, AtomicDatatype.UINT64, 1).operands(client.made.address())
                .results(client.made.address(128)).destAddr(self).remote(192, 7).opContext(54)));
            driver.kill();
            Map<String, Integer> lost = new TreeMap<>();
            for (int i = 0; i < 6; i++) {
                FabricNode.Entry entry = client.reader.await();
                lost.merge(entry.context() + " " + FabricErrno.name(entry.err())
                    + ((entry.flags() & Flags.RECV) != 0 ? " receive" : ""), 1, Integer::sum);
            }
            assertEquals(Map.of("51 FI_ECONNRESET receive", 1, "52 FI_ECONNRESET", 2, "0 FI_ECONNRESET", 1,
                "53 FI_ECONNRESET", 1, "54 FI_EREMOTEIO", 1), lost);
            assertEquals(4, client.sends.readErr());
            assertNull(client.reader.poll());
            start();
            awaitBack(1, client);
            assertNull(client.reader.poll());
            assertEquals(4, client.sends.readErr());
            assertEquals(0, client.endpoint.trecv(client.made.address(64), 8, -1, 8, 0, 61));
            assertEquals(0, client.endpoint.tsend(client.made.address(), 8, self, 8, 61));
            assertEquals(0, client.reader.await().err());
            assertEquals(0, client.reader.await().err());
            assertEquals(0, client.made.buffer().getLong(192));
            // the message comes before its receive
            assertEquals(0, client.endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, self, 9));
            FabricNode.awaitStep(client.domain);
            assertEquals(0, client.endpoint.trecv(client.made.address(), 8, -1, 9, 0, 91));
            assertEquals(91, client.reader.await().context());
        }
    }

    @Test
    void shouldGiveUpWhenTheTimeIsOver() {
        start();
        ClientEvents events = new ClientEvents();
        ClientEvents plain = new ClientEvents();
        try (Fabric fabric = Fabric.connect(config(directory, events).reconnectTimeoutNs(1));
            FabricNode waiting = new FabricNode(
                fabric, "loopback", new Info().caps(Flags.TAGGED), QUEUE, 0, () -> { });
            FabricNode without = new FabricNode(Fabric.connect(new FabricConfig().directory(directory)
                .listener(plain)), "loopback", new Info().caps(Flags.TAGGED), QUEUE, 0, () -> { })) {
            long self = waiting.av.insert(waiting.endpoint.name());
            assertEquals(0, waiting.endpoint.trecv(waiting.memory.address(), 8, self, 1, 0, 11));
            assertEquals(0, without.endpoint.trecv(without.memory.address(), 8, -1, 1, 0, 11));
            FabricNode.awaitStep(waiting.domain);
            driver.kill();
            Deadline.awaitParked(() -> events + ", " + plain, () -> events.gone != null && plain.gone != null);
            assertEquals(1, events.away.get());
            assertEquals(FabricErrno.ECONNRESET, waiting.await().err());
            UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
            assertEquals(-FabricErrno.ENODEV, waiting.cq.read(entry, 0, 1));
            // without the option the end is the end at once, and no operation has an entry
            assertEquals(0, plain.away.get());
            assertEquals(-FabricErrno.ENODEV, without.cq.read(entry, 0, 1));
            for (FabricNode node : List.of(waiting, without)) {
                assertEquals(-FabricErrno.EOPBADSTATE, node.endpoint.tsend(node.memory.address(), 8, self, 1, 1));
                assertEquals(FabricErrno.ENODEV, assertThrows(FabricException.class,
                    () -> node.domain.openCounter(new CounterAttr())).errno());
            }
        }
    }

    @Test
    void shouldCloseWhileNoDriverIsThere() {
        OwnThreads.run(this::closeWhileNoDriverIsThere);
    }

    private void closeWhileNoDriverIsThere(OwnThreads threads) {
        start();
        Client client = new Client(directory, null);
        driver.kill();
        Deadline.awaitParked(() -> "it is away: " + client, () -> client.away.get() == 1);
        client.close();
        assertEquals(-FabricErrno.EOPBADSTATE, client.queue.read(new UnsafeBuffer(new byte[64]), 0, 1));
        Deadline.awaitParked("no thread waits for a driver", () -> threads.named("jfabric-reconnect").isEmpty());
        assertNull(client.gone);
    }

    @Test
    void shouldRefuseWhatCannotBeOpenedAgain() {
        start();
        try (Client client = new Client(directory, null)) {
            Info connected = new Info().caps(Flags.MSG).linkName("loopback");
            connected.epAttr().type(EndpointType.MSG);
            Info unmanaged = client.domain.info();
            unmanaged.domainAttr().resourceManagement(ResourceManagement.DISABLED);
            List<Executable> opens = List.of(
                () -> client.domain.openEndpoint(client.fabric.info(connected).best()),
                () -> client.fabric.openPassiveEndpoint(client.fabric.info(connected).best()),
                () -> client.fabric.domain(unmanaged),
                () -> client.fabric.openWaitSet(new WaitSetAttr()),
                () -> client.domain.openCompletionQueue(new CompletionQueueAttr().waitObject(WaitObject.FD)),
                () -> client.domain.openCounter(new CounterAttr().waitObject(WaitObject.FD)),
                () -> client.domain.openSharedTransmitContext(client.domain.info().txAttr(), 0),
                () -> client.domain.openSharedReceiveContext(client.domain.info().rxAttr(), 0),
                () -> client.domain.openScalableEndpoint(client.domain.info()),
                () -> client.domain.allocatePersistent(directory.resolve("persistent"), LENGTH));
            for (Executable open : opens) {
                FabricException refused = assertThrows(FabricException.class, open);
                assertEquals(FabricErrno.EOPNOTSUPP, refused.errno(), refused::getMessage);
                assertTrue(refused.getMessage().contains("does not outlive the driver"), refused::getMessage);
            }
        }
    }

    /** What a thread of its own has returned. */
    private static <T> CompletableFuture<T> inThread(Supplier<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(call.get());
            } catch (Throwable failed) {
                result.completeExceptionally(failed);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    @Test
    void shouldWakeReadersThatSleepOverTheRestart() throws Exception {
        start();
        try (Client client = new Client(directory, null)) {
            long self = client.vector.insert(client.endpoint.name());
            UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
            CompletableFuture<Integer> read = inThread(() -> client.queue.sread(entry, 0, 1, 0, -1));
            CompletableFuture<Integer> counted = inThread(() -> client.sends.await(1, -1));
            driver.close();
            start();
            awaitBack(1, client);
            assertFalse(read.isDone());
            assertFalse(counted.isDone());
            assertEquals(0, client.endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, self, 9));
            assertEquals(0, counted.get(20, TimeUnit.SECONDS));
            assertEquals(0, client.endpoint.trecv(client.made.address(), 8, -1, 9, 0, 91));
            assertEquals(1, read.get(20, TimeUnit.SECONDS));
            assertEquals(91, entry.getLong(0));
        }
    }

    /** The peer's driver lives beside the one that is restarted, and its client does not connect again. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp", "rxm"})
    void shouldBeReachedByPeersOfAnotherDriverAsBefore(String link) {
        String[] options = {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "jfabric.tcp.interface=lo",
            "jfabric.link.enabled=loopback,shm,tcp,rxm"};
        driver = DriverProcess.start(directory, options);
        Side peer = new Side();
        Side restarted = new Side();
        try (DriverProcess other = DriverProcess.start(directory.resolveSibling("beside"), options)) {
            restarted.node = new FabricNode(Fabric.connect(config(directory, restarted)), link,
                new Info().caps(Flags.TAGGED), QUEUE, 0, () -> { });
            nodes.add(restarted.node);
            peer.node = new FabricNode(Fabric.connect(new FabricConfig().directory(other.directory()).listener(peer)),
                link, new Info().caps(Flags.TAGGED), QUEUE, 0, () -> { });
            nodes.add(peer.node);
            String name = restarted.node.endpoint.name();
            peer.peer = peer.node.av.insert(name);
            restarted.peer = restarted.node.av.insert(peer.node.endpoint.name());
            long next = exchange(restarted, peer, exchange(peer, restarted, 1, 20), 20);
            driver.kill();
            driver = DriverProcess.start(directory, options);
            awaitBack(1, restarted);
            assertEquals(name, restarted.node.endpoint.name());
            next = exchange(peer, restarted, exchange(restarted, peer, next, 20), 20);
            assertEquals(81, next);
            assertEquals(Set.of(0), new HashSet<>(restarted.ended.values()));
            assertNull(peer.gone);
        }
    }

    /**
     * The steps of an upgrade. Needs the runnable jar of an older build, see {@code config/upgrade/check}: two drivers
     * of it with clients of this build, of which first one and then the other is replaced.
     */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    @EnabledIfSystemProperty(named = "jfabric.test.older", matches = ".+")
    void shouldServeClientsOfTwoBuildsOverAnUpgrade(String link) throws Exception {
        Path older = Path.of(System.getProperty("jfabric.test.older"));
        Path beside = directory.resolveSibling("beside");
        String loopback = "jfabric.tcp.interface=lo";
        driver = DriverProcess.startOf(older, directory, loopback);
        DriverProcess other = DriverProcess.startOf(older, beside, loopback);
        Side first = new Side();
        Side second = new Side();
        try {
            first.node = new FabricNode(Fabric.connect(config(directory, first)), link,
                new Info().caps(Flags.TAGGED), QUEUE, 0, () -> { });
            nodes.add(first.node);
            second.node = new FabricNode(Fabric.connect(config(beside, second)), link,
                new Info().caps(Flags.TAGGED), QUEUE, 0, () -> { });
            nodes.add(second.node);
            first.peer = first.node.av.insert(second.node.endpoint.name());
            second.peer = second.node.av.insert(first.node.endpoint.name());
            long next = exchange(first, second, exchange(second, first, 1, 20), 20);
            drain(driver);
            driver = DriverProcess.start(directory, loopback);
            awaitBack(1, first);
            // drivers of two builds, then two of this one
            next = exchange(first, second, exchange(second, first, next, 20), 20);
            drain(other);
            other = DriverProcess.start(beside, loopback);
            awaitBack(1, second);
            next = exchange(first, second, exchange(second, first, next, 20), 20);
            assertEquals(121, next);
            // the library of the older build with this driver
            try (TestProcess client = TestProcess.start(List.of(TestJvm.java().toString(),
                "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED",
                "-cp", older + File.pathSeparator + Path.of(EchoMain.class.getProtectionDomain().getCodeSource()
                    .getLocation().toURI()), EchoMain.class.getName(), directory.toString()))) {
                client.awaitLine("exchanged 1000");
            }
        } finally {
            other.close();
        }
    }

    private static void drain(DriverProcess ended) throws InterruptedException {
        ToolRun drained = ToolRun.of("drain", "--dir", ended.directory().toString());
        assertEquals(0, drained.status(), drained::err);
        assertEquals(0, ended.process().waitFor(), ended.output());
    }

    /** An application that sends messages to itself. */
    static final class EchoMain {
        private EchoMain() {
        }

        /** Takes the driver's directory, and uses nothing of the tests: it runs with the library of another build. */
        public static void main(String[] args) {
            try (Fabric fabric = Fabric.connect(new FabricConfig().directory(Path.of(args[0])));
                Messenger messenger = fabric.messenger().open()) {
                long self = messenger.peers().insert(messenger.endpoint().name());
                MemoryRegion memory = messenger.memory();
                for (long number = 1; number <= 1000; number++) {
                    memory.buffer().putLong(0, number);
                    int posted = messenger.endpoint().trecv(memory.address(8), 8, self, number, 0, number)
                        | messenger.endpoint().tsend(memory.address(), 8, self, number, -number);
                    for (int read = 0; read < 2;) {
                        int count = messenger.queue().poll(entry -> { }, 1);
                        if (posted != 0 || count < 0 && count != -FabricErrno.EAGAIN) {
                            throw new IllegalStateException("message " + number + ": " + posted + ", " + count);
                        }
                        read += Math.max(count, 0);
                    }
                    if (memory.buffer().getLong(8) != number) {
                        throw new IllegalStateException("message " + number + " has " + memory.buffer().getLong(8));
                    }
                }
            }
            System.out.println("exchanged 1000");
        }
    }

    @Test
    void shouldConnectAgainAfterADrain() throws Exception {
        start();
        try (Client client = new Client(directory, null)) {
            long self = client.vector.insert(client.endpoint.name());
            drain(driver);
            Deadline.awaitParked(() -> "it is away: " + client, () -> client.away.get() == 1);
            start();
            awaitBack(1, client);
            assertEquals("NOTIFY " + FabricErrno.ENODEV, client.nextEvent());
            assertEquals("NOTIFY 0", client.nextEvent());
            assertEquals(0, client.endpoint.trecv(client.made.address(8), 8, -1, 1, 0, 11));
            client.made.buffer().putLong(0, 77);
            assertEquals(0, client.endpoint.tsend(client.made.address(), 8, self, 1, 12));
            assertEquals(0, client.reader.await().err());
            assertEquals(0, client.reader.await().err());
            assertEquals(77, client.made.buffer().getLong(8));
        }
    }

    /** The next driver gives the numbers of objects anew: one endpoint has a number that another one had before. */
    @Test
    void shouldNotifyEachEndpointWhenNumbersChangeOwners() {
        start();
        ClientEvents client = new ClientEvents();
        try (Fabric fabric = Fabric.connect(config(directory, client))) {
            EventQueue events = fabric.openEventQueue(new EventQueueAttr());
            Domain domain = RestartAttemptsTest.domain(fabric, "loopback");
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            Set<Object> endpoints = new HashSet<>();
            for (int i = 0; i < 8; i++) {
                endpoints.add(RestartAttemptsTest.endpoint(domain, queue, vector, events));
            }
            // opened before the endpoints with the next driver, whose numbers are greater by that
            for (int i = 0; i < 3; i++) {
                domain.openCounter(new CounterAttr());
            }
            for (int times = 1; times <= 2; times++) {
                driver.kill();
                start();
                awaitBack(times, client);
                for (long data : new long[] {FabricErrno.ENODEV, 0}) {
                    Set<Object> notified = new HashSet<>();
                    for (int i = 0; i < endpoints.size(); i++) {
                        notified.add(RestartAttemptsTest.notified(events, data));
                    }
                    assertEquals(endpoints, notified);
                }
            }
        }
    }

    /** Sends messages one after the other, and checks that each arrives as it was sent. */
    private static long exchange(Side sender, Side receiver, long from, int count) {
        long next = from;
        for (int i = 0; i < count; i++) {
            next = post(sender, receiver, next, 1, 1);
            if (i % 8 == 0) {
                Deadline.await("messages arrive", () -> {
                    sender.read();
                    receiver.read();
                    return sender.outstanding.isEmpty() && receiver.outstanding.isEmpty();
                }, () -> sender.outstanding + " " + receiver.outstanding + sender.ended);
                assertEquals(0, receiver.ended.get(next - 1));
                assertEquals(next - 1, receiver.node.memory.buffer().getLong(slot(next - 1)));
            }
        }
        Deadline.await("messages arrive", () -> {
            sender.read();
            receiver.read();
            return sender.outstanding.isEmpty() && receiver.outstanding.isEmpty();
        }, () -> sender.outstanding + " " + receiver.outstanding);
        return next;
    }

    /** Posts receives and sends of messages that have their number as tag and context; some may have no partner. */
    private static long post(Side sender, Side receiver, long from, int sends, int receives) {
        int most = Math.max(sends, receives);
        for (long number = from; number < from + most; number++) {
            receiver.posted(number, receiver.node.endpoint.trecv(
                receiver.node.memory.address(slot(number)), LENGTH, -1, number < from + sends ? number : UNMATCHED,
                0, number));
            sender.node.memory.buffer().putLong(slot(number), number);
            sender.posted(number, sender.node.endpoint.tsend(sender.node.memory.address(slot(number)), LENGTH,
                sender.peer, number < from + receives ? number : UNMATCHED + 1, number));
        }
        return from + most;
    }

    private static int slot(long number) {
        return (int) number % 4096 * LENGTH;
    }
}
