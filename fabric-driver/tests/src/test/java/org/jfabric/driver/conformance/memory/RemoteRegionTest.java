package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Regions that peers may access: keys, rights, modes, and their end. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class RemoteRegionTest {
    private static final long LOCAL = Flags.SEND | Flags.RECV | Flags.READ | Flags.WRITE;
    private static final int LENGTH = 4096;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-030")
    void shouldGiveARegionTheKeyThatIsAskedFor(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            for (long key : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
                MemoryRegion region = pair.b.domain.allocate(LENGTH, new MemoryRegionAttr()
                    .access(LOCAL | RemoteMemoryPair.BOTH).requestedKey(key).context(55));
                assertEquals(key, region.key());
                assertEquals(0, region.desc());
                assertEquals(55, region.context());
                assertEquals(FidClass.MR, region.fidClass());
                // local use continues as with every region
                region.buffer().putLong(0, 42);
                assertEquals(0, pair.b.endpoint.trecv(region.address(8), 8, -1, 1, 0, 1));
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 2));
                pair.b.await(1);
                pair.a.await(2);
                assertEquals(0, pair.remote.read(pair.a.memory.address(), 8, pair.toB, 0, key, 3));
                pair.a.await(3);
                assertEquals(42, pair.a.memory.buffer().getLong(0));
                region.close();
                assertFalse(region.isOpen());
                region.close();
            }
            MemoryRegionAttr tooMuch = new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.RMA);
            assertEquals(FabricErrno.EINVAL, RemoteMemoryPair.errno(() -> pair.b.domain.allocate(LENGTH, tooMuch)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-030")
    void shouldRefuseAKeyThatIsInUseInTheDomain(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0);
             FabricNode other = pair.pair.sibling(pair.b, RemoteMemoryPair.hints(0), 5)) {
            long key = RemoteMemoryPair.freshKey();
            MemoryRegion first = pair.region(LENGTH, Flags.REMOTE_READ, key);
            assertEquals(FabricErrno.ENOKEY,
                RemoteMemoryPair.errno(() -> pair.region(LENGTH, Flags.REMOTE_WRITE, key)));
            // a region that peers cannot use has no key that is asked for
            pair.region(LENGTH, LOCAL, key).close();
            first.close();
            MemoryRegion second = pair.region(LENGTH, RemoteMemoryPair.BOTH, key);
            MemoryRegion elsewhere = other.domain.allocate(
                LENGTH, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(key));
            long toOther = pair.a.av.insert(other.endpoint.name());
            pair.a.fill(0, 64, 1);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 64, pair.toB, 0, key, 1));
            pair.a.await(1);
            pair.a.fill(0, 64, 2);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 64, toOther, 0, key, 2));
            pair.a.await(2);
            FabricNode.assertPattern(second.buffer(), 0, 64, 1, 0);
            FabricNode.assertPattern(elsewhere.buffer(), 0, 64, 2, 0);
            // each endpoint gives access to the regions of its own domain only
            second.close();
            assertRefused(pair, pair.toB, key, Flags.WRITE, FabricErrno.EKEYREJECTED);
            assertRefused(pair, pair.toB, key, Flags.READ, FabricErrno.EKEYREJECTED);
            assertRefused(pair, toOther, pair.key, Flags.WRITE, FabricErrno.EKEYREJECTED);
            FabricNode.assertPattern(elsewhere.buffer(), 0, 64, 2, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-030")
    void shouldAllowPeersOnlyWhatRegionAndEndpointAllow(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            MemoryRegion readable = pair.region(LENGTH, Flags.REMOTE_READ, RemoteMemoryPair.freshKey());
            MemoryRegion writable = pair.region(LENGTH, Flags.REMOTE_WRITE, RemoteMemoryPair.freshKey());
            MemoryRegion local = pair.region(LENGTH, LOCAL, RemoteMemoryPair.freshKey());
            assertAllowed(pair, pair.toB, readable.key(), Flags.READ);
            assertRefused(pair, pair.toB, readable.key(), Flags.WRITE, FabricErrno.EACCES);
            assertAllowed(pair, pair.toB, writable.key(), Flags.WRITE);
            assertRefused(pair, pair.toB, writable.key(), Flags.READ, FabricErrno.EACCES);
            // peers cannot name it
            assertRefused(pair, pair.toB, local.key(), Flags.READ, FabricErrno.EKEYREJECTED);
            assertRefused(pair, pair.toB, local.key(), Flags.WRITE, FabricErrno.EKEYREJECTED);
            long[][] endpoints = {
                {Flags.RMA | Flags.REMOTE_READ, Flags.READ}, {Flags.RMA | Flags.REMOTE_WRITE, Flags.WRITE},
                {Flags.RMA | Flags.READ | Flags.WRITE, 0}, {Flags.TAGGED, 0}};
            for (long[] each : endpoints) {
                try (Endpoint endpoint = pair.open(pair.b, new Info().caps(each[0]))) {
                    endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
                    endpoint.enable();
                    long to = pair.a.av.insert(endpoint.name());
                    for (long direction : new long[] {Flags.READ, Flags.WRITE}) {
                        if (direction == each[1]) {
                            assertAllowed(pair, to, pair.key, direction);
                        } else {
                            assertRefused(pair, to, pair.key, direction, FabricErrno.EACCES);
                        }
                    }
                }
            }
            pair.b.assertQuiet(20);
        }
    }

    private static void assertAllowed(RemoteMemoryPair pair, long to, long key, long direction) {
        access(pair, to, key, direction);
        pair.a.await(9);
    }

    private static void assertRefused(RemoteMemoryPair pair, long to, long key, long direction, int errno) {
        access(pair, to, key, direction);
        pair.assertRefused(pair.a.await(), 9, direction, errno);
    }

    private static void access(RemoteMemoryPair pair, long to, long key, long direction) {
        long buf = pair.a.memory.address();
        assertEquals(0, direction == Flags.READ ? pair.remote.read(buf, 8, to, 0, key, 9)
            : pair.remote.write(buf, 8, to, 0, key, 9));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-031")
    void shouldTakeOffsetsAndKeysOfTheApplicationWhateverModesItKnows(Setup setup) {
        long[] modes = {MrMode.LOCAL, MrMode.VIRT_ADDR, MrMode.ALLOCATED, MrMode.PROV_KEY, MrMode.RMA_EVENT,
            MrMode.ENDPOINT, MrMode.HMEM};
        setup.assumeRemoteMemory();
        try (FabricPair pair = new FabricPair(setup)) {
            long all = 0;
            for (long mode : modes) {
                all |= mode;
                for (long asked : new long[] {mode | MrMode.LOCAL, all}) {
                    Info hints = RemoteMemoryPair.hints(0).linkName(setup.link);
                    hints.domainAttr().mrMode(asked);
                    Info offer = pair.a.fabric.info(hints).best();
                    // what is set there the application would have to do
                    assertEquals(MrMode.LOCAL, offer.domainAttr().mrMode());
                    assertEquals(8, offer.domainAttr().mrKeySize());
                }
            }
            Info hints = RemoteMemoryPair.delivering(setup, RemoteMemoryPair.hints(0));
            hints.domainAttr().mrMode(all);
            try (FabricNode target = pair.sibling(pair.b, hints, 1); FabricNode from = pair.sibling(pair.a, hints, 2)) {
                MemoryRegion region = target.domain.allocate(
                    LENGTH, new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(17));
                assertNotEquals(0, region.address());
                assertEquals(17, region.key());
                from.fill(0, 100, 3);
                long to = from.av.insert(target.endpoint.name());
                assertEquals(0, from.endpoint.remoteMemory().write(from.memory.address(), 100, to, 7, 17, 1));
                from.await(1);
                FabricNode.assertPattern(region.buffer(), 7, 100, 3, 0);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-033")
    void shouldEndAccessesToARegionThatIsClosedMeanwhile(Setup setup) {
        int length = 1_000_000;
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            for (int round = 0; round < 20; round++) {
                long direction = round % 2 == 0 ? Flags.WRITE : Flags.READ;
                long key = RemoteMemoryPair.freshKey();
                MemoryRegion region = pair.region(length, RemoteMemoryPair.BOTH, key);
                for (int i = 0; i < 3; i++) {
                    assertEquals(0, direction == Flags.READ
                        ? pair.remote.read(pair.a.memory.address(), length, pair.toB, 0, key, i)
                        : pair.remote.write(pair.a.memory.address(), length, pair.toB, 0, key, i));
                }
                for (int turns = 0; turns < round; turns++) {
                    pair.pair.pump();
                }
                region.close();
                boolean refused = false;
                for (int i = 0; i < 3; i++) {
                    FabricNode.Entry entry = pair.a.await();
                    assertEquals(i, entry.context());
                    if (entry.err() != 0 || refused) {
                        refused = true;
                        pair.assertRefused(entry, i, direction, FabricErrno.EKEYREJECTED);
                    }
                }
                access(pair, pair.toB, key, direction);
                pair.assertRefused(pair.a.await(), 9, direction, FabricErrno.EKEYREJECTED);
            }
            assertAllowed(pair, pair.toB, pair.key, Flags.READ);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-030")
    void shouldLetPeersAccessMemoryOfTheProcess(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0); Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(LENGTH, 8);
            MemoryRegionAttr attr = new MemoryRegionAttr().access(RemoteMemoryPair.BOTH)
                .requestedKey(RemoteMemoryPair.freshKey());
            MemoryRegion region = pair.b.domain.register(memory, attr);
            assertEquals(setup.daemon, region.isCopied());
            if (setup.daemon && setup.isForeign()) {
                // such memory is no target there: CopiedMemoryTest
                return;
            }
            pair.a.memory.buffer().putLong(0, 99);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 8, pair.toB, LENGTH - 8, region.key(), 1));
            pair.a.await(1);
            assertEquals(99, memory.get(ValueLayout.JAVA_LONG, LENGTH - 8));
            memory.set(ValueLayout.JAVA_LONG, 8, 98);
            assertEquals(0, pair.remote.read(pair.a.memory.address(), 8, pair.toB, 8, region.key(), 2));
            pair.a.await(2);
            assertEquals(98, pair.a.memory.buffer().getLong(0));
            assertEquals(FabricErrno.ENOKEY, RemoteMemoryPair.errno(() -> pair.b.domain.allocate(LENGTH, attr)));
            region.close();
            assertRefused(pair, pair.toB, region.key(), Flags.WRITE, FabricErrno.EKEYREJECTED);
            assertTrue(memory.scope().isAlive());
        }
    }
}
