package org.jfabric.samples.group;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.MulticastGroup;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Quotes that one writer sends to a group, and that each reader gets. A message is written once, whatever the number of
 * readers. Here all are in one process; readers in other processes join by the same address, and each has its own pace.
 */
public final class GroupFeed {
    private static final int QUOTES = 1000;
    private static final int BURST = 50;
    private static final int READERS = 3;
    /** Layout of a quote: number, instrument, price, size. */
    private static final int INSTRUMENT = Long.BYTES;
    private static final int PRICE = INSTRUMENT + Long.BYTES;
    private static final int SIZE = PRICE + Long.BYTES;
    private static final int LENGTH = SIZE + Long.BYTES;
    private static final long DEADLINE_NS = 10_000_000_000L;

    private GroupFeed() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().set("jfabric.dir.name", "group-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Info hints = new Info().caps(Flags.MSG | Flags.MULTICAST);
            Messenger writer = fabric.messenger().hints(hints).open();
            // the driver in the address is the writer's; with "?lossy" behind it the writer would not wait for readers
            MulticastGroup group = writer.endpoint().join(
                "jfabric://" + fabric.driverName() + "/quotes", 0, Flags.SEND);
            Messenger[] readers = new Messenger[READERS];
            long[] seen = new long[READERS];
            for (int i = 0; i < READERS; i++) {
                readers[i] = fabric.messenger().hints(hints).open();
                readers[i].endpoint().join(group.address(), 0, Flags.RECV);
            }
            UnsafeBuffer quote = new UnsafeBuffer(new byte[LENGTH]);
            for (long first = 0; first < QUOTES; first += BURST) {
                for (Messenger reader : readers) {
                    post(reader);
                }
                for (long number = first; number < first + BURST; number++) {
                    publish(writer, group.fiAddr(), quote, number);
                }
                for (int i = 0; i < READERS; i++) {
                    seen[i] += take(readers[i], first);
                }
            }
            for (int i = 0; i < READERS; i++) {
                System.out.println("reader " + (i + 1) + " has " + seen[i] + " quotes in order");
            }
        }
    }

    private static void post(Messenger reader) {
        for (int i = 0; i < BURST; i++) {
            require(reader.endpoint().recv(reader.memory().address((long) i * LENGTH), LENGTH,
                FabricAddress.ADDR_UNSPEC, i));
        }
    }

    private static void publish(Messenger writer, long group, UnsafeBuffer quote, long number) {
        quote.putLong(0, number);
        quote.putLong(INSTRUMENT, 7);
        quote.putLong(PRICE, 100_000 + number % 13);
        quote.putLong(SIZE, 200);
        int result = writer.endpoint().inject(quote, 0, LENGTH, group);
        while (result == -FabricErrno.EAGAIN) {
            // the slowest reader is a ring behind, and as many quotes wait as may be outstanding
            writer.queue().poll(entry -> { }, 1);
            result = writer.endpoint().inject(quote, 0, LENGTH, group);
        }
        require(result);
    }

    /** Takes a burst; returns how many quotes have the expected number. */
    private static int take(Messenger reader, long first) {
        reader.await(BURST, DEADLINE_NS, entry -> { });
        int inOrder = 0;
        for (int i = 0; i < BURST; i++) {
            inOrder += reader.memory().buffer().getLong(i * LENGTH) == first + i ? 1 : 0;
        }
        return inOrder;
    }

    private static void require(int result) {
        if (result != 0) {
            throw new IllegalStateException(FabricErrno.describe(-result));
        }
    }
}
