package org.jfabric.perf.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.stream.LogOptions;
import org.jfabric.driver.stream.record.LogWriter;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamListener;
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
 * Cost of a message in a log in the temporary folder: to append it, flushed for each 64 messages into the page cache,
 * and to read it again from there, with its checksum.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LogBenchmark {
    private static final int BATCH = 64;
    private static final int SEGMENT = 1 << 26;
    private static final int FIRST_BATCHES = 10_000;

    /** Bytes of a message. */
    @Param({"64", "1024"})
    public int sizeBytes;

    private Path folder;
    private LogWriter writer;
    private LogReader reader;
    private UnsafeBuffer message;
    private long bytes;
    private final StreamListener listener = (buffer, offset, length, header) -> bytes += length;

    /** Creates the state, opened by {@link #open()}. */
    public LogBenchmark() {
    }

    /** Makes a log with messages, and a reader of it. */
    @Setup(Level.Trial)
    public void open() throws IOException {
        folder = Files.createTempDirectory("jfabric-log");
        writer = LogWriter.open(
            folder, "quotes", new LogOptions().segmentLengthBytes(SEGMENT).retainBytes(8L * SEGMENT));
        message = new UnsafeBuffer(new byte[sizeBytes]);
        for (int i = 0; i < FIRST_BATCHES; i++) {
            append();
        }
        reader = LogReader.open(folder);
    }

    /** Closes and deletes it. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        reader.close();
        writer.close();
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }

    /** Appends messages and flushes them. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long append() {
        for (int i = 0; i < BATCH; i++) {
            if (writer.append(writer.position(), i, 0, 1, 2, message, 0, sizeBytes) != 0) {
                throw new IllegalStateException("the disk is full");
            }
        }
        return writer.flush();
    }

    /** Reads messages, again from the oldest one at the end. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long replay() {
        if (reader.poll(listener, BATCH) < BATCH) {
            reader.from(LogReader.OLDEST);
        }
        return bytes;
    }
}
