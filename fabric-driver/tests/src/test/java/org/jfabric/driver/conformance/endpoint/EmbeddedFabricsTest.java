package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryPool;
import org.jfabric.MemoryRegion;
import org.jfabric.MemorySlice;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** An application that embeds its driver: several fabrics, memory of its own, and memory of any length. */
@Tag("conformance")
@Timeout(120)
class EmbeddedFabricsTest {
    private static final long ANY = -1L;
    /** More than 2^31 bytes. */
    private static final long HUGE = (2L << 30) + (1 << 20);

    @Test
    void shouldServeTwoFabricsOfTheEmbeddingApplication() {
        Path base = TestDirectory.create();
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(base.resolve("one")).threadingMode(ThreadingMode.INVOKER).build())) {
            Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
            FabricNode first = node(driver, hints);
            FabricNode second = node(driver, hints);
            // the first one is still served, also on its control path
            try (MemoryRegion region = first.domain.allocate(64)) {
                long toSecond = first.av.insert(second.endpoint.name());
                assertEquals(0, second.endpoint.trecv(second.memory.address(), 64, ANY, 1, 0, 1));
                assertEquals(0, first.endpoint.tsend(region.address(), 64, toSecond, 1, 2));
                second.await(1);
                first.await(2);
            }
            second.close();
            long self = first.av.insert(first.endpoint.name());
            assertEquals(0, first.endpoint.trecv(first.memory.address(), 64, ANY, 1, 0, 3));
            assertEquals(0, first.endpoint.tsend(first.memory.address(64), 64, self, 1, 4));
            long seen = first.await().context() + first.await().context();
            assertEquals(7, seen);
            first.close();
        } finally {
            TestDirectory.delete(base);
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED"})
    void shouldSendMemoryOfTheApplication(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(1 << 20, 64);
            for (int i = 0; i < memory.byteSize(); i++) {
                memory.set(ValueLayout.JAVA_BYTE, i, FabricNode.pattern(3, i));
            }
            MemoryRegion region = pair.a.domain.register(memory);
            MemoryRegion sink = pair.b.domain.register(arena.allocate(1 << 20, 64));
            // no other driver can map it: the large ones go in segments
            for (int length : new int[] {0, 1, 64, 8192, 100_000, 1 << 20}) {
                sink.segment().fill((byte) 0);
                pair.b.endpoint.trecv(sink.address(), length, ANY, length, 0, 1);
                pair.a.endpoint.tsend(region.address(), length, pair.toB, length, 2);
                assertEquals(length, pair.b.await(1).len());
                pair.a.await(2);
                assertEquals(-1, memory.asSlice(0, length).mismatch(sink.segment().asSlice(0, length)));
            }
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.register(MemorySegment.ofArray(new byte[8]))));
            region.close();
            region.close();
            pair.a.endpoint.tsend(region.address(), 8, pair.toB, 1, 3);
            assertEquals(FabricErrno.EFAULT, pair.a.await().err());
            sink.close();
        }
    }

    @Tag("slow")
    @Timeout(400)
    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @MethodSource("ofOneHost")
    void shouldCarryBytesBeyondTwoGibibytes(Setup setup) throws IOException {
        try (FabricPair pair = new FabricPair(setup)) {
            long free = Files.getFileStore(Path.of("/dev/shm"))
                .getUsableSpace();
            Assumptions.assumeTrue(free > 3 * HUGE, "regions of 2 GiB need 6 GiB free in /dev/shm, free are " + free);
            try (MemoryRegion region = pair.a.domain.allocate(HUGE); MemoryRegion sink = pair.b.domain.allocate(HUGE)) {
                assertEquals(FabricErrno.EOVERFLOW, errno(region::buffer));
                assertEquals(FabricErrno.EINVAL, errno(() -> region.address(HUGE + 1)));
                assertEquals(FabricErrno.EINVAL, errno(() -> region.buffer(HUGE - 8, 16)));
                long far = HUGE - 4096;
                MemorySlice slice = region.slice(far, 4096);
                slice.buffer().setMemory(0, 4096, (byte) 7);
                pair.b.endpoint.trecv(sink.address(far), 4096, ANY, 1, 0, 1);
                pair.a.endpoint.tsend(slice.address(), 4096, pair.toB, 1, 2);
                pair.b.await(1);
                pair.a.await(2);
                assertEquals(7, sink.segment().get(ValueLayout.JAVA_BYTE, HUGE - 1));
                pair.a.endpoint.tsend(region.address(far), 4097, pair.toB, 1, 3);
                assertEquals(FabricErrno.EFAULT, pair.a.await().err());
                // one message of more than 2^31 bytes, cut by a shorter receive
                region.segment().set(ValueLayout.JAVA_LONG, (2L << 30) + 8, 0x55AA);
                pair.b.endpoint.trecv(sink.address(), HUGE - 1, ANY, 2, 0, 4);
                pair.a.endpoint.tsend(region.address(), HUGE, pair.toB, 2, 5);
                FabricNode.Entry cut = awaitLong(pair.b, pair.a);
                assertEquals(FabricErrno.ETRUNC, cut.err());
                assertEquals(HUGE - 1, cut.len());
                assertEquals(1, cut.olen());
                pair.a.await(5);
                assertEquals(0x55AA, sink.segment().get(ValueLayout.JAVA_LONG, (2L << 30) + 8));
            }
        }
    }

    /** Between two drivers, or also within one: pages of 4 GiB and more are made for each. */
    static List<Setup> ofOneHost() {
        return Effort.ALL ? List.of(Setup.SHM_EMBEDDED, Setup.LOOPBACK_EMBEDDED) : List.of(Setup.SHM_EMBEDDED);
    }

    @Test
    void shouldSendFromSlicesOfAPool() {
        try (FabricPair pair = new FabricPair(Setup.LOOPBACK_EMBEDDED);
            MemoryRegion region = pair.a.domain.allocate(1000)) {
            MemoryPool pool = new MemoryPool(region, 100);
            assertEquals(8, pool.size());
            MemorySlice first = pool.take();
            MemorySlice second = pool.take();
            assertNotEquals(first.address(), second.address());
            assertEquals(0, first.address() & 63);
            first.buffer().setMemory(0, 100, (byte) 9);
            second.buffer().setMemory(0, 100, (byte) 8);
            pair.b.endpoint.trecv(pair.b.memory.address(), 200, ANY, 1, 0, 1);
            pair.a.endpoint.tsend(first.address(), 100, pair.toB, 1, first.index());
            pair.b.await(1);
            pool.give(pool.slice((int) pair.a.await().context()));
            pool.give(first);
            assertEquals(7, pool.available());
            assertEquals(9, pair.b.memory.buffer().getByte(99));
            assertEquals(0, pair.b.memory.buffer().getByte(100));
            while (pool.available() > 0) {
                assertNotNull(pool.take());
            }
            assertNull(pool.take());
        }
    }

    /** Moving gibibytes that were never touched takes a small machine half a minute. */
    private static FabricNode.Entry awaitLong(FabricNode node, FabricNode peer) {
        long deadline = System.nanoTime() + Deadline.ns(150);
        FabricNode.Entry entry;
        while ((entry = node.poll()) == null) {
            assertTrue(System.nanoTime() - deadline < 0, "no completion");
            peer.cq.read(null, 0, 0);
        }
        return entry;
    }

    private static FabricNode node(FabricDriver driver, Info hints) {
        Fabric fabric = driver.fabric(new FabricConfig());
        return new FabricNode(fabric, "loopback", hints, 64, 1, driver::cycle);
    }

    static int errno(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(org.jfabric.info.FabricException.class, call).errno();
    }
}
