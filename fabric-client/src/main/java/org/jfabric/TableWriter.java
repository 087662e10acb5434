package org.jfabric;

import java.lang.ref.Reference;
import org.agrona.DirectBuffer;
import org.jfabric.client.QueueSignal;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.TableDescriptor;
import org.jfabric.layout.TableProducer;

/**
 * Writes the values of a {@link Table}. {@link #put} and {@link #remove} are no control calls: they write memory that
 * readers read, wait for nobody, and allocate nothing; only if the driver sleeps and a reader may sleep, too, they wake
 * it by a system call.
 *
 * <pre>{@code
 * TableWriter prices = Table.on(fabric, "jfabric://alpha/prices").slots(1000).valueLength(64).openWriter();
 * prices.put(4711, buffer, 0, 40);
 * }</pre>
 *
 * <p>Owner: one thread at a time.
 */
public final class TableWriter implements AutoCloseable {
    private final TableFile file;
    private final QueueSignal signal;
    private final TableProducer producer;

    TableWriter(TableFile file) {
        this.file = file;
        this.signal = file.signal();
        this.producer = new TableProducer(file.memory(), file.slots(), file.valueLength());
    }

    /**
     * Writes the value of a key; readers see all of it or what was there before.
     *
     * @param key    any number. A new key takes a slot that is free.
     * @param buffer with the value, which is copied.
     * @param offset of the value.
     * @param length of the value in bytes, 0 to the longest that the table has.
     * @return 0; or then nothing was written: {@code -FI_EMSGSIZE} for a longer value, {@code -FI_ENOSPC} if no slot is
     *     free, {@code -FI_EINVAL} for bytes outside of the buffer, {@code -FI_ENODEV} if the driver is gone,
     *     {@code -FI_EOPBADSTATE} if closed.
     */
    public int put(long key, DirectBuffer buffer, int offset, int length) {
        int refused = file.refusal();
        if (refused != 0) {
            return refused;
        }
        if (offset < 0 || length < 0 || length > buffer.capacity() - offset) {
            return -FabricErrno.EINVAL;
        }
        int result = producer.put(key, buffer.byteArray(), buffer.addressOffset() + offset, length);
        Reference.reachabilityFence(buffer);
        return changed(result);
    }

    /**
     * Removes a key and its value; its slot is free for another key.
     *
     * @param key any number.
     * @return 0; {@code -FI_ENOENT} if the key has no value, {@code -FI_ENODEV} and {@code -FI_EOPBADSTATE} as
     *     {@link #put}.
     */
    public int remove(long key) {
        int refused = file.refusal();
        return refused != 0 ? refused : changed(producer.remove(key));
    }

    private int changed(int result) {
        if (result == 0) {
            signal.onChange(file.word(TableDescriptor.WATCHED_OFFSET));
        }
        return result;
    }

    /**
     * Changes of the table so far, those of writers before this one included.
     *
     * @return the number of puts and removals.
     */
    public long version() {
        return producer.version();
    }

    /**
     * Keys that have a value.
     *
     * @return a number up to that of the slots.
     */
    public int size() {
        return producer.size();
    }

    /**
     * Ends writing. Readers keep the values, and another writer may continue them while a reader has the table open.
     * Has no effect if it is closed. Control call.
     *
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} if the driver does not answer; it is closed when it does.
     */
    @Override
    public void close() {
        file.close();
    }

    @Override
    public String toString() {
        return "TableWriter{" + file + '}';
    }
}
