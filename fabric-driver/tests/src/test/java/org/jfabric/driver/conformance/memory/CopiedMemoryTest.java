package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.stream.LongStream;
import java.util.stream.Collectors;
import java.util.Set;
import java.util.HashSet;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.Counter;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.ffi.Libc;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Memory of an application's own, which a driver in another process copies: local memory of every operation, the
 * target of peers' accesses, and what happens when it goes away.
 */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class CopiedMemoryTest {
    private static final int LENGTH = 4 << 20;
    private static final int FAR = 2 << 20;
    private static final int GUARD = 64;
    private static final byte UNTOUCHED = 0x5C;
    private static final long KEY = 0x6000_0001L;
    private static final int[] LENGTHS = {1, 48, 64, 193, 4096, 70_001, 1_500_000};

    private final Arena arena = Arena.ofShared();
    private int seed = 1;

    @AfterEach
    void release() {
        arena.close();
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    @Requirement("REF-030")
    void shouldSendAndReceive(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            MemoryRegion from = own(pair.a, 0);
            MemoryRegion to = own(pair.b, 0);
            for (int length : LENGTHS) {
                // into a posted receive, then into one that comes later; between both kinds of memory
                for (boolean early : new boolean[] {true, false}) {
                    transfer(pair, from, to, length, early);
                    transfer(pair, pair.a.memory, to, length, early);
                    transfer(pair, from, pair.b.memory, length, early);
                }
            }
            // longer than the buffer: what fits is there
            clear(to, 0, 300);
            fill(from, 0, 300, 77);
            assertEquals(0, pair.b.endpoint.trecv(to.address(GUARD), 100, -1L, 9, 0, 1));
            assertEquals(0, pair.a.endpoint.tsend(from.address(), 200, pair.toB, 9, 2));
            assertEquals(FabricErrno.ETRUNC, pair.b.await().err());
            pair.a.await(2);
            FabricNode.assertPattern(bytes(to), GUARD, 100, 77, 0);
            assertUntouched(to, GUARD + 100, 100);
        }
    }

    private void transfer(FabricPair pair, MemoryRegion from, MemoryRegion to, int length, boolean early) {
        int offset = 5;
        clear(to, 0, length + 2 * GUARD);
        fill(from, offset, length, ++seed);
        if (early) {
            assertEquals(0, pair.b.endpoint.trecv(to.address(GUARD), length, -1L, 3, 0, 1));
            pair.b.awaitRead(1);
        }
        assertEquals(0, pair.a.endpoint.tsend(from.address(offset), length, pair.toB, 3, 2));
        if (!early) {
            pair.a.awaitRead(1);
            assertEquals(0, pair.b.endpoint.trecv(to.address(GUARD), length, -1L, 3, 0, 1));
        }
        assertEquals(length, pair.b.await(1).len());
        FabricNode.assertPattern(bytes(to), GUARD, length, seed, 0);
        assertUntouched(to, 0, GUARD);
        assertUntouched(to, GUARD + length, GUARD);
        pair.a.await(2);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldGatherAndScatter(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            MemoryRegion from = own(pair.a, 0);
            MemoryRegion to = own(pair.b, 0);
            for (int piece : new int[] {7, 900, 40_000, 500_000}) {
                seed++;
                byte[] pattern = FabricNode.pattern(seed, 0, 3 * piece);
                bytes(from).putBytes(10, pattern, 0, piece);
                bytes(pair.a.memory).putBytes(20, pattern, piece, piece);
                bytes(from).putBytes(FAR, pattern, 2 * piece, piece);
                clear(to, 0, piece + 100);
                clear(to, FAR, 2 * piece + 1);
                assertEquals(0, pair.b.endpoint.messages().recvv(new IoVec().add(pair.b.memory.address(), piece / 2)
                    .add(to.address(FAR), 2L * piece).add(to.address(50), piece), -1L, 1));
                assertEquals(0, pair.a.endpoint.messages().sendv(new IoVec().add(from.address(10), piece)
                    .add(pair.a.memory.address(20), piece).add(from.address(FAR), piece), pair.toB, 2));
                assertEquals(3L * piece, pair.b.await(1).len());
                pair.a.await(2);
                int first = piece / 2;
                FabricNode.assertPattern(bytes(pair.b.memory), 0, first, seed, 0);
                FabricNode.assertPattern(bytes(to), FAR, 2 * piece, seed, first);
                FabricNode.assertPattern(bytes(to), 50, piece - first, seed, first + 2 * piece);
                assertUntouched(to, 50 + piece - first, 10);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldAccessPeersMemoryFromIt(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            MemoryRegion own = own(pair.a, 0);
            for (int length : new int[] {1, 8, 300, 20_000, 600_000}) {
                fill(own, 3, length, ++seed);
                assertEquals(0, pair.remote.write(own.address(3), length, pair.toB, 64, pair.key, 1));
                pair.a.await(1);
                FabricNode.assertPattern(bytes(pair.target), 64, length, seed, 0);
                clear(own, FAR - GUARD, length + 2 * GUARD);
                assertEquals(0, pair.remote.read(own.address(FAR), length, pair.toB, 64, pair.key, 2));
                pair.a.await(2);
                FabricNode.assertPattern(bytes(own), FAR, length, seed, 0);
                assertUntouched(own, FAR - GUARD, GUARD);
                assertUntouched(own, FAR + length, GUARD);
                int half = length / 2;
                clear(own, 0, length + GUARD);
                assertEquals(0, pair.remote.readv(new IoVec().add(own.address(FAR), half)
                    .add(own.address(7), length - half), pair.toB, 64, pair.key, 3));
                pair.a.await(3);
                FabricNode.assertPattern(bytes(own), 7, length - half, seed, half);
                assertUntouched(own, 7 + length - half, half);
            }
            // the short way of reads, once the region is granted and mapped: the bytes are there, too
            for (int i = 0; i < 100; i++) {
                bytes(pair.target).putLong(0, i);
                assertEquals(0, pair.remote.read(own.address(8), 8, pair.toB, 0, pair.key, 4));
                pair.a.await(4);
                assertEquals(i, bytes(own).getLong(8));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldTakeOperandsAndBringOldValues(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 64)) {
            MemoryRegion own = own(pair.a, 0);
            AtomicRequest request = new AtomicRequest();
            for (int i = 0; i < 50; i++) {
                bytes(own).putLong(0, i);
                bytes(own).putLong(16, -1);
                bytes(pair.target).putLong(0, 100);
                request.clear().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).operands(own.address())
                    .results(own.address(16)).destAddr(pair.toB).remote(0, pair.key).opContext(1);
                assertEquals(0, pair.a.endpoint.atomics().fetchAtomicmsg(request));
                pair.a.await(1);
                assertEquals(100, bytes(own).getLong(16));
                assertEquals(100 + i, bytes(pair.target).getLong(0));
                bytes(own).putLong(24, 100 + i);
                bytes(own).putLong(0, 7);
                request.clear().operation(AtomicOperation.CSWAP, AtomicDatatype.INT64, 1).operands(own.address())
                    .compares(own.address(24)).results(own.address(16)).destAddr(pair.toB).remote(0, pair.key)
                    .opContext(2);
                assertEquals(0, pair.a.endpoint.atomics().compareAtomicmsg(request));
                pair.a.await(2);
                assertEquals(100 + i, bytes(own).getLong(16));
                assertEquals(7, bytes(pair.target).getLong(0));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    @Requirement("REF-030")
    void shouldLetPeersReadAndWriteIt(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.ATOMIC, 64)) {
            MemoryRegion target = own(pair.b, RemoteMemoryPair.BOTH);
            MemoryRegion bound = pair.b.domain.register(arena.allocate(4096, 64), new MemoryRegionAttr()
                .access(RemoteMemoryPair.BOTH).requestedKey(KEY + 1).flags(Flags.RMA_EVENT));
            Counter counter = pair.b.domain.openCounter(new CounterAttr());
            bound.bind(counter, Flags.REMOTE_WRITE);
            bound.enable();
            for (int length : LENGTHS) {
                clear(target, 0, length + 2 * GUARD);
                pair.a.fill(0, length, ++seed);
                assertEquals(0, pair.remote.write(pair.a.memory.address(), length, pair.toB, GUARD, KEY, 1));
                pair.a.await(1);
                FabricNode.assertPattern(bytes(target), GUARD, length, seed, 0);
                assertUntouched(target, 0, GUARD);
                assertUntouched(target, GUARD + length, GUARD);
                assertEquals(0, pair.remote.writedata(
                    pair.a.memory.address(), length, length, pair.toB, GUARD, KEY, 2));
                FabricNode.Entry report = pair.b.await();
                assertEquals(Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, report.flags());
                assertEquals(length, report.data());
                pair.a.await(2);
                fill(target, GUARD, length, ++seed);
                // again: a right to read the file of the region would bring old bytes
                for (int i = 0; i < 3; i++) {
                    bytes(pair.a.memory).setMemory(FAR, length + GUARD, UNTOUCHED);
                    assertEquals(0, pair.remote.read(pair.a.memory.address(FAR), length, pair.toB, GUARD, KEY, 3));
                    pair.a.await(3);
                    FabricNode.assertPattern(bytes(pair.a.memory), FAR, length, seed, 0);
                    fill(target, GUARD, length, ++seed);
                }
            }
            assertEquals(0, pair.remote.injectWrite(bytes(pair.a.memory), 0, 8, pair.toB, 0, KEY + 1));
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 8, pair.toB, 8, KEY + 1, 4));
            pair.a.await(4);
            assertEquals(2, counter.read());
            refused(pair, target);
        }
    }

    private void refused(RemoteMemoryPair pair, MemoryRegion target) {
        bytes(target).putLong(0, 5);
        assertEquals(0, pair.a.endpoint.atomics().atomic(pair.a.memory.address(), 1, pair.toB, 0, KEY,
            AtomicDatatype.INT64, AtomicOperation.SUM, 5));
        assertError(pair.a, 5, FabricErrno.EOPNOTSUPP);
        assertEquals(5, bytes(target).getLong(0));
        assertEquals(0, pair.remote.read(pair.a.memory.address(), 2, pair.toB, LENGTH - 1, KEY, 6));
        assertError(pair.a, 6, FabricErrno.EFAULT);
        assertEquals(0, pair.remote.write(pair.a.memory.address(), 1, pair.toB, -1, KEY, 7));
        assertError(pair.a, 7, FabricErrno.EFAULT);
        assertEquals(FabricErrno.ENOKEY, RemoteMemoryPair.errno(() -> own(pair.b, RemoteMemoryPair.BOTH)));
        target.close();
        assertEquals(0, pair.remote.write(pair.a.memory.address(), 1, pair.toB, 0, KEY, 8));
        assertError(pair.a, 8, FabricErrno.EKEYREJECTED);
        assertEquals(5, target.segment().get(ValueLayout.JAVA_LONG, 0));
        assertEquals(0, pair.a.endpoint.remoteMemory().writemsg(new RemoteRequest()
            .memory(pair.a.memory.address(), 8).destAddr(pair.toB).remote(0, pair.key).opContext(9)
            .flags(Flags.COMPLETION)));
        pair.a.await(9);
    }

    /** A message is placed beside, and a peer reads the place meanwhile: neither disturbs the other. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldKeepAccessesOfPeersApartFromOperationsInProgress(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            MemoryRegion target = own(pair.b, RemoteMemoryPair.BOTH);
            fill(target, 0, 4096, 11);
            // announced: the sender's bytes are taken when the send is, whatever a peer writes there later
            assertEquals(0, pair.b.endpoint.tsend(target.address(), 1 << 20, pair.pair.toA, 4, 1));
            pair.b.awaitRead(1);
            pair.a.fill(0, 4096, 12);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 4096, pair.toB, 0, KEY, 2));
            pair.a.await(2);
            FabricNode.assertPattern(bytes(target), 0, 4096, 12, 0);
            assertEquals(0, pair.a.endpoint.trecv(pair.a.memory.address(FAR), 1 << 20, -1L, 4, 0, 3));
            pair.a.await(3);
            pair.b.await(1);
            FabricNode.assertPattern(bytes(pair.a.memory), FAR, 4096, 11, 0);
            FabricNode.assertPattern(bytes(target), 0, 4096, 12, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldReceiveManyMessagesInOneBuffer(Setup setup) {
        assumeTrue(!setup.link.startsWith("verbs"));
        try (FabricPair pair = new FabricPair(setup, new Info().caps(Flags.MSG | Flags.MULTI_RECV), 64)) {
            MemoryRegion to = own(pair.b, 0);
            clear(to, 0, 8192);
            assertEquals(0, pair.b.endpoint.messages().recvmsg(to.address(GUARD), 4096, -1L, 1, Flags.MULTI_RECV));
            for (int i = 0; i < 8; i++) {
                pair.a.fill(0, 200, 20 + i);
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 200, pair.toB, 2));
                FabricNode.Entry entry = pair.b.await(1);
                assertEquals(200, entry.len());
                FabricNode.assertPattern(bytes(to), (int) (entry.buf() - to.address()), 200, 20 + i, 0);
                pair.a.await(2);
            }
            assertUntouched(to, 0, GUARD);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldCopyWhatAPeekFinds(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            MemoryRegion to = own(pair.b, 0);
            pair.a.fill(0, 300, 31);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 300, pair.toB, 6, 1));
            pair.a.await(1);
            clear(to, 0, 2048);
            FabricNode.Entry found = null;
            for (long context = 100; found == null || found.err() != 0; context++) {
                assertEquals(0, pair.b.endpoint.messages().trecvmsg(to.address(), 200, -1L, 6, 0, context, Flags.PEEK));
                found = pair.b.await();
            }
            if (found.buf() != 0) {
                FabricNode.assertPattern(bytes(to), 0, 200, 31, 0);
            }
            assertEquals(0, pair.b.endpoint.messages().trecvmsg(
                to.address(), 300, -1L, 6, 0, 7, Flags.PEEK | Flags.CLAIM));
            pair.b.await(7);
            assertEquals(0, pair.b.endpoint.messages().trecvmsg(to.address(1024), 300, -1L, 6, 0, 7, Flags.CLAIM));
            assertEquals(300, pair.b.await(7).len());
            FabricNode.assertPattern(bytes(to), 1024, 300, 31, 0);
        }
    }

    /** Operations in progress end as they would in other memory: the region only gets no new ones. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldEndWhatIsPostedAfterTheClose(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            MemoryRegion to = own(pair.b, 0);
            clear(to, 0, 4096);
            assertEquals(0, pair.b.endpoint.trecv(to.address(), 1000, -1L, 3, 0, 1));
            assertEquals(0, pair.b.endpoint.trecv(to.address(2000), 1000, -1L, 4, 0, 2));
            pair.b.awaitRead(2);
            to.close();
            pair.a.fill(0, 1000, 41);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 1000, pair.toB, 3, 3));
            pair.b.await(1);
            byte[] seen = to.segment().asSlice(0, 1000).toArray(ValueLayout.JAVA_BYTE);
            FabricNode.assertPattern(new UnsafeBuffer(seen), 0, 1000, 41, 0);
            assertEquals(0, pair.b.endpoint.cancel(2));
            assertEquals(FabricErrno.ECANCELED, pair.b.await().err());
            assertEquals(0, pair.b.endpoint.trecv(to.address(), 1000, -1L, 5, 0, 6));
            assertError(pair.b, 6, FabricErrno.EFAULT);
            pair.a.await(3);
        }
    }

    /** The application frees the memory then. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldLeaveTheMemoryAloneOnceTheFabricIsClosed(Setup setup) {
        int messages = 32;
        int length = 65_536;
        for (int round = 0; round < 4; round++) {
            try (FabricPair pair = new FabricPair(setup)) {
                // in a domain of its own, behind one whose send the close waits for
                FabricNode receiver = pair.sibling(pair.b, FabricPair.usualHints(), 0xB2);
                long toReceiver = pair.a.av.insert(receiver.endpoint.name());
                assertEquals(0, pair.a.endpoint.trecv(pair.a.memory.address(length), 8, -1L, messages, 0, messages));
                MemoryRegion to = receiver.domain.register(arena.allocate((long) messages * length, 64));
                MemorySegment bytes = to.segment();
                for (int i = 0; i < messages; i++) {
                    assertEquals(0, receiver.endpoint.trecv(to.address((long) i * length), length, -1L, i, 0, i));
                }
                receiver.awaitRead(messages);
                for (int i = 0; i < messages; i++) {
                    assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), length, toReceiver, i, i));
                }
                // long messages may arrive in any order
                receiver.await();
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), 8, pair.toA, messages, messages));
                pair.b.fabric.close();
                bytes.fill(UNTOUCHED);
                for (int i = 0; i <= messages; i++) {
                    // sends that are not received end with an error
                    pair.a.await();
                }
                assertEquals(-1, bytes.mismatch(MemorySegment.ofArray(filled((int) bytes.byteSize()))));
            }
        }
    }

    private static byte[] filled(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, UNTOUCHED);
        return bytes;
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = ".*_DAEMON", mode = EnumSource.Mode.MATCH_ALL)
    void shouldEndWithAnErrorWhenTheMemoryIsGone(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup); FileChannel file = file()) {
            long length = 16 * Libc.pageBytes();
            MemorySegment mapped = map(file, length);
            MemoryRegion gone = pair.b.domain.register(mapped);
            assertEquals(0, pair.b.endpoint.trecv(gone.address(), 100, -1L, 3, 0, 1));
            assertEquals(0, pair.b.endpoint.messages().trecvv(new IoVec().add(pair.b.memory.address(), 10)
                .add(gone.address(200), 90), -1L, 4, 0, 2));
            pair.b.awaitRead(2);
            file.truncate(0);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 100, pair.toB, 3, 3));
            assertError(pair.b, 1, FabricErrno.EFAULT);
            // the message was taken: its sender has done its part
            pair.a.await(3);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 100, pair.toB, 4, 4));
            assertError(pair.b, 2, FabricErrno.EFAULT);
            pair.a.await(4);
            assertEquals(0, pair.b.endpoint.tsend(gone.address(), 100, pair.toA, 5, 5));
            assertError(pair.b, 5, FabricErrno.EFAULT);
            assertEquals(0, pair.b.endpoint.messages().tsendv(new IoVec().add(pair.b.memory.address(), 10)
                .add(gone.address(), 10), pair.toA, 5, 6));
            assertError(pair.b, 6, FabricErrno.EFAULT);
            assertEquals(FabricErrno.EFAULT, RemoteMemoryPair.errno(() -> pair.b.domain.register(mapped)));
            gone.close();
            transfer(pair, pair.a.memory, own(pair.b, 0), 1000, true);
        }
    }

    /** No success of a level that says where the message is; each other message has its own. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldNotConfirmAMessageWhoseMemoryIsGone(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup); FileChannel file = file()) {
            MemorySegment mapped = map(file, 256 * Libc.pageBytes());
            MemoryRegion gone = pair.b.domain.register(mapped);
            file.truncate(0);
            for (long level : new long[] {Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE}) {
                for (int length : new int[] {100, 500_000}) {
                    long flags = level | Flags.COMPLETION;
                    // into a receive that waits: behind a long message, whose entry is the first one
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8000, -1L, 1, 0, 1));
                    assertEquals(0, pair.b.endpoint.trecv(gone.address(), length, -1L, 2, 0, 2));
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(8000), 100, -1L, 3, 0, 3));
                    pair.b.awaitRead(3);
                    assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                        pair.a.memory.address(), 8000, 0, pair.toB, 1, 11, flags));
                    assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                        pair.a.memory.address(), length, 0, pair.toB, 2, 12, flags));
                    assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                        pair.a.memory.address(), 100, 0, pair.toB, 3, 13, flags));
                    assertEnds(pair.b, 2, 1, 2, 3);
                    assertEnds(pair.a, 12, 11, 12, 13);
                }
            }
            // into a receive that comes later
            assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                pair.a.memory.address(), 100, 0, pair.toB, 2, 12, Flags.MATCH_COMPLETE | Flags.COMPLETION));
            pair.a.awaitRead(1);
            assertEquals(0, pair.b.endpoint.trecv(gone.address(), 100, -1L, 2, 0, 2));
            assertError(pair.b, 2, FabricErrno.EFAULT);
            assertError(pair.a, 12, FabricErrno.EFAULT);
        }
    }

    /** Each of these operations has one entry, in any order; that of one is an error. */
    private static void assertEnds(FabricNode node, long failed, long... contexts) {
        Set<Long> ended = new HashSet<>();
        for (int i = 0; i < contexts.length; i++) {
            FabricNode.Entry entry = node.await();
            assertTrue(ended.add(entry.context()), entry.toString());
            assertEquals(entry.context() == failed ? FabricErrno.EFAULT : 0, entry.err(), entry.toString());
        }
        assertEquals(LongStream.of(contexts).boxed().collect(Collectors.toSet()), ended);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldAnswerPeersWhenTheMemoryIsGone(Setup setup) throws Exception {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup); FileChannel file = file()) {
            long length = 64 * Libc.pageBytes();
            MemorySegment mapped = map(file, length);
            MemoryRegion gone = pair.b.domain.register(
                mapped, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(KEY));
            // only the second half goes: an access across the border fails, one in front of it does not
            long kept = length / 2;
            file.truncate(kept);
            for (int bytes : new int[] {8, 4096, (int) kept - 64}) {
                pair.a.fill(0, bytes, 51);
                long offset = kept - bytes + 1;
                assertEquals(0, pair.remote.write(pair.a.memory.address(), bytes, pair.toB, offset, KEY, 1));
                assertError(pair.a, 1, FabricErrno.EFAULT);
                assertEquals(0, pair.remote.read(pair.a.memory.address(), bytes, pair.toB, offset, KEY, 2));
                assertError(pair.a, 2, FabricErrno.EFAULT);
                assertEquals(0, pair.remote.write(pair.a.memory.address(), bytes, pair.toB, kept - bytes, KEY, 3));
                pair.a.await(3);
                FabricNode.assertPattern(bytes(gone), (int) kept - bytes, bytes, 51, 0);
            }
            gone.close();
        }
    }

    /** The wire of libfabric has no answer for a refusal: the target ends the connection, and touches nothing. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = "NETWORK_DAEMON")
    void shouldRefusePeersOverTheWireOfLibfabric(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            MemoryRegion target = own(pair.b, RemoteMemoryPair.BOTH);
            clear(target, 0, 4096);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 64, pair.toB, 0, KEY, 1));
            assertTrue(pair.a.await().err() != 0);
            assertUntouched(target, 0, 4096);
            assertEquals(0, pair.remote.read(pair.a.memory.address(), 64, pair.toB, 0, KEY, 2));
            assertTrue(pair.a.await().err() != 0);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 64, pair.toB, 0, pair.key, 3));
            pair.a.await(3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = "LOOPBACK_DAEMON")
    void shouldTakeEveryKindOfNativeMemory(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ByteBuffer direct = ByteBuffer.allocateDirect(1000);
            MemoryRegion region = pair.b.domain.register(MemorySegment.ofBuffer(direct), 9);
            assertTrue(region.isCopied());
            assertFalse(pair.b.memory.isCopied());
            assertEquals(9, region.context());
            assertEquals(1000, region.lengthBytes());
            transfer(pair, pair.a.memory, region, 100, true);
            assertEquals(FabricErrno.EINVAL,
                RemoteMemoryPair.errno(() -> pair.b.domain.register(MemorySegment.ofArray(new byte[8]))));
            assertEquals(FabricErrno.EFAULT,
                RemoteMemoryPair.errno(() -> pair.b.domain.register(at(4096, 8))));
        }
    }

    /** In place: nothing is reserved, so what is behind the used bytes need not be there. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = "LOOPBACK_EMBEDDED")
    void shouldTakeFromOneByteToTheGreatestLength(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long address = arena.allocate(8).address();
            for (long length : new long[] {1, MemoryRegionDescriptor.MAX_LENGTH}) {
                MemoryRegion region = pair.b.domain.register(at(address, length), 9);
                assertEquals(length, region.lengthBytes());
                pair.a.fill(0, 1, 5);
                assertEquals(0, pair.b.endpoint.trecv(region.address(0), 1, -1L, 1, 0, 1));
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 1, pair.toB, 1, 2));
                assertEquals(1, pair.b.await(1).len());
                pair.a.await(2);
                assertEquals(pair.a.memory.buffer().getByte(0), at(address, 1).get(ValueLayout.JAVA_BYTE, 0));
                region.close();
            }
            for (long length : new long[] {0, MemoryRegionDescriptor.MAX_LENGTH + 1}) {
                assertEquals(FabricErrno.EINVAL,
                    RemoteMemoryPair.errno(() -> pair.b.domain.register(at(address, length))));
            }
        }
    }

    private MemoryRegion own(FabricNode node, long access) {
        return node.domain.register(arena.allocate(LENGTH, 1), new MemoryRegionAttr().access(access).requestedKey(KEY));
    }

    private static FileChannel file() throws IOException {
        return FileChannel.open(Files.createTempFile("jfabric", "copied"), StandardOpenOption.READ,
            StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
    }

    /**
     * Memory that goes when its file is cut, while its addresses stay taken: after an unmapping another thread of this
     * process could get them, and the driver would write there.
     */
    private MemorySegment map(FileChannel file, long length) throws IOException {
        return file.map(FileChannel.MapMode.READ_WRITE, 0, length, arena);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }

    private static UnsafeBuffer bytes(MemoryRegion region) {
        return region.buffer();
    }

    private static void clear(MemoryRegion region, int offset, int length) {
        region.buffer().setMemory(offset, length, UNTOUCHED);
    }

    private static void fill(MemoryRegion region, int offset, int length, int seed) {
        region.buffer().putBytes(offset, FabricNode.pattern(seed, 0, length));
    }

    private static void assertUntouched(MemoryRegion region, int offset, int length) {
        UnsafeBuffer buffer = region.buffer();
        for (int i = offset; i < offset + length; i++) {
            assertEquals(UNTOUCHED, buffer.getByte(i), "byte " + i);
        }
    }

    private static void assertError(FabricNode node, long context, int errno) {
        FabricNode.Entry entry = node.await();
        assertEquals(context, entry.context(), entry::toString);
        assertEquals(errno, entry.err(), entry::toString);
    }
}
