package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.LockedVerbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.link.rxm.RxmLinkProvider;
import org.jfabric.driver.link.verbs.VerbsLinkProvider;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.info.Order;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Reliable datagrams access the memory of their peers by RDMA cards. Whole drivers, over devices in memory; or over
 * devices of this machine whose addresses are in a property.
 */
@Timeout(120)
class VerbsReliableMemoryTest {
    private static final String HOSTS = System.getProperty("jfabric.test.verbs");
    private static final String LINK = "verbsrxm";
    private static final int LENGTH = 1 << 17;
    private static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final long CARD = MrMode.LOCAL | MrMode.VIRT_ADDR | MrMode.ALLOCATED | MrMode.PROV_KEY;

    @TempDir
    private Path directory;
    private final FakeVerbs.Network network = HOSTS == null ? new FakeVerbs.Network() : null;
    private final List<Node> nodes = new ArrayList<>();
    private Node a;
    private Node b;
    private long toB;
    private MemoryRegion target;

    private final class Node {
        private final FakeVerbs verbs;
        private final LockedVerbs locked;
        private final FabricDriver driver;
        private final FabricNode node;
        private final Domain domain;
        private final Endpoint endpoint;

        Node(Info hints, String... options) {
            int index = nodes.size();
            String host = HOSTS == null ? "10.0.0." + (1 + index) : HOSTS.split(",")[Math.min(1, index)];
            verbs = network == null ? null : new FakeVerbs(network, host);
            locked = network == null ? null : new LockedVerbs(verbs, network);
            DriverConfig.Builder config = DriverConfig.builder().directory(directory.resolve("node" + index))
                .threadingMode(ThreadingMode.INVOKER)
                .set("jfabric.verbs.sends", "16")
                .set("jfabric.verbs.signalEvery", "4")
                .set("jfabric.verbs.interface", host);
            for (int i = 0; i < options.length; i += 2) {
                config.set(options[i], options[i + 1]);
            }
            driver = FabricDriver.launchEmbedded(config.build(), List.of(new RxmLinkProvider(LINK,
                VerbsLinkProvider.ofPackets(network == null ? VerbsLibraries::system : locked::libraries))));
            nodes.add(this);
            node = new FabricNode(driver.fabric(), LINK,
                hints.copy().srcAddr("fi_sockaddr_in://" + host + ":0"), 64, 7, VerbsReliableMemoryTest.this::cycle);
            domain = node.domain;
            endpoint = node.endpoint;
        }
    }

    private void open(Info hints, String... options) {
        a = new Node(hints, options);
        b = new Node(hints, options);
        toB = a.node.av.insert(b.endpoint.name());
        b.node.av.insert(a.endpoint.name());
        target = expose(BOTH);
    }

    private MemoryRegion expose(long access) {
        return b.domain.allocate(LENGTH, new MemoryRegionAttr().access(access));
    }

    private static Info hints(long caps) {
        Info hints = new Info().caps(Flags.TAGGED | Flags.SOURCE | caps);
        hints.domainAttr().mrMode(CARD);
        return hints;
    }

    private void cycle() {
        nodes.forEach(each -> each.driver.cycle());
    }

    @AfterEach
    void close() {
        nodes.forEach(each -> each.driver.close());
        nodes.stream().filter(each -> each.verbs != null)
            .forEach(each -> assertEquals(List.of(), each.verbs.leftAtEnd()));
    }

    private static void ok(int result) {
        assertEquals(0, result, () -> FabricErrno.name(-result));
    }

    private void until(BooleanSupplier condition) {
        Deadline.await("the cards", () -> {
            cycle();
            return condition.getAsBoolean();
        }, () -> String.valueOf(nodes));
    }

    /** A call that is tried again while the queues are full. */
    private void post(IntSupplier call) {
        int[] result = new int[1];
        until(() -> (result[0] = call.getAsInt()) != -FabricErrno.EAGAIN);
        ok(result[0]);
    }

    private long at(int offset) {
        return target.remoteAddress() + offset;
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "64"})
    void shouldWriteAndReadByTheCardBesideMessages(String shared) {
        open(hints(Flags.RMA), "jfabric.verbs.sharedReceives", shared, "jfabric.verbs.packetReceives", "16");
        assertEquals(0, target.key() >>> 32, "keys of cards have 32 bits");
        assertNotEquals(0, target.remoteAddress());
        for (int length : new int[] {0, 1, 64, 5000, 100_000}) {
            a.node.fill(0, length, length);
            ok(a.endpoint.remoteMemory().write(a.node.memory.address(), length, toB, at(16), target.key(), 1));
            // long enough to be read by the peer's card
            ok(b.endpoint.trecv(b.node.memory.address(), 200_000, -1L, 5, 0, 2));
            a.node.fill(0, 200_000, length);
            ok(a.endpoint.tsend(a.node.memory.address(), 200_000, toB, 5, 3));
            assertEquals(Flags.RMA | Flags.WRITE, a.node.await(1).flags());
            b.node.await(2);
            a.node.await(3);
            b.node.assertFilled(0, 200_000, length);
            FabricNode.assertPattern(target.buffer(), 16, length, length, 0);
            FabricNode.assertAll((byte) 0, target, 16 + length, LENGTH);
            IoVec iov = new IoVec().add(a.node.memory.address(10), length / 2)
                .add(a.node.memory.address(300_000), length - length / 2);
            ok(a.endpoint.remoteMemory().readv(iov, toB, at(16), target.key(), 4));
            assertEquals(Flags.RMA | Flags.READ, a.node.await(4).flags());
            FabricNode.assertPattern(a.node.memory.buffer(), 10, length / 2, length, 0);
            FabricNode.assertPattern(a.node.memory.buffer(), 300_000, length - length / 2, length, length / 2);
        }
        b.node.assertQuiet(20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "16"})
    @Requirement({"REF-041", "CQ-113"})
    void shouldReportMoreWritesWithDataThanThereAreReceivesAndSlots(String shared) {
        open(hints(Flags.RMA), "jfabric.verbs.sharedReceives", shared, "jfabric.verbs.packetReceives", "8",
            "jfabric.queue.cqDriverShare", "4");
        assertEquals(4, a.domain.info().domainAttr().cqDataSize());
        UnsafeBuffer word = new UnsafeBuffer(new byte[8]);
        int count = 200;
        int posted = 0;
        int seen = 0;
        int quiet = 0;
        long deadline = System.nanoTime() + Deadline.ns(10);
        while (seen < count) {
            assertTrue(System.nanoTime() - deadline < 0, "posted " + posted + ", seen " + seen);
            word.putLong(0, posted);
            if (posted < count && a.endpoint.remoteMemory().injectWritedata(
                word, 0, 8, 0xF000_0000L + posted, toB, at(8 * (posted % 64)), target.key()) == 0) {
                posted++;
            }
            cycle();
            assertNull(a.node.poll());
            // the target reads only now and then, so that its slots and the receives are used up
            if (++quiet % 100 != 0) {
                continue;
            }
            for (FabricNode.Entry entry = b.node.poll(); entry != null; entry = b.node.poll()) {
                assertEquals(0, entry.err());
                assertEquals(Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, entry.flags());
                assertEquals(0xF000_0000L + seen, entry.data());
                assertEquals(8, entry.len());
                assertEquals(0, entry.context());
                seen++;
            }
        }
        assertEquals(count - 1, target.buffer().getLong(8 * ((count - 1) % 64)));
        // what was taken of the credit has come back
        for (int i = 0; i < 50; i++) {
            ok(b.endpoint.trecv(b.node.memory.address(), 64, -1L, i, 0, i));
            int tag = i;
            post(() -> a.endpoint.tsend(a.node.memory.address(), 64, toB, tag, tag));
            b.node.await(i);
            a.node.await(i);
        }
    }

    @Test
    void shouldEndAWriteOfDeliveryWhenThePeersDriverHasAnswered() {
        open(hints(Flags.RMA));
        RemoteRequest request = new RemoteRequest().memory(a.node.memory.address(), 8).destAddr(toB)
            .remote(at(0), target.key()).flags(Flags.DELIVERY_COMPLETE | Flags.COMPLETION);
        a.node.memory.buffer().putLong(0, 77);
        ok(a.endpoint.remoteMemory().writemsg(request.opContext(1)));
        a.node.await(1);
        // connected now: only the card and the driver of the first run, so that no process answers
        a.node.memory.buffer().putLong(0, 78);
        ok(a.endpoint.remoteMemory().writemsg(request.opContext(2)));
        ok(a.endpoint.remoteMemory().writemsg(
            request.flags(Flags.TRANSMIT_COMPLETE | Flags.COMPLETION).opContext(3)));
        List<Long> ended = new ArrayList<>();
        for (int i = 0; i < 2000 && ended.isEmpty(); i++) {
            a.driver.cycle();
            FabricNode.Entry entry = b.driver == a.driver ? null : pollOnly(a);
            if (entry != null) {
                ended.add(entry.context());
            }
        }
        if (HOSTS == null) {
            assertEquals(List.of(3L), ended, "the write that waits for no answer ends first");
            assertEquals(78, target.buffer().getLong(0));
        }
        until(() -> {
            FabricNode.Entry entry = a.node.poll();
            if (entry != null) {
                assertEquals(0, entry.err());
                ended.add(entry.context());
            }
            return ended.size() == 2;
        });
        assertTrue(ended.contains(2L));
    }

    /** An entry of one node, while the drivers of the others stand still. */
    private FabricNode.Entry pollOnly(Node node) {
        UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
        return node.node.cq.read(entry, 0, 1) == 1
            ? new FabricNode.Entry(entry.getLong(0), 0, 0, 0, 0, 0, 0, 0, 0, null) : null;
    }

    @Test
    void shouldExecuteAtomicOperationsUnderTheKeysOfTheCard() {
        open(hints(Flags.RMA | Flags.ATOMIC));
        assertEquals(0, a.domain.info().txAttr().msgOrder() & (Order.RAW | Order.WAW | Order.RAR));
        assertEquals(Order.ATOMIC_WAW | Order.RMA_WAW,
            a.domain.info().txAttr().msgOrder() & (Order.ATOMIC_WAW | Order.RMA_WAW));
        target.buffer().putLong(64, 1000);
        a.node.memory.buffer().putLong(0, 5);
        AtomicRequest request = new AtomicRequest();
        for (int i = 0; i < 3; i++) {
            request.clear().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).destAddr(toB)
                .operands(a.node.memory.address()).results(a.node.memory.address(8))
                .remote(at(64), target.key()).opContext(i);
            ok(a.endpoint.atomics().fetchAtomicmsg(request));
            a.node.await(i);
            assertEquals(1000 + 5 * i, a.node.memory.buffer().getLong(8));
        }
        // of all datatypes, also those that cards have not
        a.node.memory.buffer().putInt(0, 9);
        ok(a.endpoint.atomics().atomic(a.node.memory.address(), 1, toB, at(128), target.key(),
            AtomicDatatype.INT32, AtomicOperation.MAX, 4));
        a.node.await(4);
        ok(a.endpoint.remoteMemory().read(a.node.memory.address(16), 128, toB, at(64), target.key(), 5));
        a.node.await(5);
        assertEquals(1015, a.node.memory.buffer().getLong(16));
        assertEquals(9, a.node.memory.buffer().getInt(16 + 64));
        long[][] refused = {
            {LENGTH, target.key(), FabricErrno.EFAULT}, {-8, target.key(), FabricErrno.EFAULT},
            {0, target.key() ^ 0x5500, FabricErrno.EKEYREJECTED},
            {0, expose(Flags.REMOTE_READ).key(), FabricErrno.EACCES}};
        for (long[] each : refused) {
            ok(a.endpoint.atomics().atomic(a.node.memory.address(), 1, toB, at((int) each[0]), each[1],
                AtomicDatatype.INT64, AtomicOperation.SUM, 6));
            assertEquals(FabricErrno.name((int) each[2]), FabricErrno.name(a.node.await().err()));
        }
        long key = target.key();
        long place = at(64);
        target.close();
        ok(a.endpoint.atomics().atomic(a.node.memory.address(), 1, toB, place, key,
            AtomicDatatype.INT64, AtomicOperation.SUM, 7));
        assertEquals(FabricErrno.name(FabricErrno.EKEYREJECTED), FabricErrno.name(a.node.await().err()));
    }

    /** Accesses that the card of the target refuses. */
    @ParameterizedTest
    @ValueSource(strings = {"key", "range", "write", "read", "closed", "domain"})
    void shouldEndTheConnectionOfARefusedAccessAndConnectAgain(String bad) {
        open(hints(Flags.RMA));
        MemoryRegion good = target;
        MemoryRegion other = switch (bad) {
            case "write" -> expose(Flags.REMOTE_READ);
            case "read" -> expose(Flags.REMOTE_WRITE);
            case "domain" -> b.driver.fabric().domain(b.domain.info())
                .allocate(LENGTH, new MemoryRegionAttr().access(BOTH));
            default -> expose(BOTH);
        };
        long key = bad.equals("key") ? other.key() ^ 0x5500 : other.key();
        long address = other.remoteAddress() + (bad.equals("range") ? LENGTH - 8 : 0);
        if (bad.equals("closed")) {
            other.close();
        }
        ok(a.endpoint.remoteMemory().write(a.node.memory.address(), 8, toB, at(0), good.key(), 1));
        a.node.await(1);
        a.node.fill(0, 64, 3);
        ok(bad.equals("read") ? a.endpoint.remoteMemory().read(a.node.memory.address(), 16, toB, address, key, 2)
            : a.endpoint.remoteMemory().write(a.node.memory.address(), 16, toB, address, key, 2));
        FabricNode.Entry refused = a.node.await();
        assertEquals(2, refused.context());
        assertEquals(FabricErrno.name(FabricErrno.EKEYREJECTED), FabricErrno.name(refused.err()));
        if (!bad.equals("closed")) {
            FabricNode.assertAll((byte) 0, other, 0, LENGTH);
        }
        // the ends of both sides' connections cross with the next operation
        int[] err = {1};
        until(() -> {
            ok(a.endpoint.remoteMemory().write(a.node.memory.address(), 64, toB, at(0), good.key(), 3));
            err[0] = a.node.await().err();
            return err[0] == 0;
        });
        FabricNode.assertPattern(good.buffer(), 0, 64, 3, 0);
    }

    @Test
    void shouldOfferAccessOnlyToApplicationsThatNameTheModesOfCards() {
        open(hints(Flags.RMA));
        Info offer = a.domain.info();
        assertEquals(CARD, offer.domainAttr().mrMode());
        assertEquals(4, offer.domainAttr().mrKeySize());
        assertEquals(1L << 30, offer.epAttr().maxMsgSize());
        assertEquals(0, offer.mode());
        assertEquals(0, offer.epAttr().maxOrderWarSize());
        Info unnamed = new Info().caps(Flags.RMA).linkName(LINK);
        assertTrue(refusal(unnamed).contains("domain_attr.mr_mode"));
        Info part = new Info().caps(Flags.RMA).linkName(LINK);
        part.domainAttr().mrMode(MrMode.LOCAL | MrMode.VIRT_ADDR);
        assertTrue(refusal(part).contains("domain_attr.mr_mode"));
        assertTrue(refusal(hints(Flags.RMA | Flags.RMA_EVENT).linkName(LINK)).contains("RMA_EVENT"));
        Info mixed = hints(Flags.RMA | Flags.ATOMIC).linkName(LINK);
        mixed.txAttr().msgOrder(Order.WAW);
        assertTrue(refusal(mixed).contains("msg_order"));
        // atomic operations alone have keys of the application
        Info atomics = a.driver.fabric().info(new Info().caps(Flags.ATOMIC).linkName(LINK)).best();
        assertEquals(MrMode.LOCAL, atomics.domainAttr().mrMode());
        assertEquals(8, atomics.domainAttr().mrKeySize());
        Info any = a.driver.fabric().info(new Info().linkName(LINK)).best();
        assertEquals(Flags.ATOMIC, any.caps() & (Flags.RMA | Flags.ATOMIC));
        assertEquals(MrMode.LOCAL, any.domainAttr().mrMode());
    }

    private String refusal(Info hints) {
        FabricException refused = assertThrows(FabricException.class, () -> a.driver.fabric().info(hints).best());
        assertEquals(FabricErrno.ENODATA, refused.errno());
        return refused.getMessage();
    }

    @Test
    void shouldReachItsOwnMemoryByAConnectionToItself() {
        open(hints(Flags.RMA));
        long toSelf = b.node.av.insert(b.endpoint.name());
        b.node.fill(0, 5000, 6);
        ok(b.endpoint.remoteMemory().writedata(b.node.memory.address(), 5000, 12, toSelf, at(0), target.key(), 1));
        List<Long> contexts = new ArrayList<>();
        until(() -> {
            FabricNode.Entry entry = b.node.poll();
            if (entry != null) {
                assertEquals(0, entry.err());
                contexts.add(entry.context());
            }
            return contexts.size() == 2;
        });
        assertTrue(contexts.containsAll(List.of(0L, 1L)));
        FabricNode.assertPattern(target.buffer(), 0, 5000, 6, 0);
    }

    /** Of one endpoint with another peer: both ends are in this process. */
    private void connectOneMore(int number) {
        Endpoint endpoint = a.domain.openEndpoint(a.node.info.copy().srcAddr(null));
        endpoint.bind(a.node.cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(a.node.av);
        endpoint.enable();
        ok(b.endpoint.trecv(b.node.memory.address(), 64, -1L, number, 0, number));
        ok(endpoint.tsend(a.node.memory.address(), 64, toB, number, number));
        b.node.await(number);
        a.node.await(number);
    }

    /** Bytes that this process has pinned for devices; those in memory count calls. */
    private long pinnedBytes() throws IOException {
        if (HOSTS != null) {
            return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmPin:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10).sum();
        }
        return nodes.stream().flatMap(node -> node.verbs.calls.stream()).filter(call -> call.startsWith("ibv_reg_mr "))
            .mapToLong(call -> Long.parseLong(call.split(" ")[1])).sum();
    }

    @Test
    void shouldPinLessThanOneMebibyteForEachLaterPeer() throws IOException {
        open(hints(Flags.RMA), "jfabric.verbs.ownConnections", "1", "jfabric.verbs.sends", "128",
            "jfabric.verbs.signalEvery", "16");
        long none = pinnedBytes();
        connectOneMore(1);
        long one = pinnedBytes();
        connectOneMore(2);
        long before = pinnedBytes();
        int count = 6;
        for (int i = 3; i < 3 + count; i++) {
            connectOneMore(i);
        }
        long each = (pinnedBytes() - before) / count / 2;
        System.out.println("figure: pinned for the first peer " + (one - none) / 2 / 1024 + " KiB, for each later one "
            + each / 1024 + " KiB");
        assertTrue(each > 0 && each < 1 << 20, each + " bytes");
        assertTrue(one - none > 4 * each, "the first one has receives of its own");
        // what is shared serves them all
        ok(a.endpoint.remoteMemory().write(a.node.memory.address(), 64, toB, at(0), target.key(), 70));
        a.node.await(70);
    }

    @Test
    void shouldSayWhyACardRefusedAnAccess() {
        if (HOSTS == null) {
            open(hints(Flags.RMA));
            ok(a.endpoint.remoteMemory().write(a.node.memory.address(), 8, toB, at(0), target.key(), 1));
            a.node.await(1);
            a.locked.change(() -> a.verbs.dataPath.nextStatus = VerbsConstants.WC_RETRY_EXC_ERR);
            ok(a.endpoint.remoteMemory().read(a.node.memory.address(), 8, toB, at(0), target.key(), 2));
            assertEquals(FabricErrno.name(FabricErrno.ECONNRESET), FabricErrno.name(a.node.await().err()));
        }
    }
}
