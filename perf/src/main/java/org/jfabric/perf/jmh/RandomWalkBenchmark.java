package org.jfabric.perf.jmh;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
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
import org.openjdk.jmh.annotations.Warmup;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * The bare cache misses beside {@link TagMatcherBenchmark}: one step of a walk through nodes of one cache line each. In
 * random order each step pays what the memory costs at that size; a match in random order pays several such misses, for
 * its bucket, its entry and the entry's neighbours.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RandomWalkBenchmark {
    private static final int NODE_LENGTH = 64;
    private static final long SEED = 42;

    /** Number of nodes. */
    @Param({"1", "100", "10000", "100000"})
    public int depth;

    private UnsafeBuffer inOrder;
    private UnsafeBuffer inRandomOrder;
    private int node;

    /** Creates the state, filled by {@link #fill()}. */
    public RandomWalkBenchmark() {
    }

    /** Links the nodes: each holds the offset of the next one, the last that of the first. */
    @Setup(Level.Trial)
    public void fill() {
        inOrder = new UnsafeBuffer(BufferUtil.allocateDirectAligned(depth * NODE_LENGTH, NODE_LENGTH));
        inRandomOrder = new UnsafeBuffer(BufferUtil.allocateDirectAligned(depth * NODE_LENGTH, NODE_LENGTH));
        int[] order = randomOrder(depth);
        for (int i = 0; i < depth; i++) {
            int next = i + 1 == depth ? 0 : i + 1;
            inOrder.putInt(i * NODE_LENGTH, next * NODE_LENGTH);
            inRandomOrder.putInt(order[i] * NODE_LENGTH, order[next] * NODE_LENGTH);
        }
        node = 0;
    }

    @Benchmark
    public int stepInOrder() {
        node = inOrder.getInt(node);
        return node;
    }

    /** One step to a node anywhere, known only when this one was read. */
    @Benchmark
    public int stepInRandomOrder() {
        node = inRandomOrder.getInt(node);
        return node;
    }

    /** All numbers below a count, each once, in an order that is the same in each run. */
    static int[] randomOrder(int count) {
        int[] order = new int[count];
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < count; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        return order;
    }
}
