package org.jfabric.samples.once;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/** What was made of the orders so far, and the place of the next one, in one file. */
final class Portfolio implements StreamListener {
    static final int INSTRUMENTS = 4;
    /** Layout of an order: instrument, quantity. */
    static final int QUANTITY = Long.BYTES;
    static final int ORDER_LENGTH = QUANTITY + Long.BYTES;
    private static final int FILE_LENGTH = 2 * Long.BYTES + Integer.BYTES + (2 + INSTRUMENTS) * Long.BYTES;

    private final Path file;
    private final long[] quantities = new long[INSTRUMENTS];
    private long orders;
    private LogPosition next;

    /** What is in the file, or nothing if there is none. */
    Portfolio(Path file) throws IOException {
        this.file = file.toAbsolutePath();
        if (Files.exists(file)) {
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
            next = new LogPosition(new UUID(bytes.getLong(), bytes.getLong()), bytes.getInt(), bytes.getLong());
            orders = bytes.getLong();
            for (int i = 0; i < INSTRUMENTS; i++) {
                quantities[i] = bytes.getLong();
            }
        }
    }

    @Override
    public void onMessage(DirectBuffer order, int offset, int length, StreamHeader header) {
        orders++;
        quantities[(int) order.getLong(offset)] += order.getLong(offset + QUANTITY);
    }

    /** Not in this sample, whose log keeps everything. */
    @Override
    public void onGap(long first, long last) {
        throw new IllegalStateException("orders " + first + " to " + last + " are not in the log any more");
    }

    // example: save
    /** After a kill or a power cut the file is the old one or the new one: state and position are of one moment. */
    void save(LogPosition newNext) throws IOException {
        next = newNext;
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try (FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE,
            StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = encode();
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel folder = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }
    // end

    private ByteBuffer encode() {
        ByteBuffer bytes = ByteBuffer.allocate(FILE_LENGTH)
            .putLong(next.logId().getMostSignificantBits()).putLong(next.logId().getLeastSignificantBits())
            .putInt(next.term()).putLong(next.position()).putLong(orders);
        for (long quantity : quantities) {
            bytes.putLong(quantity);
        }
        return bytes.flip();
    }

    /** The place of the first order that is not in the quantities; null before the first one. */
    LogPosition next() {
        return next;
    }

    @Override
    public String toString() {
        return orders + " orders, quantities " + Arrays.toString(quantities);
    }
}
