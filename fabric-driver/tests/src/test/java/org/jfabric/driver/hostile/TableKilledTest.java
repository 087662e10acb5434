package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Table;
import org.jfabric.TableReader;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.Effort;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Writers of a table in processes that are killed, readers in this one, and files that were changed. */
@Tag("hostile")
@Timeout(120)
class TableKilledTest {
    private final long seed = System.nanoTime();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path base = TestDirectory.create();
    private final List<TestProcess> children = new ArrayList<>();
    private DriverProcess driver;

    @BeforeEach
    void start() {
        System.out.println("seed " + seed);
        driver = DriverProcess.start(base.resolve("alpha"));
    }

    @AfterEach
    void stop() {
        children.forEach(TestProcess::close);
        driver.close();
        TestDirectory.delete(base);
    }

    private TestProcess child(boolean removes, String... options) {
        TestProcess child = TestJvm.start(List.of(options), TableWriterMain.class, driver.directory().toString(),
            Long.toString(random.nextLong()), Boolean.toString(removes));
        children.add(child);
        return child;
    }

    private static long begin(TestProcess child) {
        child.awaitLine("connected");
        child.say("go");
        return Long.parseLong(child.hear("ready"));
    }

    private Fabric fabric() {
        return Fabric.connect(new FabricConfig().directory(driver.directory()));
    }

    /** Reads all keys again and again, and remembers the newest version of each. */
    private static final class Reading implements Runnable {
        private final Fabric fabric;
        private final boolean pauses;
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private final long[] versions = new long[TableWriterMain.KEYS];
        private final UnsafeBuffer value =
            new UnsafeBuffer(ByteBuffer.allocateDirect(TableWriterMain.VALUE_LENGTH));
        private volatile boolean ends;
        private volatile long reads;
        private long tableVersion;

        /** One that pauses leaves processors to processes that start. */
        Reading(Fabric fabric, boolean pauses) {
            this.fabric = fabric;
            this.pauses = pauses;
        }

        @Override
        public void run() {
            try (TableReader reader = Table.on(fabric, TableWriterMain.TABLE).openReader()) {
                long[] slots = new long[TableWriterMain.KEYS];
                Arrays.fill(slots, -1);
                while (!ends) {
                    for (int key = 0; key < slots.length; key++) {
                        slots[key] = slots[key] < 0 ? reader.find(key) : slots[key];
                        if (slots[key] >= 0) {
                            int length = reader.read(slots[key], value, 0);
                            slots[key] = length == -FabricErrno.ENOENT ? -1 : slots[key];
                            check(reader, key, length);
                        }
                    }
                    long now = reader.version();
                    assertTrue(now >= tableVersion, "the table went back from " + tableVersion + " to " + now);
                    tableVersion = now;
                    if (pauses) {
                        LockSupport.parkNanos(20_000);
                    }
                }
            } catch (Throwable e) {
                failure.set(e);
            }
        }

        private void check(TableReader reader, int key, int length) {
            if (length == -FabricErrno.ENOENT || length == -FabricErrno.EAGAIN) {
                return;
            }
            assertTrue(length > 0, "a read answers " + length);
            long version = reader.readVersion();
            for (int i = 0; i < length; i += Long.BYTES) {
                assertEquals(version << 8 | key, value.getLong(i), "word " + i + " of " + length);
            }
            assertEquals(key, reader.readKey());
            assertTrue(version >= versions[key], "key " + key + " went back to " + version);
            versions[key] = version;
            reads++;
        }
    }

    private List<Reading> readings(Fabric fabric, boolean pauses, List<Thread> threads) {
        List<Reading> readings = List.of(new Reading(fabric, pauses), new Reading(fabric, pauses));
        for (Reading reading : readings) {
            Thread thread = new Thread(reading);
            thread.start();
            threads.add(thread);
        }
        return readings;
    }

    private static void end(List<Reading> readings, List<Thread> threads, String state) throws InterruptedException {
        readings.forEach(reading -> reading.ends = true);
        for (Thread thread : threads) {
            thread.join();
        }
        for (Reading reading : readings) {
            if (reading.failure.get() != null) {
                throw new AssertionError(state, reading.failure.get());
            }
            assertTrue(reading.reads > 0, state);
        }
    }

    @Test
    void shouldNeverShowHalfAValueOfAnotherProcess() throws InterruptedException {
        begin(child(false, TestJvm.COMPILED));
        List<Thread> threads = new ArrayList<>();
        try (Fabric fabric = fabric()) {
            List<Reading> readings = readings(fabric, false, threads);
            LockSupport.parkNanos(1_500_000_000L);
            end(readings, threads, "seed " + seed);
        }
    }

    @Test
    void shouldLeaveWholeValuesAndGoOnWhereverAWriterIsKilled() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        TestProcess writer = child(true);
        long version = begin(writer);
        assertEquals(0, version);
        try (Fabric fabric = fabric()) {
            List<Reading> readings = readings(fabric, true, threads);
            ArrayDeque<TestProcess> starting = new ArrayDeque<>(List.of(child(true), child(true)));
            for (int i = 0; i < Effort.rounds(8, 300); i++) {
                LockSupport.parkNanos(random.nextLong(20_000_000));
                writer.kill();
                children.remove(writer);
                writer = starting.remove();
                starting.add(child(true));
                long continued = begin(writer);
                assertTrue(continued >= version, "seed " + seed + ": " + continued + " after " + version);
                version = continued;
            }
            end(readings, threads, "seed " + seed);
        }
    }

    /** The driver keeps what a dead writer has written, but not for one that has closed. */
    @Test
    void shouldKeepTheTableOfADeadWriterWithoutReaders() {
        TestProcess writer = child(false);
        begin(writer);
        try (Fabric fabric = fabric();
            TableReader reader = Table.on(fabric, TableWriterMain.TABLE).openReader()) {
            Deadline.awaitParked("a value", () -> reader.version() > 0);
        }
        writer.kill();
        try (Fabric fabric = fabric();
            TableReader reader = Table.on(fabric, TableWriterMain.TABLE).openReader()) {
            assertTrue(reader.version() > 0);
            Deadline.awaitParked("the writer's end", () -> !reader.hasWriter());
        }
        try (Fabric fabric = fabric()) {
            Table.on(fabric, TableWriterMain.TABLE).openWriter().close();
            assertEquals(FabricErrno.ENOENT, assertThrows(FabricException.class,
                () -> Table.on(fabric, TableWriterMain.TABLE).openReader()).errno());
        }
    }

    @Test
    void shouldRefuseAFileThatWasChanged() throws IOException {
        try (Fabric writing = fabric()) {
            Table.on(writing, TableWriterMain.TABLE).slots(100).valueLength(100).openWriter();
            long[][] forged = {
                {FileHeaderDescriptor.PARAMETER_1_OFFSET, 200, 1000, 0, -1, 1L << 32 | 100, Long.MAX_VALUE},
                {FileHeaderDescriptor.PARAMETER_2_OFFSET, 1000, 0, -1, 1L << 32 | 100, Long.MIN_VALUE},
                {FileHeaderDescriptor.MAGIC_OFFSET, 0}, {FileHeaderDescriptor.FILE_TYPE_OFFSET, 7L | 4L << 32},
                {FileHeaderDescriptor.OWNER_LOW_OFFSET, 1}};
            try (RandomAccessFile file = new RandomAccessFile(table().toFile(), "rw")) {
                for (long[] each : forged) {
                    file.seek(each[0]);
                    long before = file.readLong();
                    for (int i = 1; i < each.length; i++) {
                        file.seek(each[0]);
                        file.writeLong(Long.reverseBytes(each[i]));
                        try (Fabric fabric = fabric()) {
                            FabricException refused = assertThrows(FabricException.class,
                                () -> Table.on(fabric, TableWriterMain.TABLE).openReader());
                            assertEquals(FabricErrno.EIO, refused.errno(), refused::getMessage);
                        }
                    }
                    file.seek(each[0]);
                    file.writeLong(before);
                }
                try (Fabric fabric = fabric();
                    TableReader reader = Table.on(fabric, TableWriterMain.TABLE).openReader()) {
                    // the driver and others go on with a table that was cut
                    file.setLength(0);
                    assertThrows(FabricException.class, () -> Table.on(fabric, TableWriterMain.TABLE).openReader());
                    assertThrows(InternalError.class, () -> {
                        for (;;) {
                            reader.await(0, 1_000_000);
                        }
                    });
                }
            }
        }
        try (Fabric fabric = fabric()) {
            Table.on(fabric, "jfabric://alpha/other").slots(1).valueLength(1).openWriter().close();
        }
        assertTrue(driver.process().isAlive());
    }

    private Path table() throws IOException {
        try (var entries = Files.newDirectoryStream(driver.directory(), "*.table")) {
            return entries.iterator().next();
        }
    }
}
