package org.jfabric.driver.stream.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Messenger;
import org.jfabric.Table;
import org.jfabric.TableReader;
import org.jfabric.TableWriter;
import org.jfabric.WaitSet;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.TableConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.layout.WaitDescriptor;
import org.jfabric.stream.Publication;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class TableTest {
    private static final String PRICES = "jfabric://alpha/prices";
    private static final long PARK_TIMEOUT_NS = 10_000_000_000L;

    private final Path base = TestDirectory.create();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(256));
    private FabricDriver driver;

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        TestDirectory.delete(base);
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    private void launch(ThreadingMode mode) {
        DriverConfig config = DriverConfig.builder().directory(base.resolve("alpha")).threadingMode(mode)
            // rounds in which a sleeping driver is not woken would take the time of the whole test
            .set(TableConfig.LIMIT, 3).set(ThreadingConfig.PARK_TIMEOUT_NS, PARK_TIMEOUT_NS).build();
        driver = opened(mode == ThreadingMode.INVOKER
            ? FabricDriver.launchEmbedded(config) : FabricDriver.launch(config));
    }

    private Fabric fabric() {
        return opened(driver.config().get(ThreadingConfig.MODE) == ThreadingMode.INVOKER
            ? driver.fabric() : Fabric.connect(new FabricConfig().directory(base.resolve("alpha"))));
    }

    private static TableWriter writer(Fabric fabric) {
        return Table.on(fabric, PRICES).slots(8).valueLength(100).openWriter();
    }

    private int put(TableWriter writer, long key, long value) {
        buffer.putLong(0, value);
        return writer.put(key, buffer, 0, Long.BYTES);
    }

    private long get(TableReader reader, long slot) {
        buffer.putLong(64, 0);
        assertEquals(Long.BYTES, reader.read(slot, buffer, 64));
        return buffer.getLong(64);
    }

    private long files() {
        try (var entries = Files.list(base.resolve("alpha"))) {
            return entries.filter(each -> each.toString().endsWith(".table") || each.toString().endsWith(".wait"))
                .count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static FabricException refused(int errno, Runnable call, String... parts) {
        FabricException refused = assertThrows(FabricException.class, call::run);
        assertEquals(errno, refused.errno(), refused::getMessage);
        for (String part : parts) {
            assertTrue(refused.getMessage().contains(part), () -> part + " is missing: " + refused.getMessage());
        }
        return refused;
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldShowTheNewestValuesToReaders(ThreadingMode mode) {
        launch(mode);
        Fabric writing = fabric();
        TableWriter writer = writer(writing);
        Fabric reading = fabric();
        TableReader reader = Table.on(reading, PRICES).openReader();
        assertEquals(0, reader.version());
        assertEquals(-FabricErrno.ENOENT, reader.find(7));
        assertEquals(0, put(writer, 7, 1));
        assertEquals(0, put(writer, -8, 2));
        assertEquals(0, put(writer, 7, 3));
        long slot = reader.find(7);
        assertEquals(3, get(reader, slot));
        assertEquals(3, reader.readVersion());
        assertEquals(7, reader.readKey());
        assertEquals(2, get(reader, reader.find(-8)));
        assertEquals(3, reader.version(slot));
        assertEquals(3, reader.version());
        assertEquals(2, reader.used());
        assertEquals(2, writer.size());
        assertEquals(-FabricErrno.ETOOSMALL, reader.read(slot, buffer, buffer.capacity() - 7));
        assertEquals(-FabricErrno.EINVAL, reader.read(slot, buffer, -1));
        assertEquals(-FabricErrno.EINVAL, reader.read(slot, buffer, buffer.capacity() + 1));
        assertEquals(-FabricErrno.EMSGSIZE, writer.put(1, buffer, 0, 101));
        assertEquals(-FabricErrno.EINVAL, writer.put(1, buffer, 250, 7));
        byte[] bytes = new byte[9];
        assertEquals(8, reader.read(slot, new UnsafeBuffer(bytes), 1));
        assertEquals(3, bytes[1]);
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldGiveSlotsToOtherKeysAndTheTableToAnotherWriter(ThreadingMode mode) {
        launch(mode);
        Fabric writing = fabric();
        TableWriter writer = writer(writing);
        Fabric reading = fabric();
        TableReader reader = Table.on(reading, PRICES).openReader();
        assertEquals(0, put(writer, 7, 1));
        assertEquals(0, put(writer, -8, 2));
        assertEquals(0, put(writer, 7, 3));
        long slot = reader.find(7);
        assertEquals(0, writer.remove(7));
        assertEquals(-FabricErrno.ENOENT, writer.remove(7));
        assertEquals(-FabricErrno.ENOENT, reader.read(slot, buffer, 0));
        assertEquals(-FabricErrno.ENOENT, reader.slot(0));
        // the slot is another key's, and then the first one's again: a reader of the old slot does not read these
        assertEquals(0, put(writer, 9, 4));
        assertEquals(-FabricErrno.ENOENT, reader.version(slot));
        assertEquals(0, writer.remove(9));
        assertEquals(0, put(writer, 7, 5));
        assertEquals(-FabricErrno.ENOENT, reader.read(slot, buffer, 0));
        assertEquals(5, get(reader, reader.find(7)));
        for (int i = 0; i < 6; i++) {
            assertEquals(0, put(writer, 100 + i, i));
        }
        assertEquals(-FabricErrno.ENOSPC, put(writer, 106, 6));
        assertEquals(8, reader.used());

        writer.close();
        assertEquals(-FabricErrno.EOPBADSTATE, put(writer, 7, 1));
        assertFalse(reader.hasWriter());
        TableWriter next = Table.on(writing, PRICES).openWriter();
        assertTrue(reader.hasWriter());
        assertEquals(8, next.size());
        assertEquals(0, put(next, 7, 6));
        assertEquals(14, reader.version());
        assertEquals(6, get(reader, reader.find(7)));
        next.close();
        reader.close();
        assertEquals(-FabricErrno.EOPBADSTATE, reader.read(slot, buffer, 0));
        assertEquals(-FabricErrno.EOPBADSTATE, reader.await(0, -1));
        refused(FabricErrno.ENOENT, () -> Table.on(reading, PRICES).openReader(), "prices");
        assertEquals(0, files());
    }

    @Test
    void shouldRefuseWithWhatWasSeenAndNeeded() {
        launch(ThreadingMode.SHARED);
        Fabric fabric = fabric();
        refused(FabricErrno.EINVAL, () -> Table.on(fabric, "prices").openReader(), "prices", "jfabric://");
        refused(FabricErrno.EADDRNOTAVAIL, () -> Table.on(fabric, "jfabric://beta/prices").openReader(),
            "beta", "alpha");
        refused(FabricErrno.EINVAL, () -> Table.on(fabric, "jfabric://alpha/a b").openReader());
        refused(FabricErrno.EINVAL, () -> Table.on(fabric, PRICES).openWriter(), "0 slots");
        refused(FabricErrno.EINVAL, () -> Table.on(fabric, PRICES).slots(1 << 20).valueLength(1 << 20).openWriter(),
            TableConfig.LENGTH_BYTES.name());
        refused(FabricErrno.EINVAL, () -> Table.on(fabric, PRICES).slots(-1).valueLength(8).openWriter());
        writer(fabric);
        refused(FabricErrno.EBUSY, () -> writer(fabric()), "client ", Long.toString(ProcessHandle.current().pid()));
        refused(FabricErrno.EINVAL, () -> Table.on(fabric, PRICES).slots(9).openReader(), "8 slots", "100 bytes", "9");
        refused(FabricErrno.EINVAL, () -> Table.on(fabric, PRICES).waitSetId(77).openReader(), "77");
        Table.on(fabric, "jfabric://alpha/second").slots(1).valueLength(1).openWriter();
        Table.on(fabric, "jfabric://alpha/third").slots(1).valueLength(1).openWriter();
        refused(FabricErrno.EMFILE,
            () -> Table.on(fabric, "jfabric://alpha/fourth").slots(1).valueLength(1).openWriter(),
            TableConfig.LIMIT.name());
        Fabric restarting = opened(Fabric.connect(new FabricConfig().directory(base.resolve("alpha"))
            .reconnectTimeoutNs(1_000_000_000L)));
        refused(FabricErrno.EOPNOTSUPP, () -> Table.on(restarting, PRICES).openReader());
    }

    @Test
    void shouldStandBesideAnEndpointAndAGroupOfTheSameName() {
        launch(ThreadingMode.SHARED);
        Fabric fabric = fabric();
        TableWriter writer = writer(fabric);
        Messenger messenger = fabric.messenger().hints(new Info().caps(Flags.MSG).srcAddr(PRICES)).open();
        Publication group = opened(Publication.on(fabric, "jfabric://alpha/orders").open());
        TableWriter orders = Table.on(fabric, "jfabric://alpha/orders").slots(1).valueLength(8).openWriter();
        assertEquals(0, group.offer(buffer, 0, 8));
        assertEquals(0, put(writer, 1, 1));
        assertEquals(0, put(orders, 1, 2));
        messenger.close();
        TableReader reader = Table.on(fabric, PRICES).openReader();
        assertEquals(1, get(reader, reader.find(1)));
    }

    @Test
    void shouldShowTheExampleOfThePage() throws IOException {
        ExamplePage.assertShows("docs/table.md", TableTest.class, 2);
        launch(ThreadingMode.SHARED);
        assertEquals(40, example(fabric(), fabric()));
    }

    private int example(Fabric fabric, Fabric other) {
        // example: write
        TableWriter writer = Table.on(fabric, "jfabric://alpha/prices").slots(1000).valueLength(64).openWriter();
        writer.put(4711, buffer, 0, 40);
        // end of example
        // example: read
        TableReader reader = Table.on(other, "jfabric://alpha/prices").openReader();
        long slot = reader.find(4711);
        int length = reader.read(slot, buffer, 0);
        // end of example
        return length;
    }

    /** API version 2 has no wait sets, and still readers that wait. */
    @Test
    void shouldWakeAReaderOfTheNewestInterface() throws InterruptedException {
        launch(ThreadingMode.SHARED);
        TableWriter writer = writer(fabric());
        Fabric reading = opened(Fabric.connect(new FabricConfig().directory(base.resolve("alpha"))
            .apiVersion(FabricAttr.VERSION_2)));
        TableReader reader = Table.on(reading, PRICES).openReader();
        Thread writing = new Thread(() -> {
            LockSupport.parkNanos(20_000_000);
            put(writer, 1, 1);
        });
        writing.start();
        assertEquals(0, reader.await(0, -1));
        writing.join();
        reader.close();
        assertEquals(0, reading.close(0));
    }

    /** A driver that sleeps has to be woken by whoever of both comes later. */
    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldWakeReadersThatWait(ThreadingMode mode) throws InterruptedException {
        launch(mode);
        Fabric fabric = fabric();
        TableWriter writer = writer(fabric);
        TableReader reader = Table.on(fabric, PRICES).openReader();
        assertEquals(-FabricErrno.ETIMEDOUT, reader.await(0, 20_000_000));
        put(writer, 1, 1);
        assertEquals(0, reader.await(0, -1));
        assertEquals(-FabricErrno.ETIMEDOUT, reader.await(1, 0));
        if (mode == ThreadingMode.INVOKER) {
            // the thread that waits is the one that could write
            return;
        }
        MappedByteBuffer line = waitFile();
        AtomicInteger rounds = new AtomicInteger();
        Thread waiting = new Thread(() -> {
            while (reader.await(rounds.get() + 1L, -1) == 0) {
                // in some rounds the driver sleeps first
                LockSupport.parkNanos(rounds.incrementAndGet() % 5 == 0 ? 30_000_000 : 1);
            }
        });
        waiting.start();
        for (int i = 0; i < 50; i++) {
            Deadline.awaitParked("the reader's sleep", () -> line.getInt(WaitDescriptor.SLEEPERS_OFFSET) == 1);
            // some find the driver awake, some asleep
            LockSupport.parkNanos(i % 10 * 300_000L);
            int woken = line.getInt(WaitDescriptor.SIGNAL_OFFSET);
            put(writer, 1, i);
            int wanted = i + 1;
            // the reader looks again each 10 ms, but only a driver that has seen the change writes this word
            Deadline.awaitParked("wake-up " + wanted, () -> line.getInt(WaitDescriptor.SIGNAL_OFFSET) != woken);
            Deadline.awaitParked("round " + wanted, () -> rounds.get() == wanted);
        }
        reader.close();
        waiting.join();
        assertEquals(-FabricErrno.EOPBADSTATE, reader.await(0, -1));
    }

    private MappedByteBuffer waitFile() {
        try (var entries = Files.newDirectoryStream(base.resolve("alpha"), "*.wait");
            FileChannel channel = FileChannel.open(entries.iterator().next())) {
            return (MappedByteBuffer) channel.map(FileChannel.MapMode.READ_ONLY, WaitDescriptor.WAIT_FILE_OFFSET,
                WaitDescriptor.LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource(value = ThreadingMode.class, names = {"SHARED", "DEDICATED"})
    void shouldSignalAWaitSet(ThreadingMode mode) throws IOException {
        launch(mode);
        Fabric fabric = fabric();
        TableWriter writer = writer(fabric());
        WaitSet set = fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.FD));
        TableReader reader = Table.on(fabric, PRICES).waitSetId(set.id()).openReader();
        try (Selector selector = Selector.open()) {
            set.channel().register(selector, SelectionKey.OP_READ);
            for (int i = 0; i < 20; i++) {
                assertEquals(-FabricErrno.ETIMEDOUT, set.await(0));
                Deadline.awaitParked("a wait that may begin", () -> set.tryWait() == 0);
                LockSupport.parkNanos(i % 10 * 300_000L);
                put(writer, 1, i);
                assertEquals(1, selector.select(Deadline.ms(5)), "the signal " + i);
                selector.selectedKeys().clear();
                assertEquals(0, set.await(0));
                assertEquals(i + 1, reader.version());
            }
        }
        Thread writing = new Thread(() -> {
            LockSupport.parkNanos(20_000_000);
            put(writer, 1, 1);
        });
        writing.start();
        assertEquals(0, reader.await(20, -1));
        refused(FabricErrno.EBUSY, set::close);
        reader.close();
        set.close();
    }

    @Test
    void shouldSayThatTheDriverIsGone() {
        launch(ThreadingMode.DEDICATED);
        Fabric fabric = fabric();
        TableWriter writer = writer(fabric);
        TableReader reader = Table.on(fabric, PRICES).openReader();
        put(writer, 1, 1);
        long slot = reader.find(1);
        Thread closing = new Thread(driver::close);
        closing.start();
        // what a reader waits for cannot come any more
        assertEquals(-FabricErrno.ENODEV, reader.await(1, -1));
        assertEquals(-FabricErrno.ENODEV, reader.read(slot, buffer, 0));
        assertEquals(-FabricErrno.ENODEV, reader.version());
        assertEquals(-FabricErrno.ENODEV, put(writer, 1, 2));
        assertFalse(reader.hasWriter());
        writer.close();
        reader.close();
    }

    @Test
    void shouldCloseWithTheFabric() {
        launch(ThreadingMode.SHARED);
        Fabric writing = fabric();
        TableWriter writer = writer(writing);
        Fabric reading = fabric();
        TableReader reader = Table.on(reading, PRICES).openReader();
        assertEquals(2, files());
        writing.close();
        assertEquals(-FabricErrno.EOPBADSTATE, put(writer, 1, 1));
        Deadline.awaitParked("the writer's end", () -> !reader.hasWriter());
        reading.close();
        assertEquals(-FabricErrno.EOPBADSTATE, reader.find(1));
        Deadline.awaitParked("files to go", () -> files() == 0);
    }
}
