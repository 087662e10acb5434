package org.jfabric.perf.jmh;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jfabric.perf.compare.ManyPeersSide;
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

/** A tagged message of 64 bytes over the link shm where one of the two sides has many peers: {@link ManyPeersSide}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ManyPeersBenchmark {
    private static final int SIZE_BYTES = 64;

    /** Who sends to whom. */
    @Param
    public ManyPeersSide.Pattern pattern;

    /** Drivers of the side that has many. */
    @Param({"1", "2", "8", "50", "100"})
    public int peers;

    private BenchmarkDirectory directory;
    private ManyPeersSide side;

    /** Creates the state; {@link #open()} opens the endpoints. */
    public ManyPeersBenchmark() {
    }

    /**
     * Opens all drivers, and sends a few messages to each peer.
     *
     * @throws IOException if the drivers' folder cannot be made.
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        directory = new BenchmarkDirectory();
        side = new ManyPeersSide(directory.path(), pattern, peers, SIZE_BYTES);
        side.connect();
    }

    @TearDown(Level.Trial)
    public void close() {
        side.close();
        directory.close();
    }

    /** One message, or a request and its answer. */
    @Benchmark
    public void message() {
        side.message();
    }
}
