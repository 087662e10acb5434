package org.jfabric.perf.jmh;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A message of an endpoint to itself through the public API and an embedded driver in mode INVOKER: all instructions of
 * a message's way but the link's, in one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LoopbackPingBenchmark implements CompletionHandler {
    private static final int LIMIT = 4;
    private static final int QUEUE_SIZE = 64;
    private static final long TAG = 7;
    private static final long MAX_BYTES = 1 << 20;

    /** Payload in bytes. */
    @Param({"8", "64", "4096"})
    public int sizeBytes;

    private BenchmarkDirectory directory;
    private FabricDriver driver;
    private Fabric fabric;
    private CompletionQueue queue;
    private Endpoint endpoint;
    private UnsafeBuffer payload;
    private long source;
    private long target;
    private long self;
    private long seen;

    /** Creates the state; {@link #open()} opens the endpoint. */
    public LoopbackPingBenchmark() {
    }

    /**
     * Opens an endpoint that knows itself.
     *
     * @throws IOException if the driver's folder cannot be made.
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        directory = new BenchmarkDirectory();
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(directory.path().resolve("driver")).threadingMode(ThreadingMode.INVOKER).build());
        fabric = driver.fabric();
        Info info = fabric.info(new Info().caps(Flags.TAGGED).linkName("loopback")).best();
        Domain domain = fabric.domain(info);
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(QUEUE_SIZE));
        AddressVector addresses = domain.openAddressVector(new AddressVectorAttr());
        MemoryRegion region = domain.allocate(2 * MAX_BYTES);
        source = region.address();
        target = region.address() + MAX_BYTES;
        endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(addresses);
        endpoint.enable();
        self = addresses.insert(endpoint.name());
        payload = new UnsafeBuffer(new byte[endpoint.injectSize()]);
    }

    @TearDown(Level.Trial)
    public void close() {
        fabric.close();
        driver.close();
        directory.close();
    }

    @Override
    public void onCompletion(Completion completion) {
        seen++;
    }

    /** A receive, a send that matches it, and both completions. */
    @Benchmark
    public long tagged() {
        check(endpoint.trecv(target, sizeBytes, FabricAddress.ADDR_UNSPEC, TAG, 0, 1));
        check(endpoint.tsend(source, sizeBytes, self, TAG, 2));
        return await(seen + 2);
    }

    /** A send that comes before its receive and waits in the unexpected store, and both completions. */
    @Benchmark
    public long taggedUnexpected() {
        check(endpoint.tsend(source, sizeBytes, self, TAG, 2));
        check(endpoint.trecv(target, sizeBytes, FabricAddress.ADDR_UNSPEC, TAG, 0, 1));
        return await(seen + 2);
    }

    /** A receive, an inject that matches it (as much of the payload as the inject size allows), and one completion. */
    @Benchmark
    public long injected() {
        check(endpoint.trecv(target, sizeBytes, FabricAddress.ADDR_UNSPEC, TAG, 0, 1));
        check(endpoint.tinject(payload, 0, Math.min(sizeBytes, payload.capacity()), self, TAG));
        return await(seen + 1);
    }

    /** A poll that finds nothing, with the duty cycle that it runs. */
    @Benchmark
    public int pollEmpty() {
        return queue.poll(this, LIMIT);
    }

    private long await(long until) {
        while (seen != until) {
            queue.poll(this, LIMIT);
        }
        return seen;
    }

    private static void check(int result) {
        if (result != 0) {
            throw new IllegalStateException("a call answered " + result);
        }
    }
}
