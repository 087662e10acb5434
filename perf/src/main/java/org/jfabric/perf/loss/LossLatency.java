package org.jfabric.perf.loss;

import java.io.IOException;
import java.net.DatagramSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import org.HdrHistogram.Histogram;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.perf.jmh.BenchmarkDirectory;

/**
 * Measures what loss on the network costs a stream: the time from when a message should have been sent until it is
 * read, of 64 bytes at a fixed rate, and the rate over a long and narrow network; JFabric's beside Aeron's, with its
 * defaults and tuned. Each figure is the median of what segments of a quarter of a second have, and that of the quiet
 * ones a quarter of them: a moment in which the machine did something else is in few of them.
 *
 * <p>One thread writes and is the network; the other one reads. So nothing but these two cores is needed, and nothing
 * waits for a third. Loss is by seed, and as frequent for reports and requests as for messages.
 */
public final class LossLatency {
    private static final long HIGHEST_NS = 100_000_000_000L;
    private static final int DIGITS = 3;
    private static final int MESSAGE_BYTES = 64;
    private static final int LONG_BYTES = 1_400;
    private static final long INTERVAL_NS = 20_000;
    private static final long DELAY_NS = 5_000_000;
    private static final long LONG_DELAY_NS = 20_000_000;
    private static final long NARROW_BYTES = 100_000_000;
    private static final int QUEUE_BYTES = 1 << 20;
    private static final int LOSS_OF_NARROW = 1_000;
    private static final int ALL = 1_000_000;
    private static final int PAIRS = 2;
    private static final int[] LOSSES = {0, 100, 1_000, 10_000};
    private static final long CONNECT_NS = 20_000_000_000L;
    private static final long LATE_NS = 10_000_000_000L;
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_SECOND = 1e9;
    private static final double PER_CENT = 1e4;
    private static final double MEGABYTE = 1e6;
    private static final long SEED = 48;
    private static final double P999 = 99.9;
    private static final double[] PARTS = {50, 99, P999, 100};
    /** Messages of a segment, a quarter of a second. */
    private static final long SEGMENT = 12_500;

    private final LossyStream stream;
    private final Relay.Network network;
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[LONG_BYTES]);
    private final Histogram latency = new Histogram(HIGHEST_NS, DIGITS);
    /** Of the segments: 50, 99, 99.9 and 100 %. */
    private final List<long[]> segments = new ArrayList<>();
    private volatile Relay.Network now;
    private volatile boolean isOpen;
    private volatile boolean isStopped;
    private volatile long read;
    private long late;

    private LossLatency(LossyStream stream, Relay.Network network) {
        this.stream = stream;
        this.network = network;
    }

    /**
     * Runs everything and prints it.
     *
     * @param args {@code jfabric} if Aeron is to be left out; seconds of each run, 5 if not given; then the datagrams
     *             that are lost, each a number per million.
     * @throws IOException          if a socket cannot be opened.
     * @throws InterruptedException if interrupted.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        boolean isAlone = args.length > 0 && args[0].equals("jfabric");
        List<String> numbers = List.of(args).subList(isAlone ? 1 : 0, args.length);
        double seconds = numbers.isEmpty() ? 5 : Double.parseDouble(numbers.getFirst());
        int[] losses = numbers.size() < 2 ? LOSSES : numbers.stream().skip(1).mapToInt(Integer::parseInt).toArray();
        List<BiFunction<Path, Integer, LossyStream>> streams = isAlone ? List.of(JFabricStream::new)
            : List.of(JFabricStream::new, (folder, port) -> new AeronStream(folder, port, false),
                (folder, port) -> new AeronStream(folder, port, true));
        try (BenchmarkDirectory directory = new BenchmarkDirectory()) {
            int runs = 0;
            for (BiFunction<Path, Integer, LossyStream> each : streams) {
                // compiled code is for what all runs do, and not for the first of them
                try (LossyStream stream = each.apply(directory.path().resolve("run" + runs++), freePort())) {
                    LossLatency warmUp = new LossLatency(stream, Relay.Network.PLAIN);
                    warmUp.run(relay -> warmUp.write(relay, SEGMENT));
                }
            }
            for (Relay.Network network : List.of(
                Relay.Network.PLAIN, new Relay.Network(DELAY_NS, 0, 0, 0))) {
                System.out.printf(Locale.ROOT, "%n64 bytes, %,d messages/s, relay with %.0f us each way%n"
                    + "%-14s %8s %12s %12s %12s %12s %12s %10s%n", (long) (NS_PER_SECOND / INTERVAL_NS),
                    network.delayNs() / NS_PER_US, "", "loss %", "p50 us", "p99 us", "p99.9 us", "quiet p99.9",
                    "max us", "sent late");
                for (int loss : losses) {
                    for (BiFunction<Path, Integer, LossyStream> each : streams) {
                        Path folder = directory.path().resolve("run" + runs++);
                        try (LossyStream stream = each.apply(folder, freePort())) {
                            new LossLatency(stream, network.losing(loss)).paced(seconds);
                        }
                    }
                }
            }
            System.out.printf(Locale.ROOT, "%nthe same over two paths, of which the relay is one%n");
            for (int round = 0; round < PAIRS; round++) {
                for (int loss : new int[] {0, ALL}) {
                    try (LossyStream stream = new JFabricStream(
                        directory.path().resolve("run" + runs++), freePort(), freePort())) {
                        new LossLatency(stream, Relay.Network.PLAIN.losing(loss)).paced(seconds);
                    }
                }
            }
            Relay.Network narrow = new Relay.Network(LONG_DELAY_NS, LOSS_OF_NARROW, NARROW_BYTES, QUEUE_BYTES);
            System.out.printf(Locale.ROOT, "%n1,400 bytes, relay with 20 ms each way, 100 MB/s, 0.1 %% loss%n");
            for (BiFunction<Path, Integer, LossyStream> each : streams) {
                try (LossyStream stream = each.apply(directory.path().resolve("run" + runs++), freePort())) {
                    new LossLatency(stream, narrow).saturated(seconds);
                }
            }
        }
    }

    private static int freePort() throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            return socket.getLocalPort();
        }
    }

    /** Runs the reading thread while the calling one writes. */
    private void run(Body body) throws IOException, InterruptedException {
        // nothing is lost while they connect
        now = network.losing(0);
        try (Relay relay = new Relay(stream.askedPort(), SEED)) {
            stream.openWriter(relay.port());
            Thread reader = new Thread(() -> readAll(relay.port()), "reader");
            reader.start();
            long endNs = System.nanoTime() + CONNECT_NS;
            while (!isOpen || !stream.isConnected()) {
                relay.step(now);
                stream.stepWriter();
                if (System.nanoTime() - endNs > 0) {
                    throw new IllegalStateException(stream + " did not connect within 20 s");
                }
            }
            body.run(relay);
            isStopped = true;
            while (reader.isAlive()) {
                relay.step(now);
                stream.stepWriter();
            }
            reader.join();
        }
    }

    /** What the writing thread does. */
    private interface Body {
        void run(Relay relay) throws IOException;
    }

    private void readAll(int port) {
        stream.openReader(port, (buffer, offset, length) -> {
            latency.recordValue(Math.clamp(System.nanoTime() - buffer.getLong(offset), 0, HIGHEST_NS));
            if (latency.getTotalCount() == SEGMENT) {
                long[] values = new long[PARTS.length];
                for (int i = 0; i < values.length; i++) {
                    values[i] = latency.getValueAtPercentile(PARTS[i]);
                }
                segments.add(values);
                latency.reset();
            }
            read++;
        });
        isOpen = true;
        while (!isStopped) {
            stream.poll();
        }
        stream.closeReader();
    }

    private void paced(double seconds) throws IOException, InterruptedException {
        int warmUp = (int) Math.max(1, seconds * NS_PER_SECOND / INTERVAL_NS / SEGMENT / 4);
        int wanted = 4 * warmUp;
        run(relay -> {
            write(relay, warmUp * SEGMENT);
            now = network;
            write(relay, wanted * SEGMENT);
        });
        System.out.printf(Locale.ROOT, "%-14s %8.2f", stream, network.lostPerMillion() / PER_CENT);
        for (int i = 0; i < PARTS.length; i++) {
            int part = i;
            long[] values = segments.stream().skip(warmUp).mapToLong(each -> each[part]).sorted().toArray();
            print(values, 2);
            if (PARTS[part] == P999) {
                print(values, 4);
            }
        }
        System.out.printf(Locale.ROOT, " %,10d%n", late);
    }

    /** Prints a value: the part's first one behind so many are smaller. */
    private static void print(long[] sorted, int part) {
        System.out.printf(Locale.ROOT, " %,12.1f",
            sorted.length == 0 ? Double.NaN : sorted[sorted.length / part] / NS_PER_US);
    }

    /** Writes at the rate, whether or not earlier messages have arrived, and waits for all. */
    private void write(Relay relay, long count) throws IOException {
        long begin = System.nanoTime();
        long wanted = read + count;
        for (long i = 0; i < count;) {
            long dueNs = begin + i * INTERVAL_NS;
            if (System.nanoTime() - dueNs >= 0) {
                message.putLong(0, dueNs);
                if (stream.offer(message, MESSAGE_BYTES)) {
                    late += System.nanoTime() - dueNs > INTERVAL_NS ? 1 : 0;
                    i++;
                }
            }
            stream.stepWriter();
            relay.step(now);
        }
        long endNs = System.nanoTime() + LATE_NS;
        while (read < wanted && System.nanoTime() - endNs < 0) {
            stream.stepWriter();
            relay.step(now);
        }
        if (read < wanted) {
            System.out.println(stream + ": " + (wanted - read) + " messages have not arrived after 10 s");
        }
    }

    /** Writes as fast as it can, and prints the rate at which messages arrive once it has found its pace. */
    private void saturated(double seconds) throws IOException, InterruptedException {
        List<Long> rates = new ArrayList<>();
        run(relay -> {
            now = network;
            long begin = System.nanoTime();
            for (int second = 0; second < 2 * seconds; second++) {
                long before = read;
                long endNs = begin + (long) ((second + 1) * NS_PER_SECOND);
                while (System.nanoTime() - endNs < 0) {
                    message.putLong(0, System.nanoTime());
                    stream.offer(message, LONG_BYTES);
                    stream.stepWriter();
                    relay.step(now);
                }
                rates.add(read - before);
            }
        });
        double last = rates.subList(rates.size() / 2, rates.size()).stream().mapToLong(Long::longValue).average()
            .orElseThrow() * LONG_BYTES;
        System.out.printf(Locale.ROOT, "%-14s %,8.1f MB/s, %.2f of the limit (each second: %s)%n", stream,
            last / MEGABYTE, last / NARROW_BYTES, rates.stream().map(each -> each * LONG_BYTES / 1_000_000).toList());
    }
}
