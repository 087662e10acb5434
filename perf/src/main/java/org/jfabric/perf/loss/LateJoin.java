package org.jfabric.perf.loss;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.perf.jmh.BenchmarkDirectory;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/**
 * Has a reader of another host begin at the oldest message of a recorded stream, far behind a writer that sends at a
 * fixed rate: how long it takes to catch up, and whether each message comes once, at the change to the stream too.
 *
 * <p>One thread writes, the other one reads; each has a driver in mode INVOKER.
 */
public final class LateJoin implements StreamListener {
    private static final int MESSAGE_BYTES = 64;
    private static final int LIMIT = 64;
    private static final long GIBIBYTE = 1L << 30;
    private static final long NS_PER_SECOND = 1_000_000_000;
    private static final long LIVE_NS = 5 * NS_PER_SECOND;
    /** Behind by less than what is sent in this time it has caught up. */
    private static final long CAUGHT_UP_NS = NS_PER_SECOND / 100;

    private final UnsafeBuffer message = new UnsafeBuffer(new byte[MESSAGE_BYTES]);
    private final long behind;
    private final long rate;
    private volatile long written;
    private volatile boolean hasCaughtUp;
    private volatile boolean isWritten;
    private long next;
    private long gaps;
    private long repeats;

    private LateJoin(long behind, long rate) {
        this.behind = behind;
        this.rate = rate;
    }

    /**
     * Runs once and prints what it has seen.
     *
     * @param args GiB of messages that the reader is behind, 1 if not given; messages a second, 200,000 if not given;
     *             the folder for the log.
     * @throws IOException          if a socket or the folder cannot be opened.
     * @throws InterruptedException if interrupted.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        double gibibytes = args.length > 0 ? Double.parseDouble(args[0]) : 1;
        Path log = Files.createTempDirectory(
            args.length > 2 ? Path.of(args[2]) : Path.of(System.getProperty("java.io.tmpdir")), "jfabric-late-");
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        try (BenchmarkDirectory directory = new BenchmarkDirectory()) {
            new LateJoin((long) (gibibytes * GIBIBYTE / MESSAGE_BYTES),
                args.length > 1 ? Long.parseLong(args[1]) : 200_000).run(directory.path(), log, port);
        } finally {
            try (var files = Files.list(log)) {
                for (Path each : files.toList()) {
                    Files.delete(each);
                }
            }
            Files.delete(log);
        }
    }

    private static FabricDriver launch(Path folder) {
        return FabricDriver.launchEmbedded(DriverConfig.builder().directory(folder)
            .threadingMode(ThreadingMode.INVOKER).set(LinkConfig.ENABLED, List.of("shm", "udp")).build());
    }

    private void run(Path folder, Path log, int port) throws InterruptedException {
        try (FabricDriver driver = launch(folder.resolve("writer")); Fabric fabric = driver.fabric();
            Publication publication = Publication.on(fabric, "jfabric://writer/stream")
                .onNetwork("127.0.0.1:" + port).recordIn(log, new LogOptions()).open()) {
            while (publication.position() < behind) {
                offer(publication);
            }
            System.out.printf(Locale.ROOT, "%,d messages of %d bytes are recorded, %,d more are sent each second%n",
                behind, MESSAGE_BYTES, rate);
            Thread reader = new Thread(() -> read(folder.resolve("reader"), port), "reader");
            reader.start();
            long beganNs = System.nanoTime();
            long caughtUpNs = 0;
            while (reader.isAlive() && (!hasCaughtUp || System.nanoTime() - caughtUpNs < LIVE_NS)) {
                long nowNs = System.nanoTime();
                if (publication.position() - behind < (nowNs - beganNs) * rate / NS_PER_SECOND) {
                    offer(publication);
                } else {
                    publication.poll();
                }
                if (hasCaughtUp && caughtUpNs == 0) {
                    caughtUpNs = nowNs;
                }
            }
            double seconds = (double) (System.nanoTime() - beganNs) / NS_PER_SECOND;
            double until = (double) (caughtUpNs - beganNs) / NS_PER_SECOND;
            isWritten = true;
            while (reader.isAlive()) {
                publication.poll();
            }
            reader.join();
            System.out.printf(Locale.ROOT, "caught up after %.1f s, then %.1f s of the stream; sent %,.0f messages/s,"
                + " %,d in all%nread %,d: %,d in gaps, %,d repeated%n", until, seconds - until,
                (publication.position() - behind) / seconds, publication.position(), next, gaps, repeats);
            if (next != publication.position() || gaps + repeats != 0) {
                throw new IllegalStateException("not each message once");
            }
        }
    }

    private void offer(Publication publication) {
        message.putLong(0, publication.position());
        if (publication.offer(message, 0, MESSAGE_BYTES) == 0) {
            written = publication.position();
        }
    }

    private void read(Path folder, int port) {
        try (FabricDriver driver = launch(folder); Fabric fabric = driver.fabric();
            Subscription subscription = Subscription.on(
                fabric, "stream://127.0.0.1:" + port + "/stream").fromOldest().open()) {
            while (!isWritten || next < written) {
                subscription.poll(this, LIMIT);
                hasCaughtUp |= written - next < rate * CAUGHT_UP_NS / NS_PER_SECOND;
            }
        }
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        long position = header.position();
        if (buffer.getLong(offset) != position || length != MESSAGE_BYTES) {
            throw new IllegalStateException("message " + buffer.getLong(offset) + " at " + position);
        }
        repeats += position < next ? 1 : 0;
        gaps += Math.max(0, position - next);
        next = position + 1;
    }

    @Override
    public void onGap(long first, long last) {
        // counted by the message behind it
    }
}
