package org.jfabric.samples.market;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.stream.Publication;

/**
 * Market data from one writer to three hosts: one is in time, one begins when most has been written, and one is slow.
 * The quotes are recorded, so that none of them holds the writer back, and each gets every quote once.
 *
 * <p>Without arguments all hosts are drivers in this process. The roles run alone between real hosts:
 * {@code write SOCKET FOLDER COUNT} and {@code read SOCKET NAME COUNT}, with {@code slow} behind it.
 */
public final class MarketData {
    private static final int QUOTES = 200_000;
    private static final int QUOTE_BYTES = 64;
    private static final String USAGE = "usage: market [write SOCKET FOLDER COUNT | read SOCKET NAME COUNT [slow]]";
    private static final String WRITE = "write";
    private static final String SLOW = "slow";

    private MarketData() {
    }

    /**
     * Runs all hosts, or one.
     *
     * @throws IOException          if the folder of the log cannot be made.
     * @throws InterruptedException if interrupted.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length == 0) {
            all();
        } else if (args.length == 4 && args[0].equals(WRITE)) {
            try (Market market = new Market(args[1], Path.of(args[2]))) {
                market.write(Long.parseLong(args[3]));
                System.out.println("writer: " + args[3] + " quotes; Enter ends it");
                System.in.read();
            }
        } else if (args.length >= 4 && args.length <= 5 && args[0].equals("read")) {
            new MarketReader(args[2], args[args.length - 1].equals(SLOW)).read(args[1], Long.parseLong(args[3]));
        } else {
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private static void all() throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("market");
        String socket = "127.0.0.1:" + freePort();
        try (Market market = new Market(socket, folder.resolve("log"))) {
            List<Thread> hosts = new ArrayList<>();
            hosts.add(start("prompt", false, socket));
            hosts.add(start(SLOW, true, socket));
            market.write(QUOTES / 4 * 3);
            hosts.add(start("late", false, socket));
            market.write(QUOTES);
            for (Thread host : hosts) {
                host.join();
            }
        } finally {
            try (Stream<Path> tree = Files.walk(folder)) {
                for (Path each : tree.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }

    private static Thread start(String name, boolean isSlow, String socket) {
        Thread host = new Thread(() -> new MarketReader(name, isSlow).read(socket, QUOTES), name);
        host.start();
        return host;
    }

    /** A driver for one host. */
    static FabricDriver driver(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder()
            .set("jfabric.dir.name", "market-" + name + "-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.SHARED).set("jfabric.link.enabled", "shm,udp").build());
    }

    private static int freePort() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return server.getLocalPort();
        }
    }

    /** The host that writes. */
    private static final class Market implements AutoCloseable {
        private final FabricDriver driver = driver("writer");
        private final Fabric fabric = driver.fabric();
        private final Publication quotes;
        private final UnsafeBuffer quote = new UnsafeBuffer(new byte[QUOTE_BYTES]);

        Market(String socket, Path log) {
            quotes = Publication.on(fabric, "jfabric://" + fabric.driverName() + "/quotes").recordIn(log)
                .onNetwork(socket).open();
        }

        /** Writes until there are so many. */
        void write(long count) {
            while (quotes.position() < count) {
                quote.putLong(0, quotes.position());
                if (quotes.offer(quote, 0, QUOTE_BYTES) != 0) {
                    Thread.onSpinWait();
                }
            }
        }

        @Override
        public void close() {
            quotes.close();
            fabric.close();
            driver.close();
        }
    }
}
