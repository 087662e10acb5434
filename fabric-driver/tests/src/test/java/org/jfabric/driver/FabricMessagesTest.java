package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.ErrorLogReader;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The public client on real drivers, in every threading mode. */
@Timeout(60)
class FabricMessagesTest {
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int[] LENGTHS = {0, 1, 8, 40, 41, 128, 4096, 8192, 8193, 65_536, 1 << 20};

    @TempDir
    private Path temporary;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<FabricDriver> drivers = new ArrayList<>();

    /** One side of a conversation. */
    private final class Side {
        final Domain domain;
        final CompletionQueue queue;
        final AddressVector vector;
        final Endpoint endpoint;
        final MemoryRegion region;

        Side(Fabric fabric, String link, String name) {
            Info hints = new Info();
            hints.caps(Flags.TAGGED | Flags.MSG).linkName(link);
            InfoResult result = fabric.info(hints);
            domain = opened(fabric.domain(result.best()));
            queue = opened(domain.openCompletionQueue(new CompletionQueueAttr().format(CompletionFormat.TAGGED)));
            vector = opened(domain.openAddressVector(new AddressVectorAttr()));
            region = opened(domain.allocate(4 << 20));
            endpoint = opened(domain.openEndpoint(result.best()));
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
            endpoint.publish(name);
        }

        int read() {
            UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
            int count = queue.read(entry, 0, 1);
            assertTrue(count >= 0 || count == -FabricErrno.EAGAIN, () -> "read answered " + count);
            return Math.max(count, 0);
        }
    }

    @Test
    void shouldRefuseAndNotCrashWhenTheDriverIsClosedBeforeTheFabric() {
        FabricDriver driver = launch("one", ThreadingMode.INVOKER);
        Fabric fabric = driver.fabric();
        Side side = new Side(fabric, "loopback", "left");
        long dest = side.vector.insertService("one", "left");
        driver.close();
        for (int i = 0; i < 10_000; i++) {
            assertTrue(side.endpoint.tsend(side.region.address(), 8, dest, 1, 1) < 0);
            assertTrue(side.endpoint.trecv(side.region.address(), 8, -1L, 1, 0, 1) < 0);
            side.queue.poll(entry -> {
            }, 1);
        }
        assertEquals(0, driver.embedded().cycle(1));
        fabric.close();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (FabricDriver driver : drivers) {
            assertNoErrors(driver.directory());
        }
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    @ParameterizedTest(name = "link=loopback {0}")
    @EnumSource(ThreadingMode.class)
    void shouldCarryMessagesOfAllLengthsOverLoopback(ThreadingMode mode) {
        FabricDriver driver = launch("one", mode);
        Fabric fabric = opened(driver.fabric());
        Side left = new Side(fabric, "loopback", "left");
        Side right = new Side(fabric, "loopback", "right");
        exchange(left, right, left.vector.insertService("one", "right"));
    }

    @ParameterizedTest(name = "link=loopback attached to {0}")
    @EnumSource(value = ThreadingMode.class, mode = EnumSource.Mode.EXCLUDE, names = "INVOKER")
    void shouldCarryMessagesBetweenTwoClientsOfOneDriver(ThreadingMode mode) {
        FabricDriver driver = launch("one", mode);
        Side left = new Side(opened(driver.fabric()), "loopback", "left");
        Side right = new Side(
            opened(Fabric.connect(new FabricConfig().directory(driver.directory()))), "loopback", "right");
        exchange(left, right, left.vector.insertService("one", "right"));
    }

    @ParameterizedTest(name = "link=shm {0} {1}")
    @CsvSource({"SHARED,SHARED", "INVOKER,INVOKER", "DEDICATED,SHARED", "INVOKER,SHARED"})
    void shouldCarryMessagesOfAllLengthsOverShm(ThreadingMode first, ThreadingMode second) {
        FabricDriver one = launch("one", first);
        FabricDriver two = launch("two", second);
        Side left = new Side(opened(one.fabric()), "shm", "left");
        Side right = new Side(opened(two.fabric()), "shm", "right");
        exchange(left, right, left.vector.insertService("two", "right"));
        exchange(right, left, right.vector.insertService("one", "left"));
    }

    private void exchange(Side from, Side to, long dest) {
        for (int length : LENGTHS) {
            UnsafeBuffer source = from.region.buffer();
            UnsafeBuffer sink = to.region.buffer();
            for (int i = 0; i < length; i++) {
                source.putByte(i, (byte) (i * 31 + length));
                sink.putByte(i, (byte) 0);
            }
            long tag = 1000 + length;
            assertEquals(0, to.endpoint.trecv(to.region.address(), 2 << 20, -1L, tag, 0, 1));
            assertEquals(0, from.endpoint.tsend(from.region.address(), length, dest, tag, 2));
            int sent = 0;
            int received = 0;
            long deadline = System.nanoTime() + DEADLINE_NS;
            while (sent + received < 2) {
                received += to.read();
                sent += from.read();
                assertFalse(System.nanoTime() - deadline > 0,
                    "in vain for length " + length + ": sent " + sent + ", received " + received);
            }
            assertEquals(1, sent);
            for (int i = 0; i < length; i++) {
                if (sink.getByte(i) != source.getByte(i)) {
                    throw new AssertionError("byte " + i + " of " + length);
                }
            }
        }
    }

    private FabricDriver launch(String name, ThreadingMode mode) {
        FabricDriver driver = opened(FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(temporary.resolve("base").resolve(name)).threadingMode(mode).build()));
        drivers.add(driver);
        return driver;
    }

    /** A test that passes over errors in the log would hide them. */
    private static void assertNoErrors(Path directory) {
        int fd = Libc.openDirectory(directory);
        if (fd < 0) {
            return;
        }
        try (MappedFile cnc = MappedFile.open(fd, CncDescriptor.FILE_NAME, true, 1)) {
            DirectBuffer header = cnc.directBuffer(0, CncDescriptor.METADATA_OFFSET);
            int offset = CncDescriptor.METADATA_OFFSET + header.getInt(CncDescriptor.METADATA_LENGTH_OFFSET)
                + header.getInt(CncDescriptor.VALUES_LENGTH_OFFSET);
            StringBuilder errors = new StringBuilder();
            ErrorLogReader.read(
                new UnsafeBuffer(
                    cnc.directBuffer(offset, header.getInt(CncDescriptor.ERROR_LOG_LENGTH_OFFSET))),
                (count, first, last, text) -> errors.append(text).append('\n'));
            assertEquals("", errors.toString());
        } finally {
            Libc.close(fd);
        }
    }

    private <T extends AutoCloseable> T opened(T closeable) {
        opened.add(closeable);
        return closeable;
    }
}
