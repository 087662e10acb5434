package org.jfabric.perf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.agrona.UnsafeApi;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.perf.jmh.BenchmarkDirectory;

/**
 * Measures how long a message takes that wakes a parked daemon, beside what waking a thread takes in any case.
 *
 * <p>Both are there and back: <em>bare doorbell</em> is a byte on a Unix-domain socket to a thread asleep in epoll,
 * which answers by a store that the measuring thread spins on; <em>message</em> is a tagged send to an endpoint of the
 * same client through a daemon in mode SHARED that was idle, until the receive's completion is seen. Between two
 * samples the machine is left alone, so that whatever gets slow by idleness is in both figures.
 */
public final class WakeUpLatency {
    private static final int DEFAULT_SAMPLES = 200;
    private static final int WARM_UP_SAMPLES = 50;
    /** For each sample; the usual number of samples makes them enough for compiled code. */
    private static final int WARM_UP_MESSAGES = 100;
    private static final long IDLE_MS = 10;
    private static final long HIGHEST_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int DIGITS = 3;
    private static final double NS_PER_US = 1000.0;

    private WakeUpLatency() {
    }

    /**
     * Runs both and prints the distributions.
     *
     * @param args number of samples, 200 if not given.
     * @throws IOException          if the daemon cannot be started.
     * @throws InterruptedException if interrupted.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        int samples = args.length > 0 ? Integer.parseInt(args[0]) : DEFAULT_SAMPLES;
        try (BenchmarkDirectory directory = new BenchmarkDirectory()) {
            Histogram bare = bareDoorbell(directory.path(), samples);
            Histogram message = message(directory.path().resolve("daemon"), samples);
            System.out.printf("%-30s %8s %8s %8s %8s   microseconds, there and back, %d samples%n",
                "", "min", "p50", "p90", "max", samples);
            print("bare doorbell", bare);
            print("message to a parked daemon", message);
            System.out.printf("%-30s %8s %8.1f%n", "difference of the medians", "",
                (message.getValueAtPercentile(50) - bare.getValueAtPercentile(50)) / NS_PER_US);
        }
    }

    private static Histogram bareDoorbell(Path folder, int samples) throws IOException, InterruptedException {
        try (Bell bell = new Bell(folder.resolve("bell"))) {
            return measure(() -> { }, bell::ring, samples);
        }
    }

    private static Histogram message(Path folder, int samples) throws IOException, InterruptedException {
        try (Daemon daemon = new Daemon(folder);
            Fabric fabric = Fabric.connect(new FabricConfig().directory(daemon.folder()))) {
            Pinger pinger = new Pinger(fabric);
            for (int i = 0; i < WARM_UP_MESSAGES * samples; i++) {
                pinger.post();
                pinger.ping();
            }
            return measure(pinger::post, pinger::ping, samples);
        }
    }

    private static Histogram measure(Runnable prepare, Runnable roundTrip, int samples) throws InterruptedException {
        Histogram histogram = new Histogram(HIGHEST_NS, DIGITS);
        for (int i = 0; i < WARM_UP_SAMPLES + samples; i++) {
            prepare.run();
            Thread.sleep(IDLE_MS);
            long begin = System.nanoTime();
            roundTrip.run();
            long tookNs = System.nanoTime() - begin;
            if (i >= WARM_UP_SAMPLES) {
                histogram.recordValue(Math.min(HIGHEST_NS, tookNs));
            }
        }
        return histogram;
    }

    private static void print(String name, Histogram histogram) {
        System.out.printf("%-30s %8.1f %8.1f %8.1f %8.1f%n", name,
            histogram.getMinValue() / NS_PER_US,
            histogram.getValueAtPercentile(50) / NS_PER_US,
            histogram.getValueAtPercentile(90) / NS_PER_US,
            histogram.getMaxValue() / NS_PER_US);
    }

    /** A thread asleep in epoll on a Unix-domain socket, which counts the bytes that wake it. */
    private static final class Bell implements AutoCloseable {
        private static final long ANSWER_OFFSET = 64;
        private static final int WORDS_LENGTH = 256;
        private static final long BYTES_OFFSET = 128;

        private final Arena arena = Arena.ofShared();
        private final MemorySegment words = arena.allocate(WORDS_LENGTH, WORDS_LENGTH);
        private final long answer = words.address() + ANSWER_OFFSET;
        private final int listenFd;
        private final int ringFd;
        private final int wakeFd;
        private final Thread sleeper;
        private long rung;

        Bell(Path path) throws IOException {
            listenFd = UnixSocket.listen(path, 1);
            ringFd = UnixSocket.connect(path, 0);
            wakeFd = UnixSocket.accept4(listenFd, UnixSocket.SOCK_NONBLOCK);
            if (listenFd < 0 || ringFd < 0 || wakeFd < 0) {
                throw new IOException("no pair of sockets at " + path);
            }
            sleeper = new Thread(this::sleep, "bell");
            sleeper.start();
        }

        void ring() {
            rung++;
            UnixSocket.ring(ringFd);
            while (UnsafeApi.getLongAcquire(null, answer) != rung) {
                Thread.onSpinWait();
            }
        }

        private void sleep() {
            try (Epoll epoll = new Epoll(1)) {
                epoll.add(wakeFd, Epoll.EPOLLIN, 0);
                long count = 0;
                int received = 1;
                while (received > 0) {
                    epoll.poll(-1);
                    received = UnixSocket.recv(wakeFd, words.address() + BYTES_OFFSET, 1, UnixSocket.MSG_DONTWAIT);
                    UnsafeApi.putLongRelease(null, answer, ++count);
                }
            }
        }

        @Override
        public void close() {
            UnixSocket.shutdown(ringFd, UnixSocket.SHUT_RDWR);
            boolean interrupted = false;
            try {
                sleeper.join();
            } catch (InterruptedException ex) {
                interrupted = true;
            }
            Libc.close(ringFd);
            Libc.close(wakeFd);
            Libc.close(listenFd);
            arena.close();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** An endpoint that sends to itself through the daemon. */
    private static final class Pinger implements CompletionHandler {
        private static final int QUEUE_SIZE = 64;
        private static final int LENGTH = 64;
        private static final long TAG = 7;

        private final CompletionQueue queue;
        private final Endpoint endpoint;
        private final MemoryRegion region;
        private final long self;
        private long seen;

        Pinger(Fabric fabric) {
            Info info = fabric.info(new Info().caps(Flags.TAGGED).linkName("loopback")).best();
            Domain domain = fabric.domain(info);
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(QUEUE_SIZE));
            AddressVector addresses = domain.openAddressVector(new AddressVectorAttr());
            region = domain.allocate(2 * LENGTH);
            endpoint = domain.openEndpoint(info);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(addresses);
            endpoint.enable();
            self = addresses.insert(endpoint.name());
        }

        @Override
        public void onCompletion(Completion completion) {
            seen++;
        }

        /** The receive was posted before the idle time, so that one message and one wake-up are measured. */
        void ping() {
            if (endpoint.tsend(region.address(), LENGTH, self, TAG, 2) != 0) {
                throw new IllegalStateException("the send was refused");
            }
            long until = seen + 2;
            while (seen != until) {
                queue.poll(this, 2);
                Thread.onSpinWait();
            }
        }

        void post() {
            if (endpoint.trecv(region.address() + LENGTH, LENGTH, FabricAddress.ADDR_UNSPEC, TAG, 0, 1) != 0) {
                throw new IllegalStateException("the receive was refused");
            }
        }
    }

    /** A driver in a process of its own. */
    private static final class Daemon implements AutoCloseable {
        private final Path folder;
        private final Process process;

        Daemon(Path folder) throws IOException {
            this.folder = folder;
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(Benchmarks.jvmArgs());
            command.add("-Djfabric.dir.base=" + folder.getParent());
            command.add("-Djfabric.dir.name=" + folder.getFileName());
            command.add("-Djfabric.threading.mode=SHARED");
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), FabricDriver.class.getName()));
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = reader.readLine();
            while (line != null && !line.contains("ready")) {
                line = reader.readLine();
            }
            if (line == null) {
                throw new IOException("the daemon did not start");
            }
        }

        Path folder() {
            return folder;
        }

        @Override
        public void close() {
            process.destroy();
            process.onExit().join();
        }
    }
}
