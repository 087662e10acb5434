package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.Atomics;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.VerbsMemoryNode.Entry;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.info.Order;
import org.jfabric.info.VerbsErrno;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Connected endpoints access the memory of their peers by RDMA cards, which check each access. Whole drivers, over
 * devices in memory; or over devices of this machine whose addresses are in a property.
 */
@Timeout(120)
class VerbsMemoryTest {
    /** Addresses of two devices, separated by a comma; a device may reach itself. */
    private static final String HOSTS = System.getProperty("jfabric.test.verbs");
    private static final int LENGTH = 1 << 16;

    @TempDir
    private Path directory;
    private final FakeVerbs.Network network = HOSTS == null ? new FakeVerbs.Network() : null;
    private final List<VerbsMemoryNode> nodes = new ArrayList<>();
    private VerbsMemoryNode a;
    private VerbsMemoryNode b;
    private Endpoint ofA;
    private Endpoint ofB;

    @BeforeEach
    void connect() {
        a = node(0);
        b = node(1);
        Endpoint[] both = a.connect(b);
        ofA = both[0];
        ofB = both[1];
    }

    private VerbsMemoryNode node(int index) {
        String host = HOSTS == null ? "10.0.0." + (1 + index) : HOSTS.split(",")[Math.min(1, index)];
        VerbsMemoryNode node = new VerbsMemoryNode(
            directory.resolve("node" + index), network, host, VerbsMemoryNode.hints());
        nodes.add(node);
        return node;
    }

    @AfterEach
    void close() {
        nodes.forEach(VerbsMemoryNode::close);
        nodes.stream().filter(node -> node.verbs != null)
            .forEach(node -> assertEquals(List.of(), node.verbs.leftAtEnd()));
    }

    private static void ok(int result) {
        assertEquals(0, result, () -> FabricErrno.name(-result));
    }

    private static void assertEntry(long context, long flags, Entry entry) {
        assertEquals(0, entry.err(), entry::toString);
        assertEquals(context, entry.context());
        assertEquals(
            Flags.toString(flags, Flags.Kind.COMPLETION), Flags.toString(entry.flags(), Flags.Kind.COMPLETION));
    }

    @Test
    void shouldWriteAndReadByVirtualAddressesAndKeysOfTheCard() {
        MemoryRegion target = b.expose(VerbsMemoryNode.BOTH, LENGTH);
        assertEquals(0, target.key() >>> 32, "keys of cards have 32 bits");
        assertNotEquals(0, target.remoteAddress());
        a.fill(0, 40_000, 1);
        ok(ofA.remoteMemory().write(a.memory.address(), 64, 0, target.remoteAddress() + 128, target.key(), 1));
        assertEntry(1, Flags.RMA | Flags.WRITE, a.next(b));
        VerbsMemoryNode.assertFilled(target, 128, 64, 1);
        VerbsMemoryNode.assertZero(target, 0, 128);
        VerbsMemoryNode.assertZero(target, 192, LENGTH);

        // longer than what is copied: the card takes it from the region
        ok(ofA.remoteMemory().write(a.memory.address(), 40_000, 0, target.remoteAddress(), target.key(), 2));
        assertEntry(2, Flags.RMA | Flags.WRITE, a.next(b));
        VerbsMemoryNode.assertFilled(target, 0, 40_000, 1);
        VerbsMemoryNode.assertZero(target, 40_000, LENGTH);

        a.memory.buffer().setMemory(0, LENGTH, (byte) 0);
        IoVec iov = new IoVec().add(a.memory.address(10), 5).add(a.memory.address(1000), 100)
            .add(a.memory.address(0), 10);
        ok(ofA.remoteMemory().readv(iov, 0, target.remoteAddress() + 3, target.key(), 3));
        assertEntry(3, Flags.RMA | Flags.READ, a.next(b));
        VerbsMemoryNode.assertFilled(a.memory, 10, 5, 1 + 3 * 7);
        VerbsMemoryNode.assertFilled(a.memory, 1000, 100, 1 + 8 * 7);
        VerbsMemoryNode.assertFilled(a.memory, 0, 10, 1 + 108 * 7);
        VerbsMemoryNode.assertZero(a.memory, 15, 1000);
        VerbsMemoryNode.assertZero(a.memory, 1100, LENGTH);
        assertNull(b.poll(), "the target is told nothing");
    }

    @Test
    void shouldWriteInjectedBytesAndSeveralPiecesInOrder() {
        MemoryRegion target = b.expose(VerbsMemoryNode.BOTH, LENGTH);
        UnsafeBuffer injected = new UnsafeBuffer(new byte[16]);
        for (int i = 0; i < 100; i++) {
            injected.setMemory(0, 16, (byte) (i + 1));
            ok(ofA.remoteMemory().injectWrite(
                injected, 0, 16, 0, target.remoteAddress() + 16L * (i & 7), target.key()));
            a.queue.read(new UnsafeBuffer(new byte[48]), 0, 0);
        }
        a.fill(0, 3000, 9);
        IoVec iov = new IoVec().add(a.memory.address(2000), 1000).add(a.memory.address(0), 1);
        ok(ofA.remoteMemory().writev(iov, 0, target.remoteAddress() + 4096, target.key(), 4));
        RemoteRequest request = new RemoteRequest().memory(a.memory.address(8192), 8).destAddr(0)
            .remote(target.remoteAddress(), target.key()).opContext(5).flags(Flags.FENCE | Flags.COMPLETION);
        ok(ofA.remoteMemory().readmsg(request));
        assertEntry(4, Flags.RMA | Flags.WRITE, a.next(b));
        assertEntry(5, Flags.RMA | Flags.READ, a.next(b));
        for (int i = 0; i < 8; i++) {
            assertEquals(i < 4 ? 97 + i : 89 + i, target.buffer().getByte(16 * i), "the last write stays");
        }
        assertEquals(97, a.memory.buffer().getByte(8192));
        VerbsMemoryNode.assertFilled(target, 4096, 1000, 9 + 2000 * 7);
        VerbsMemoryNode.assertFilled(target, 5096, 1, 9);
    }

    @Test
    void shouldRefuseTheLevelDeliveryThatTheCardDoesNotConfirm() {
        MemoryRegion target = b.expose(VerbsMemoryNode.BOTH, LENGTH);
        RemoteRequest request = new RemoteRequest().memory(a.memory.address(), 8).destAddr(0)
            .remote(target.remoteAddress(), target.key()).flags(Flags.DELIVERY_COMPLETE | Flags.COMPLETION);
        a.fill(0, 8, 5);
        ok(ofA.remoteMemory().writemsg(request.opContext(1)));
        Entry refused = a.next(b);
        assertEquals(1, refused.context());
        assertEquals(FabricErrno.name(FabricErrno.EBADFLAGS), FabricErrno.name(refused.err()));
        assertEquals(0, target.buffer().getLong(0));
        ok(ofA.remoteMemory().readmsg(request.opContext(2)));
        assertEntry(2, Flags.RMA | Flags.READ, a.next(b));
    }

    @Test
    @Requirement("REF-009")
    void shouldTakeAPostedReceiveForAWriteWithData() {
        assertEquals(Mode.RX_CQ_DATA, b.domain.info().mode());
        assertEquals(4, b.domain.info().domainAttr().cqDataSize());
        MemoryRegion target = b.expose(Flags.REMOTE_WRITE, LENGTH);
        a.fill(0, 30_000, 5);
        ok(ofB.recv(b.memory.address(), 8, 0, 71));
        ok(ofB.recv(b.memory.address(), 64, 0, 72));
        ok(ofA.remoteMemory().writedata(
            a.memory.address(), 30_000, 0xFEDC_BA98L, 0, target.remoteAddress(), target.key(), 1));
        ok(ofA.send(a.memory.address(), 64, 0, 2));
        Entry written = b.next(a);
        assertEntry(71, Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, written);
        assertEquals(0xFEDC_BA98L, written.data());
        assertEquals(30_000, written.len());
        VerbsMemoryNode.assertFilled(target, 0, 30_000, 5);
        Entry message = b.next(a);
        assertEntry(72, Flags.RECV | Flags.MSG, message);
        assertEquals(64, message.len());
        assertEntry(1, Flags.RMA | Flags.WRITE, a.next(b));
        assertEntry(2, Flags.SEND | Flags.MSG, a.next(b));

        // without a receive the bytes are written and the data wait
        b.memory.buffer().setMemory(0, 64, (byte) 0);
        a.fill(0, 16, 99);
        ok(ofA.remoteMemory().injectWritedata(
            a.memory.buffer(), 0, 16, 7, 0, target.remoteAddress() + 8, target.key()));
        b.await(() -> target.buffer().getByte(8) == 99, a);
        for (int i = 0; i < 1000; i++) {
            assertNull(a.poll());
            assertNull(b.poll());
        }
        ok(ofB.recv(b.memory.address(), 8, 0, 73));
        written = b.next(a);
        assertEntry(73, Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, written);
        assertEquals(7, written.data());
        assertEquals(16, written.len());
        VerbsMemoryNode.assertZero(b.memory, 0, 64);
    }

    @Test
    void shouldAddAndCompareByTheCard() {
        MemoryRegion target = b.expose(VerbsMemoryNode.BOTH, 4096);
        target.buffer().putLong(64, 1000);
        UnsafeBuffer mine = a.memory.buffer();
        Atomics atomics = ofA.atomics();
        AtomicRequest request = new AtomicRequest();
        mine.putLong(0, 5);
        for (int i = 0; i < 3; i++) {
            request.clear().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).operands(a.memory.address())
                .results(a.memory.address(8)).remote(target.remoteAddress() + 64, target.key()).opContext(i);
            ok(atomics.fetchAtomicmsg(request));
            assertEntry(i, Flags.ATOMIC | Flags.READ, a.next(b));
            assertEquals(1000 + 5 * i, mine.getLong(8));
        }
        ok(atomics.atomic(a.memory.address(), 1, 0, target.remoteAddress() + 64, target.key(),
            AtomicDatatype.UINT64, AtomicOperation.SUM, 9));
        assertEntry(9, Flags.ATOMIC | Flags.WRITE, a.next(b));
        assertEquals(1020, target.buffer().getLong(64));

        for (long compare : new long[] {1, 1020}) {
            mine.putLong(0, 77);
            mine.putLong(16, compare);
            request.clear().operation(AtomicOperation.CSWAP, AtomicDatatype.UINT64, 1).operands(a.memory.address())
                .results(a.memory.address(8)).compares(a.memory.address(16))
                .remote(target.remoteAddress() + 64, target.key()).opContext(compare);
            ok(atomics.compareAtomicmsg(request));
            assertEntry(compare, Flags.ATOMIC | Flags.READ, a.next(b));
            assertEquals(1020, mine.getLong(8));
            assertEquals(compare == 1 ? 1020 : 77, target.buffer().getLong(64));
        }
        assertEquals(0, target.buffer().getLong(56));
        assertEquals(0, target.buffer().getLong(72));
    }

    @Test
    void shouldRefuseAtomicOperationsThatTheCardHasNot() {
        MemoryRegion target = b.expose(VerbsMemoryNode.BOTH, 4096);
        Atomics atomics = ofA.atomics();
        for (AtomicDatatype datatype : AtomicDatatype.values()) {
            boolean isWord = datatype == AtomicDatatype.INT64 || datatype == AtomicDatatype.UINT64;
            for (AtomicOperation operation : AtomicOperation.values()) {
                long sum = isWord && operation == AtomicOperation.SUM ? 1 : -FabricErrno.EOPNOTSUPP;
                assertEquals(sum, atomics.atomicvalid(datatype, operation));
                assertEquals(sum, atomics.fetchAtomicvalid(datatype, operation));
                assertEquals(isWord && operation == AtomicOperation.CSWAP ? 1 : -FabricErrno.EOPNOTSUPP,
                    atomics.compareAtomicvalid(datatype, operation));
            }
        }
        assertEquals(-FabricErrno.EOPNOTSUPP, atomics.atomic(a.memory.address(), 1, 0, target.remoteAddress(),
            target.key(), AtomicDatatype.INT64, AtomicOperation.MAX, 1));
        assertEquals(-FabricErrno.EINVAL, atomics.atomic(a.memory.address(), 2, 0, target.remoteAddress(),
            target.key(), AtomicDatatype.INT64, AtomicOperation.SUM, 1));
        // a card would end the connection
        ok(atomics.atomic(a.memory.address(), 1, 0, target.remoteAddress() + 4, target.key(), AtomicDatatype.INT64,
            AtomicOperation.SUM, 2));
        Entry misaligned = a.next(b);
        assertEquals(FabricErrno.EINVAL, misaligned.err());
        ok(ofA.remoteMemory().write(a.memory.address(), 8, 0, target.remoteAddress(), target.key(), 3));
        assertEntry(3, Flags.RMA | Flags.WRITE, a.next(b));
    }

    /** Accesses that the card of the target refuses. */
    private enum Bad {
        KEY, RANGE, WRITE_RIGHT, READ_RIGHT, CLOSED, OTHER_REGION, OTHER_DOMAIN
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndOnlyTheConnectionOfARefusedAccess(Bad bad) {
        VerbsMemoryNode c = node(2);
        Endpoint toC = a.connect(c)[0];
        MemoryRegion good = c.expose(VerbsMemoryNode.BOTH, LENGTH);
        MemoryRegion target = bad == Bad.OTHER_DOMAIN
            ? b.fabric.domain(b.domain.info()).allocate(LENGTH, new MemoryRegionAttr().access(VerbsMemoryNode.BOTH))
            : b.expose(bad == Bad.WRITE_RIGHT ? Flags.REMOTE_READ
            : bad == Bad.READ_RIGHT ? Flags.REMOTE_WRITE : VerbsMemoryNode.BOTH, LENGTH);
        MemoryRegion other = b.domain.allocate(LENGTH);
        long key = bad == Bad.KEY ? target.key() ^ 0x5500 : target.key();
        long address = bad == Bad.RANGE ? target.remoteAddress() + LENGTH - 8 : target.remoteAddress();
        if (bad == Bad.OTHER_REGION) {
            address += other.segment().address() - target.segment().address();
        }
        if (bad == Bad.CLOSED) {
            ok(ofA.remoteMemory().write(a.memory.address(), 16, 0, address, key, 50));
            assertEntry(50, Flags.RMA | Flags.WRITE, a.next(b));
            target.close();
        }
        a.fill(0, 64, 3);
        ok(bad == Bad.READ_RIGHT ? ofA.remoteMemory().read(a.memory.address(), 16, 0, address, key, 51)
            : ofA.remoteMemory().write(a.memory.address(), 16, 0, address, key, 51));
        ok(ofA.send(a.memory.address(), 16, 0, 52));
        ok(ofA.remoteMemory().write(a.memory.address(), 16, 0, address, key, 53));
        Entry refused = a.next(b);
        assertEquals(51, refused.context());
        assertEquals(FabricErrno.name(FabricErrno.EKEYREJECTED), FabricErrno.name(refused.err()));
        assertEquals(VerbsConstants.WC_REM_ACCESS_ERR, VerbsErrno.status(refused.provErrno()));
        for (long context = 52; context <= 53; context++) {
            Entry flushed = a.next(b);
            assertEquals(context, flushed.context());
            assertEquals(FabricErrno.name(FabricErrno.EIO), FabricErrno.name(flushed.err()));
        }
        a.next(EventType.SHUTDOWN, b);
        b.next(EventType.SHUTDOWN, a);
        assertNull(a.poll(), "each operation ends once");
        if (bad != Bad.CLOSED) {
            VerbsMemoryNode.assertZero(target, 0, LENGTH);
        }
        VerbsMemoryNode.assertZero(other, 0, LENGTH);

        ok(toC.remoteMemory().write(a.memory.address(), 64, 0, good.remoteAddress(), good.key(), 54));
        assertEntry(54, Flags.RMA | Flags.WRITE, a.next(c));
        VerbsMemoryNode.assertFilled(good, 0, 64, 3);
    }

    @Test
    void shouldFailAnAccessWithAKeyThatNoCardHas() {
        MemoryRegion target = b.expose(VerbsMemoryNode.BOTH, 4096);
        long key = target.key() | 1L << 40;
        ok(ofA.remoteMemory().write(a.memory.address(), 8, 0, target.remoteAddress(), key, 1));
        assertEquals(FabricErrno.EKEYREJECTED, a.next(b).err());
        ok(ofA.remoteMemory().read(a.memory.address(), 8, 0, target.remoteAddress(), key, 2));
        assertEquals(FabricErrno.EKEYREJECTED, a.next(b).err());
        ok(ofA.remoteMemory().write(a.memory.address(), 8, 0, target.remoteAddress(), target.key(), 3));
        assertEntry(3, Flags.RMA | Flags.WRITE, a.next(b));
    }

    @Test
    void shouldGiveAKeyOnlyToRegionsForPeers() {
        MemoryRegion region = a.domain.allocate(4096);
        assertEquals(0, region.remoteAddress());
        MemoryRegion first = a.expose(Flags.REMOTE_READ, 4096);
        MemoryRegion second = a.expose(Flags.REMOTE_READ, 4096);
        assertNotEquals(first.key(), second.key());
        first.close();
        second.close();
        region.close();
    }

    private List<String> refusal(Info hints) {
        FabricException refused = assertThrows(FabricException.class, () -> a.fabric.info(hints).best());
        assertEquals(FabricErrno.ENODATA, refused.errno());
        return List.of(refused.getMessage());
    }

    @Test
    void shouldOfferAccessOnlyToApplicationsThatKnowTheKeysOfCards() {
        Info offer = a.fabric.info(VerbsMemoryNode.hints()).best();
        assertEquals(VerbsMemoryNode.CARD_MR_MODE, offer.domainAttr().mrMode());
        assertEquals(4, offer.domainAttr().mrKeySize());
        assertEquals(Mode.RX_CQ_DATA, offer.mode());
        assertEquals(Mode.RX_CQ_DATA, offer.rxAttr().mode());
        assertEquals(1, offer.txAttr().rmaIovLimit());
        assertEquals(0, offer.txAttr().msgOrder() & (Order.WAR | Order.SAR | Order.RMA_WAR));
        assertEquals(offer.epAttr().maxMsgSize(), offer.epAttr().maxOrderRawSize());
        assertEquals(0, offer.epAttr().maxOrderWarSize());
        assertEquals(Flags.RMA | Flags.ATOMIC, offer.caps() & (Flags.RMA | Flags.ATOMIC | Flags.RMA_EVENT));

        Info hints = VerbsMemoryNode.hints();
        hints.domainAttr().mrMode(MrMode.LOCAL | MrMode.VIRT_ADDR);
        assertTrue(refusal(hints).toString().contains("domain_attr.mr_mode"));
        hints.domainAttr().mrMode(0);
        assertTrue(refusal(hints).toString().contains("domain_attr.mr_mode"));
        assertTrue(refusal(VerbsMemoryNode.hints().mode(0)).toString().contains("RX_CQ_DATA"));
        assertTrue(refusal(VerbsMemoryNode.hints().caps(Flags.RMA | Flags.RMA_EVENT)).toString().contains("RMA_EVENT"));
        hints = VerbsMemoryNode.hints();
        hints.txAttr().msgOrder(Order.WAR);
        assertTrue(refusal(hints).toString().contains("msg_order"));
        hints = VerbsMemoryNode.hints().mode(Mode.RX_CQ_DATA | Mode.BUFFERED_RECV);
        assertTrue(refusal(hints).toString().contains("BUFFERED_RECV"));

        // who asks for messages, or for nothing, need not know
        Info any = a.fabric.info(new Info().linkName("verbs")).best();
        assertEquals(0, any.caps() & (Flags.RMA | Flags.ATOMIC));
        assertEquals(0, any.mode());
        assertEquals(MrMode.LOCAL, any.domainAttr().mrMode());
        Info plain = any.copy();
        plain.caps(any.caps() | Flags.RMA);
        FabricException mixed = assertThrows(FabricException.class, () -> a.domain.openEndpoint(plain));
        assertEquals(FabricErrno.EINVAL, mixed.errno());
    }

    @Test
    void shouldCompleteInTheOrderOfPostingIfThatIsAsked() {
        if (HOSTS != null) {
            return;
        }
        Info hints = VerbsMemoryNode.hints();
        hints.txAttr().compOrder(Order.STRICT);
        VerbsMemoryNode strict = new VerbsMemoryNode(directory.resolve("strict"), network, "10.0.0.9", hints);
        nodes.add(strict);
        MemoryRegion target = b.expose(VerbsMemoryNode.BOTH, LENGTH);
        Endpoint endpoint = strict.connect(b)[0];
        strict.verbs.dataPath.holdsSends = true;
        ok(endpoint.remoteMemory().read(
            strict.memory.address(), 64, 0, target.remoteAddress(), target.key(), 1));
        // ends when it is copied
        ok(endpoint.messages().sendmsg(strict.memory.address(), 8, 0, 0, 2, Flags.INJECT_COMPLETE | Flags.COMPLETION));
        for (int i = 0; i < 100; i++) {
            assertNull(strict.poll());
            b.poll();
        }
        strict.verbs.dataPath.release();
        assertEntry(1, Flags.RMA | Flags.READ, strict.next(b));
        assertEntry(2, Flags.SEND | Flags.MSG, strict.next(b));
    }

    @Test
    void shouldTakeAMultiReceiveBufferForWritesWithData() {
        Info hints = VerbsMemoryNode.hints().caps(Flags.MSG | Flags.RMA | Flags.MULTI_RECV);
        VerbsMemoryNode c = new VerbsMemoryNode(directory.resolve("multi"), network,
            HOSTS == null ? "10.0.0.9" : HOSTS.split(",")[1], hints);
        nodes.add(c);
        MemoryRegion target = c.expose(VerbsMemoryNode.BOTH, LENGTH);
        Endpoint[] both = a.connect(c);
        ok(both[1].messages().recvmsg(c.memory.address(), 4096, 0, 81, Flags.MULTI_RECV | Flags.COMPLETION));
        a.fill(0, 5000, 4);
        for (int i = 1; i <= 2; i++) {
            ok(both[0].remoteMemory().writedata(
                a.memory.address(), 4096 + i, i, 0, target.remoteAddress(), target.key(), i));
        }
        ok(both[0].send(a.memory.address(), 16, 0, 3));
        for (int i = 1; i <= 2; i++) {
            Entry written = c.next(a);
            assertEntry(81, Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, written);
            assertEquals(i, written.data());
            assertEquals(4096 + i, written.len());
        }
        assertEntry(81, Flags.RECV | Flags.MSG, c.next(a));
        VerbsMemoryNode.assertFilled(target, 0, 4098, 4);
        VerbsMemoryNode.assertFilled(c.memory, 0, 16, 4);
        VerbsMemoryNode.assertZero(c.memory, 16, 4096);
    }

    @Test
    void shouldExposeAndConcealMemoryOfDriversWithThreadsOfTheirOwn() {
        if (HOSTS != null) {
            // threads that poll would starve the devices of the virtual machine
            return;
        }
        VerbsMemoryNode c = new VerbsMemoryNode(
            directory.resolve("shared"), network, "10.0.0.9", VerbsMemoryNode.hints(), ThreadingMode.SHARED);
        nodes.add(c);
        Endpoint endpoint = a.connect(c)[0];
        for (int i = 0; i < 20; i++) {
            MemoryRegion target = c.expose(VerbsMemoryNode.BOTH, 4096);
            a.fill(0, 64, i);
            ok(endpoint.remoteMemory().write(a.memory.address(), 64, 0, target.remoteAddress(), target.key(), i));
            assertEntry(i, Flags.RMA | Flags.WRITE, a.next(c));
            VerbsMemoryNode.assertFilled(target, 0, 64, i);
            target.close();
            assertEquals(1, registrations(c), "only the connection's own memory");
        }
        MemoryRegion closed = c.expose(VerbsMemoryNode.BOTH, 4096);
        closed.close();
        ok(endpoint.remoteMemory().write(a.memory.address(), 64, 0, closed.remoteAddress(), closed.key(), 99));
        assertEquals(FabricErrno.EKEYREJECTED, a.next(c).err());
    }

    private static long registrations(VerbsMemoryNode node) {
        long[] count = new long[1];
        node.locked.change(() ->
            count[0] = node.verbs.left().stream().filter("registration"::equals).count());
        return count[0];
    }

    @Test
    void shouldEndTheAccessToTheMemoryOfAClientThatHasEnded() {
        if (HOSTS != null) {
            return;
        }
        VerbsMemoryNode c = new VerbsMemoryNode(
            directory.resolve("shared"), network, "10.0.0.9", VerbsMemoryNode.hints(), ThreadingMode.SHARED);
        nodes.add(c);
        Fabric client = Fabric.connect(new FabricConfig().directory(directory.resolve("shared")));
        MemoryRegion target = client.domain(client.info(VerbsMemoryNode.hints()).best())
            .allocate(4096, new MemoryRegionAttr().access(VerbsMemoryNode.BOTH));
        assertNotEquals(0, target.remoteAddress());
        assertEquals(1, registrations(c));
        client.close();
        c.await(() -> registrations(c) == 0, a);
    }

    @Test
    void shouldFreeTheProtectionDomainOfADomainThatHasNoRegionsLeft() {
        if (HOSTS == null) {
            long before = domains();
            Domain other = b.fabric.domain(b.domain.info());
            MemoryRegion region =
                other.allocate(4096, new MemoryRegionAttr().access(Flags.REMOTE_READ));
            assertEquals(before + 1, domains());
            region.close();
            b.await(() -> domains() == before, a);
        }
    }

    private long domains() {
        long[] count = new long[1];
        b.locked.change(() -> count[0] = b.verbs.leftAtEnd().stream().filter("domain"::equals).count());
        return count[0];
    }

    @Test
    void shouldEndTheAccessWithTheDeviceAndBeginItAgainWithTheNext() {
        if (HOSTS == null) {
            MemoryRegion before = a.expose(VerbsMemoryNode.BOTH, 4096);
            a.locked.change(a.verbs::replace);
            a.next(EventType.SHUTDOWN, b);
            before.close();
            MemoryRegion target = a.expose(VerbsMemoryNode.BOTH, 4096);
            b.next(EventType.SHUTDOWN, a);
            Endpoint again = a.connect(b)[1];
            b.fill(0, 64, 8);
            ok(again.remoteMemory().write(b.memory.address(), 64, 0, target.remoteAddress(), target.key(), 1));
            assertEntry(1, Flags.RMA | Flags.WRITE, b.next(a));
            VerbsMemoryNode.assertFilled(target, 0, 64, 8);
        }
    }

    @Test
    void shouldWantAnAddressIfThereAreSeveralDevices() {
        if (HOSTS == null) {
            a.verbs.isTwice = true;
            Info info = a.domain.info().srcAddr(null).destAddr(null);
            var domain = a.fabric.domain(info);
            FabricException refused = assertThrows(FabricException.class,
                () -> domain.allocate(4096, new MemoryRegionAttr().access(Flags.REMOTE_READ)));
            assertEquals(FabricErrno.EINVAL, refused.errno());
            a.verbs.isTwice = false;
            MemoryRegion region =
                domain.allocate(4096, new MemoryRegionAttr().access(Flags.REMOTE_READ));
            assertNotEquals(0, region.remoteAddress());
        }
    }

    @Test
    void shouldNotOfferAtomicsOfACardThatHasNone() {
        if (HOSTS == null) {
            a.verbs.atomics = VerbsConstants.ATOMIC_NONE;
            assertTrue(refusal(VerbsMemoryNode.hints()).toString().contains("ATOMIC"));
            Info hints = VerbsMemoryNode.hints().caps(Flags.MSG | Flags.RMA);
            assertEquals(Flags.RMA, a.fabric.info(hints).best().caps() & (Flags.RMA | Flags.ATOMIC));
        }
    }

    @Test
    void shouldReportARegionThatTheCardDoesNotTake() {
        if (HOSTS == null) {
            b.verbs.registerErrno = FabricErrno.ENOMEM;
            FabricException refused = assertThrows(FabricException.class, () -> b.expose(Flags.REMOTE_READ, 4096));
            assertEquals(FabricErrno.ENOMEM, refused.errno());
            b.verbs.registerErrno = 0;
            assertNotEquals(0, b.expose(Flags.REMOTE_READ, 4096).remoteAddress());
        }
    }
}
