package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Reads of granted memory and writes whose bytes the peer's driver copies: two drivers in mode INVOKER, of which the
 * second one runs only when a test lets it, so that what one driver does without the other is seen.
 */
@Tag("conformance")
@Timeout(60)
class MappedAccessTest {
    private static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final String COPIED = "shm: bytes taken by single copy";
    private static final int SEGMENT = 8 << 10;
    private static final int LENGTH = 1 << 20;
    private static final int GUARD = 4096;
    private static final long KEY = 5;
    private static final byte UNTOUCHED = 0x5C;

    private Path base;
    private FabricDriver alpha;
    private FabricDriver beta;
    private FabricNode a;
    private FabricNode b;
    private long toB;
    private MemoryRegion target;
    private long contexts = 100;

    @BeforeEach
    void start() {
        start(new Info().caps(Flags.RMA | Flags.ATOMIC | Flags.TAGGED | Flags.MSG | Flags.SOURCE));
    }

    private void start(Info hints) {
        base = TestDirectory.create();
        alpha = embed("alpha");
        beta = embed("beta");
        a = new FabricNode(
            alpha.fabric(), "shm", hints.copy(), 64, 0xAA, () -> { });
        b = new FabricNode(
            beta.fabric(), "shm", hints.copy(), 64, 0xBB, () -> { });
        toB = a.av.insert(b.endpoint.name());
        target = expose(KEY);
    }

    private FabricDriver embed(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve(name))
            .threadingMode(ThreadingMode.INVOKER).set(ShmConfig.SEGMENT_LENGTH_BYTES, SEGMENT).build());
    }

    private MemoryRegion expose(long key) {
        MemoryRegion region = b.domain.allocate(LENGTH, new MemoryRegionAttr().access(BOTH).requestedKey(key));
        region.buffer().setMemory(0, LENGTH, UNTOUCHED);
        return region;
    }

    @AfterEach
    void stop() {
        a.fabric.close();
        b.fabric.close();
        alpha.close();
        beta.close();
        TestDirectory.delete(base);
    }

    private static void await(String what, BooleanSupplier condition) {
        Deadline.await(what, condition, () -> "");
    }

    /** Both drivers run until the access has ended. */
    private FabricNode.Entry end(long context) {
        FabricNode.Entry[] entry = new FabricNode.Entry[1];
        await("the end of access " + context, () -> {
            beta.cycle();
            entry[0] = a.poll();
            return entry[0] != null;
        });
        assertEquals(context, entry[0].context());
        return entry[0];
    }

    private void done(long context) {
        assertEquals(0, end(context).err());
    }

    /** The first driver runs alone; null if the access needs the second one. */
    private FabricNode.Entry endAlone() {
        FabricNode.Entry entry = null;
        for (int i = 0; i < 300 && entry == null; i++) {
            entry = a.poll();
        }
        return entry;
    }

    private long read(long local, int length, long remote, long key) {
        assertEquals(0, a.endpoint.remoteMemory().read(
            a.memory.address(local), length, toB, remote, key, ++contexts));
        return contexts;
    }

    private long write(long local, int length, long remote) {
        assertEquals(0, a.endpoint.remoteMemory().write(
            a.memory.address(local), length, toB, remote, KEY, ++contexts));
        return contexts;
    }

    /** Reads until one needs the first driver only: the region is granted and mapped. */
    private void awaitGrant() {
        await("a read that needs no other driver", () -> {
            long context = read(0, 8, 0, KEY);
            FabricNode.Entry alone = endAlone();
            if (alone != null) {
                assertEquals(context, alone.context());
                assertEquals(0, alone.err());
                return true;
            }
            done(context);
            return false;
        });
    }

    private long copiedByBeta() {
        try (DriverView view = new DriverView(base.resolve("beta"))) {
            return view.counter(COPIED);
        }
    }

    private void assertUntouched(UnsafeBuffer bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            assertEquals(UNTOUCHED, bytes.getByte(i), "byte " + i);
        }
    }

    // ---- reads ----

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 64, SEGMENT + 1, LENGTH - GUARD})
    void shouldReadGrantedMemoryWithoutTheOtherDriver(int length) {
        for (int i = 0; i < LENGTH; i++) {
            target.buffer().putByte(i, (byte) (i * 31 + (i >> 8)));
        }
        awaitGrant();
        a.memory.buffer().setMemory(0, 2 * LENGTH, UNTOUCHED);
        long context = read(GUARD, length, 3, KEY);
        FabricNode.Entry entry = endAlone();
        assertNotNull(entry, "the read waits for the other driver");
        assertEquals(context, entry.context());
        assertEquals(Flags.RMA | Flags.READ, entry.flags());
        for (int i = 0; i < length; i++) {
            assertEquals(target.buffer().getByte(3 + i), a.memory.buffer().getByte(GUARD + i), "byte " + i);
        }
        assertUntouched(a.memory.buffer(), 0, GUARD);
        assertUntouched(a.memory.buffer(), GUARD + length, 2 * LENGTH);
    }

    @Test
    void shouldScatterWhatItReads() {
        awaitGrant();
        a.memory.buffer().setMemory(0, 8192, UNTOUCHED);
        for (int i = 0; i < 300; i++) {
            target.buffer().putByte(1000 + i, (byte) i);
        }
        IoVec iov = new IoVec().add(a.memory.address(100), 100).add(a.memory.address(4000), 200);
        assertEquals(0, a.endpoint.remoteMemory().readv(iov, toB, 1000, KEY, ++contexts));
        assertNotNull(endAlone());
        for (int i = 0; i < 300; i++) {
            assertEquals((byte) i, a.memory.buffer().getByte(i < 100 ? 100 + i : 3900 + i));
        }
        assertUntouched(a.memory.buffer(), 200, 4000);
        assertUntouched(a.memory.buffer(), 4200, 8192);
    }

    /** What is posted before has to be in place: the read takes the ring while the other driver has not executed it. */
    @ParameterizedTest
    @ValueSource(strings = {"write", "long write", "write with data", "atomic", "message"})
    void shouldReadWhatEarlierOperationsHavePlaced(String kind) {
        int local = 64 << 10;
        done(write(local, 8, 512 << 10));
        awaitGrant();
        a.memory.buffer().putLong(local, 0x1234_5678_9ABCL);
        int length = kind.equals("long write") ? 4 * SEGMENT : 8;
        long first = ++contexts;
        switch (kind) {
            case "atomic" -> assertEquals(0, a.endpoint.atomics().atomic(
                a.memory.address(local), 1, toB, 0, KEY, AtomicDatatype.INT64,
                AtomicOperation.ATOMIC_WRITE, first));
            case "write with data" -> assertEquals(0, a.endpoint.remoteMemory().writedata(
                a.memory.address(local), length, 77, toB, 0, KEY, first));
            case "message" -> {
                // received in the region that is read
                assertEquals(0, b.endpoint.trecv(target.address(), 8, -1L, 9, 0, 1));
                assertEquals(0, a.endpoint.tsend(a.memory.address(local), 8, toB, 9, first));
            }
            default -> assertEquals(0, a.endpoint.remoteMemory().write(
                a.memory.address(local), length, toB, 0, KEY, first));
        }
        long context = read(8, 8, 0, KEY);
        for (int i = 0; i < 300; i++) {
            FabricNode.Entry early = a.poll();
            assertTrue(early == null || early.context() == first && kind.equals("message"), () -> "early " + early);
        }
        List<Long> ended = new ArrayList<>();
        await("both ends", () -> {
            beta.cycle();
            for (FabricNode.Entry entry = a.poll(); entry != null; entry = a.poll()) {
                assertEquals(0, entry.err());
                ended.add(entry.context());
            }
            return ended.contains(context);
        });
        assertEquals(0x1234_5678_9ABCL, a.memory.buffer().getLong(8));
    }

    @Test
    void shouldRefuseAReadOfAClosedRegionAndReadTheNextOneOfItsKey() {
        awaitGrant();
        target.close();
        long context = read(0, 8, 0, KEY);
        assertNull(endAlone(), "a closed region was read");
        assertEquals(FabricErrno.EKEYREJECTED, end(context).err());
        target = expose(KEY);
        target.buffer().putLong(0, 4711);
        done(read(0, 8, 0, KEY));
        assertEquals(4711, a.memory.buffer().getLong(0));
        awaitGrant();
        target.buffer().putLong(0, 4712);
        read(0, 8, 0, KEY);
        assertNotNull(endAlone());
        assertEquals(4712, a.memory.buffer().getLong(0));
    }

    @Test
    void shouldRefuseARangeThatIsNotInTheRegion() {
        awaitGrant();
        a.memory.buffer().setMemory(0, 128, UNTOUCHED);
        for (long offset : new long[] {LENGTH - 7, LENGTH, -8, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertEquals(FabricErrno.EFAULT, end(read(0, 8, offset, KEY)).err());
        }
        assertUntouched(a.memory.buffer(), 0, 128);
    }

    @Test
    void shouldAskTheTargetsDriverForEachReadIfTheTargetSeesThem() {
        stop();
        start(new Info().caps(Flags.RMA | Flags.RMA_EVENT | Flags.TAGGED | Flags.MSG | Flags.SOURCE));
        List<FabricNode.Entry> reports = assertNeverAlone(0);
        assertEquals(20, reports.size());
        reports.forEach(entry -> assertEquals(Flags.RMA | Flags.REMOTE_READ, entry.flags()));
    }

    @Test
    void shouldAskTheTargetsDriverForEachReadIfACounterCountsThem() {
        stop();
        start(new Info().caps(Flags.RMA | Flags.RMA_EVENT | Flags.TAGGED | Flags.MSG | Flags.SOURCE));
        Counter counter = b.domain.openCounter(new CounterAttr());
        Endpoint counted = b.domain.openEndpoint(b.domain.info());
        counted.bind(b.cq, Flags.TRANSMIT | Flags.RECV);
        counted.bind(b.av);
        counted.bind(counter, Flags.REMOTE_READ);
        counted.enable();
        toB = a.av.insert(counted.name());
        assertNeverAlone(0);
        assertEquals(20, counter.read());
    }

    @Test
    void shouldAskTheTargetsDriverForEachReadOfMemoryWithoutAFile() {
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion plain = b.domain.register(
                arena.allocate(4096, 64), new MemoryRegionAttr().access(BOTH).requestedKey(KEY + 1));
            assertNeverAlone(1);
            plain.close();
        }
    }

    /** Returns the entries that the target has got. */
    private List<FabricNode.Entry> assertNeverAlone(int more) {
        List<FabricNode.Entry> reports = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            long context = read(0, 8, 0, KEY + more);
            assertNull(endAlone(), "the target does not know of the read");
            done(context);
            for (FabricNode.Entry entry = b.poll(); entry != null; entry = b.poll()) {
                reports.add(entry);
            }
        }
        return reports;
    }

    @Test
    void shouldEndAReadWhoseFileIsCutWithAnErrorAndGoOn() throws IOException {
        awaitGrant();
        // the header stays
        cut("beta", target);
        assertEquals(0, a.endpoint.remoteMemory().read(
            a.memory.address(0), 8, toB, LENGTH / 2, KEY, ++contexts));
        FabricNode.Entry entry = endAlone();
        assertNotNull(entry, "the read waits for the other driver");
        assertEquals(FabricErrno.EIO, entry.err());
        // its own queues, memory and driver are whole
        assertEquals(0, a.endpoint.trecv(a.memory.address(0), 8, -1L, 3, 0, 1));
        assertEquals(0, a.endpoint.cancel(1));
        await("the end of the receive", () -> a.poll() != null);
    }

    private void cut(String driver, MemoryRegion region) throws IOException {
        region.buffer().putLong(LENGTH / 2, 0x0123_4567_89AB_CDEFL);
        Path found = null;
        try (Stream<Path> files = Files.list(base.resolve(driver))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".mr")).toList()) {
                try (FileChannel channel = FileChannel.open(file)) {
                    ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
                    channel.read(word, 4096 + LENGTH / 2);
                    found = word.getLong(0) == 0x0123_4567_89AB_CDEFL ? file : found;
                }
            }
        }
        assertNotNull(found);
        try (FileChannel channel = FileChannel.open(found, StandardOpenOption.WRITE)) {
            channel.truncate(4096);
        }
    }

    // ---- writes ----

    /** Writes until the other driver has copied the bytes of one itself. */
    private void awaitPull() {
        await("a write that is copied once", () -> {
            long before = copiedByBeta();
            done(write(0, 4 * SEGMENT, 0));
            return copiedByBeta() - before == 4 * SEGMENT;
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {SEGMENT, SEGMENT + 1, LENGTH - 2 * GUARD})
    void shouldCopyTheBytesOfALongWriteOnce(int length) {
        awaitPull();
        target.buffer().setMemory(0, LENGTH, UNTOUCHED);
        a.fill(3, length, 7);
        long before = copiedByBeta();
        done(write(3, length, GUARD));
        assertEquals(length > SEGMENT ? length : 0, copiedByBeta() - before);
        FabricNode.assertPattern(target.buffer(), GUARD, length, 7, 0);
        assertUntouched(target.buffer(), 0, GUARD);
        assertUntouched(target.buffer(), GUARD + length, LENGTH);
    }

    @Test
    void shouldGatherALongWriteFromRegionsThatAreMapped() {
        awaitPull();
        MemoryRegion other = a.domain.allocate(LENGTH);
        await("a write of two regions that is copied once", () -> {
            long before = copiedByBeta();
            target.buffer().setMemory(0, LENGTH, UNTOUCHED);
            a.fill(100, 10_000, 3);
            other.buffer().putBytes(50, FabricNode.pattern(3, 10_000, 20_000));
            IoVec iov = new IoVec().add(a.memory.address(100), 10_000).add(other.address(50), 20_000);
            assertEquals(0, a.endpoint.remoteMemory().writev(iov, toB, 8, KEY, ++contexts));
            done(contexts);
            FabricNode.assertPattern(target.buffer(), 8, 30_000, 3, 0);
            assertUntouched(target.buffer(), 30_008, LENGTH);
            return copiedByBeta() - before == 30_000;
        });
        other.close();
    }

    /** Of a fresh region in each round: it is not mapped yet, so that the bytes of the first write have to be sent. */
    @Test
    void shouldPlaceLongAndShortWritesInTheOrderOfPosting() {
        done(write(0, 8, 0));
        for (int round = 0; round < 20; round++) {
            MemoryRegion source = a.domain.allocate(4 * SEGMENT);
            source.buffer().putBytes(0, FabricNode.pattern(round, 0, 4 * SEGMENT));
            a.memory.buffer().putLong(0, ~round);
            for (boolean longFirst : new boolean[] {true, false, true, false}) {
                long first = contexts + 1;
                for (boolean isLong : new boolean[] {longFirst, !longFirst}) {
                    if (isLong) {
                        assertEquals(0, a.endpoint.remoteMemory().write(
                            source.address(), 4 * SEGMENT, toB, 0, KEY, ++contexts));
                    } else {
                        write(0, 8, SEGMENT);
                    }
                }
                done(first);
                done(first + 1);
                if (longFirst) {
                    assertEquals(~round, target.buffer().getLong(SEGMENT));
                } else {
                    FabricNode.assertPattern(target.buffer(), 0, 4 * SEGMENT, round, 0);
                }
            }
            source.close();
        }
    }

    @Test
    void shouldSendTheBytesOfALongWriteFromMemoryWithoutAFile() {
        try (Arena arena = Arena.ofShared()) {
            var segment = arena.allocate(4 * SEGMENT, 64);
            MemoryRegion plain = a.domain.register(segment, new MemoryRegionAttr());
            awaitPull();
            plain.buffer().putBytes(0, FabricNode.pattern(9, 0, 4 * SEGMENT));
            long before = copiedByBeta();
            assertEquals(0, a.endpoint.remoteMemory().write(plain.address(), 4 * SEGMENT, toB, 0, KEY, ++contexts));
            done(contexts);
            assertEquals(0, copiedByBeta() - before);
            FabricNode.assertPattern(target.buffer(), 0, 4 * SEGMENT, 9, 0);
            plain.close();
        }
    }

    @Test
    void shouldReportALongWriteWithDataBehindItsBytes() {
        awaitPull();
        a.fill(0, 4 * SEGMENT, 12);
        assertEquals(0, a.endpoint.remoteMemory().writedata(
            a.memory.address(0), 4 * SEGMENT, 99, toB, 0, KEY, ++contexts));
        FabricNode.Entry entry = Deadline.awaitValue("the report", () -> {
            alpha.cycle();
            return b.poll();
        });
        FabricNode.assertPattern(target.buffer(), 0, 4 * SEGMENT, 12, 0);
        assertEquals(99, entry.data());
        assertEquals(4 * SEGMENT, entry.len());
        done(contexts);
    }

    @Test
    void shouldRefuseALongWriteByKeyRightsAndRange() {
        awaitPull();
        MemoryRegion readOnly = b.domain.allocate(
            LENGTH, new MemoryRegionAttr().access(Flags.REMOTE_READ).requestedKey(KEY + 7));
        readOnly.buffer().setMemory(0, LENGTH, UNTOUCHED);
        MemoryRegion closed = expose(KEY + 8);
        closed.close();
        target.buffer().setMemory(0, LENGTH, UNTOUCHED);
        long before = copiedByBeta();
        for (long[] keyAndOffset : new long[][] {
            {KEY + 7, 0}, {KEY + 8, 0}, {KEY, LENGTH - 4 * SEGMENT + 1}, {KEY, -1}}) {
            assertEquals(0, a.endpoint.remoteMemory().write(
                a.memory.address(0), 4 * SEGMENT, toB, keyAndOffset[1], keyAndOffset[0], ++contexts));
            int expected = keyAndOffset[0] == KEY + 7 ? FabricErrno.EACCES
                : keyAndOffset[0] == KEY + 8 ? FabricErrno.EKEYREJECTED : FabricErrno.EFAULT;
            assertEquals(FabricErrno.name(expected), FabricErrno.name(end(contexts).err()));
        }
        assertEquals(before, copiedByBeta());
        assertUntouched(readOnly.buffer(), 0, LENGTH);
        assertUntouched(target.buffer(), 0, LENGTH);
        done(write(0, 4 * SEGMENT, 0));
    }

    /** The driver that copies meets the fault; the client whose file was cut gets the error, all others go on. */
    @Test
    void shouldEndALongWriteWhoseFileIsCutWithAnErrorAndGoOn() throws IOException {
        awaitPull();
        MemoryRegion source = a.domain.allocate(LENGTH);
        await("a write of that region that is copied once", () -> {
            long before = copiedByBeta();
            assertEquals(0, a.endpoint.remoteMemory().write(source.address(), 4 * SEGMENT, toB, 0, KEY, ++contexts));
            done(contexts);
            return copiedByBeta() - before == 4 * SEGMENT;
        });
        assertEquals(0, a.endpoint.remoteMemory().write(
            source.address(LENGTH / 2), 4 * SEGMENT, toB, GUARD, KEY, ++contexts));
        target.buffer().setMemory(0, LENGTH, UNTOUCHED);
        cut("alpha", source);
        assertEquals(FabricErrno.EIO, end(contexts).err());
        assertUntouched(target.buffer(), 0, GUARD);
        assertUntouched(target.buffer(), GUARD + 4 * SEGMENT, LENGTH);
        try (DriverView view = new DriverView(base.resolve("beta"))) {
            assertTrue(view.errors().stream().anyMatch(error -> error.contains("was truncated while")),
                () -> view.errors().toString());
        }
        done(write(0, 4 * SEGMENT, 0));
        done(read(0, 8, 0, KEY));
    }

    // ---- answers of short writes ----

    @Test
    void shouldAnswerManyShortWritesThatArePlacedTogether() {
        done(write(0, 8, 64));
        for (int round = 0; round < 200; round++) {
            int count = 1 + round % 40;
            long first = contexts + 1;
            for (int i = 0; i < count; i++) {
                write(0, 8, 128 + 8 * i);
            }
            for (int i = 0; i < count; i++) {
                done(first + i);
            }
        }
    }
}
