package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.RemoteMemory;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** What the calls take and answer: flags, defaults, wrong arguments, cancel. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class RemoteCallTest {
    /** No client has a region with that index. */
    private static final long UNREGISTERED = 0x7FFFL << 48;
    private static final int EINVAL = -FabricErrno.EINVAL;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-040", "CQ-090", "EP-045"})
    void shouldWriteOnlyEntriesThatAreAskedForInASelectiveQueue(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            Endpoint selective = pair.open(pair.a, RemoteMemoryPair.hints(0));
            selective.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            selective.enable();
            RemoteMemory remote = selective.remoteMemory();
            long buf = pair.a.memory.address();
            RemoteRequest request = new RemoteRequest().memory(buf, 8).destAddr(pair.toB);
            for (int i = 0; i < 10; i++) {
                pair.a.memory.buffer().putLong(8 * i, i + 1);
                assertEquals(0, remote.write(buf + 8 * i, 8, pair.toB, 8 * i, pair.key, 1));
                assertEquals(0, remote.read(pair.a.memory.address(1024), 8, pair.toB, 0, pair.key, 2));
                request.flags(i % 4 == 1 ? Flags.COMPLETION : 0);
                assertEquals(0, remote.writemsg(request.remote(512, pair.key).opContext(100 + i)));
                assertEquals(0, remote.readmsg(request.opContext(200 + i)));
            }
            List<Long> contexts = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                FabricNode.Entry entry = pair.a.await();
                assertEquals(0, entry.err());
                contexts.add(entry.context());
            }
            if (setup.isForeign()) {
                // a write that asks for no level ends before an earlier read
                contexts.sort(Comparator.comparingLong(context -> context % 100 * 1000 + context));
            }
            assertEquals(List.of(101L, 201L, 105L, 205L, 109L, 209L), contexts);
            // behind everything
            assertEquals(0, remote.readmsg(request.flags(Flags.COMPLETION).opContext(300)));
            pair.a.await(300);
            for (int i = 0; i < 10; i++) {
                assertEquals(i + 1, pair.bytes().getLong(8 * i));
            }
            pair.a.assertQuiet(50);
            // an error is always reported
            assertEquals(0, remote.write(buf, 8, pair.toB, -1, pair.key, 3));
            pair.assertRefused(pair.a.await(), 3, Flags.WRITE, FabricErrno.EFAULT);
            if (setup.isForeign()) {
                // an inject has ended before the peer refuses it
                return;
            }
            assertEquals(0, remote.injectWrite(pair.a.memory.buffer(), 0, 8, pair.toB, -1, pair.key));
            RemoteMemoryPair.assertError(pair.a.await(), 0, Flags.WRITE, FabricErrno.EFAULT);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-040")
    void shouldHoldAFencedAccessUntilEarlierOperationsHaveEnded(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            RemoteRequest request = new RemoteRequest().memory(pair.a.memory.address(), 8).destAddr(pair.toB)
                .remote(8, pair.key);
            for (boolean reads : new boolean[] {false, true}) {
                pair.forget();
                pair.a.fill(0, 8, 1);
                pair.hold(pair.a.endpoint, 1);
                if (!setup.isForeign()) {
                    // without a fence it does not wait; libfabric's wire brings it behind the message
                    assertEquals(0, pair.remote.write(pair.a.memory.address(), 8, pair.toB, 0, pair.key, 2));
                    pair.a.await(2);
                }
                request.flags(Flags.FENCE).opContext(3);
                assertEquals(0, reads ? pair.remote.readmsg(request) : pair.remote.writemsg(request));
                assertEquals(0, pair.remote.write(pair.a.memory.address(), 8, pair.toB, 16, pair.key, 4));
                pair.a.assertQuiet(100);
                pair.assertUntouched(8, 100);
                pair.release();
                pair.a.await(1);
                // libfabric's wire may acknowledge a write before an earlier read is answered
                boolean inOrder = !reads || !setup.isForeign();
                assertEquals(3 + 4, inOrder ? pair.a.await(3).context() + pair.a.await(4).context()
                    : pair.a.await().context() + pair.a.await().context());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-040")
    void shouldTakeInjectAsADefaultOfWrites(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            long buf = pair.a.memory.address();
            int most = pair.a.endpoint.injectSize();
            pair.a.endpoint.setOpFlags(Flags.TRANSMIT | Flags.INJECT | Flags.DELIVERY_COMPLETE);
            pair.a.fill(0, most, 5);
            pair.a.endpoint.setOpFlags(Flags.TRANSMIT);
            pair.hold(pair.a.endpoint, 1);
            assertEquals(0, pair.remote.writemsg(new RemoteRequest().memory(buf, 0).destAddr(pair.toB)
                .remote(0, pair.key).opContext(2).flags(Flags.FENCE)));
            pair.a.endpoint.setOpFlags(Flags.TRANSMIT | Flags.INJECT);
            // posted behind a fence, so that no byte can have left
            assertEquals(0, pair.remote.write(buf, most, pair.toB, 0, pair.key, 3));
            assertEquals(0, pair.remote.writev(
                new IoVec().add(buf, 1).add(buf + 1, 7), pair.toB, most, pair.key, 4));
            assertEquals(0, pair.remote.writedata(buf, 8, 6, pair.toB, most + 8, pair.key, 5));
            assertEquals(EINVAL, pair.remote.write(buf, most + 1, pair.toB, 0, pair.key, 6));
            assertEquals(-FabricErrno.EFAULT, pair.remote.write(UNREGISTERED, 8, pair.toB, 0, pair.key, 6));
            pair.a.memory.buffer().setMemory(0, most, (byte) 0);
            // reads are what they were
            assertEquals(0, pair.remote.read(pair.a.memory.address(1 << 20), 100_000, pair.toB, 0, pair.key, 7));
            pair.release();
            for (int context : new int[] {1, 2, 3, 4, 5, 7}) {
                pair.a.await(context);
            }
            assertEquals(6, pair.b.await(0).data());
            FabricNode.assertPattern(pair.bytes(), 0, most, 5, 0);
            FabricNode.assertPattern(pair.bytes(), most, 8, 5, 0);
            FabricNode.assertPattern(pair.bytes(), most + 8, 8, 5, 0);
            pair.a.assertFilled(1 << 20, most, 5);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-040")
    void shouldCancelAnAccessThatHasNotBegun(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            long buf = pair.a.memory.address();
            pair.hold(pair.a.endpoint, 1);
            RemoteRequest fenced = new RemoteRequest().memory(buf, 8).destAddr(pair.toB).remote(0, pair.key)
                .flags(Flags.FENCE);
            assertEquals(0, pair.remote.writemsg(fenced.opContext(2)));
            assertEquals(0, pair.remote.read(buf, 8, pair.toB, 0, pair.key, 3));
            assertEquals(0, pair.remote.write(buf, 100_000, pair.toB, 0, pair.key, 4));
            assertEquals(0, pair.remote.write(buf, 8, pair.toB, 200_000, pair.key, 5));
            for (int context : new int[] {4, 3, 2}) {
                assertEquals(0, pair.a.endpoint.cancel(context));
                RemoteMemoryPair.assertError(
                    pair.a.await(), context, context == 3 ? Flags.READ : Flags.WRITE, FabricErrno.ECANCELED);
            }
            if (!setup.isForeign()) {
                // nothing is in front of it any more
                pair.a.await(5);
            }
            pair.release();
            if (setup.isForeign()) {
                long sum = pair.a.await().context() + pair.a.await().context();
                assertEquals(1 + 5, sum);
            } else {
                pair.a.await(1);
            }
            pair.assertUntouched(0, 200_000);
            assertEquals(0, pair.a.endpoint.cancel(5));
            pair.a.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-040")
    void shouldTakeAccessesOfNoBytes(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            for (long offset : new long[] {0, 7, RemoteMemoryPair.LENGTH}) {
                for (long buf : new long[] {0, pair.a.memory.address(), pair.a.memory.address(FabricNode.MEMORY)}) {
                    assertEquals(0, pair.remote.write(buf, 0, pair.toB, offset, pair.key, 1));
                    pair.a.await(1);
                    assertEquals(0, pair.remote.read(buf, 0, pair.toB, offset, pair.key, 2));
                    pair.a.await(2);
                    assertEquals(0, pair.remote.writedata(buf, 0, 4, pair.toB, offset, pair.key, 3));
                    pair.a.await(3);
                    FabricNode.Entry entry = pair.b.await(0);
                    assertEquals(4, entry.data());
                    assertEquals(0, entry.len());
                }
                assertEquals(0, pair.remote.writev(new IoVec(), pair.toB, offset, pair.key, 4));
                pair.a.await(4);
                assertEquals(0, pair.remote.readv(new IoVec(), pair.toB, offset, pair.key, 5));
                pair.a.await(5);
                UnsafeBuffer none = new UnsafeBuffer(new byte[0]);
                assertEquals(0, pair.remote.injectWritedata(none, 0, 0, 6, pair.toB, offset, pair.key));
                assertEquals(6, pair.b.await(0).data());
            }
            pair.assertUntouched(0, RemoteMemoryPair.LENGTH);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-040")
    void shouldReportLocalMemoryThatIsNotRegistered(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            MemoryRegion closed = pair.a.domain.allocate(4096);
            closed.close();
            long last = pair.a.memory.address(FabricNode.MEMORY - 7);
            for (long buf : new long[] {UNREGISTERED, closed.address(), last, -1}) {
                assertFault(pair, pair.remote.write(buf, 8, pair.toB, 0, pair.key, 1), 1, Flags.WRITE);
                assertFault(pair, pair.remote.read(buf, 8, pair.toB, 0, pair.key, 2), 2, Flags.READ);
                IoVec iov = new IoVec().add(pair.a.memory.address(), 8).add(buf, 8);
                assertFault(pair, pair.remote.writev(iov, pair.toB, 0, pair.key, 3), 3, Flags.WRITE);
                assertFault(pair, pair.remote.readv(iov, pair.toB, 0, pair.key, 4), 4, Flags.READ);
                assertFault(pair, pair.remote.writedata(buf, 8, 9, pair.toB, 0, pair.key, 5), 5, Flags.WRITE);
            }
            pair.b.assertQuiet(20);
            pair.assertUntouched(0, 64);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 8, pair.toB, 0, pair.key, 6));
            pair.a.await(6);
        }
    }

    private static void assertFault(RemoteMemoryPair pair, int result, long context, long direction) {
        assertEquals(0, result);
        RemoteMemoryPair.assertError(pair.a.await(), context, direction, FabricErrno.EFAULT);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"REF-040", "OPF-008"})
    void shouldRefuseWrongArgumentsAtOnce(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            RemoteMemory remote = pair.remote;
            long buf = pair.a.memory.address();
            long to = pair.toB;
            long none = FabricAddress.ADDR_UNSPEC;
            long tooLong = pair.a.endpoint.maxMsgSize() + 1;
            UnsafeBuffer source = new UnsafeBuffer(new byte[pair.a.endpoint.injectSize() + 1]);
            assertEquals(EINVAL, remote.write(buf, -1, to, 0, pair.key, 1));
            assertEquals(EINVAL, remote.read(buf, -1, to, 0, pair.key, 1));
            assertEquals(EINVAL, remote.write(buf, tooLong, to, 0, pair.key, 1));
            assertEquals(EINVAL, remote.read(buf, tooLong, to, 0, pair.key, 1));
            assertEquals(EINVAL, remote.write(buf, 8, none, 0, pair.key, 1));
            assertEquals(EINVAL, remote.read(buf, 8, none, 0, pair.key, 1));
            assertEquals(EINVAL, remote.writev(null, to, 0, pair.key, 1));
            assertEquals(EINVAL, remote.readv(null, to, 0, pair.key, 1));
            assertEquals(EINVAL, remote.readmsg(null));
            assertEquals(EINVAL, remote.injectWrite(null, 0, 8, to, 0, pair.key));
            assertEquals(EINVAL, remote.injectWrite(source, 0, source.capacity(), to, 0, pair.key));
            assertEquals(EINVAL, remote.injectWrite(source, 0, -1, to, 0, pair.key));
            assertEquals(EINVAL, remote.injectWrite(source, -1, 8, to, 0, pair.key));
            assertEquals(EINVAL, remote.injectWritedata(source, source.capacity(), 1, 1, to, 0, pair.key));
            assertEquals(EINVAL, remote.injectWrite(source, 0, 8, none, 0, pair.key));
            RemoteRequest request = new RemoteRequest().memory(buf, source.capacity()).destAddr(to)
                .remote(0, pair.key).flags(Flags.INJECT);
            assertEquals(EINVAL, remote.writemsg(request));
            assertEquals(-FabricErrno.EBADFLAGS, remote.readmsg(request.flags(Flags.REMOTE_CQ_DATA)));
            assertEquals(-FabricErrno.EBADFLAGS, remote.writemsg(request.flags(Flags.MULTI_RECV)));
            // an address that the vector does not have is found out by the driver, as with messages
            assertEquals(0, remote.write(buf, 8, 99_999, 0, pair.key, 2));
            RemoteMemoryPair.assertError(pair.a.await(), 2, Flags.WRITE, FabricErrno.EINVAL);
            long nobody = pair.a.av.insert(pair.pair.neighbour(pair.b, 7));
            assertEquals(0, pair.a.endpoint.tsend(buf, 8, nobody, 1, 3));
            int errno = pair.a.await().err();
            assertEquals(0, remote.read(buf, 8, nobody, 0, pair.key, 4));
            RemoteMemoryPair.assertError(pair.a.await(), 4, Flags.READ, errno);
            pair.a.assertQuiet(20);
            pair.assertUntouched(0, 64);
        }
    }
}
