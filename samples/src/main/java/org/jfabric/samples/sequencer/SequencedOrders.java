package org.jfabric.samples.sequencer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;

/**
 * Desks send orders to a sequencer, which publishes them in one sequence that is recorded. When the sequencer is killed
 * and started again, desks send again what they have not seen in that sequence; each order is in it once.
 */
public final class SequencedOrders {
    private static final int DESKS = 3;
    private static final int COUNT = 1000;

    private SequencedOrders() {
    }

    /**
     * Runs it.
     *
     * @param args {@code run FOLDER}, with a folder for the log, or {@code desk NUMBER COUNT FOLDER} with the number
     *             from 0 to 15, each in a process of its own; without arguments all are in one process.
     * @throws IOException if a file cannot be deleted.
     */
    public static void main(String[] args) throws IOException {
        if (args.length == 0) {
            showAll();
        } else if (args[0].equals("run")) {
            try (FabricDriver driver = driver("sequencer"); Fabric fabric = driver.fabric();
                Sequencer sequencer = new Sequencer(fabric, Path.of(args[1]))) {
                System.out.println("sequencer runs");
                run(sequencer, () -> true);
            }
        } else {
            int number = Integer.parseInt(args[1]);
            Path log = Path.of(args[3]);
            long before = Files.exists(log) ? DeskOrder.lastSequences(log, Long.MAX_VALUE)[number] : 0;
            try (FabricDriver driver = driver("desk-" + number); Fabric fabric = driver.fabric()) {
                Desk desk = new Desk(fabric, "sequencer", number, before);
                desk.send(before + Long.parseLong(args[2]));
                System.out.println("desk " + number + " has confirmed orders up to "
                    + (before + Long.parseLong(args[2])) + ", sent again: " + desk.resends());
            }
        }
    }

    private static FabricDriver driver(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder()
            .set("jfabric.dir.name", name).threadingMode(ThreadingMode.SHARED).build());
    }

    private static void run(Sequencer sequencer, BooleanSupplier goesOn) {
        while (goesOn.getAsBoolean()) {
            if (sequencer.poll() == 0) {
                LockSupport.parkNanos(10_000);
            }
        }
    }

    private static void showAll() throws IOException {
        Path folder = Files.createTempDirectory(Path.of(""), "jfabric-sequencer-");
        Path log = folder.resolve("log");
        try (FabricDriver driver = driver("sequencer-" + ProcessHandle.current().pid());
            Fabric fabric = driver.fabric()) {
            Thread[] desks = new Thread[DESKS];
            for (int i = 0; i < DESKS; i++) {
                int number = i;
                desks[i] = new Thread(() -> {
                    try (Fabric own = driver.fabric()) {
                        new Desk(own, own.driverName(), number, 0).send(COUNT);
                    }
                });
                desks[i].start();
            }
            try (Sequencer first = new Sequencer(fabric, log)) {
                run(first, () -> first.published() < DESKS * COUNT / 2);
            }
            System.out.println("the first sequencer has ended in the middle");
            try (Sequencer second = new Sequencer(fabric, log)) {
                run(second, () -> Stream.of(desks).anyMatch(Thread::isAlive));
                System.out.println("all orders are confirmed, published: " + second.published());
            }
            long[] last = DeskOrder.lastSequences(log, Long.MAX_VALUE);
            for (int i = 0; i < DESKS; i++) {
                System.out.println("desk " + i + " has orders 1 to " + last[i]);
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
