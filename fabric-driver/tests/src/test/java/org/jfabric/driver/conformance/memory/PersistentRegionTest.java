package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Regions in files, and writes that end when they are on stable storage. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class PersistentRegionTest {
    private static final int LENGTH = 300_000;

    private final DiskDirectory disk = new DiskDirectory();
    private final RemoteRequest request = new RemoteRequest();

    @AfterEach
    void delete() {
        disk.close();
    }

    private static RemoteMemoryPair pair(Setup setup, long moreCaps) {
        return new RemoteMemoryPair(setup, Flags.RMA_PMEM | moreCaps, 512);
    }

    private static MemoryRegion region(FabricNode node, Path path, long key, long flags) {
        return node.domain.allocatePersistent(path, LENGTH,
            new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(key).flags(flags));
    }

    private int write(RemoteMemoryPair pair, long key, long remote, int length, long flags) {
        request.clear().memory(pair.a.memory.address(), length).destAddr(pair.toB).remote(remote, key).opContext(7)
            .flags(Flags.COMPLETION | flags);
        assertEquals(0, pair.remote.writemsg(request));
        return pair.a.await().err();
    }

    private int commit(RemoteMemoryPair pair, MemoryRegion region, long remote, int length) {
        return write(pair, region.key(), remote, length, Flags.COMMIT_COMPLETE);
    }

    private static long syncs(RemoteMemoryPair pair) {
        try (DriverView view = new DriverView(pair.pair.directoryOf(pair.b))) {
            return view.counter(SystemCounter.REGION_SYNCS.label());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CL-023")
    void shouldHaveCommittedBytesInTheFileAfterTheEnd(Setup setup) throws IOException {
        Path path = disk.file("region");
        byte[] expected = new byte[LENGTH];
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            MemoryRegion region = region(pair.b, path, 11, 0);
            assertEquals(LENGTH, region.lengthBytes());
            int at = 0;
            for (int length : new int[] {1, 8, 64, 4096, 8193, 100_000, 0}) {
                pair.a.fill(0, length, length);
                assertEquals(0, commit(pair, region, at, length));
                FabricNode.assertPattern(region.buffer(), at, length, length, 0);
                System.arraycopy(FabricNode.pattern(length, 0, length), 0, expected, at, length);
                at += length;
            }
            // its owner stores there as well
            region.buffer().putByte(at, (byte) 9);
            expected[at] = 9;
        }
        assertArrayEquals(expected, Files.readAllBytes(path));
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            MemoryRegion region = region(pair.b, path, 12, 0);
            assertEquals(0, pair.remote.read(pair.a.memory.address(), LENGTH, pair.toB, 0, region.key(), 1));
            pair.a.await(1);
            byte[] seen = new byte[LENGTH];
            pair.a.memory.buffer().getBytes(0, seen);
            assertArrayEquals(expected, seen);
            region.close();
            if (!setup.isForeign()) {
                assertEquals(FabricErrno.EKEYREJECTED, commit(pair, region, 0, 8));
            }
        }
        assertArrayEquals(expected, Files.readAllBytes(path));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CL-023")
    void shouldSyncTheRegionBeforeTheEntryOfEachCommit(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            MemoryRegion region = region(pair.b, disk.file("region"), 11, 0);
            for (int i = 0; i < 20; i++) {
                long before = syncs(pair);
                assertEquals(0, write(pair, region.key(), 0, 100_000, 0));
                assertEquals(0, write(pair, region.key(), 0, 8, Flags.DELIVERY_COMPLETE));
                assertEquals(before, syncs(pair), "no commit");
                assertEquals(0, commit(pair, region, 64L * i, 64));
                assertEquals(before + 1, syncs(pair));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = ThreadingMode.class, names = {"DEDICATED", "SHARED"})
    void shouldCommitWhateverThreadsTheDriverHas(ThreadingMode mode) {
        Path base = TestDirectory.create();
        try (DriverProcess driver = DriverProcess.start(base.resolve("alpha"), "jfabric.threading.mode=" + mode);
             FabricNode node = new FabricNode(
                 Fabric.connect(new FabricConfig().directory(driver.directory())), "loopback",
                 RemoteMemoryPair.hints(Flags.RMA_PMEM), 64, 0, () -> { })) {
            MemoryRegion region = region(node, disk.file("region"), 11, 0);
            long to = node.av.insert(node.endpoint.name());
            for (int i = 0; i < 100; i++) {
                node.memory.buffer().putLong(0, i);
                request.clear().memory(node.memory.address(), 8).destAddr(to).remote(8L * i, 11).opContext(i)
                    .flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE);
                assertEquals(0, node.endpoint.remoteMemory().writemsg(request));
                node.await(i);
                assertEquals(i, region.buffer().getLong(8 * i));
            }
        } finally {
            TestDirectory.delete(base);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldServeManyCommitsWithFewSyncs(Setup setup) {
        int count = 128;
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            MemoryRegion region = region(pair.b, disk.file("region"), 11, 0);
            assertEquals(0, commit(pair, region, 0, 8));
            long before = syncs(pair);
            for (int i = 0; i < count; i++) {
                pair.a.memory.buffer().putLong(8 * i, i + 1);
                request.clear().memory(pair.a.memory.address(8L * i), 8).destAddr(pair.toB).remote(8L * i, region.key())
                    .opContext(i).flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE);
                assertEquals(0, pair.remote.writemsg(request));
            }
            for (int i = 0; i < count; i++) {
                assertEquals(0, pair.a.await().err());
            }
            for (int i = 0; i < count; i++) {
                assertEquals(i + 1, region.buffer().getLong(8 * i));
            }
            long syncs = syncs(pair) - before;
            assertTrue(syncs >= 1 && syncs <= count, () -> syncs + " syncs");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("OPF-004")
    void shouldReportAndCountACommitOnlyAfterItsSync(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            Counter writes = pair.b.domain.openCounter(new CounterAttr());
            MemoryRegion region = region(pair.b, disk.file("region"), 11, Flags.RMA_EVENT);
            region.bind(writes, Flags.REMOTE_WRITE);
            region.enable();
            for (int i = 0; i < 20; i++) {
                long before = syncs(pair);
                request.clear().memory(pair.a.memory.address(), 100).destAddr(pair.toB).remote(0, region.key())
                    .opContext(7).remoteCqData(i).flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE);
                assertEquals(0, pair.remote.writemsg(request));
                FabricNode.Entry report = pair.b.await();
                assertEquals(before + 1, syncs(pair));
                assertEquals(Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, report.flags());
                assertEquals(i, report.data());
                assertEquals(100, report.len());
                pair.a.await(7);
                long count = i + 1;
                Deadline.usual().until("the count", () -> {
                    pair.pair.pump();
                    return writes.read() >= count;
                }, Thread::yield, writes::toString);
                assertEquals(count, writes.read());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldWaitForASlotOfTheReportBeforeItCommits(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.RMA_PMEM | Flags.RMA_EVENT, 16)) {
            MemoryRegion region = region(pair.b, disk.file("region"), 11, 0);
            int count = 60;
            int posted = 0;
            int reported = 0;
            int ended = 0;
            Deadline deadline = Deadline.usual();
            while (ended < count || reported < count) {
                String state = posted + " posted, " + ended + " ended, " + reported + " reported";
                deadline.check("the end of all writes", () -> state);
                request.clear().memory(pair.a.memory.address(), 8).destAddr(pair.toB).remote(8L * posted, region.key())
                    .opContext(posted).flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE);
                if (posted < count && pair.remote.writemsg(request) == 0) {
                    posted++;
                }
                FabricNode.Entry entry = pair.a.poll();
                if (entry != null) {
                    assertEquals(0, entry.err());
                    ended++;
                }
                pair.pair.pump();
                if (pair.b.poll() != null) {
                    reported++;
                }
            }
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-024", "OPF-004"})
    void shouldRefuseCommitsOfWhatIsNotPersistent(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup, Flags.ATOMIC)) {
            for (int length : new int[] {8, 100_000}) {
                assertEquals(FabricErrno.EOPNOTSUPP, write(pair, pair.key, 0, length, Flags.COMMIT_COMPLETE));
            }
            pair.assertUntouched(0, RemoteMemoryPair.LENGTH);
            // the connection is as before
            assertEquals(0, write(pair, pair.key, 0, 8, 0));
            request.clear().memory(pair.a.memory.address(), 8).destAddr(pair.toB).remote(0, pair.key)
                .flags(Flags.COMMIT_COMPLETE);
            assertEquals(-FabricErrno.EBADFLAGS, pair.remote.readmsg(request));
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().tsendmsg(
                pair.a.memory.address(), 8, 0, pair.toB, 1, 1, Flags.COMMIT_COMPLETE));
            Endpoint without = pair.open(pair.a, RemoteMemoryPair.hints(0));
            without.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            without.enable();
            assertEquals(-FabricErrno.EBADFLAGS, without.remoteMemory().writemsg(request));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndTheConnectionOfAPeerThatCommitsWhatIsNotPersistent(Setup setup) {
        assumeTrue(setup.isForeign(), "an errno answers it");
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, Flags.RMA_PMEM)) {
            assertEquals(FabricErrno.ECONNRESET, write(pair, pair.key, 0, 100_000, Flags.COMMIT_COMPLETE));
            pair.assertUntouched(0, RemoteMemoryPair.LENGTH);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldOfferTheCapabilityOnlyWhereItIs(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InfoResult result = pair.a.fabric.info(
                new Info().caps(Flags.RMA | Flags.RMA_PMEM).linkName(setup.link));
            if (!setup.offersCommits()) {
                assertEquals(FabricErrno.ENODATA, assertThrows(FabricException.class, result::best).errno());
                assertTrue(result.explain().contains("caps"), result::explain);
            } else {
                assertEquals(Flags.RMA_PMEM, result.best().caps() & Flags.RMA_PMEM);
                assertEquals(0, pair.a.fabric.info(new Info().linkName(setup.link)).best().caps() & Flags.RMA_PMEM);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldTakeOnlyFilesThatSurvive(Setup setup) throws IOException {
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            Path memory = Path.of("/dev/shm/jfabric-persistent-" + ProcessHandle.current().pid());
            assumeTrue(Files.isWritable(memory.getParent()));
            String reason = refusal(FabricErrno.EOPNOTSUPP, pair, memory);
            assertTrue(reason.contains("tmpfs"), reason);
            assertFalse(Files.exists(memory));
            Path folder = Files.createDirectory(disk.file("folder"));
            assertTrue(errnoOf(pair, folder) > 0);
            Path link = Files.createSymbolicLink(disk.file("link"), memory);
            assertEquals(40, errnoOf(pair, link));
            assertTrue(errnoOf(pair, disk.file("none").resolve("file")) > 0);
            Path longer = Files.write(disk.file("longer"), new byte[LENGTH + 1]);
            refusal(FabricErrno.EINVAL, pair, longer);
            assertEquals(LENGTH + 1, Files.size(longer));
            assertEquals(FabricErrno.EINVAL, RemoteMemoryPair.errno(
                () -> pair.b.domain.allocatePersistent(disk.file("empty"), 0)));
            assertFalse(Files.exists(disk.file("empty")));
            // the same again is taken, and a shorter one grows
            byte[] shorter = new byte[LENGTH / 2];
            Arrays.fill(shorter, (byte) 5);
            MemoryRegion region = region(pair.b, Files.write(disk.file("shorter"), shorter), 11, 0);
            assertEquals(FabricErrno.ENOKEY,
                RemoteMemoryPair.errno(() -> region(pair.b, disk.file("other"), 11, 0)));
            region.close();
            byte[] grown = Files.readAllBytes(disk.file("shorter"));
            assertArrayEquals(Arrays.copyOf(shorter, LENGTH), grown);
            MemoryRegion local = pair.b.domain.allocatePersistent(disk.file("shorter"), LENGTH);
            assertEquals(5, local.buffer().getByte(1));
            local.close();
        }
    }

    private static String refusal(int errno, RemoteMemoryPair pair, Path path) {
        FabricException refused = assertThrows(FabricException.class, () -> region(pair.b, path, 99, 0));
        assertEquals(FabricErrno.name(errno), FabricErrno.name(refused.errno()));
        return refused.getMessage();
    }

    private static int errnoOf(RemoteMemoryPair pair, Path path) {
        return RemoteMemoryPair.errno(() -> region(pair.b, path, 99, 0));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldUsePersistentMemoryForMessages(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            MemoryRegion source = region(pair.a, disk.file("source"), 1, 0);
            MemoryRegion target = region(pair.b, disk.file("target"), 2, 0);
            for (int length : new int[] {8, LENGTH}) {
                source.buffer().putBytes(0, FabricNode.pattern(length, 0, length));
                assertEquals(0, pair.b.endpoint.trecv(target.address(), length, -1, 1, 0, 1));
                assertEquals(0, pair.a.endpoint.tsend(source.address(), length, pair.toB, 1, 2));
                pair.b.await(1);
                pair.a.await(2);
                FabricNode.assertPattern(target.buffer(), 0, length, length, 0);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGoOnAfterARegionIsClosedWhileCommitsWait(Setup setup) {
        setup.assumeErrorReplies();
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            for (int round = 0; round < 20; round++) {
                MemoryRegion region = region(pair.b, disk.file("region"), 100 + round, 0);
                int count = 20;
                for (int i = 0; i < count; i++) {
                    request.clear().memory(pair.a.memory.address(), 64).destAddr(pair.toB).remote(64L * i, region.key())
                        .opContext(i).flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE);
                    assertEquals(0, pair.remote.writemsg(request));
                }
                if (round % 2 == 0) {
                    pair.pair.pump();
                }
                region.close();
                for (int i = 0; i < count; i++) {
                    int err = pair.a.await().err();
                    assertTrue(err == 0 || err == FabricErrno.EKEYREJECTED, () -> FabricErrno.name(err));
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldForgetTheCommitsOfAPeerThatCloses(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup, 0)) {
            MemoryRegion region = region(pair.b, disk.file("region"), 11, 0);
            for (int round = 0; round < 20; round++) {
                Endpoint writer = pair.open(pair.a, RemoteMemoryPair.hints(Flags.RMA_PMEM));
                writer.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
                writer.enable();
                for (int i = 0; i < 10; i++) {
                    request.clear().memory(pair.a.memory.address(), 64).destAddr(pair.toB).remote(64L * i, region.key())
                        .flags(Flags.COMMIT_COMPLETE);
                    assertEquals(0, writer.remoteMemory().writemsg(request));
                }
                pair.pair.pump();
                writer.close();
                while (pair.a.poll() != null) {
                    pair.pair.pump();
                }
                assertEquals(0, commit(pair, region, 0, 8));
            }
        }
    }
}
