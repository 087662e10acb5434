package org.jfabric.driver.conformance.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteMemory;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.CounterEvents;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.info.Progress;
import org.jfabric.info.TagFormat;
import org.jfabric.info.Threading;
import org.jfabric.info.Verdict;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** What API version 2.0 adds, and the answers to what it removed; with version 1.18 nothing of it is there. */
@Tag("conformance")
@Tag("link")
@SeveralLinks
@Timeout(120)
class SecondProfileTest {
    private static final long CAPS = Flags.MSG | Flags.TAGGED | Flags.SOURCE | Flags.DIRECTED_RECV;
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final int LENGTH = 64;
    private static final long DEADLINE_NS = Deadline.ns(20);

    private static Info hints(int version) {
        Info hints = new Info().caps(CAPS);
        hints.fabricAttr().apiVersion(version);
        return hints;
    }

    private static Info second() {
        return hints(FabricAttr.VERSION_2);
    }

    /** The reason why a link does not meet hints. */
    private static String refusal(FabricPair pair, Info hints) {
        InfoResult result = pair.a.fabric.info(hints.copy().linkName(pair.setup.link));
        assertTrue(result.matches().isEmpty(), result::toString);
        Verdict verdict = result.verdicts().stream()
            .filter(each -> each.linkName().equals(pair.setup.link)).findFirst().orElseThrow();
        assertFalse(verdict.chosen());
        return verdict.reasons().toString();
    }

    private static Info match(FabricPair pair, Info hints) {
        return pair.a.fabric.info(hints.copy().linkName(pair.setup.link)).best();
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }

    private static void await(FabricPair pair, BooleanSupplier condition, Supplier<String> seen) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, seen);
            pair.pump();
            Thread.yield();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldFollowTheVersionThatTheHintsAskFor(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(FabricAttr.API_VERSION, pair.a.fabric.apiVersion(), "the default");
            for (int version : new int[] {FabricAttr.VERSION_2, FabricAttr.NEWEST_API_VERSION}) {
                Info best = match(pair, hints(version));
                assertEquals(version, best.fabricAttr().apiVersion());
                Domain domain = pair.a.fabric.domain(best);
                Info older = best.copy();
                older.fabricAttr().apiVersion(FabricAttr.API_VERSION);
                assertEquals(FabricErrno.EINVAL, errno(() -> domain.openEndpoint(older)), "not the domain's");
                older.fabricAttr().apiVersion(0);
                assertEquals(version, domain.openEndpoint(older).info().fabricAttr().apiVersion());
            }
            for (int unknown : new int[] {FabricAttr.version(1, 19), FabricAttr.version(1, 22),
                FabricAttr.NEWEST_API_VERSION + 1, FabricAttr.version(3, 0)}) {
                assertEquals(FabricErrno.ENOSYS, errno(() -> pair.a.fabric.info(hints(unknown))));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseWithTheFirstProfileWhatTheSecondAdds(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info exact = hints(0).caps(CAPS | Flags.EXACT_DIRECTED_RECV);
            assertTrue(refusal(pair, exact).contains("VARIABLE_MSG"), "the bit means something else there");
            assertTrue(refusal(pair, hints(0).caps(CAPS | Flags.TAGGED_MULTI_RECV)).contains("bit46?"));
            Info unified = hints(0);
            unified.domainAttr().controlProgress(Progress.CONTROL_UNIFIED);
            assertTrue(refusal(pair, unified).contains("CONTROL_UNIFIED"));
            Info fields = hints(0);
            fields.epAttr().memTagFormat(TagFormat.MPI);
            Info match = match(pair, fields);
            assertEquals(1, new TagFormat(match.epAttr().memTagFormat()).bits(), "one bit, as 1.18 reads it");
            assertEquals(FabricErrno.EINVAL, errno(
                () -> pair.a.domain.openCounter(new CounterAttr().events(CounterEvents.BYTES))));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldAnswerWhatWasRemoved(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (EndpointType type : new EndpointType[] {EndpointType.SOCK_STREAM, EndpointType.SOCK_DGRAM}) {
                Info hints = second();
                hints.epAttr().type(type);
                assertTrue(refusal(pair, hints).contains("libfabric 2.x has it no more"), type::toString);
            }
            Info basic = second();
            basic.domainAttr().mrMode(MrMode.LOCAL | 1);
            assertTrue(refusal(pair, basic).contains("libfabric 2.x has it no more"));
            Info local = second().mode(Mode.LOCAL_MR);
            local.domainAttr().mrMode(MrMode.ALLOCATED);
            assertTrue(refusal(pair, local).contains("mr_mode"), "FI_LOCAL_MR is no FI_MR_LOCAL any more");
            // a mode is what the application is able to do: those that nothing needs are cleared
            Info able = match(pair, second().mode(-1L));
            assertEquals(0, able.mode());
            Info table = second();
            table.domainAttr().avType(AddressVectorType.MAP);
            assertEquals(AddressVectorType.TABLE, match(pair, table).domainAttr().avType());

            Domain domain = pair.a.fabric.domain(able);
            for (long mode : new long[] {Mode.BUFFERED_RECV, Mode.NOTIFY_FLAGS_ONLY, Mode.RESTRICTED_COMP}) {
                Info edited = able.copy().mode(able.mode() | mode);
                assertEquals(FabricErrno.EINVAL, errno(() -> domain.openEndpoint(edited)), Mode.toString(mode));
            }
            Info stream = able.copy();
            stream.epAttr().type(EndpointType.SOCK_STREAM);
            assertEquals(FabricErrno.EOPNOTSUPP, errno(() -> domain.openSocketEndpoint(stream, 0)));
            assertEquals(FabricErrno.ENOSYS, errno(() -> domain.openPollSet(0)));
            assertEquals(FabricErrno.ENOSYS, errno(() -> domain.openCompletionQueue(
                new CompletionQueueAttr().waitObject(WaitObject.SET))));
            assertEquals(FabricErrno.ENOSYS, errno(() -> domain.openCounter(
                new CounterAttr().waitObject(WaitObject.SET))));
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr().type(AddressVectorType.MAP));
            assertEquals(AddressVectorType.TABLE, vector.type());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldOfferNoKeysInAddressVectorsAndNoOtherTagFormats(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info keys = second();
            keys.domainAttr().avAuthKey(true);
            assertTrue(refusal(pair, keys).contains("FI_AV_AUTH_KEY"));
            Info edited = match(pair, second());
            edited.domainAttr().avAuthKey(true);
            assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.domain(edited)));
            for (long format : new long[] {2, TagFormat.MAX_FORMAT - 1}) {
                Info hints = second();
                hints.epAttr().memTagFormat(format);
                assertTrue(refusal(pair, hints).contains("mem_tag_format"));
            }
            assertTrue(refusal(pair, second().caps(CAPS | Flags.TAGGED_DIRECTED_RECV))
                .contains("TAGGED_DIRECTED_RECV"));
            for (long format : new long[] {TagFormat.MPI, TagFormat.MAX_FORMAT, -1L}) {
                Info hints = second();
                hints.epAttr().memTagFormat(format);
                assertEquals(format, match(pair, hints).epAttr().memTagFormat());
            }
            assertEquals(FabricAddress.TAG_FORMAT_GENERIC, match(pair, second()).epAttr().memTagFormat());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldLetTheApplicationSerializeProgress(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (Consumer<Info> ask : List.<Consumer<Info>>of(
                hints -> hints.domainAttr().controlProgress(Progress.CONTROL_UNIFIED),
                hints -> hints.domainAttr().dataProgress(Progress.CONTROL_UNIFIED))) {
                Info hints = second();
                ask.accept(hints);
                Info match = match(pair, hints);
                boolean isUnified = match.domainAttr().controlProgress() == Progress.CONTROL_UNIFIED
                    || match.domainAttr().dataProgress() == Progress.CONTROL_UNIFIED;
                assertEquals(!setup.daemon, isUnified, "a daemon has threads of its own, and needs no call");
                match.domainAttr().threading(Threading.COMPLETION);
                Info manual = match.copy();
                manual.domainAttr().controlProgress(Progress.MANUAL).dataProgress(Progress.MANUAL);
                // in a handler of a domain without locks only such domains can be opened
                inHandler(pair.a, () -> {
                    pair.a.fabric.domain(match).close();
                    if (!setup.daemon) {
                        assertEquals(FabricErrno.EOPBADSTATE, errno(() -> pair.a.fabric.domain(manual)));
                    }
                });
            }
        }
    }

    /** Makes calls in the handler of the first of two entries. */
    private static void inHandler(FabricNode node, Runnable calls) {
        long self = node.av.insert(node.endpoint.name());
        assertEquals(0, node.endpoint.trecv(node.memory.address(), 8, ANY, 77, 0, 1));
        assertEquals(0, node.endpoint.tsend(node.memory.address(LENGTH), 8, self, 77, 2));
        AtomicInteger handled = new AtomicInteger();
        Deadline.awaitParked(() -> "entries: " + handled, () -> {
            node.cq.poll(entry -> {
                if (handled.getAndIncrement() == 0) {
                    calls.run();
                }
            }, 1);
            return handled.get() == 2;
        });
        node.av.remove(self);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldReceiveFromExactlyTheSourceThatIsNamed(Setup setup) {
        // the capability implies that sources are compared
        Info hints = second().caps(Flags.MSG | Flags.TAGGED | Flags.SOURCE | Flags.EXACT_DIRECTED_RECV);
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            assertEquals(Flags.EXACT_DIRECTED_RECV,
                pair.b.info.caps() & (Flags.EXACT_DIRECTED_RECV | Flags.DIRECTED_RECV));
            assertTrue(pair.b.info.toString().contains("EXACT_DIRECTED_RECV"));
            FabricNode other = pair.sibling(pair.a, hints, 0xCC);
            long toOther = pair.b.av.insert(other.endpoint.name());
            long fromOther = other.av.insert(pair.b.endpoint.name());
            Endpoint b = pair.b.endpoint;
            long buffer = pair.b.memory.address();
            assertEquals(-FabricErrno.EINVAL, b.recv(buffer, LENGTH, ANY, 1));
            assertEquals(-FabricErrno.EINVAL, b.trecv(buffer, LENGTH, ANY, 1, 0, 1));
            assertEquals(-FabricErrno.EINVAL, b.messages().trecvmsg(buffer, LENGTH, ANY, 1, 0, 1, 0));
            IoVec pieces = new IoVec().add(buffer, 8).add(buffer + 8, 8);
            assertEquals(-FabricErrno.EINVAL, b.messages().recvv(pieces, ANY, 1));
            assertEquals(-FabricErrno.EINVAL, b.messages().trecvv(pieces, ANY, 1, 0, 1));
            // the one that is posted first is for the other source
            assertEquals(0, b.trecv(buffer, LENGTH, toOther, 5, 0, 11));
            assertEquals(0, b.trecv(pair.b.memory.address(LENGTH), LENGTH, pair.toA, 5, 0, 12));
            pair.a.fill(0, LENGTH, 1);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 5, 21));
            FabricNode.Entry entry = pair.b.await(12);
            assertEquals(pair.toA, entry.source());
            pair.b.assertFilled(LENGTH, LENGTH, 1);
            other.fill(0, LENGTH, 2);
            assertEquals(0, other.endpoint.tsend(other.memory.address(), LENGTH, fromOther, 5, 31));
            assertEquals(toOther, pair.b.await(11).source());
            pair.b.assertFilled(0, LENGTH, 2);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldMatchTheFieldsOfMpiTags(Setup setup) {
        Info hints = second();
        hints.epAttr().memTagFormat(TagFormat.MPI);
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            Endpoint a = pair.a.endpoint;
            Endpoint b = pair.b.endpoint;
            long from = pair.a.memory.address();
            long into = pair.b.memory.address();
            long beyond = 1L << 40;
            UnsafeBuffer bytes = new UnsafeBuffer(new byte[8]);
            assertEquals(-FabricErrno.EINVAL, a.tsend(from, 8, pair.toB, beyond, 1));
            assertEquals(-FabricErrno.EINVAL, a.tinject(bytes, 0, 8, pair.toB, beyond));
            assertEquals(-FabricErrno.EINVAL, b.trecv(into, 8, ANY, beyond, 0, 1));
            for (long part : new long[] {1, 0xffff, 1L << 32, TagFormat.MPI_IGNORE_TAG | 1L << 32}) {
                assertEquals(-FabricErrno.EINVAL, b.trecv(into, 8, ANY, 0, part, 1), () -> "mask " + part);
            }
            long tag = TagFormat.mpi(-7, 0xfe);
            assertEquals(0xfe_ffff_fff9L, tag);
            assertThrows(FabricException.class, () -> TagFormat.mpi(0, 256));
            // any message tag of payload 3, any payload with tag -7, and all bits beyond the fields
            assertEquals(0, b.trecv(into, 8, ANY, TagFormat.mpi(0, 3), TagFormat.MPI_IGNORE_TAG, 1));
            assertEquals(0, b.trecv(into, 8, ANY, TagFormat.mpi(-7, 0), TagFormat.MPI_IGNORE_PAYLOAD, 2));
            assertEquals(0, b.trecv(into, 8, ANY, 0, -1L, 3));
            for (long sent : new long[] {TagFormat.mpi(9, 4), tag, TagFormat.mpi(12345, 3)}) {
                assertEquals(0, a.tsend(from, 8, pair.toB, sent, 4));
                assertEquals(sent, pair.b.await(sent == tag ? 2 : sent == TagFormat.mpi(9, 4) ? 3 : 1).tag());
            }
            // untagged messages have no tag to be checked
            assertEquals(0, b.recv(into, 8, ANY, 5));
            assertEquals(0, a.send(from, 8, pair.toB, 6));
            pair.b.await(5);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCountBytes(Setup setup) {
        Info hints = second();
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            Counting a = new Counting(pair.a);
            Counting b = new Counting(pair.b);
            long toB = a.vector.insert(b.endpoint.name());
            long from = pair.a.memory.address();
            long into = pair.b.memory.address();
            UnsafeBuffer bytes = new UnsafeBuffer(new byte[64]);
            long sum = 0;
            for (int length : new int[] {0, 1, 48, 1000, 70_000}) {
                assertEquals(0, b.endpoint.trecv(into, 100_000, ANY, 1, 0, 1));
                assertEquals(0, a.endpoint.tsend(from, length, toB, 1, 2));
                sum += length;
                a.await(pair, sum, 0);
                b.await(pair, sum, 0);
            }
            // an inject, CQ data which are no bytes of it, several pieces, and an untagged message
            IoVec pieces = new IoVec().add(from, 10).add(from + 20, 30);
            assertEquals(0, b.endpoint.trecv(into, 64, ANY, 1, 0, 1));
            assertEquals(0, b.endpoint.trecv(into, 64, ANY, 1, 0, 1));
            assertEquals(0, b.endpoint.trecv(into, 64, ANY, 1, 0, 1));
            assertEquals(0, b.endpoint.recv(into, 64, ANY, 1));
            assertEquals(0, a.endpoint.tinject(bytes, 0, 7, toB, 1));
            assertEquals(0, a.endpoint.messages().tsenddata(from, 9, 99, toB, 1, 2));
            assertEquals(0, a.endpoint.messages().tsendv(pieces, toB, 1, 2));
            assertEquals(0, a.endpoint.send(from, 11, toB, 2));
            sum += 7 + 9 + 40 + 11;
            a.await(pair, sum, 0);
            b.await(pair, sum, 0);
            // a message that is cut is an error, which counts as one
            assertEquals(0, b.endpoint.trecv(into, 4, ANY, 1, 0, 1));
            assertEquals(0, a.endpoint.tsend(from, 9, toB, 1, 2));
            a.await(pair, sum + 9, 0);
            b.await(pair, sum, 1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCountBytesOfRemoteAccesses(Setup setup) {
        setup.assumeRemoteMemory();
        Info hints = second().caps(CAPS | Flags.RMA);
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            Counter atRegion = pair.b.domain.openCounter(new CounterAttr().events(CounterEvents.BYTES));
            MemoryRegion region = pair.b.domain.allocate(4096, new MemoryRegionAttr()
                .access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(0x5EC0).flags(Flags.RMA_EVENT));
            region.bind(atRegion, Flags.REMOTE_WRITE | Flags.REMOTE_READ);
            region.enable();
            CompletionQueue queue = pair.a.domain.openCompletionQueue(new CompletionQueueAttr().size(64));
            Counter reads = pair.a.domain.openCounter(new CounterAttr().events(CounterEvents.BYTES));
            Counter writes = pair.a.domain.openCounter(new CounterAttr().events(CounterEvents.BYTES));
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(reads, Flags.READ);
            endpoint.bind(writes, Flags.WRITE);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            long local = pair.a.memory.address();
            RemoteMemory remote = endpoint.remoteMemory();
            assertEquals(0, remote.write(local, 1000, pair.toB, 0, region.key(), 1));
            assertEquals(0, remote.write(local, 24, pair.toB, 0, region.key(), 1));
            assertEquals(0, remote.read(local, 3, pair.toB, 0, region.key(), 1));
            await(pair, () -> {
                queue.read(null, 0, 0);
                pair.b.cq.read(null, 0, 0);
                return writes.read() == 1024 && reads.read() == 3 && atRegion.read() == 1027;
            }, () -> writes.read() + " " + reads.read() + " " + atRegion.read());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldCheckEndpointsThatHaveModesToo(Setup setup) {
        Info hints = second().caps(CAPS | Flags.EXACT_DIRECTED_RECV).mode(Mode.MSG_PREFIX);
        hints.epAttr().msgPrefixSize(16);
        try (FabricPair pair = new FabricPair(setup, hints, 64)) {
            assertEquals(16, pair.b.info.epAttr().msgPrefixSize());
            assertEquals(-FabricErrno.EINVAL, pair.b.endpoint.trecv(pair.b.memory.address(), 80, ANY, 1, 0, 1));
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 80, pair.toA, 1, 0, 1));
            pair.a.fill(16, 64, 3);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 80, pair.toB, 1, 2));
            pair.b.await(1);
            pair.b.assertFilled(16, 64, 3);
        }
    }

    /** An endpoint whose counters count bytes. */
    private static final class Counting {
        private final FabricNode owner;
        private final CompletionQueue queue;
        private final AddressVector vector;
        private final Counter sends;
        private final Counter receives;
        private final Endpoint endpoint;

        Counting(FabricNode owner) {
            this.owner = owner;
            Domain domain = owner.domain;
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
            vector = domain.openAddressVector(new AddressVectorAttr());
            sends = domain.openCounter(new CounterAttr().events(CounterEvents.BYTES));
            receives = domain.openCounter(new CounterAttr().events(CounterEvents.BYTES));
            endpoint = domain.openEndpoint(owner.info);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(sends, Flags.SEND);
            endpoint.bind(receives, Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
        }

        void await(FabricPair pair, long bytes, long errors) {
            SecondProfileTest.await(pair, () -> {
                queue.read(null, 0, 0);
                return total() == bytes && sends.readErr() + receives.readErr() == errors;
            }, this::toString);
        }

        private long total() {
            return sends.read() + receives.read();
        }

        @Override
        public String toString() {
            return owner.endpoint + " sends " + sends.read() + '/' + sends.readErr() + " receives " + receives.read()
                + '/' + receives.readErr();
        }
    }
}
