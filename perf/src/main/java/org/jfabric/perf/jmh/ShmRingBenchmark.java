package org.jfabric.perf.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.Words;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A record through the ring of the link shm and nothing else: claim, copy, commit, poll, copy, release, in one thread,
 * so that no cache lines are transferred.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ShmRingBenchmark {
    private static final int BATCH = 16;
    private static final int RING_LENGTH = 256 << 10;
    private static final int PAGE = 4096;
    private static final int TYPE = 2;
    private static final int HEADER = 24;

    private final Arena arena = Arena.ofShared();

    /** Payload in bytes. */
    @Param({"8", "64", "4096"})
    public int sizeBytes;

    private RecordProducer producer;
    private RecordConsumer consumer;
    private long source;
    private long target;

    /** Creates the state, wired by {@link #open()}. */
    public ShmRingBenchmark() {
    }

    /** Wires both ends. */
    @Setup(Level.Trial)
    public void open() {
        MemorySegment file = arena.allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, PAGE);
        long ring = file.address() + RecordRingDescriptor.HEADER_LENGTH;
        long position = file.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET;
        producer = new RecordProducer(ring, RING_LENGTH, position);
        consumer = new RecordConsumer(ring, RING_LENGTH, position, TYPE);
        source = arena.allocate(sizeBytes, PAGE).address();
        target = arena.allocate(sizeBytes, PAGE).address();
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void close() {
        arena.close();
    }

    /** A record that is taken out at once. */
    @Benchmark
    public int record() {
        write();
        return read();
    }

    /** Records that are taken out in batches of 16. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int recordBatch16() {
        for (int i = 0; i < BATCH; i++) {
            write();
        }
        return read();
    }

    /** A poll that finds nothing. Returns {@link RecordConsumer#EMPTY}. */
    @Benchmark
    public int pollEmpty() {
        return consumer.poll();
    }

    private void write() {
        int offset = producer.claim(HEADER + sizeBytes);
        if (offset < 0) {
            throw new IllegalStateException("the ring is full");
        }
        Words.copy(source, producer.ringAddress() + offset + HEADER, sizeBytes);
        producer.commit(offset, HEADER + sizeBytes, TYPE);
    }

    private int read() {
        int taken = 0;
        while (consumer.poll() == RecordConsumer.RECORD) {
            Words.copy(consumer.address() + HEADER, target, sizeBytes);
            consumer.advance();
            taken++;
        }
        consumer.release();
        return taken;
    }
}
