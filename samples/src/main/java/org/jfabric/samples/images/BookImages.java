package org.jfabric.samples.images;

import org.agrona.DirectBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.RecvContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;

/**
 * Images of an order book that three readers use where the writer has made them: nothing is copied, however long an
 * image is. Each reader gives an image back in its own time, and the writer makes the next one in a slice that all of
 * them have given back. Here writer and readers share one embedded driver; with daemons each would be a process of its
 * own.
 */
public final class BookImages {
    private static final int IMAGES = 200;
    private static final int READERS = 3;
    private static final int SLICES = 4;
    private static final int LEVELS = 10_000;
    private static final int LEVEL_BYTES = 16;
    private static final int IMAGE_BYTES = Long.BYTES + LEVELS * LEVEL_BYTES;
    private static final long SLICE_BYTES = 256 << 10;
    private static final int POLL_LIMIT = 8;
    private static final long DEADLINE_NS = 10_000_000_000L;

    /** One reader; every message is given back when it reads the next ones. */
    private static final class Reader {
        private final CompletionQueue queue;
        private final Endpoint endpoint;
        private long images;
        private long inOrder;
        private long readInPlace;
        private long best;

        Reader(Fabric fabric, int number) {
            Domain domain = fabric.domain(fabric.info(hints()).best());
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
            endpoint = open(domain, queue, domain.openAddressVector(new AddressVectorAttr()));
            endpoint.publish("reader-" + number);
        }

        void poll() {
            queue.poll(this::onEntry, POLL_LIMIT);
        }

        private void onEntry(Completion entry) {
            RecvContext message = queue.recvContext(entry);
            DirectBuffer image = message.buffer();
            inOrder += image.getLong(0) == images ? 1 : 0;
            readInPlace += message.isLent() ? 1 : 0;
            // a reader uses what it needs; nothing else of the image is even touched
            best = image.getLong(Long.BYTES);
            images++;
        }
    }

    private final CompletionQueue queue;
    private final Endpoint endpoint;
    private final MemoryRegion region;
    private final long[] readers = new long[READERS];
    /** Readers that have not given the image in a slice back. */
    private final int[] outstanding = new int[SLICES];

    private BookImages(Fabric fabric) {
        Domain domain = fabric.domain(fabric.info(hints()).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
        AddressVector addresses = domain.openAddressVector(new AddressVectorAttr());
        endpoint = open(domain, queue, addresses);
        region = domain.allocate(SLICES * SLICE_BYTES);
        for (int i = 0; i < READERS; i++) {
            readers[i] = addresses.insertService(fabric.driverName(), "reader-" + i);
        }
    }

    private static Info hints() {
        return new Info().caps(Flags.MSG).mode(Mode.BUFFERED_RECV);
    }

    private static Endpoint open(Domain domain, CompletionQueue queue, AddressVector addresses) {
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(addresses);
        endpoint.enable();
        return endpoint;
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .set("jfabric.dir.name", "images-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build()); Fabric fabric = driver.fabric()) {
            Reader[] readers = new Reader[READERS];
            for (int i = 0; i < READERS; i++) {
                readers[i] = new Reader(fabric, i);
            }
            BookImages writer = new BookImages(fabric);
            writer.publish(readers);
            for (Reader reader : readers) {
                System.out.println(reader.inOrder + " images in order, " + reader.readInPlace
                    + " of them read in the writer's memory, best price " + reader.best);
            }
        }
    }

    private void publish(Reader[] all) {
        long deadlineNs = System.nanoTime() + DEADLINE_NS;
        for (int image = 0; image < IMAGES; image++) {
            int slice = image % SLICES;
            while (outstanding[slice] != 0) {
                cycle(all, deadlineNs);
            }
            make(image, slice);
            for (long reader : readers) {
                // the entry brings the slice back
                int result = endpoint.messages().sendLent(
                    region.address(slice * SLICE_BYTES), IMAGE_BYTES, reader, slice);
                if (result != 0) {
                    throw new IllegalStateException("a send was refused with " + FabricErrno.name(-result));
                }
                outstanding[slice]++;
            }
        }
        for (int slice = 0; slice < SLICES; slice++) {
            while (outstanding[slice] != 0) {
                cycle(all, deadlineNs);
            }
        }
    }

    private void make(long image, int slice) {
        int offset = (int) (slice * SLICE_BYTES);
        region.buffer().putLong(offset, image);
        for (int level = 0; level < LEVELS; level++) {
            int at = offset + Long.BYTES + level * LEVEL_BYTES;
            region.buffer().putLong(at, 10_000 + image - level);
            region.buffer().putLong(at + Long.BYTES, 100 + level);
        }
    }

    private void cycle(Reader[] all, long deadlineNs) {
        queue.poll(entry -> outstanding[(int) entry.opContext()]--, POLL_LIMIT);
        for (Reader reader : all) {
            reader.poll();
        }
        if (System.nanoTime() - deadlineNs > 0) {
            throw new IllegalStateException("the readers have not given the images back");
        }
    }
}
