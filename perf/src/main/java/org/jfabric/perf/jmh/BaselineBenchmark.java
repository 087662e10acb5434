package org.jfabric.perf.jmh;

import java.util.concurrent.TimeUnit;
import org.agrona.UnsafeApi;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of the machine and of the harness alone: subtract {@link #nothing()} from the other benchmarks, and consider the
 * cost of a clock and of a fence on this machine.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class BaselineBenchmark {

    /** Creates the state, which is empty. */
    public BaselineBenchmark() {
    }

    /** The harness's own loop. */
    @Benchmark
    public void nothing() {
        // what is measured is the loop around this method
    }

    /** One reading of the clock, as in each duty cycle. Returns the nanoseconds. */
    @Benchmark
    public long nanoTime() {
        return System.nanoTime();
    }

    /** One full fence, as each commit takes if the driver may sleep. */
    @Benchmark
    public void fullFence() {
        UnsafeApi.fullFence();
    }

    /** One spin hint, as between two polls. */
    @Benchmark
    public void onSpinWait() {
        Thread.onSpinWait();
    }
}
