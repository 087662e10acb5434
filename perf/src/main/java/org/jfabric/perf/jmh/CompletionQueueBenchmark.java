package org.jfabric.perf.jmh;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionBatch;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Completions from the driver's writer to the application, both in one thread: the figure has the instructions of both
 * ends and no cache transfer.
 *
 * <p>The queue is a real one of an attached client, without a wait object. Its driver sleeps, and a second writer over
 * the same file takes its place, so that no duty cycle runs in between. The ring is 4 KiB, so that its entries stay in
 * the first-level cache. One thread; three forks, so that the error that JMH prints covers what differs from one JVM to
 * the next as well.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@Threads(1)
public class CompletionQueueBenchmark implements CompletionHandler {
    private static final int BATCH = 16;
    private static final int QUEUE_SIZE = 48;
    private static final int ENTRY_LENGTH = 48;

    private final CompletionBatch batch = new CompletionBatch();
    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[BATCH * ENTRY_LENGTH]);
    private BenchmarkDirectory directory;
    private FabricDriver driver;
    private Fabric fabric;
    private Arena arena;
    private CompletionQueue queue;
    private CompletionWriter writer;
    private long sum;

    /** Creates the state; {@link #open()} opens the queue. */
    public CompletionQueueBenchmark() {
    }

    /**
     * Opens a queue and its file.
     *
     * @throws IOException if the file cannot be mapped.
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        directory = new BenchmarkDirectory();
        driver = FabricDriver.launch(DriverConfig.builder()
            .directory(directory.path().resolve("driver")).threadingMode(ThreadingMode.SHARED).build());
        fabric = driver.fabric();
        Info info = fabric.info(new Info().caps(Flags.TAGGED).linkName("loopback")).best();
        Domain domain = fabric.domain(info);
        queue = domain.openCompletionQueue(
            new CompletionQueueAttr().size(QUEUE_SIZE).format(CompletionFormat.TAGGED));
        // a queue may be read once an endpoint that reports to it is enabled
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(domain.openAddressVector(new AddressVectorAttr()));
        endpoint.enable();
        arena = Arena.ofShared();
        writer = new CompletionWriter(
            map(driver.directory()).address(), (int) Sizing.cqRingEntries(driver.config(), QUEUE_SIZE), null);
    }

    @TearDown(Level.Trial)
    public void close() {
        arena.close();
        fabric.close();
        driver.close();
        directory.close();
    }

    @Override
    public void onCompletion(Completion completion) {
        sum += completion.opContext() + completion.len();
    }

    /** A read that finds nothing, as a spinning application does most of the time. */
    @Benchmark
    public int readEmpty() {
        return queue.read(entries, 0, BATCH);
    }

    /** A poll that finds nothing. */
    @Benchmark
    public int pollEmpty() {
        return queue.poll(this, BATCH);
    }

    /** Delivery of an entry, written and copied out in batches of 16. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int deliverAndRead16() {
        write();
        return queue.read(entries, 0, BATCH);
    }

    /** Delivery of an entry, written and decoded in place in batches of 16. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long deliverAndPoll16() {
        write();
        queue.poll(this, BATCH);
        return sum;
    }

    /** Delivery of an entry: written, then read in place in batches of 16. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long deliverAndReadInPlace16() {
        write();
        int count = queue.readInPlace(batch, BATCH);
        for (int i = 0; i < count; i++) {
            onCompletion(batch.entry(i));
        }
        batch.release();
        return sum;
    }

    /** A batched read that finds nothing. */
    @Benchmark
    public int readInPlaceEmpty() {
        return queue.readInPlace(batch, BATCH);
    }

    private void write() {
        for (int i = 0; i < BATCH; i++) {
            writer.success(0, 0, i, Flags.TAGGED | Flags.RECV, 64, 0, 0, 7, 1);
        }
        writer.flush();
    }

    private MemorySegment map(Path folder) throws IOException {
        Path file;
        try (Stream<Path> files = Files.list(folder)) {
            file = files.filter(each -> each.toString().endsWith(".cq")).findFirst().orElseThrow();
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
        }
    }
}
