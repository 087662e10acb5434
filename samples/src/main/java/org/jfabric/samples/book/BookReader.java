package org.jfabric.samples.book;

import java.lang.invoke.VarHandle;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.Messenger;
import org.jfabric.info.Flags;

/** Reads images of the book that a publisher writes into its memory meanwhile, and checks that each is whole. */
final class BookReader implements Runnable {
    private final Messenger own;
    private final int number;
    private final MemoryRegion region;
    private final UnsafeBuffer book;
    private final UnsafeBuffer copy = new UnsafeBuffer(new byte[MarketBook.BEHIND - MarketBook.BOOK]);
    private long version;
    private int read;
    private int broken;

    BookReader(Messenger own, int number) {
        this.own = own;
        this.number = number;
        // the key is the application's choice; it names the region in this reader's domain only
        region = own.domain().allocate(
            MarketBook.LENGTH, new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(700 + number));
        book = region.buffer();
    }

    /** Sends the publisher what it needs to write: the key of the region, and the address. */
    void subscribe(String publisher, long tag) {
        own.memory().buffer().putLong(0, region.key());
        int length = Long.BYTES + own.memory().buffer().putStringUtf8(Long.BYTES, own.address());
        own.endpoint().tsend(own.memory().slice(0, length), own.peer(publisher), tag, 1);
        own.await(1, entry -> { });
    }

    @Override
    public void run() {
        while (version < MarketBook.IMAGES && !Thread.currentThread().isInterrupted()) {
            long behind = book.getLongVolatile(MarketBook.BEHIND);
            book.getBytes(MarketBook.BOOK, copy, 0, copy.capacity());
            // the copy must not be read after the version in front of it
            VarHandle.acquireFence();
            if (behind == version || behind != book.getLongVolatile(MarketBook.FRONT)) {
                // nothing new, or the publisher is writing the next image
                Thread.onSpinWait();
                continue;
            }
            version = behind;
            read++;
            for (int i = 0; i < MarketBook.LEVELS; i++) {
                if (copy.getLong(i * Long.BYTES) != MarketBook.price(version, i)) {
                    broken++;
                    break;
                }
            }
        }
    }

    /** After the thread has ended. */
    void report() {
        System.out.println("reader " + number + " has version " + version + ", broken images: " + broken
            + ", images read: " + read);
    }
}
