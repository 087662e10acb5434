package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.IoVec;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Reads and writes of a peer's memory, by each call. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class RemoteMemoryTest {
    private static final int[] LENGTHS = {1, 8, 64, 4096, 8192, 8193, 100_000, 1_000_000};

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"REF-040", "CQ-126"})
    void shouldWriteTheGivenBytesAndNoOthers(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int length : LENGTHS) {
                pair.forget();
                pair.a.fill(16, length, length);
                assertEquals(0, pair.remote.write(pair.a.memory.address(16), length,
                    pair.toB, pair.at(24), pair.key, length));
                FabricNode.Entry entry = pair.a.await(length);
                assertEquals(Flags.RMA | Flags.WRITE, entry.flags());
                pair.assertWritten(24, length, length);
            }
            pair.b.assertQuiet(50);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"REF-040", "CQ-126"})
    void shouldReadTheGivenBytesIntoTheGivenPlace(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int length : LENGTHS) {
                pair.bytes().putBytes(40, FabricNode.pattern(length, 0, length));
                pair.a.memory.buffer().setMemory(0, length + 64, (byte) 0x33);
                assertEquals(0, pair.remote.read(pair.a.memory.address(32), length,
                    pair.toB, pair.at(40), pair.key, length));
                FabricNode.Entry entry = pair.a.await(length);
                assertEquals(Flags.RMA | Flags.READ, entry.flags());
                pair.a.assertFilled(32, length, length);
                assertEquals(0x33, pair.a.memory.buffer().getByte(31));
                assertEquals(0x33, pair.a.memory.buffer().getByte(32 + length));
            }
            pair.b.assertQuiet(50);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("REF-040")
    void shouldGatherAndScatterLocalPieces(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            for (int[] lengths : new int[][] {{10, 20, 30}, {1, 0, 5}, {5000, 4000, 3000, 2000}, {100_000, 1}}) {
                IoVec iov = new IoVec();
                int at = 0;
                int total = 0;
                for (int length : lengths) {
                    pair.a.memory.buffer().putBytes(at, FabricNode.pattern(3, total, length));
                    iov.add(pair.a.memory.address(at), length);
                    at += length + 64;
                    total += length;
                }
                pair.forget();
                assertEquals(0, pair.remote.writev(iov, pair.toB, pair.at(100), pair.key, 1));
                pair.a.await(1);
                pair.assertWritten(100, total, 3);
                pair.a.memory.buffer().setMemory(0, at, (byte) 0);
                assertEquals(0, pair.remote.readv(iov, pair.toB, pair.at(100), pair.key, 2));
                pair.a.await(2);
                at = 0;
                int from = 0;
                for (int length : lengths) {
                    FabricNode.assertPattern(pair.a.memory.buffer(), at, length, 3, from);
                    at += length + 64;
                    from += length;
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("REF-040")
    void shouldTakeInjectedBytesBeforeTheCallReturns(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            UnsafeBuffer source = new UnsafeBuffer(new byte[64]);
            for (int i = 0; i < 100; i++) {
                source.putLong(8, i + 1);
                long at = 8L * i;
                pair.inject(() -> pair.remote.injectWrite(source, 8, 8, pair.toB, pair.at(at), pair.key));
                source.putLong(8, -1);
            }
            // behind all of them
            assertEquals(0, pair.remote.read(pair.a.memory.address(), 800, pair.toB, pair.at(0), pair.key, 5));
            pair.a.await(5);
            for (int i = 0; i < 100; i++) {
                assertEquals(i + 1, pair.bytes().getLong(8 * i));
            }
            pair.assertUntouched(800, 900);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"REF-041", "CQ-113", "CQ-112"})
    void shouldReportOnlyAWriteWithDataToTheTarget(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            pair.a.fill(0, 100, 9);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 100, pair.toB, pair.at(0), pair.key, 1));
            pair.a.await(1);
            pair.b.assertQuiet(50);
            assertEquals(0, pair.remote.writedata(pair.a.memory.address(), 100, 0xABCD,
                pair.toB, pair.at(200), pair.key, 2));
            FabricNode.Entry entry = pair.b.await(0);
            assertEquals(Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, entry.flags());
            assertEquals(0xABCD, entry.data());
            assertEquals(100, entry.len());
            assertEquals(pair.pair.toA, entry.source());
            // the bytes were there before the entry
            FabricNode.assertPattern(pair.bytes(), 200, 100, 9, 0);
            pair.a.await(2);
            UnsafeBuffer source = new UnsafeBuffer(new byte[] {1, 2, 3, 4});
            assertEquals(0, pair.remote.injectWritedata(source, 1, 2, 77, pair.toB, pair.at(300), pair.key));
            assertEquals(77, pair.b.await(0).data());
            assertEquals(2, pair.bytes().getByte(300));
            assertEquals(3, pair.bytes().getByte(301));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("REF-040")
    void shouldTakeNamedArgumentsAndFlags(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAnyKeys(setup)) {
            pair.a.fill(0, 300, 4);
            RemoteRequest request = new RemoteRequest().memory(pair.a.memory.address(), 300).destAddr(pair.toB)
                .remote(pair.at(10), pair.key).opContext(11).remoteCqData(99)
                    .flags(Flags.FENCE | Flags.DELIVERY_COMPLETE);
            assertEquals(0, pair.remote.writemsg(request));
            pair.a.await(11);
            assertEquals(99, pair.b.await(0).data());
            pair.assertWritten(10, 300, 4);
            request.clear().memory(pair.a.memory.address(1000), 300).destAddr(pair.toB).remote(pair.at(10), pair.key)
                .opContext(12);
            assertEquals(0, pair.remote.readmsg(request));
            pair.a.await(12);
            pair.a.assertFilled(1000, 300, 4);
            assertEquals(-FabricErrno.EBADFLAGS, pair.remote.readmsg(request.flags(Flags.INJECT)));
            assertEquals(-FabricErrno.EBADFLAGS, pair.remote.writemsg(request.flags(Flags.COMMIT_COMPLETE)));
            assertEquals(-FabricErrno.EINVAL, pair.remote.writemsg(null));
            request.flags(Flags.INJECT | Flags.DELIVERY_COMPLETE).memory(pair.a.memory.address(), 16)
                .remote(pair.at(500), pair.key).opContext(13);
            assertEquals(0, pair.remote.writemsg(request));
            pair.a.memory.buffer().putLong(0, 0);
            pair.a.await(13);
            FabricNode.assertPattern(pair.bytes(), 500, 16, 4, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("REF-033")
    void shouldEndAnAccessThatIsNotAllowedWithAnErrorAndGoOn(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            long length = RemoteMemoryPair.LENGTH;
            assertRefused(pair, 0, 8, pair.key + 1_000_000, FabricErrno.EKEYREJECTED);
            assertRefused(pair, length - 7, 8, pair.key, FabricErrno.EFAULT);
            assertRefused(pair, length + 1, 0, pair.key, FabricErrno.EFAULT);
            assertRefused(pair, -1, 8, pair.key, FabricErrno.EFAULT);
            assertRefused(pair, Long.MAX_VALUE, 8, pair.key, FabricErrno.EFAULT);
            assertRefused(pair, Long.MIN_VALUE, 100_000, pair.key, FabricErrno.EFAULT);
            assertRefused(pair, length - 99_999, 100_000, pair.key, FabricErrno.EFAULT);
            pair.assertUntouched(0, RemoteMemoryPair.LENGTH);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 8, pair.toB, length - 8, pair.key, 5));
            pair.a.await(5);
            pair.target.close();
            pair.a.awaitStep();
            assertRefused(pair, 0, 8, pair.key, FabricErrno.EKEYREJECTED);
            pair.b.assertQuiet(20);
        }
    }

    private static void assertRefused(RemoteMemoryPair pair, long offset, int length, long key, int errno) {
        long buf = pair.a.memory.address();
        assertEquals(0, pair.remote.write(buf, length, pair.toB, offset, key, 21));
        pair.assertRefused(pair.a.await(), 21, Flags.WRITE, errno);
        assertEquals(0, pair.remote.read(buf, length, pair.toB, offset, key, 22));
        pair.assertRefused(pair.a.await(), 22, Flags.READ, errno);
        assertEquals(0, pair.remote.writedata(buf, length, 1, pair.toB, offset, key, 23));
        pair.assertRefused(pair.a.await(), 23, Flags.WRITE, errno);
        assertNull(pair.a.poll());
    }
}
