package org.jfabric.perf.jmh;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.AtomicRequest;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteMemory;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Remote memory access over the link shm through the public API: two embedded drivers in mode INVOKER, both run by one
 * thread, so all instructions of the way and no transfer of cache lines.
 */
@State(Scope.Thread)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ShmRemoteBenchmark {
    private static final int LIMIT = 4;
    private static final int QUEUE_SIZE = 64;
    private static final int REGION_BYTES = 8192;
    private static final int WORD = 4096;
    private static final long KEY = 1;

    /** Bytes of a write and of a read. */
    @Param({"8", "64", "4096"})
    public int sizeBytes;

    private BenchmarkDirectory directory;
    private FabricDriver firstDriver;
    private FabricDriver secondDriver;
    private Node first;
    private Node second;
    private long value;
    private final AtomicRequest add = new AtomicRequest();

    /** Creates the state; {@link #open()} opens the endpoints. */
    public ShmRemoteBenchmark() {
    }

    /**
     * Opens both drivers, and accesses memory in each way.
     *
     * @throws IOException if the drivers' folder cannot be made.
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        directory = new BenchmarkDirectory();
        firstDriver = launch("first");
        secondDriver = launch("second");
        first = new Node(firstDriver.fabric());
        second = new Node(secondDriver.fabric());
        first.peer = first.addresses.insert(second.endpoint.name());
        second.peer = second.addresses.insert(first.endpoint.name());
        first.own.putLong(WORD, 1);
        add.operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)
            .operands(first.region.address(WORD)).results(first.region.address(WORD + Long.BYTES))
            .destAddr(first.peer).remote(WORD, KEY);
        putThereAndBack();
        write();
        get();
        fetchAdd();
    }

    private FabricDriver launch(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(directory.path().resolve(name)).threadingMode(ThreadingMode.INVOKER).build());
    }

    @TearDown(Level.Trial)
    public void close() {
        firstDriver.fabric().close();
        secondDriver.fabric().close();
        firstDriver.close();
        secondDriver.close();
        directory.close();
    }

    /** A write into polled memory, injected if it is short enough, and one back: a whole round trip. */
    @Benchmark
    public void putThereAndBack() {
        value++;
        first.put(value);
        second.await(value);
        second.put(value);
        first.await(value);
    }

    @Benchmark
    public void write() {
        check(first.remote.write(first.region.address(), sizeBytes, first.peer, 0, KEY, 0));
        awaitEntry();
    }

    /** A read, and its entry. */
    @Benchmark
    public void get() {
        check(first.remote.read(first.region.address(), sizeBytes, first.peer, 0, KEY, 0));
        awaitEntry();
    }

    @Benchmark
    public void fetchAdd() {
        check(first.endpoint.atomics().fetchAtomicmsg(add));
        awaitEntry();
    }

    private void awaitEntry() {
        long before = first.entries;
        first.poll();
        while (first.entries == before) {
            second.poll();
            first.poll();
        }
    }

    private static void check(int result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new IllegalStateException(FabricErrno.describe(-result));
        }
    }

    /** An endpoint and a region that the other one may access. */
    private final class Node implements CompletionHandler {
        final Endpoint endpoint;
        final RemoteMemory remote;
        final CompletionQueue queue;
        final AddressVector addresses;
        final MemoryRegion region;
        final UnsafeBuffer own;
        long peer;
        long entries;

        Node(Fabric fabric) {
            Info hints = new Info().caps(Flags.RMA | Flags.ATOMIC).linkName("shm");
            hints.txAttr().size(QUEUE_SIZE);
            hints.rxAttr().size(QUEUE_SIZE);
            Domain domain = fabric.domain(fabric.info(hints).best());
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(2 * QUEUE_SIZE));
            addresses = domain.openAddressVector(new AddressVectorAttr());
            region = domain.allocate(REGION_BYTES,
                new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(KEY));
            own = region.buffer();
            endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(addresses);
            endpoint.enable();
            remote = endpoint.remoteMemory();
        }

        void put(long newValue) {
            int counter = sizeBytes - Long.BYTES;
            own.putLong(counter, newValue);
            int result;
            do {
                result = sizeBytes <= endpoint.injectSize()
                    ? remote.injectWrite(own, 0, sizeBytes, peer, 0, KEY)
                    : remote.write(region.address(), sizeBytes, peer, 0, KEY, 0);
                check(result);
            } while (result < 0);
        }

        void await(long wanted) {
            poll();
            while (own.getLongVolatile(sizeBytes - Long.BYTES) != wanted) {
                // only while the connection is made, or before the other side has answered for the first time
                first.poll();
                second.poll();
            }
        }

        void poll() {
            check(queue.poll(this, LIMIT));
        }

        @Override
        public void onCompletion(Completion completion) {
            entries++;
        }
    }
}
