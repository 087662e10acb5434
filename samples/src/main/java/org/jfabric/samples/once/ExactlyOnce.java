package org.jfabric.samples.once;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.Visibility;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;

/**
 * A recorded stream of orders, and consumers that sum them up and survive being killed: each stores what it has made of
 * the orders together with the place of the next one, and resumes there. No order is left out or counted twice, whoever
 * is killed, because readers see only what survives the kill of the publisher. This holds for what is in the file:
 * something that a consumer does elsewhere, such as sending a message, may be done again.
 */
public final class ExactlyOnce {
    private static final int USUAL_COUNT = 1000;
    private static final int BATCH = 50;
    private static final long PAUSE_NS = 20_000_000;
    private static final Set<Integer> AWAY = Set.of(FabricErrno.ECONNREFUSED, FabricErrno.EHOSTUNREACH,
        FabricErrno.ECONNRESET, FabricErrno.ETIMEDOUT, FabricErrno.ESHUTDOWN);

    private ExactlyOnce() {
    }

    /**
     * Runs it.
     *
     * @param args {@code publish FOLDER [COUNT]}, with a folder for the log, or {@code consume FILE}, each in a process
     *             of its own to be killed and started again; without arguments both are in one process.
     * @throws IOException if a file cannot be written.
     */
    public static void main(String[] args) throws IOException {
        if (args.length == 0) {
            showBoth();
        } else if (args[0].equals("publish")) {
            try (FabricDriver driver = driver("exchange"); Fabric fabric = driver.fabric();
                Publication orders = open(fabric, Path.of(args[1]))) {
                System.out.println("orders begin at " + orders.next());
                publish(orders, args.length > 2 ? Integer.parseInt(args[2]) : USUAL_COUNT);
                System.out.println("published " + orders.position() + ", Enter ends it");
                System.in.read();
            }
        } else {
            Path file = Path.of(args[1]);
            try (FabricDriver driver = driver("consumer-" + file.getFileName()); Fabric fabric = driver.fabric()) {
                System.out.println("consumer has " + new Portfolio(file));
                while (true) {
                    consume(fabric, "jfabric://exchange/orders", file, Long.MAX_VALUE);
                    LockSupport.parkNanos(PAUSE_NS);
                }
            }
        }
    }

    private static FabricDriver driver(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder()
            .set("jfabric.dir.name", name).threadingMode(ThreadingMode.SHARED).build());
    }

    private static Publication open(Fabric fabric, Path log) {
        return Publication.on(fabric, "jfabric://" + fabric.driverName() + "/orders")
            .recordIn(log, new LogOptions().visibility(Visibility.WRITTEN)).open();
    }

    /** Quantities of another term differ, so an order that a consumer has seen and the log has lost would show. */
    private static void publish(Publication orders, int count) {
        UnsafeBuffer order = new UnsafeBuffer(new byte[Portfolio.ORDER_LENGTH]);
        for (int i = 0; i < count; i++) {
            long number = orders.position();
            order.putLong(0, number % Portfolio.INSTRUMENTS);
            order.putLong(Portfolio.QUANTITY, 1 + (number * 31 + orders.next().term() * 17L) % 1000);
            int result = orders.offer(order, 0, Portfolio.ORDER_LENGTH);
            while (result == -FabricErrno.EAGAIN) {
                // the recorder has to catch up
                Thread.onSpinWait();
                result = orders.offer(order, 0, Portfolio.ORDER_LENGTH);
            }
            if (result != 0) {
                throw new IllegalStateException(FabricErrno.describe(-result));
            }
            if (i % BATCH == 0) {
                // about as fast as consumers can save
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    // example: consume
    /** Consumes orders up to a position, or until the publisher is away. The file says where to begin. */
    private static void consume(Fabric fabric, String address, Path file, long until) throws IOException {
        Portfolio portfolio = new Portfolio(file);
        Subscription.Builder place = Subscription.on(fabric, address);
        place = portfolio.next() == null ? place.fromOldest() : place.from(portfolio.next());
        try (Subscription orders = place.open()) {
            int result = 0;
            while (orders.position() < until && (result >= 0 || result == -FabricErrno.EAGAIN)) {
                result = orders.poll(portfolio, (int) Math.min(BATCH, until - orders.position()));
                if (result > 0) {
                    portfolio.save(orders.next());
                } else {
                    LockSupport.parkNanos(100_000);
                }
            }
        } catch (FabricException e) {
            if (!AWAY.contains(e.errno())) {
                throw e;
            }
        }
    }
    // end

    private static void showBoth() throws IOException {
        Path folder = Files.createTempDirectory(Path.of(""), "jfabric-once-");
        Path file = folder.resolve("portfolio");
        try (FabricDriver driver = driver("once-" + ProcessHandle.current().pid()); Fabric fabric = driver.fabric();
            Publication orders = open(fabric, folder.resolve("log"))) {
            for (int life = 1; life <= 3; life++) {
                publish(orders, USUAL_COUNT);
                // it stops in the middle, and the next one begins there
                consume(fabric, "jfabric://" + fabric.driverName() + "/orders", file,
                    life == 3 ? orders.position() : orders.position() - USUAL_COUNT / 2);
                System.out.println("consumer " + life + " ends with " + new Portfolio(file));
            }
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }
}
