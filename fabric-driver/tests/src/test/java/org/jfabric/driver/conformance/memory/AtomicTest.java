package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.Atomics;
import org.jfabric.IoVec;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Atomic operations by each call. What each operation computes is shown by AtomicExecutorTest. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class AtomicTest {
    private static final int OPERANDS = 0;
    private static final int RESULTS = 4096;
    private static final int COMPARES = 8192;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-042", "CQ-127"})
    void shouldChangeThePeersMemoryAndBringNothingBack(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 512)) {
            pair.bytes().putLong(16, 40);
            pair.bytes().putLong(24, -1);
            pair.a.memory.buffer().putLong(OPERANDS, 2);
            pair.a.memory.buffer().putLong(OPERANDS + 8, 3);
            assertEquals(0, pair.a.endpoint.atomics().atomic(pair.a.memory.address(OPERANDS), 2, pair.toB, 16, pair.key,
                AtomicDatatype.INT64, AtomicOperation.SUM, 7));
            assertEquals(Flags.ATOMIC | Flags.WRITE, pair.a.await(7).flags());
            assertEquals(42, pair.bytes().getLong(16));
            assertEquals(2, pair.bytes().getLong(24));
            pair.assertUntouched(0, 16);
            pair.assertUntouched(32, 100);
            pair.b.assertQuiet(50);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-042", "REF-043", "CQ-127"})
    void shouldBringTheOldValuesBeforeTheEntry(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 512)) {
            Atomics atomics = pair.a.endpoint.atomics();
            UnsafeBuffer local = pair.a.memory.buffer();
            pair.bytes().putLong(0, 100);
            local.putLong(OPERANDS, 1);
            AtomicRequest request = new AtomicRequest().operation(AtomicOperation.SUM, AtomicDatatype.UINT64, 1)
                .operands(pair.a.memory.address(OPERANDS)).results(pair.a.memory.address(RESULTS)).destAddr(pair.toB)
                .remote(0, pair.key).opContext(3);
            for (int i = 0; i < 200; i++) {
                assertEquals(0, atomics.fetchAtomicmsg(request));
                assertEquals(Flags.ATOMIC | Flags.READ, pair.a.await(3).flags());
                assertEquals(100 + i, local.getLong(RESULTS));
            }
            assertEquals(300, pair.bytes().getLong(0));
            request.operation(AtomicOperation.ATOMIC_READ, AtomicDatatype.UINT64, 1).operands(0);
            assertEquals(0, atomics.fetchAtomicmsg(request));
            pair.a.await(3);
            assertEquals(300, local.getLong(RESULTS));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-042")
    void shouldSwapOnlyWhereTheCompareValueMatches(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 512)) {
            UnsafeBuffer local = pair.a.memory.buffer();
            AtomicRequest request = new AtomicRequest().operation(AtomicOperation.CSWAP, AtomicDatatype.INT32, 3)
                .operands(pair.a.memory.address(OPERANDS)).results(pair.a.memory.address(RESULTS))
                .compares(pair.a.memory.address(COMPARES)).destAddr(pair.toB).remote(8, pair.key).opContext(3);
            for (int i = 0; i < 3; i++) {
                pair.bytes().putInt(8 + 4 * i, 10 + i);
                local.putInt(OPERANDS + 4 * i, 20 + i);
                local.putInt(COMPARES + 4 * i, i == 1 ? 99 : 10 + i);
            }
            assertEquals(0, pair.a.endpoint.atomics().compareAtomicmsg(request));
            assertEquals(Flags.ATOMIC | Flags.READ, pair.a.await(3).flags());
            for (int i = 0; i < 3; i++) {
                assertEquals(10 + i, local.getInt(RESULTS + 4 * i));
                assertEquals(i == 1 ? 11 : 20 + i, pair.bytes().getInt(8 + 4 * i));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-042")
    void shouldTakeInjectedOperandsAndPieces(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 512)) {
            Atomics atomics = pair.a.endpoint.atomics();
            pair.bytes().setMemory(0, 64, (byte) 0);
            UnsafeBuffer source = new UnsafeBuffer(new byte[16]);
            for (int i = 1; i <= 100; i++) {
                source.putInt(4, i);
                pair.inject(() -> atomics.injectAtomic(
                    source, 4, 1, pair.toB, 4, pair.key, AtomicDatatype.UINT32, AtomicOperation.SUM));
                source.putInt(4, 1 << 20);
            }
            // behind all of them, into two pieces
            IoVec results = new IoVec().add(pair.a.memory.address(RESULTS), 4).add(pair.a.memory.address(RESULTS + 64),
                4);
            AtomicRequest request = new AtomicRequest()
                .operation(AtomicOperation.ATOMIC_READ, AtomicDatatype.UINT32, 2).results(results).destAddr(pair.toB)
                .remote(0, pair.key).opContext(4);
            assertEquals(0, atomics.fetchAtomicmsg(request));
            pair.a.await(4);
            assertEquals(0, pair.a.memory.buffer().getInt(RESULTS));
            assertEquals(5050, pair.a.memory.buffer().getInt(RESULTS + 64));
            assertEquals(5050, pair.bytes().getInt(4));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"REF-042", "OPF-008"})
    void shouldTellWhichOperationsThereAre(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 512)) {
            Atomics atomics = pair.a.endpoint.atomics();
            assertEquals(128, atomics.atomicvalid(AtomicDatatype.INT64, AtomicOperation.SUM));
            assertEquals(1024, atomics.fetchAtomicvalid(AtomicDatatype.UINT8, AtomicOperation.BXOR));
            assertEquals(256, atomics.compareAtomicvalid(AtomicDatatype.FLOAT, AtomicOperation.CSWAP_LE));
            for (AtomicDatatype datatype : AtomicDatatype.values()) {
                boolean isKnown = datatype.compareTo(AtomicDatatype.DOUBLE) <= 0;
                assertEquals(isKnown, atomics.atomicvalid(datatype, AtomicOperation.MAX) > 0, datatype::toString);
                assertEquals(-FabricErrno.EOPNOTSUPP, atomics.atomicvalid(datatype, AtomicOperation.ATOMIC_READ));
                assertEquals(-FabricErrno.EOPNOTSUPP, atomics.fetchAtomicvalid(datatype, AtomicOperation.CSWAP));
                assertEquals(-FabricErrno.EOPNOTSUPP, atomics.compareAtomicvalid(datatype, AtomicOperation.SUM));
            }
            assertEquals(-FabricErrno.EOPNOTSUPP, atomics.atomicvalid(AtomicDatatype.DOUBLE, AtomicOperation.BOR));
            // and what is asked for all the same is refused
            assertEquals(-FabricErrno.EOPNOTSUPP, atomics.atomic(pair.a.memory.address(), 1, pair.toB, 0, pair.key,
                AtomicDatatype.INT128, AtomicOperation.SUM, 1));
            assertEquals(-FabricErrno.EINVAL, atomics.atomic(pair.a.memory.address(), 129, pair.toB, 0, pair.key,
                AtomicDatatype.INT64, AtomicOperation.SUM, 1));
            AtomicRequest request = new AtomicRequest().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)
                .operands(pair.a.memory.address()).destAddr(pair.toB).remote(0, pair.key);
            assertEquals(-FabricErrno.EBADFLAGS, atomics.fetchAtomicmsg(request.flags(Flags.INJECT)));
            int most = pair.a.endpoint.injectSize() / Long.BYTES;
            request.operation(AtomicOperation.SUM, AtomicDatatype.INT64, most + 1).flags(Flags.INJECT);
            assertEquals(-FabricErrno.EINVAL, atomics.atomicmsg(request), "more than the inject size");
            assertEquals(-FabricErrno.EINVAL, atomics.atomicmsg(null));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-042")
    void shouldEndAnOperationThatIsNotAllowedWithAnError(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 512)) {
            assertRefused(pair, 4, pair.key, FabricErrno.EINVAL);
            assertRefused(pair, RemoteMemoryPair.LENGTH, pair.key, FabricErrno.EFAULT);
            assertRefused(pair, RemoteMemoryPair.LENGTH - 4L, pair.key, FabricErrno.EFAULT);
            assertRefused(pair, -8, pair.key, FabricErrno.EFAULT);
            assertRefused(pair, 0, pair.key + 1_000_000, FabricErrno.EKEYREJECTED);
            pair.assertUntouched(0, RemoteMemoryPair.LENGTH);
            pair.target.close();
            pair.a.awaitStep();
            assertRefused(pair, 0, pair.key, FabricErrno.EKEYREJECTED);
        }
    }

    private static void assertRefused(RemoteMemoryPair pair, long offset, long key, int errno) {
        Atomics atomics = pair.a.endpoint.atomics();
        long buf = pair.a.memory.address();
        assertEquals(0, atomics.atomic(
            buf, 1, pair.toB, offset, key, AtomicDatatype.INT64, AtomicOperation.ATOMIC_WRITE, 21));
        assertError(pair.a.await(), 21, Flags.WRITE, errno);
        AtomicRequest request = new AtomicRequest().operation(AtomicOperation.CSWAP, AtomicDatatype.INT64, 1)
            .operands(buf).results(buf).compares(buf).destAddr(pair.toB).remote(offset, key).opContext(22);
        assertEquals(0, atomics.compareAtomicmsg(request));
        assertError(pair.a.await(), 22, Flags.READ, errno);
    }

    private static void assertError(FabricNode.Entry entry, long context, long direction, int errno) {
        assertEquals(FabricErrno.name(errno), FabricErrno.name(entry.err()));
        assertEquals(context, entry.context());
        assertEquals(Flags.ATOMIC | direction, entry.flags());
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-029", "TX-030", "TX-032"})
    void shouldKeepTheOrderOfUpdatesAndFetches(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 2048)) {
            Atomics atomics = pair.a.endpoint.atomics();
            UnsafeBuffer local = pair.a.memory.buffer();
            AtomicRequest read = new AtomicRequest().destAddr(pair.toB).remote(0, pair.key);
            pair.bytes().putLong(0, 0);
            int count = 500;
            int ended = 0;
            for (int i = 1; i <= count; i++) {
                local.putLong(8 * i, i);
                read.operation(AtomicOperation.ATOMIC_READ, AtomicDatatype.INT64, 1)
                    .results(pair.a.memory.address(RESULTS * 4L + 8 * i)).opContext(i);
                long operand = pair.a.memory.address(8L * i);
                ended += post(pair, () -> atomics.atomic(operand, 1, pair.toB, 0, pair.key, AtomicDatatype.INT64,
                    AtomicOperation.ATOMIC_WRITE, 0));
                ended += post(pair, () -> atomics.fetchAtomicmsg(read));
            }
            while (ended < 2 * count) {
                assertEquals(0, pair.a.await().err());
                ended++;
            }
            for (int i = 1; i <= count; i++) {
                assertEquals(i, local.getLong(RESULTS * 4 + 8 * i), "the fetch behind update " + i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-031")
    void shouldNotShowALaterUpdateToAFetch(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 512)) {
            Atomics atomics = pair.a.endpoint.atomics();
            UnsafeBuffer local = pair.a.memory.buffer();
            AtomicRequest read = new AtomicRequest()
                .operation(AtomicOperation.ATOMIC_READ, AtomicDatatype.INT64, 1)
                .results(pair.a.memory.address(RESULTS)).destAddr(pair.toB).remote(0, pair.key).opContext(1);
            for (int i = 0; i < 200; i++) {
                pair.bytes().putLong(0, i);
                local.putLong(OPERANDS, -i - 1L);
                assertEquals(0, atomics.fetchAtomicmsg(read));
                assertEquals(0, atomics.atomic(pair.a.memory.address(OPERANDS), 1, pair.toB, 0, pair.key,
                    AtomicDatatype.INT64, AtomicOperation.ATOMIC_WRITE, 2));
                assertTrue(pair.a.await().err() == 0 && pair.a.await().err() == 0);
                assertEquals(i, local.getLong(RESULTS));
                assertEquals(-i - 1L, pair.bytes().getLong(0));
            }
        }
    }

    private static int post(RemoteMemoryPair pair, java.util.function.IntSupplier call) {
        int ended = 0;
        int result = call.getAsInt();
        while (result == -FabricErrno.EAGAIN) {
            assertEquals(0, pair.a.await().err());
            ended++;
            result = call.getAsInt();
        }
        assertEquals(0, result);
        return ended;
    }
}
