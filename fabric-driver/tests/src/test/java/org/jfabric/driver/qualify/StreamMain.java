package org.jfabric.driver.qualify;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.NumberedMessages;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;

/** One side of a stream between hosts: {@code write OWN-ADDRESS} or {@code read ITS-ADDRESS}, then folder and count. */
final class StreamMain {
    private static final int PORT = 47593;
    private static final int DEADLINE_S = 60;
    private static final double NS_PER_S = 1e9;

    private StreamMain() {
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[2]);
        long count = Long.parseLong(args[3]);
        DriverConfig config = DriverConfig.builder().directory(folder).threadingMode(ThreadingMode.SHARED)
            .set("jfabric.link.enabled", "shm,udp").build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            if (args[0].equals("write")) {
                write(fabric, args[1], count);
            } else {
                read(fabric, args[1], count);
            }
        }
    }

    private static void write(Fabric fabric, String address, long count) throws Exception {
        NumberedMessages messages = new NumberedMessages();
        try (Publication stream = Publication.on(fabric, "jfabric://" + fabric.driverName() + "/qualify")
            .onNetwork(address + ':' + PORT).open()) {
            System.out.println("ready stream");
            BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            asked.readLine();
            Deadline deadline = Deadline.in(DEADLINE_S);
            while (stream.position() < count) {
                if (!messages.offer(stream)) {
                    deadline.check("room for messages", stream::toString);
                    Thread.onSpinWait();
                }
            }
            System.out.println("written");
            // until the other side has read all
            asked.readLine();
        }
    }

    private static void read(Fabric fabric, String address, long count) {
        try (Subscription stream = Subscription.on(fabric, "stream://" + address + ':' + PORT + "/qualify").open()) {
            NumberedMessages.Reader reader = new NumberedMessages.Reader(stream);
            System.out.println("ready stream");
            Deadline deadline = Deadline.in(DEADLINE_S);
            long beganNs = 0;
            while (reader.next < count) {
                long before = reader.next;
                reader.poll();
                if (reader.end != 0 || reader.gaps > 0) {
                    throw new IllegalStateException(FabricErrno.name(reader.end) + ", " + reader);
                }
                if (reader.next == before) {
                    deadline.check(count + " messages", reader::toString);
                    Thread.onSpinWait();
                } else if (beganNs == 0) {
                    beganNs = System.nanoTime();
                }
            }
            System.out.printf(Locale.ROOT, "result %.0f a second, %d in order, none lost%n",
                count / ((System.nanoTime() - beganNs) / NS_PER_S), reader.next);
        }
    }
}
