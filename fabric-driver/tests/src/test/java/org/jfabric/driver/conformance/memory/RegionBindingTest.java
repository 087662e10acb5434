package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.AtomicRequest;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** Regions that counters and endpoints are bound to, before they are enabled. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class RegionBindingTest {
    private static final int LENGTH = 1 << 18;

    private static MemoryRegion bindable(RemoteMemoryPair pair) {
        return pair.b.domain.allocate(LENGTH, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH)
            .requestedKey(RemoteMemoryPair.freshKey()).flags(Flags.RMA_EVENT));
    }

    private static Counter counter(FabricNode node) {
        return node.domain.openCounter(new CounterAttr());
    }

    /** A further endpoint of the second application. */
    private static Endpoint target(RemoteMemoryPair pair) {
        Endpoint endpoint = pair.open(pair.b, RemoteMemoryPair.hints(0));
        endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.enable();
        return endpoint;
    }

    private static int write(RemoteMemoryPair pair, long to, MemoryRegion region, int length) {
        assertEquals(0, pair.remote.write(pair.a.memory.address(), length, to, 0, region.key(), 1));
        return pair.a.await().err();
    }

    private static int read(RemoteMemoryPair pair, long to, MemoryRegion region, int length) {
        assertEquals(0, pair.remote.read(pair.a.memory.address(), length, to, 0, region.key(), 2));
        return pair.a.await().err();
    }

    private static void awaitValue(RemoteMemoryPair pair, Counter counter, long value) {
        Deadline deadline = Deadline.usual();
        while (counter.read() != value) {
            deadline.check("the value " + value, counter::toString);
            pair.pair.pump();
            Thread.yield();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-032")
    void shouldCountTheAccessesToOneRegion(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, setup.isForeign() ? 0 : Flags.ATOMIC)) {
            Counter reads = counter(pair.b);
            Counter writes = counter(pair.b);
            MemoryRegion region = bindable(pair);
            region.bind(writes, Flags.REMOTE_WRITE);
            region.bind(reads, Flags.REMOTE_READ);
            region.enable();
            for (int length : new int[] {0, 8, 100_000, LENGTH}) {
                assertEquals(0, write(pair, pair.toB, region, length));
                assertEquals(0, read(pair, pair.toB, region, length));
            }
            awaitValue(pair, writes, 4);
            awaitValue(pair, reads, 4);
            // another region, and what is refused
            assertEquals(0, write(pair, pair.toB, pair.target, 8));
            assertEquals(pair.refusal(FabricErrno.EFAULT), write(pair, pair.toB, region, LENGTH + 1));
            assertEquals(pair.refusal(FabricErrno.EFAULT), read(pair, pair.toB, region, LENGTH + 1));
            assertEquals(0, pair.remote.injectWrite(pair.a.memory.buffer(), 0, 8, pair.toB, 0, region.key()));
            assertEquals(0, pair.remote.writedata(pair.a.memory.address(), 8, 5, pair.toB, 0, region.key(), 3));
            pair.a.await(3);
            assertEquals(5, pair.b.await().data());
            awaitValue(pair, writes, 6);
            if (!setup.isForeign()) {
                atomics(pair, region);
                // one changes, one changes and brings values, one brings values
                awaitValue(pair, writes, 8);
                awaitValue(pair, reads, 6);
            }
            assertEquals(0, reads.readErr() + writes.readErr());
            pair.b.assertQuiet(20);
        }
    }

    private static void atomics(RemoteMemoryPair pair, MemoryRegion region) {
        assertEquals(0, pair.a.endpoint.atomics().atomic(pair.a.memory.address(), 1, pair.toB, 0, region.key(),
            AtomicDatatype.INT64, AtomicOperation.SUM, 4));
        pair.a.await(4);
        AtomicRequest request = new AtomicRequest();
        for (AtomicOperation operation : new AtomicOperation[] {AtomicOperation.SUM, AtomicOperation.ATOMIC_READ}) {
            request.clear().operation(operation, AtomicDatatype.INT64, 1).results(pair.a.memory.address(8))
                .destAddr(pair.toB).remote(0, region.key()).opContext(5);
            if (operation == AtomicOperation.SUM) {
                request.operands(pair.a.memory.address());
            }
            assertEquals(0, pair.a.endpoint.atomics().fetchAtomicmsg(request));
            pair.a.await(5);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-032")
    void shouldAdmitOnlyPeersOfBoundEndpoints(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, setup.isForeign() ? 0 : Flags.ATOMIC)) {
            Endpoint bound = target(pair);
            Endpoint alsoBound = target(pair);
            long toBound = pair.a.av.insert(bound.name());
            long toOther = pair.a.av.insert(alsoBound.name());
            MemoryRegion region = bindable(pair);
            region.bind(bound, 0);
            region.bind(alsoBound, 0);
            region.enable();
            pair.a.fill(0, 100, 3);
            assertEquals(pair.refusal(FabricErrno.EACCES), write(pair, pair.toB, region, 100));
            assertEquals(pair.refusal(FabricErrno.EACCES), read(pair, pair.toB, region, 100));
            if (!setup.isForeign()) {
                assertEquals(0, pair.a.endpoint.atomics().atomic(pair.a.memory.address(), 1, pair.toB, 0, region.key(),
                    AtomicDatatype.INT64, AtomicOperation.SUM, 4));
                assertEquals(FabricErrno.EACCES, pair.a.await().err());
            }
            assertEquals(0, region.buffer().getLong(0));
            assertEquals(0, write(pair, toBound, region, 100));
            FabricNode.assertPattern(region.buffer(), 0, 100, 3, 0);
            assertEquals(0, read(pair, toOther, region, 100));
            // without one of them it is still bound, and to no others
            bound.close();
            assertEquals(0, read(pair, toOther, region, 100));
            alsoBound.close();
            Endpoint fresh = target(pair);
            assertEquals(pair.refusal(FabricErrno.EACCES), read(pair, pair.a.av.insert(fresh.name()), region, 100));
            assertEquals(pair.refusal(FabricErrno.EACCES), read(pair, pair.toB, region, 100));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-032")
    void shouldRejectTheKeyOfARegionUntilItIsEnabled(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            MemoryRegion region = bindable(pair);
            assertEquals(pair.refusal(FabricErrno.EKEYREJECTED), write(pair, pair.toB, region, 8));
            assertEquals(pair.refusal(FabricErrno.EKEYREJECTED), read(pair, pair.toB, region, 8));
            assertEquals(FabricErrno.ENOKEY,
                RemoteMemoryPair.errno(() -> pair.region(64, Flags.REMOTE_READ, region.key())));
            // its owner uses it
            assertEquals(0, pair.b.endpoint.trecv(region.address(), 8, -1, 1, 0, 1));
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 2));
            pair.b.await(1);
            pair.a.await(2);
            region.enable();
            region.enable();
            assertEquals(0, write(pair, pair.toB, region, 8));
            assertEquals(0, read(pair, pair.toB, region, 8));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"REF-032", "REF-033"})
    void shouldCloseARegionAfterTheObjectsThatItIsBoundTo(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            Counter counter = counter(pair.b);
            Endpoint endpoint = target(pair);
            long to = pair.a.av.insert(endpoint.name());
            MemoryRegion region = bindable(pair);
            region.bind(counter, Flags.REMOTE_WRITE | Flags.REMOTE_READ);
            region.bind(endpoint, 0);
            for (boolean isEnabled : new boolean[] {false, true}) {
                assertEquals(FabricErrno.EBUSY, RemoteMemoryPair.errno(region::close));
                assertTrue(region.isOpen());
                if (!isEnabled) {
                    region.enable();
                }
            }
            assertEquals(0, write(pair, to, region, 8));
            awaitValue(pair, counter, 1);
            counter.close();
            assertFalse(counter.isOpen());
            // the counter's memory is gone, and the region is as it was
            assertEquals(0, write(pair, to, region, 8));
            assertEquals(0, read(pair, to, region, 8));
            assertEquals(FabricErrno.EBUSY, RemoteMemoryPair.errno(region::close));
            endpoint.close();
            region.close();
            assertFalse(region.isOpen());
            assertEquals(pair.refusal(FabricErrno.EKEYREJECTED), write(pair, pair.toB, region, 8));
            assertEquals(pair.refusal(FabricErrno.EKEYREJECTED), read(pair, pair.toB, region, 8));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldShareOneCounterBetweenRegionsAndEndpoints(Setup setup) {
        setup.assumeRemoteEvents();
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            Counter counter = counter(pair.b);
            List<MemoryRegion> regions = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                MemoryRegion region = bindable(pair);
                region.bind(counter, Flags.REMOTE_WRITE);
                region.enable();
                regions.add(region);
            }
            Endpoint endpoint = pair.open(pair.b, RemoteMemoryPair.hints(Flags.RMA_EVENT));
            endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(counter, Flags.REMOTE_READ);
            endpoint.enable();
            long to = pair.a.av.insert(endpoint.name());
            for (MemoryRegion region : regions) {
                assertEquals(0, write(pair, pair.toB, region, 100));
            }
            assertEquals(0, read(pair, to, regions.getFirst(), 100));
            awaitValue(pair, counter, 4);
            assertEquals(FabricErrno.EBUSY, RemoteMemoryPair.errno(counter::close));
            endpoint.close();
            counter.close();
            regions.forEach(MemoryRegion::close);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseWhatCannotBeBound(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            Counter counter = counter(pair.b);
            MemoryRegion region = bindable(pair);
            long writes = Flags.REMOTE_WRITE;
            assertRefused(FabricErrno.EBADFLAGS, () -> region.bind(counter, writes | Flags.WRITE));
            assertRefused(FabricErrno.EINVAL, () -> region.bind(counter, 0));
            assertRefused(FabricErrno.EBADFLAGS, () -> region.bind(pair.b.endpoint, writes));
            assertRefused(FabricErrno.EINVAL, () -> region.bind(pair.b.cq, 0));
            assertRefused(FabricErrno.EINVAL, () -> region.bind((Counter) null, writes));
            Domain other = pair.b.fabric.domain(pair.b.info);
            Counter foreign = other.openCounter(new CounterAttr());
            assertRefused(FabricErrno.EDOMAIN, () -> region.bind(foreign, writes));
            assertRefused(FabricErrno.EDOMAIN,
                () -> region.bind(pair.pair.sibling(pair.b, new Info().caps(Flags.RMA), 1).endpoint, 0));
            Counter closed = counter(pair.b);
            closed.close();
            assertRefused(FabricErrno.EOPBADSTATE, () -> region.bind(closed, writes));
            region.bind(counter, writes);
            assertRefused(FabricErrno.EINVAL, () -> region.bind(counter, writes | Flags.REMOTE_READ));
            region.bind(pair.b.endpoint, 0);
            assertRefused(FabricErrno.EINVAL, () -> region.bind(pair.b.endpoint, 0));
            Endpoint later = pair.open(pair.b, RemoteMemoryPair.hints(0));
            later.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
            region.bind(later, 0);
            assertRefused(FabricErrno.EOPBADSTATE, region::enable);
            later.enable();
            region.enable();
            assertRefused(FabricErrno.EOPBADSTATE, () -> region.bind(counter, Flags.REMOTE_READ));
            // one that was registered without the flag is enabled
            assertRefused(FabricErrno.EOPBADSTATE, () -> pair.target.bind(counter, writes));
            pair.target.enable();
            MemoryRegion gone = bindable(pair);
            gone.close();
            assertRefused(FabricErrno.EOPBADSTATE, () -> gone.bind(counter, writes));
            assertRefused(FabricErrno.EOPBADSTATE, gone::enable);
            MemoryRegionAttr wrong = new MemoryRegionAttr().flags(Flags.RMA_EVENT | Flags.HMEM_DEVICE_ONLY);
            assertRefused(FabricErrno.EBADFLAGS, () -> pair.b.domain.allocate(64, wrong));
            assertEquals(Flags.RMA_EVENT | Flags.HMEM_DEVICE_ONLY, wrong.flags());
        }
    }

    private static void assertRefused(int errno, Executable call) {
        assertEquals(FabricErrno.name(errno), FabricErrno.name(RemoteMemoryPair.errno(call)));
    }
}
