package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The record of one conversation, the messages of one sender to one receiver and its accesses to the receiver's memory,
 * in a file that both map and that outlives them: what was posted and confirmed, by the sender, and what was received,
 * by the receiver. Each word has one writer.
 */
final class Ledger implements AutoCloseable {
    /** Messages of one conversation. */
    static final int CAPACITY = 1 << 20;

    private static final int POSTED = 0;
    private static final int DELIVERED = 8;
    private static final int FAILED = 16;
    private static final int ADDITIONS_POSTED = 24;
    private static final int ADDITIONS_CONFIRMED = 32;
    private static final int WRITES_CONFIRMED = 40;
    private static final int READS_COMPARED = 48;
    private static final int RECEIVED = 64;
    private static final int TAKEN = 72;
    /** For each slot of the receiver's area: the last write that was posted, and the last one that was confirmed. */
    private static final int WRITING = 128;
    private static final int WRITTEN = WRITING + RemoteArea.SLOTS * Long.BYTES;
    private static final int DELIVERED_BITS = WRITTEN + RemoteArea.SLOTS * Long.BYTES;
    private static final int RECEIVED_BITS = DELIVERED_BITS + CAPACITY / 8;
    private static final int LENGTH = RECEIVED_BITS + CAPACITY / 8;

    private final UnsafeBuffer file;
    private final MappedByteBuffer mapping;

    private Ledger(MappedByteBuffer mapping) {
        this.mapping = mapping;
        file = new UnsafeBuffer(mapping);
    }

    /** The one of that conversation in a folder, made if it is not there. */
    static Ledger open(Path folder, int conversation) throws IOException {
        try (FileChannel channel = FileChannel.open(path(folder, conversation), StandardOpenOption.CREATE,
            StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Ledger(channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH));
        }
    }

    static Path path(Path folder, int conversation) {
        return folder.resolve(conversation + ".ledger");
    }

    long posted() {
        return file.getLongVolatile(POSTED);
    }

    long delivered() {
        return file.getLongVolatile(DELIVERED);
    }

    long failed() {
        return file.getLongVolatile(FAILED);
    }

    long received() {
        return file.getLongVolatile(RECEIVED);
    }

    /** Messages whose place is free for another one. */
    long taken() {
        return file.getLongVolatile(TAKEN);
    }

    void onPosted() {
        file.putLongRelease(POSTED, file.getLong(POSTED) + 1);
    }

    void onDelivered(long number) {
        set(DELIVERED_BITS, number);
        file.putLongRelease(DELIVERED, file.getLong(DELIVERED) + 1);
    }

    void onFailed() {
        file.putLongRelease(FAILED, file.getLong(FAILED) + 1);
    }

    /** False if it was received before. */
    boolean onReceived(long number) {
        if (isSet(RECEIVED_BITS, number)) {
            return false;
        }
        set(RECEIVED_BITS, number);
        file.putLongRelease(RECEIVED, file.getLong(RECEIVED) + 1);
        return true;
    }

    void onTaken() {
        file.putLongRelease(TAKEN, file.getLong(TAKEN) + 1);
    }

    long additionsPosted() {
        return file.getLongVolatile(ADDITIONS_POSTED);
    }

    long additionsConfirmed() {
        return file.getLongVolatile(ADDITIONS_CONFIRMED);
    }

    long writesConfirmed() {
        return file.getLongVolatile(WRITES_CONFIRMED);
    }

    long readsCompared() {
        return file.getLongVolatile(READS_COMPARED);
    }

    /** The last write to a slot that was posted, or is about to be; 0 for none. */
    long writing(int slot) {
        return file.getLongVolatile(WRITING + slot * Long.BYTES);
    }

    /** The last write to a slot that was confirmed; 0 for none. */
    long written(int slot) {
        return file.getLongVolatile(WRITTEN + slot * Long.BYTES);
    }

    /** Before the call that posts it: the sender may be killed between that and anything else. */
    void onAdding() {
        file.putLongVolatile(ADDITIONS_POSTED, file.getLong(ADDITIONS_POSTED) + 1);
    }

    void onAdded() {
        file.putLongVolatile(ADDITIONS_CONFIRMED, file.getLong(ADDITIONS_CONFIRMED) + 1);
    }

    /** Before the call that posts it. */
    void onWriting(int slot, long number) {
        file.putLongVolatile(WRITING + slot * Long.BYTES, number);
    }

    void onWritten(int slot, long number) {
        file.putLongVolatile(WRITTEN + slot * Long.BYTES, number);
        file.putLongVolatile(WRITES_CONFIRMED, file.getLong(WRITES_CONFIRMED) + 1);
    }

    void onCompared() {
        file.putLongVolatile(READS_COMPARED, file.getLong(READS_COMPARED) + 1);
    }

    /** Whether any operation has succeeded, so that there was a connection. */
    boolean hasConfirmed() {
        return delivered() + additionsConfirmed() + writesConfirmed() + readsCompared() > 0;
    }

    /** Numbers of messages that were confirmed and not received. */
    List<Long> lost() {
        List<Long> lost = new ArrayList<>();
        long posted = posted();
        for (long i = 0; i < posted; i++) {
            if (isSet(DELIVERED_BITS, i) && !isSet(RECEIVED_BITS, i)) {
                lost.add(i);
            }
        }
        return lost;
    }

    /** Whether a message was received that was not posted; the sender may have died before it counted the last one. */
    boolean hasInvented() {
        for (long i = posted() + 1; i < CAPACITY; i++) {
            if (isSet(RECEIVED_BITS, i)) {
                return true;
            }
        }
        return false;
    }

    private boolean isSet(int bits, long number) {
        return (file.getByteVolatile(bits + (int) (number >> 3)) & 1 << (number & 7)) != 0;
    }

    private void set(int bits, long number) {
        int at = bits + (int) (number >> 3);
        file.putByteVolatile(at, (byte) (file.getByte(at) | 1 << (number & 7)));
    }

    @Override
    public void close() {
        BufferUtil.free(mapping);
    }

    @Override
    public String toString() {
        return posted() + " posted, " + delivered() + " confirmed, " + failed() + " failed, " + received()
            + " received";
    }
}
