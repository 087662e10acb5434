package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.PassiveEndpoint;
import org.jfabric.ScalableEndpoint;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
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
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Drivers with two progress threads: who serves which endpoint, and what passes between them. */
@Tag("slow")
@Timeout(120)
class ProgressThreadsTest {
    private static final long ANY = -1L;
    private static final int HALF = FabricNode.MEMORY / 2;

    private final Path base = TestDirectory.create();
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final List<FabricDriver> drivers = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        while (!resources.isEmpty()) {
            resources.pop().close();
        }
    }

    private FabricDriver launch(String name) {
        FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve(name))
            .threadingMode(ThreadingMode.DEDICATED).set(ThreadingConfig.PROGRESS_THREADS, 2).build());
        drivers.add(driver);
        resources.push(driver);
        return driver;
    }

    private FabricNode node(FabricDriver driver, String link, long caps) {
        FabricNode node = new FabricNode(driver.fabric(), link, new Info().caps(caps), 512, 0, Thread::yield);
        resources.push(node);
        return node;
    }

    private FabricNode node(FabricDriver driver, String link) {
        return node(driver, link, Flags.TAGGED | Flags.MSG);
    }

    /** Two endpoints on the two threads of one driver, and two more there or on those of another driver. */
    private List<FabricNode> nodes(String link, long caps) {
        FabricDriver alpha = launch("alpha");
        FabricDriver beta = "loopback".equals(link) ? alpha : launch("beta");
        List<FabricNode> nodes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            nodes.add(node(i < 2 ? alpha : beta, link, caps));
        }
        return nodes;
    }

    private static long insert(FabricNode from, FabricNode to) {
        return from.av.insert(to.endpoint.name());
    }

    private static void await(String what, BooleanSupplier condition) {
        Deadline.await(what, condition, () -> "");
    }

    private void assertBothThreadsWork(FabricDriver driver, long least) {
        try (DriverView view = new DriverView(driver.directory())) {
            for (int thread = 0; thread < 2; thread++) {
                String label = "requests (progress thread " + thread + ')';
                await("of " + view.counters(), () -> view.counter(label) >= least);
            }
        }
    }

    private void assertNoErrors() {
        for (FabricDriver driver : drivers) {
            try (DriverView view = new DriverView(driver.directory())) {
                List<String> errors = new ArrayList<>(view.errors());
                errors.removeIf(each -> each.contains("DEDICATED spin"));
                assertEquals(List.of(), errors);
            }
        }
    }

    /** Messages of both kinds and of short and long payloads, in order, in both directions of each pair. */
    @ParameterizedTest
    @ValueSource(strings = {"loopback", "shm", "tcp"})
    void shouldCarryMessagesBetweenAllThreadsInOrder(String link) {
        List<FabricNode> nodes = nodes(link, Flags.TAGGED | Flags.MSG | Flags.DIRECTED_RECV);
        int[] lengths = {8, 64, 5000, 200_000, 0, 16};
        for (int[] pair : new int[][] {{0, 1}, {0, 2}, {0, 3}, {1, 3}}) {
            exchange(nodes.get(pair[0]), nodes.get(pair[1]), lengths);
            exchange(nodes.get(pair[1]), nodes.get(pair[0]), lengths);
        }
        assertBothThreadsWork(drivers.getFirst(), lengths.length);
        assertNoErrors();
    }

    private static void exchange(FabricNode from, FabricNode to, int[] lengths) {
        long dest = insert(from, to);
        long source = insert(to, from);
        int at = 0;
        for (int i = 0; i < lengths.length; i++) {
            from.fill(at, lengths[i], i);
            assertEquals(0, i % 2 == 0
                ? to.endpoint.trecv(to.memory.address(HALF + at), lengths[i], source, 0, -1L, i)
                : to.endpoint.recv(to.memory.address(HALF + at), lengths[i], source, i));
            at += lengths[i];
        }
        at = 0;
        for (int i = 0; i < lengths.length; i++) {
            assertEquals(0, i % 2 == 0
                ? from.endpoint.tsend(from.memory.address(at), lengths[i], dest, i, 100 + i)
                : from.endpoint.send(from.memory.address(at), lengths[i], dest, 100 + i));
            at += lengths[i];
        }
        // a short message may be there before the payload of an earlier long one
        boolean[] received = new boolean[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            FabricNode.Entry entry = to.await();
            int index = (int) entry.context();
            assertEquals(0, entry.err());
            assertFalse(received[index], () -> "twice: " + entry);
            received[index] = true;
            assertEquals(lengths[index], entry.len());
            assertTrue(index % 2 != 0 || entry.tag() == index, () -> "out of order: " + entry);
        }
        at = 0;
        for (int i = 0; i < lengths.length; i++) {
            to.assertFilled(HALF + at, lengths[i], i);
            at += lengths[i];
        }
        for (int i = 0; i < lengths.length; i++) {
            FabricNode.Entry sent = from.await();
            assertEquals(0, sent.err());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"loopback", "shm"})
    void shouldReadWriteAndCountMemoryOfTheOtherThread(String link) {
        List<FabricNode> nodes = nodes(link, Flags.MSG | Flags.TAGGED | Flags.RMA | Flags.ATOMIC);
        for (int i = 0; i < nodes.size(); i++) {
            FabricNode from = nodes.get(i);
            FabricNode to = nodes.get((i + 1) % nodes.size());
            MemoryRegion target = to.domain.allocate(1 << 20, new MemoryRegionAttr()
                .access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(7));
            long dest = insert(from, to);
            for (int length : new int[] {8, 3000, 300_000}) {
                from.fill(0, length, length);
                assertEquals(0, from.endpoint.remoteMemory().write(
                    from.memory.address(), length, dest, target.remoteAddress(), target.key(), 1));
                from.await(1);
                FabricNode.assertPattern(target.buffer(), 0, length, length, 0);
                assertEquals(0, from.endpoint.remoteMemory().read(
                    from.memory.address(HALF), length, dest, target.remoteAddress(), target.key(), 2));
                from.await(2);
                from.assertFilled(HALF, length, length);
            }
            target.close();
        }
        assertNoErrors();
    }

    /** Sums of every width in one region, to which endpoints on both threads add at the same time. */
    @ParameterizedTest
    @ValueSource(strings = {"INT8", "INT16", "INT32", "INT64"})
    void shouldLoseNoAtomicOperationOfTwoThreads(AtomicDatatype type) {
        long caps = Flags.MSG | Flags.TAGGED | Flags.RMA | Flags.ATOMIC;
        FabricDriver driver = launch("alpha");
        FabricNode owner = node(driver, "loopback", caps);
        Endpoint second = open(owner, owner.info);
        MemoryRegion target = owner.domain.allocate(4096, new MemoryRegionAttr()
            .access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(7));
        FabricNode[] from = {node(driver, "loopback", caps), node(driver, "loopback", caps)};
        long[] dest = {insert(from[0], owner), from[1].av.insert(second.name())};
        int rounds = 2000;
        int[] posted = new int[2];
        int[] ended = new int[2];
        for (FabricNode each : from) {
            each.memory.buffer().putLong(0, 1, ByteOrder.LITTLE_ENDIAN);
        }
        await("posted " + rounds, () -> {
            for (int i = 0; i < 2; i++) {
                while (posted[i] < rounds && from[i].endpoint.atomics().atomic(from[i].memory.address(), 1, dest[i],
                    target.remoteAddress(), target.key(), type, AtomicOperation.SUM, 1) == 0) {
                    posted[i]++;
                }
                for (FabricNode.Entry entry = from[i].poll(); entry != null; entry = from[i].poll()) {
                    assertEquals(0, entry.err());
                    ended[i]++;
                }
            }
            return ended[0] == rounds && ended[1] == rounds;
        });
        long bits = target.buffer().getLong(0, ByteOrder.LITTLE_ENDIAN);
        long mask = type.sizeBytes() == Long.BYTES ? -1L : (1L << 8 * type.sizeBytes()) - 1;
        assertEquals(2L * rounds & mask, bits, "elements beside it are unchanged");
        assertNoErrors();
    }

    private static CompletionQueue queue(FabricNode node) {
        return node.domain.openCompletionQueue(
            new CompletionQueueAttr().size(512).format(CompletionFormat.TAGGED));
    }

    /** Another endpoint of a node, with a queue of its own. */
    private static Endpoint open(FabricNode node, Info info) {
        Endpoint endpoint = node.domain.openEndpoint(info.copy().srcAddr(null));
        endpoint.bind(queue(node), Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(node.av);
        endpoint.enable();
        return endpoint;
    }

    @Test
    void shouldServeTwoContextsByTwoThreads() {
        FabricDriver driver = launch("alpha");
        long caps = Flags.TAGGED | Flags.MSG | Flags.NAMED_RX_CTX;
        FabricNode server = node(driver, "loopback", caps);
        Info info = server.info.copy().srcAddr(null);
        info.epAttr().txCtxCnt(1).rxCtxCnt(2);
        ScalableEndpoint scalable = server.domain.openScalableEndpoint(info);
        scalable.bind(server.domain.openAddressVector(new AddressVectorAttr().rxCtxBits(1)));
        scalable.enable();
        QueueReader[] readers = new QueueReader[2];
        Endpoint[] contexts = new Endpoint[2];
        for (int i = 0; i < 2; i++) {
            CompletionQueue cq = queue(server);
            readers[i] = new QueueReader(cq, Thread::yield);
            contexts[i] = scalable.rxContext(i);
            contexts[i].bind(cq, Flags.RECV);
            contexts[i].enable();
        }
        FabricNode client = node(driver, "loopback", caps);
        long address = client.domain.openAddressVector(new AddressVectorAttr().rxCtxBits(1)).insert(scalable.name());
        assertEquals(0, address);
        Endpoint sender = client.domain.openEndpoint(client.info.copy().srcAddr(null));
        CompletionQueue sent = queue(client);
        var vector = client.domain.openAddressVector(new AddressVectorAttr().rxCtxBits(1));
        long dest = vector.insert(scalable.name());
        sender.bind(sent, Flags.TRANSMIT | Flags.RECV);
        sender.bind(vector);
        sender.enable();
        QueueReader sends = new QueueReader(sent, Thread::yield);
        for (int i = 0; i < 200; i++) {
            int index = i & 1;
            assertEquals(0, contexts[index].trecv(server.memory.address(), 8, ANY, i, 0, i));
            assertEquals(0, sender.tsend(client.memory.address(), 8, FabricAddress.rxAddr(dest, index, 1), i, i));
            assertEquals(0, sends.await().err());
            assertEquals(i, readers[index].await().context());
        }
        assertBothThreadsWork(driver, 100);
        assertNoErrors();
    }

    @Test
    void shouldPlaceASharedReceiveContextWithItsEndpoints() {
        FabricDriver driver = launch("alpha");
        FabricNode sender = node(driver, "loopback");
        FabricNode server = node(driver, "loopback");
        Info info = server.info.copy().srcAddr(null);
        info.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
        info.rxAttr().size(16);
        Endpoint shared = server.domain.openSharedReceiveContext(new RxAttr().size(16), 0);
        List<QueueReader> readers = new ArrayList<>();
        List<Long> addresses = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            CompletionQueue cq = queue(server);
            Endpoint user = server.domain.openEndpoint(info);
            user.bind(cq, Flags.TRANSMIT | Flags.RECV);
            user.bind(server.av);
            user.bind(shared, 0);
            user.enable();
            readers.add(new QueueReader(cq, Thread::yield));
            addresses.add(sender.av.insert(user.name()));
        }
        for (int i = 0; i < 30; i++) {
            assertEquals(0, shared.trecv(server.memory.address(), 8, ANY, i, 0, i));
            assertEquals(0, sender.endpoint.tsend(sender.memory.address(), 8, addresses.get(i % 3), i, i));
            sender.await(i);
            assertEquals(i, readers.get(i % 3).await().context());
        }
        assertNoErrors();
    }

    /** A counter of endpoints on both threads has the sum of their counts. */
    @Test
    void shouldCountTheMessagesOfBothThreadsInOneCounter() {
        FabricDriver driver = launch("alpha");
        FabricNode sender = node(driver, "loopback");
        FabricNode server = node(driver, "loopback");
        Counter received = server.domain.openCounter(new CounterAttr());
        List<Endpoint> users = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Endpoint user = server.domain.openEndpoint(server.info.copy().srcAddr(null));
            user.bind(queue(server), Flags.TRANSMIT | Flags.RECV);
            user.bind(server.av);
            user.bind(received, Flags.RECV);
            user.enable();
            users.add(user);
        }
        int count = 100;
        for (Endpoint user : users) {
            long dest = sender.av.insert(user.name());
            for (int i = 0; i < count; i++) {
                assertEquals(0, user.trecv(server.memory.address(), 8, ANY, i, 0, i));
            }
            for (int i = 0; i < count; i++) {
                assertEquals(0, sender.endpoint.tsend(sender.memory.address(), 8, dest, i, i));
                sender.await(i);
            }
        }
        await("counted " + received.read(), () -> received.read() == 2 * count);
        assertNoErrors();
    }

    @Test
    void shouldRefuseAnEndpointWhoseQueuesAreOnTwoThreads() {
        FabricDriver driver = launch("alpha");
        FabricNode first = node(driver, "loopback");
        CompletionQueue other = queue(first);
        Endpoint second = first.domain.openEndpoint(first.info.copy().srcAddr(null));
        second.bind(other, Flags.TRANSMIT | Flags.RECV);
        second.bind(first.av);
        second.enable();
        Endpoint third = first.domain.openEndpoint(first.info.copy().srcAddr(null));
        third.bind(first.cq, Flags.TRANSMIT);
        third.bind(other, Flags.RECV);
        third.bind(first.av);
        FabricException refusal = assertThrows(FabricException.class, third::enable);
        assertEquals(FabricErrno.EOPNOTSUPP, refusal.errno());
        assertTrue(refusal.getMessage().contains("progress threads 0 and 1"), refusal.getMessage());
        // both queues stay as they are
        long dest = first.av.insert(second.name());
        assertEquals(0, second.trecv(first.memory.address(), 8, ANY, 1, 0, 5));
        assertEquals(0, first.endpoint.tsend(first.memory.address(), 8, dest, 1, 6));
        first.await(6);
        assertEquals(5, new QueueReader(other, Thread::yield).await().context());
    }

    private static EventEntry next(EventQueue events, EventType type) {
        EventEntry event = new EventEntry();
        await(type + " in " + events, () -> events.read(event, 0) == 1);
        assertEquals(type, event.type());
        return event;
    }

    /** A request is served by the thread that listens, so that has to be the one of the client's queue. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void shouldAcceptARequestWithTheQueueOfAnEndpointOfTheSecondThread(String link) {
        FabricDriver alpha = launch("alpha");
        // takes the first thread
        node(alpha, "loopback");
        FabricNode server = node(alpha, link);
        FabricNode client = node(launch("beta"), link);
        Info hints = new Info().caps(Flags.MSG | Flags.TAGGED).linkName(link);
        hints.epAttr().type(EndpointType.MSG);
        EventQueue served = server.fabric.openEventQueue(new EventQueueAttr());
        PassiveEndpoint passive = server.fabric.openPassiveEndpoint(server.fabric.info(hints).best(), 0);
        passive.bind(served, 0);
        passive.listen();

        EventQueue asked = client.fabric.openEventQueue(new EventQueueAttr());
        Endpoint asking = client.domain.openEndpoint(client.fabric.info(hints).best());
        asking.bind(client.cq, Flags.TRANSMIT | Flags.RECV);
        asking.bind(asked, 0);
        asking.connect(passive.name());
        Endpoint accepting = server.domain.openEndpoint(next(served, EventType.CONNREQ).info());
        accepting.bind(server.cq, Flags.TRANSMIT | Flags.RECV);
        accepting.bind(served, 0);
        accepting.accept();
        next(served, EventType.CONNECTED);
        next(asked, EventType.CONNECTED);

        assertEquals(0, accepting.recv(server.memory.address(), 8, ANY, 1));
        assertEquals(0, asking.send(client.memory.address(), 8, 0, 2));
        client.await(2);
        server.await(1);
        passive.close();
        assertNoErrors();
    }

    /** Endpoints come and go under traffic; each operation ends, and the peers that stay still reach each other. */
    @ParameterizedTest
    @ValueSource(strings = {"loopback", "shm"})
    void shouldEndWhatAClosedEndpointOfAnotherThreadLeaves(String link) {
        List<FabricNode> nodes = nodes(link, Flags.TAGGED | Flags.MSG);
        Random random = new Random(17);
        FabricNode from = nodes.get(0);
        for (int round = 0; round < 12; round++) {
            FabricNode to = nodes.get(1 + round % 3);
            Endpoint brief = open(to, to.info);
            long dest = from.av.insert(brief.name());
            int posted = 0;
            int sends = 1 + random.nextInt(60);
            for (int i = 0; i < sends; i++) {
                brief.trecv(to.memory.address(), 64, ANY, 0, ANY, i);
                int length = random.nextInt(5) == 0 ? 100_000 : 64;
                if (from.endpoint.tsend(from.memory.address(), length, dest, i, i) == 0) {
                    posted++;
                }
                if (i == sends / 2) {
                    brief.close();
                    brief = open(to, to.info);
                }
            }
            for (int i = 0; i < posted; i++) {
                FabricNode.Entry entry = from.await();
                assertTrue(entry.err() == 0 || entry.err() == FabricErrno.ECONNRESET
                    || entry.err() == FabricErrno.ECONNREFUSED, () -> "got " + entry);
            }
            brief.close();
        }
        exchange(nodes.get(0), nodes.get(3), new int[] {8, 100_000});
    }

    /** A driver that ends ends the operations of its peers on all threads. */
    @Test
    void shouldEndTheOperationsOfBothThreadsWithADriverThatEnds() throws Exception {
        List<FabricNode> nodes = nodes("shm", Flags.TAGGED | Flags.MSG);
        FabricNode[] ours = {nodes.get(0), nodes.get(1)};
        for (FabricNode each : ours) {
            exchange(each, nodes.get(2), new int[] {8});
            exchange(each, nodes.get(3), new int[] {8});
        }
        for (FabricNode each : ours) {
            long dest = insert(each, nodes.get(each == ours[0] ? 3 : 2));
            assertEquals(0, each.endpoint.trecv(each.memory.address(), 8, ANY, 1, 0, 1));
            assertEquals(0, each.endpoint.tsend(each.memory.address(), HALF, dest, 1, 2));
        }
        drivers.get(1).close();
        for (FabricNode each : ours) {
            FabricNode.Entry entry = each.await();
            assertEquals(2, entry.context());
            assertEquals(FabricErrno.ECONNRESET, entry.err());
        }
    }

    @Test
    void shouldRefuseSeveralThreadsInAModeThatHasNone() {
        for (ThreadingMode mode : List.of(ThreadingMode.SHARED, ThreadingMode.INVOKER)) {
            FabricException refusal = assertThrows(FabricException.class, () -> DriverConfig.builder()
                .directory(base.resolve("none")).threadingMode(mode).set(ThreadingConfig.PROGRESS_THREADS, 2).build());
            assertTrue(refusal.getMessage().contains("progressThreads = 2"), refusal.getMessage());
            assertTrue(refusal.getMessage().contains("mode = " + mode), refusal.getMessage());
            assertTrue(refusal.getMessage().contains("choose DEDICATED"), refusal.getMessage());
        }
    }
}
