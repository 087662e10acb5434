package org.jfabric.perf;

import org.HdrHistogram.Histogram;
import org.agrona.UnsafeApi;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.ffi.Futex;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.perf.jmh.BenchmarkDirectory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Measures how long a reader that sleeps in {@code sread} in another process takes to wake, beside a bare futex.
 *
 * <p>Both are there and back: the sleeper answers by a store that the measuring thread spins on. The entry is written
 * by the driver's own {@link CompletionWriter}, so that nothing but the entry and the wake-up is in the figure. The two
 * alternate in one run.
 */
public final class SleepLatency {
    static final int CAPACITY_SHARE = 64;
    static final int FUTEX_OFFSET = 0;
    static final int ANSWER_OFFSET = 128;
    static final int WORDS_LENGTH = 4096;

    private static final int DEFAULT_SAMPLES = 500;
    private static final int BLOCKS = 5;
    private static final long IDLE_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long HIGHEST_NS = TimeUnit.SECONDS.toNanos(10);
    private static final double NS_PER_US = 1000.0;

    private final long words;
    private final CompletionWriter writer;
    private long answers;
    private long entries;
    private int signals;

    private SleepLatency(long words, CompletionWriter writer) {
        this.words = words;
        this.writer = writer;
    }

    /**
     * Runs both and prints the distributions.
     *
     * @param args samples of each in each of five alternating blocks, 500 if not given.
     * @throws IOException          if the other process cannot be started.
     * @throws InterruptedException if interrupted.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        int samples = args.length > 0 ? Integer.parseInt(args[0]) : DEFAULT_SAMPLES;
        Histogram bare = new Histogram(HIGHEST_NS, 3);
        Histogram reader = new Histogram(HIGHEST_NS, 3);
        try (BenchmarkDirectory directory = new BenchmarkDirectory();
            Arena arena = Arena.ofShared();
            FabricDriver driver = FabricDriver.launch(DriverConfig.builder()
                .directory(directory.path().resolve("driver")).threadingMode(ThreadingMode.SHARED).build())) {
            Path file = directory.path().resolve("words");
            try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
                made.setLength(WORDS_LENGTH);
            }
            long words = map(file, arena).address();
            Process sleeper = start(driver.directory(), file, samples);
            try {
                awaitReady(sleeper);
                long queue = map(completionQueue(driver.directory()), arena).address();
                CompletionWriter writer = new CompletionWriter(
                    queue, (int) Sizing.cqRingEntries(driver.config(), CAPACITY_SHARE),
                    new WaitPoint(queue + CompletionQueueDescriptor.WAIT_OFFSET));
                SleepLatency latency = new SleepLatency(words, writer);
                for (int block = 0; block <= BLOCKS; block++) {
                    // the first block warms both up
                    latency.measure(latency::wakeFutex, samples, block == 0 ? new Histogram(3) : bare);
                    latency.measure(latency::writeEntry, samples, block == 0 ? new Histogram(3) : reader);
                }
                sleeper.waitFor();
            } finally {
                sleeper.destroyForcibly();
            }
        }
        System.out.printf("%-30s %8s %8s %8s %8s   microseconds, there and back, %d samples%n",
            "", "min", "p50", "p90", "max", (long) samples * BLOCKS);
        print("bare futex", bare);
        print("reader asleep in sread", reader);
        System.out.printf("%-30s %8s %8.2f%n", "ratio of the medians", "",
            (double) reader.getValueAtPercentile(50) / bare.getValueAtPercentile(50));
    }

    private void measure(Runnable wake, int samples, Histogram histogram) {
        for (int i = 0; i < samples; i++) {
            pause();
            long begin = System.nanoTime();
            wake.run();
            answers++;
            while (UnsafeApi.getLongAcquire(null, words + ANSWER_OFFSET) != answers) {
                Thread.onSpinWait();
            }
            histogram.recordValue(Math.min(HIGHEST_NS, System.nanoTime() - begin));
        }
    }

    /** Both sleepers have time to fall asleep; the same for both, and awake, so that this core does not slow down. */
    private static void pause() {
        long end = System.nanoTime() + IDLE_NS;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    private void wakeFutex() {
        signals++;
        UnsafeApi.putIntVolatile(null, words + FUTEX_OFFSET, signals);
        Futex.wake(words + FUTEX_OFFSET, 1);
    }

    private void writeEntry() {
        writer.success(0, 0, entries++, 0, 0, 0, 0, 0, -1);
        writer.flush();
    }

    private static void print(String name, Histogram histogram) {
        System.out.printf("%-30s %8.1f %8.1f %8.1f %8.1f%n", name,
            histogram.getMinValue() / NS_PER_US,
            histogram.getValueAtPercentile(50) / NS_PER_US,
            histogram.getValueAtPercentile(90) / NS_PER_US,
            histogram.getMaxValue() / NS_PER_US);
    }

    private static Process start(Path driver, Path words, int samples) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(Benchmarks.jvmArgs());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SleepingReader.class.getName(),
            driver.toString(), words.toString(), Integer.toString(samples), Integer.toString(BLOCKS + 1)));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static void awaitReady(Process sleeper) throws IOException {
        BufferedReader reader =
            new BufferedReader(new InputStreamReader(sleeper.getInputStream(), StandardCharsets.UTF_8));
        String line = reader.readLine();
        if (!"ready".equals(line)) {
            throw new IOException("the reading process did not start: " + line);
        }
    }

    private static Path completionQueue(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(each -> each.toString().endsWith(".cq")).findFirst().orElseThrow();
        }
    }

    static MemorySegment map(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
        }
    }
}
