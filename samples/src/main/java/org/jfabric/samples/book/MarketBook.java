package org.jfabric.samples.book;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.RemoteMemory;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * A publisher writes each new image of a book of prices into the memory of two readers. The readers make no calls:
 * their threads read the newest image whenever they like, and miss those between.
 *
 * <p>An image has a version number on both sides (a seqlock). The publisher writes the number in front, then the
 * levels, then the number behind; the three writes take effect in the order of posting. A reader that finds the same
 * number on both sides, the one behind read first, has a whole image.
 */
public final class MarketBook {
    /** Changes of the book that are published. */
    static final int IMAGES = 10_000;
    /** Prices of an image, a word each. */
    static final int LEVELS = 50;
    /** Layout of an image: version, levels, version. */
    static final int FRONT = 0;
    static final int BOOK = FRONT + Long.BYTES;
    static final int BEHIND = BOOK + LEVELS * Long.BYTES;
    static final int LENGTH = BEHIND + Long.BYTES;

    private static final long TAG = 1;
    private static final int READERS = 2;
    private static final long DEADLINE_NS = 10_000_000_000L;

    private MarketBook() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     * @throws InterruptedException if the thread is interrupted while readers end.
     */
    public static void main(String[] args) throws InterruptedException {
        DriverConfig config = DriverConfig.builder().set("jfabric.dir.name", "book-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Info hints = new Info().caps(Flags.RMA | Flags.TAGGED);
            Messenger publisher = fabric.messenger().hints(hints).open();
            BookReader[] readers = new BookReader[READERS];
            long[] peers = new long[READERS];
            long[] keys = new long[READERS];
            for (int i = 0; i < READERS; i++) {
                readers[i] = new BookReader(fabric.messenger().hints(hints).open(), i + 1);
                readers[i].subscribe(publisher.address(), TAG);
                publisher.endpoint().trecv(
                    publisher.memory().address(LENGTH), 1024, FabricAddress.ADDR_UNSPEC, TAG, 0, 0);
                publisher.await(1, DEADLINE_NS, entry -> { });
                keys[i] = publisher.memory().buffer().getLong(LENGTH);
                peers[i] = publisher.peer(publisher.memory().buffer().getStringUtf8(LENGTH + Long.BYTES)).number();
            }
            Thread[] threads = new Thread[READERS];
            for (int i = 0; i < READERS; i++) {
                threads[i] = new Thread(readers[i], "reader " + (i + 1));
                threads[i].start();
            }
            try {
                for (int version = 1; version <= IMAGES; version++) {
                    publish(publisher, peers, keys, version);
                }
            } catch (RuntimeException e) {
                for (Thread thread : threads) {
                    thread.interrupt();
                }
                throw e;
            }
            for (int i = 0; i < READERS; i++) {
                threads[i].join();
                readers[i].report();
            }
        }
    }

    private static void publish(Messenger publisher, long[] peers, long[] keys, long version) {
        // this memory belongs to the driver from the first write to the last entry
        UnsafeBuffer image = publisher.memory().buffer();
        image.putLong(FRONT, version);
        for (int i = 0; i < LEVELS; i++) {
            image.putLong(BOOK + i * Long.BYTES, price(version, i));
        }
        image.putLong(BEHIND, version);
        RemoteMemory remote = publisher.endpoint().remoteMemory();
        for (int i = 0; i < peers.length; i++) {
            write(publisher, remote, FRONT, BOOK - FRONT, peers[i], keys[i]);
            write(publisher, remote, BOOK, BEHIND - BOOK, peers[i], keys[i]);
            write(publisher, remote, BEHIND, LENGTH - BEHIND, peers[i], keys[i]);
        }
        publisher.await(3 * peers.length, DEADLINE_NS, entry -> { });
    }

    private static void write(Messenger publisher, RemoteMemory remote, int offset, int length, long peer, long key) {
        int result = remote.write(publisher.memory().address(offset), length, peer, offset, key, 1);
        if (result != 0) {
            throw new IllegalStateException(FabricErrno.describe(-result));
        }
    }

    /** Every price of an image follows from its version, so that a reader can check it. */
    static long price(long version, int level) {
        return 100_000 + 7 * version + level;
    }
}
