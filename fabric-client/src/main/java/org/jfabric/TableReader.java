package org.jfabric;

import java.lang.ref.Reference;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.client.WaitLine;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.TableConsumer;
import org.jfabric.layout.TableDescriptor;
import org.jfabric.layout.WaitDescriptor;

/**
 * Reads the newest values of a {@link Table}. Reads are no control calls: they copy from memory that the writer writes,
 * without driver or lock, and allocate nothing. A value is whole, whatever the writer does meanwhile.
 *
 * <pre>{@code
 * TableReader prices = Table.on(fabric, "jfabric://alpha/prices").openReader();
 * long slot = prices.find(4711);
 * int length = prices.read(slot, buffer, 0);
 * }</pre>
 *
 * <p>A <em>slot</em> here is a number that stands for a key as long as the key is not removed: look it up once by
 * {@link #find} and keep it. Once the key was removed, reads of that slot answer {@code -FI_ENOENT}, also when another
 * key, or the same key again, has a value there.
 *
 * <p>After the end of the driver everything that reads answers {@code -FI_ENODEV}, because nothing new can come; after
 * the end of the writer only {@link #hasWriter()} changes. Owner: one thread at a time; open a reader for each.
 */
public final class TableReader implements AutoCloseable {
    private final TableFile file;
    private final TableConsumer consumer;
    private final WaitSet waitSet;
    private final boolean ownsSet;
    private final Changes changes = new Changes();
    private final ChangeWait wait;
    /** The newest version that the reader was given; a wait set is signalled by another one. */
    private volatile long known;

    /**
     * A reader of a mapped table; under the fabric's lock.
     *
     * @param waitSet it sleeps there, and the driver wakes it; null with an embedded driver in mode INVOKER.
     * @param ownsSet whether the set is this reader's alone, and closed with it.
     */
    TableReader(Fabric fabric, TableFile file, WaitSet waitSet, boolean ownsSet) {
        this.file = file;
        this.consumer = new TableConsumer(file.memory(), file.slots(), file.valueLength());
        this.waitSet = waitSet;
        this.ownsSet = ownsSet;
        this.wait = new ChangeWait(changes, fabric, waitSet == null ? null : new WaitLine(
            waitSet.memory().address() + WaitDescriptor.WAIT_FILE_OFFSET, waitSet.memory()));
        if (waitSet != null) {
            waitSet.attach(changes);
        }
        file.onEnd(this::onEnd);
    }

    /**
     * Finds the slot of a key; takes longer the more keys there are.
     *
     * @param key any number.
     * @return the slot; {@code -FI_ENOENT} if the key has no value, or what {@link #read} answers.
     */
    public long find(long key) {
        int refused = file.refusal();
        return refused != 0 ? refused : consumer.find(key);
    }

    /**
     * Slots that have had a key, for visiting all: {@code for (int i = 0; i < reader.used(); i++) reader.slot(i)}.
     *
     * @return the number, which only grows; {@code -FI_ENODEV} and {@code -FI_EOPBADSTATE} as {@link #read}.
     */
    public int used() {
        int refused = file.refusal();
        return refused != 0 ? refused : consumer.used();
    }

    /**
     * The slot at an index.
     *
     * @param index from 0, less than {@link #used()}.
     * @return the slot; {@code -FI_ENOENT} if it has no key now, or what {@link #read} answers.
     */
    public long slot(int index) {
        int refused = file.refusal();
        return refused != 0 ? refused : consumer.handleAt(index);
    }

    /**
     * Copies the newest value of a slot.
     *
     * @param slot   by {@link #find} or {@link #slot}.
     * @param buffer gets the value.
     * @param offset in the buffer.
     * @return length of the value in bytes; {@code -FI_ENOENT} if the key was removed, {@code -FI_ETOOSMALL} if it does
     *     not fit between offset and end, {@code -FI_EAGAIN} if the writer has overwritten it a thousand times during
     *     the call, {@code -FI_EINVAL} for a slot or offset that cannot be, {@code -FI_EIO} if the memory has what no
     *     writer writes, {@code -FI_ENODEV} if the driver is gone, {@code -FI_EOPBADSTATE} if closed. After an errno
     *     the bytes from the offset on may have changed.
     */
    public int read(long slot, MutableDirectBuffer buffer, int offset) {
        int refused = file.refusal();
        if (refused != 0) {
            return refused;
        }
        int capacity = buffer.capacity() - offset;
        if (offset < 0 || capacity < 0) {
            return -FabricErrno.EINVAL;
        }
        int result = consumer.read(slot, buffer.byteArray(), buffer.addressOffset() + offset, capacity);
        Reference.reachabilityFence(buffer);
        return result;
    }

    /**
     * The key of the slot that the last call of {@link #read}, {@link #slot}, {@link #find} or {@link #version(long)}
     * has read.
     *
     * @return the key; of no meaning if that call has answered with an errno.
     */
    public long readKey() {
        return consumer.seenKey();
    }

    /**
     * The version of that slot: that of the table by the change that has written it.
     *
     * @return the version; of no meaning if that call has answered with an errno.
     */
    public long readVersion() {
        return consumer.seenVersion();
    }

    /**
     * The version of a slot, without its value.
     *
     * @param slot by {@link #find} or {@link #slot}.
     * @return from 1, growing with each change; or what {@link #read} answers.
     */
    public long version(long slot) {
        int refused = file.refusal();
        int result = refused != 0 ? refused : consumer.read(slot, null, 0, -1);
        return result < 0 ? result : consumer.seenVersion();
    }

    /**
     * Changes of the table so far. Whoever has read a version finds each value that it counts, or a newer one.
     *
     * @return from 0, growing; {@code -FI_ENODEV} if the driver is gone, {@code -FI_EOPBADSTATE} if closed.
     */
    public long version() {
        int refused = file.refusal();
        if (refused != 0) {
            return refused;
        }
        long seen = consumer.version();
        if (seen != known) {
            known = seen;
        }
        return seen;
    }

    /**
     * Waits for a change: spins for a while, then sleeps until the driver wakes it. With an embedded driver in INVOKER
     * mode it runs the driver's cycles meanwhile. A virtual thread keeps its carrier while it sleeps here.
     *
     * @param version   the last one that the caller has seen.
     * @param timeoutNs nanoseconds; negative for no limit, 0 only checks.
     * @return 0 if the table has a greater version; {@code -FI_ETIMEDOUT}; {@code -FI_EINTR} if the thread was
     *     interrupted, whose flag stays set; {@code -FI_ENODEV} if the driver is gone; {@code -FI_EOPBADSTATE} if
     *     closed.
     */
    public int await(long version, long timeoutNs) {
        int refused = file.refusal();
        if (refused != 0) {
            return refused;
        }
        if (wait.invoker() != null) {
            wait.invoker().poll(0);
        }
        wait.awaitReady(version, 0, System.nanoTime(), timeoutNs);
        refused = file.refusal();
        if (refused != 0) {
            return refused;
        }
        if (version() > version) {
            return 0;
        }
        return Thread.currentThread().isInterrupted() ? -FabricErrno.EINTR : -FabricErrno.ETIMEDOUT;
    }

    /**
     * Whether a client has the table open for writing.
     *
     * @return false from the end of the writer, whatever it was, until the next one.
     */
    public boolean hasWriter() {
        return file.refusal() == 0
            && UnsafeApi.getLongAcquire(null, file.word(TableDescriptor.WRITER_OFFSET)) != 0;
    }

    /**
     * Closes the reader; a thread that waits returns. Has no effect if it is closed. Control call.
     *
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} if the driver does not answer; it is closed when it does.
     */
    @Override
    public void close() {
        file.close();
        if (ownsSet) {
            waitSet.close();
        }
    }

    @Override
    public String toString() {
        return "TableReader{" + file + '}';
    }

    private void onEnd() {
        if (waitSet != null) {
            waitSet.detach(changes);
        }
        wait.markClosed();
        wait.wake();
    }

    /** What a wait set, and the reader itself, waits for. */
    private final class Changes implements Waitable {
        @Override
        public boolean isReady() {
            return consumer.version() != known;
        }

        @Override
        public boolean isReady(long needed, long seenErrors) {
            return consumer.version() > needed;
        }
    }
}
