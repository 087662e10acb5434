package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.Fid;
import org.jfabric.MemoryPool;
import org.jfabric.MemoryRegion;
import org.jfabric.MemorySlice;
import org.jfabric.WaitSet;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The client's objects against a real driver of each threading mode. */
@Timeout(60)
class ClientDriverTest {
    private static final long DEADLINE_NS = Deadline.ns(20);

    @TempDir
    private Path folder;
    private long seen;
    private final CompletionHandler handler = completion -> seen += completion.opContext();

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldSendTaggedMessagesBetweenTwoEndpoints(ThreadingMode mode) {
        try (FabricDriver driver = launch(mode); Fabric fabric = connect(driver, new FabricConfig())) {
            Domain domain = fabric.domain(best(fabric));
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            Endpoint left = endpoint(fabric, domain, queue, vector);
            Endpoint right = endpoint(fabric, domain, queue, vector);
            long toRight = vector.insert(right.name());
            assertEquals(right.name(), vector.lookup(toRight));
            MemoryPool pool = new MemoryPool(domain.allocate(4096), 64);
            MemorySlice source = pool.take();
            MemorySlice target = pool.take();
            for (int i = 1; i <= 100; i++) {
                source.buffer().putLong(0, i * 3L);
                assertEquals(0, right.trecv(target.address(), 64, -1, i, 0, 1000 + i));
                assertEquals(0, left.tsend(source.address(), 8, toRight, i, 2000 + i));
                long sum = drain(queue, 2);
                assertEquals(3000 + 2 * i, sum);
                assertEquals(i * 3L, target.buffer().getLong(0));
                assertEquals(0, right.trecv(target.address(), 64, -1, i, 0, 7));
                assertEquals(0, left.tinject(new UnsafeBuffer(new byte[] {5, (byte) i}), 0, 2, toRight, i));
                assertEquals(7, drain(queue, 1));
                assertEquals(i, target.buffer().getByte(1));
            }
            assertEquals(0, fabric.close(DEADLINE_NS));
            assertEquals(-FabricErrno.EOPBADSTATE, left.tsend(source.address(), 8, toRight, 1, 1));
            assertEquals(-FabricErrno.EOPBADSTATE, queue.read(new UnsafeBuffer(new byte[64]), 0, 1));
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldExplainWhatItOffersAndWhatNot(ThreadingMode mode) {
        try (FabricDriver driver = launch(mode); Fabric fabric = connect(driver, new FabricConfig())) {
            InfoResult offered = fabric.info(new Info().caps(Flags.TAGGED));
            assertFalse(offered.matches().isEmpty(), offered.explain());
            assertFalse(offered.verdicts().isEmpty());
            assertTrue(offered.best().txAttr().size() > 0);
            InfoResult none = fabric.info(new Info().caps(Flags.HMEM));
            assertTrue(none.matches().isEmpty());
            assertEquals(FabricErrno.ENODATA, assertThrows(FabricException.class, none::best).errno());
            assertFalse(none.verdicts().get(0).reasons().isEmpty());
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    @Requirement({"EP-034", "EP-046", "EP-056", "EP-060", "EP-063"})
    void shouldRefuseWhatCannotBeBoundOrClosed(ThreadingMode mode) {
        try (FabricDriver driver = launch(mode); Fabric fabric = connect(driver, new FabricConfig())) {
            Info info = best(fabric);
            Domain domain = fabric.domain(info);
            Domain other = fabric.domain(info);
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            CompletionQueue foreign = other.openCompletionQueue(new CompletionQueueAttr());
            assertTrue(queue.size() > 0);
            Endpoint endpoint = domain.openEndpoint(info, 42);
            refused(FabricErrno.EINVAL, () -> endpoint.bind(queue, 0));
            refused(FabricErrno.EINVAL, () -> endpoint.bind(queue, Flags.SELECTIVE_COMPLETION));
            refused(FabricErrno.EBADFLAGS, () -> endpoint.bind(queue, Flags.TRANSMIT | 1L << 62));
            refused(FabricErrno.EDOMAIN, () -> endpoint.bind(foreign, Flags.TRANSMIT));
            refused(FabricErrno.ENOCQ, endpoint::enable);
            endpoint.bind(queue, Flags.TRANSMIT);
            refused(FabricErrno.EINVAL, () -> endpoint.bind(queue, Flags.TRANSMIT));
            refused(FabricErrno.ENOCQ, endpoint::enable);
            endpoint.bind(queue, Flags.RECV);
            refused(FabricErrno.EINVAL, () -> endpoint.bind(queue, Flags.RECV));
            refused(FabricErrno.ENOAV, endpoint::enable);
            endpoint.bind(vector);
            refused(FabricErrno.EINVAL, () -> endpoint.bind(vector));
            refused(FabricErrno.EOPBADSTATE, endpoint::name);
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.send(0, 0, 0, 0));
            assertEquals(-FabricErrno.EOPBADSTATE, queue.read(new UnsafeBuffer(new byte[64]), 0, 1));
            endpoint.enable();
            endpoint.enable();
            refused(FabricErrno.EOPBADSTATE, () -> endpoint.bind(queue, Flags.TRANSMIT));
            refused(FabricErrno.EBUSY, queue::close);
            refused(FabricErrno.EBUSY, vector::close);
            refused(FabricErrno.EBUSY, domain::close);
            assertEquals(-FabricErrno.EINVAL, endpoint.tsend(0, endpoint.maxMsgSize() + 1, 0, 0, 0));
            assertEquals(-FabricErrno.EINVAL, endpoint.tsend(0, 0, -1, 0, 0));
            UnsafeBuffer large = new UnsafeBuffer(new byte[endpoint.injectSize() + 1]);
            assertEquals(-FabricErrno.EINVAL, endpoint.tinject(large, 0, large.capacity(), 0, 0));
            assertEquals(-FabricErrno.EINVAL, endpoint.tinject(large, 1, endpoint.injectSize() + 1, 0, 0));
            assertEquals(0, endpoint.cancel(0));
            endpoint.close();
            endpoint.close();
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tsend(0, 0, 0, 0, 0));
            queue.close();
            vector.close();
            vector.close();
            refused(FabricErrno.EOPBADSTATE, () -> vector.insert("jfabric://x/y"));
            domain.close();
            refused(FabricErrno.EOPBADSTATE, () -> domain.allocate(1));
            refused(FabricErrno.ENOSYS,
                () -> other.openCompletionQueue(new CompletionQueueAttr().waitObject(WaitObject.POLLFD)));
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    @Requirement({"EP-064", "EP-065", "EP-071"})
    void shouldEndPostedReceivesByCancelAndGiveCreditsBackAtClose(ThreadingMode mode) {
        try (FabricDriver driver = launch(mode); Fabric fabric = connect(driver, new FabricConfig())) {
            Domain domain = fabric.domain(best(fabric));
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(8));
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            MemoryRegion region = domain.allocate(64);
            int size = queue.size();
            for (int round = 0; round < 3; round++) {
                Endpoint endpoint = endpoint(fabric, domain, queue, vector);
                for (int i = 0; i < size; i++) {
                    // the driver tells of what a closed endpoint gave back a moment after the answer to the close
                    long postedByNs = System.nanoTime() + DEADLINE_NS;
                    while (endpoint.trecv(region.address(), 64, -1, i, 0, 100 + i) == -FabricErrno.EAGAIN) {
                        assertTrue(System.nanoTime() - postedByNs < 0, "no credit for receive " + i);
                        assertEquals(-FabricErrno.EAGAIN, queue.poll(handler, 1));
                    }
                }
                assertEquals(-FabricErrno.EAGAIN, endpoint.trecv(region.address(), 64, -1, 1, 0, 1));
                assertEquals(0, endpoint.cancel(100));
                CompletionError error = new CompletionError();
                long deadlineNs = System.nanoTime() + DEADLINE_NS;
                while (queue.readErr(error, 0) != 1) {
                    assertTrue(System.nanoTime() - deadlineNs < 0, "no cancelled entry");
                    Thread.onSpinWait();
                }
                assertEquals(FabricErrno.ECANCELED, error.err());
                assertEquals(100, error.opContext());
                endpoint.close();
            }
        }
    }

    @Test
    void shouldUseMemoryOfThisProcessInPlaceOnlyWithAnEmbeddedDriver() {
        try (FabricDriver driver = launch(ThreadingMode.INVOKER);
            Fabric fabric = connect(driver, new FabricConfig());
            Arena arena = Arena.ofShared()) {
            MemoryRegion region = fabric.domain(best(fabric)).register(arena.allocate(4096, 64));
            assertEquals(4096, region.lengthBytes());
            assertFalse(region.isCopied());
            region.close();
            region.close();
            assertFalse(region.isOpen());
        }
        try (FabricDriver driver = launch(ThreadingMode.SHARED);
            Fabric fabric = connect(driver, new FabricConfig());
            Arena arena = Arena.ofShared()) {
            assertTrue(fabric.domain(best(fabric)).register(arena.allocate(4096, 64)).isCopied());
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldAllocateNothingPerMessage(ThreadingMode mode) {
        try (FabricDriver driver = launch(mode); Fabric fabric = connect(driver, new FabricConfig())) {
            Domain domain = fabric.domain(best(fabric));
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            Endpoint endpoint = endpoint(fabric, domain, queue, vector);
            long self = vector.insert(endpoint.name());
            MemoryRegion region = domain.allocate(4096);
            UnsafeBuffer payload = new UnsafeBuffer(new byte[16]);
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            exchange(endpoint, queue, self, region.address(), payload, 20_000);
            long id = Thread.currentThread().threadId();
            threads.getThreadAllocatedBytes(id);
            long leastBytes = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 5 && leastBytes != 0; attempt++) {
                long before = threads.getThreadAllocatedBytes(id);
                exchange(endpoint, queue, self, region.address(), payload, 2_000);
                leastBytes = Math.min(leastBytes, threads.getThreadAllocatedBytes(id) - before);
            }
            assertEquals(0, leastBytes);
        }
    }

    private void exchange(
        Endpoint endpoint, CompletionQueue queue, long self, long address, UnsafeBuffer payload, int rounds) {
        for (int i = 0; i < rounds; i++) {
            seen = 0;
            int failed = endpoint.trecv(address, 64, -1, 1, 0, 1) + endpoint.trecv(address + 64, 64, -1, 2, 0, 2)
                + endpoint.tsend(address + 128, 8, self, 1, 4) + endpoint.tinject(payload, 0, 16, self, 2);
            while (failed == 0 && seen != 7) {
                int result = queue.poll(handler, 8);
                failed = result < 0 && result != -FabricErrno.EAGAIN ? result : 0;
                Thread.onSpinWait();
            }
            assertEquals(0, failed);
        }
    }

    /** Without a garbage collection, which an application without garbage never has. */
    @Test
    void shouldGiveFilesBackWhenTheirObjectsAreClosed() {
        try (FabricDriver driver = launch(ThreadingMode.SHARED); Fabric fabric = connect(driver, new FabricConfig())) {
            Info info = best(fabric);
            Domain domain = fabric.domain(info);
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
            Counter counter = domain.openCounter(new CounterAttr());
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            WaitSet waitSet = fabric.openWaitSet(new WaitSetAttr());
            MemoryRegion region = domain.allocate(1 << 20);
            MemoryRegion looked = domain.allocate(1 << 20);
            looked.buffer().putLong(0, 42);
            Endpoint endpoint = endpoint(fabric, domain, queue, vector);
            for (Fid each : new Fid[] {endpoint, queue, counter, vector, waitSet, region, looked, domain}) {
                each.close();
            }
            Deadline.awaitParked(() -> "one deleted file to be mapped, of a region whose buffer may be in use: "
                + deleted(), () -> deleted().size() == 1);
            assertEquals(42, looked.buffer().getLong(0));
        }
    }

    private List<String> deleted() {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(each -> each.contains(folder.toString()) && each.endsWith("(deleted)")).toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldTellOnceThatTheDriverIsGone() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        FabricConfig config = new FabricConfig().listener(new FabricListener() {
            @Override
            public void onDriverGone(FabricException why) {
                assertEquals(1, told.getCount());
                told.countDown();
            }
        });
        FabricDriver driver = launch(ThreadingMode.SHARED);
        try (Fabric fabric = connect(driver, config)) {
            Domain domain = fabric.domain(best(fabric));
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            Endpoint endpoint = endpoint(fabric, domain, queue, vector);
            driver.close();
            assertTrue(told.await(Deadline.s(20), TimeUnit.SECONDS));
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tsend(0, 0, 0, 0, 0));
            assertEquals(-FabricErrno.ENODEV, queue.read(new UnsafeBuffer(new byte[64]), 0, 1));
            assertThrows(FabricException.class, () -> domain.allocate(1));
            endpoint.close();
            queue.close();
        } finally {
            driver.close();
        }
    }

    @Test
    void shouldSayHowToStartADriverWhenThereIsNone() {
        FabricException refusal = assertThrows(FabricException.class, () -> Fabric.connect(
            new FabricConfig().directory(folder.resolve("nowhere")).connectTimeoutNs(0)));
        assertEquals(FabricErrno.ENODEV, refusal.errno());
        assertTrue(refusal.getMessage().contains("Start a driver"), refusal.getMessage());
    }

    private FabricDriver launch(ThreadingMode mode) {
        return FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(folder.resolve("d")).threadingMode(mode).build());
    }

    private static Fabric connect(FabricDriver driver, FabricConfig config) {
        if (driver.config().get(ThreadingConfig.MODE) == ThreadingMode.INVOKER) {
            return driver.fabric(config);
        }
        return Fabric.connect(config.directory(driver.directory()));
    }

    private static Info best(Fabric fabric) {
        return fabric.info(new Info().caps(Flags.TAGGED | Flags.MSG)).best();
    }

    private static Endpoint endpoint(Fabric fabric, Domain domain, CompletionQueue queue, AddressVector vector) {
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        assertTrue(endpoint.name().startsWith("jfabric://" + fabric.driverName() + '/'), endpoint.name());
        return endpoint;
    }

    private static long drain(CompletionQueue queue, int count) {
        long[] sum = new long[1];
        int left = count;
        long deadlineNs = System.nanoTime() + DEADLINE_NS;
        while (left > 0) {
            int result = queue.poll(completion -> sum[0] += completion.opContext(), left);
            if (result > 0) {
                left -= result;
            } else {
                assertEquals(-FabricErrno.EAGAIN, result);
                assertTrue(System.nanoTime() - deadlineNs < 0, "no completion, " + left + " missing");
                Thread.onSpinWait();
            }
        }
        return sum[0];
    }

    private static void refused(int errno, Executable call) {
        FabricException refusal = assertThrows(FabricException.class, call);
        assertEquals(errno, refusal.errno(), refusal.getMessage());
    }
}
