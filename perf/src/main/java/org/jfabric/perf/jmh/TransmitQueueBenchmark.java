package org.jfabric.perf.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.agrona.UnsafeApi;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.TransmitQueue;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;
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
 * Cost of a send for an attached client: claim, encode and commit in the transmit queue. The same thread takes the
 * records out at the other end, so that neither cache transfers nor a scheduler are in the figure.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TransmitQueueBenchmark {
    private static final int BATCH = 16;
    private static final int SIZE = 256;
    private static final int RING_LENGTH = 64 << 10;
    private static final int MAX_TYPE = 4;
    private static final int PAGE = 4096;
    private static final int WORDS_LENGTH = 128;
    private static final int PARKED_OFFSET = 64;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment file = arena.allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, PAGE);
    private final MemorySegment words = arena.allocate(WORDS_LENGTH, WORDS_LENGTH);
    private final MemorySegment payload = arena.allocate(PAGE, PAGE);

    /** Payload of an inject in bytes. */
    @Param({"8", "64"})
    public int injectBytes;

    /** True if the driver may sleep, so that each commit has to fence and check the parked word. */
    @Param({"false", "true"})
    public boolean mayPark;

    private TransmitQueue queue;
    private RecordConsumer consumer;
    private long completed;

    /** Creates the state, wired by {@link #open()}. */
    public TransmitQueueBenchmark() {
    }

    /** Wires both ends. */
    @Setup(Level.Trial)
    public void open() {
        long parked = mayPark ? words.address() + PARKED_OFFSET : 0;
        // the parked word stays 0, so the doorbell is never rung
        QueueSignal signal = new QueueSignal(words.address(), parked, null);
        queue = new TransmitQueue(file.address(), RING_LENGTH, SIZE, signal, file);
        consumer = new RecordConsumer(file.address() + RecordRingDescriptor.HEADER_LENGTH, RING_LENGTH,
            file.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, MAX_TYPE);
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void close() {
        arena.close();
    }

    /** A tagged send of registered memory, taken out at once. Returns 0. */
    @Benchmark
    public int send() {
        int result = queue.send(Flags.TAGGED, 1, 2, 3, 4, 5, 6);
        drain();
        return result;
    }

    /** A tagged send, taken out in batches of 16. Returns 0. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int sendBatch16() {
        int result = 0;
        for (int i = 0; i < BATCH; i++) {
            result |= queue.send(Flags.TAGGED, 1, 2, 3, 4, 5, i);
        }
        drain();
        return result;
    }

    /** A tagged inject, whose payload is copied into the record. Returns 0. */
    @Benchmark
    public int inject() {
        int result = queue.inject(Flags.TAGGED | Flags.INJECT, payload.address(), injectBytes, 3, 4, 5, 6);
        drain();
        return result;
    }

    private void drain() {
        while (consumer.poll() == RecordConsumer.RECORD) {
            consumer.advance();
            completed++;
        }
        consumer.release();
        UnsafeApi.putLongRelease(null, file.address() + RecordRingDescriptor.COMPLETED_OFFSET, completed);
    }
}
