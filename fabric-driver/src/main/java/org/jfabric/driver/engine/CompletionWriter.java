package org.jfabric.driver.engine;

import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.client.LentMessages;
import org.jfabric.layout.CompletionQueueDescriptor;

import static org.jfabric.layout.CompletionQueueDescriptor.BODY_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.ERROR_CELL_LENGTH;
import static org.jfabric.layout.CompletionQueueDescriptor.KIND_ERROR;
import static org.jfabric.layout.CompletionQueueDescriptor.KIND_SUCCESS;
import static org.jfabric.layout.CompletionQueueDescriptor.READ_POSITION_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.RECORDS_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.RECORD_LENGTH;
import static org.jfabric.layout.CompletionQueueDescriptor.RETIRED_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.STATE_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.STATE_OVERRUN;
import static org.jfabric.layout.CompletionQueueDescriptor.WRITTEN_OFFSET;

/**
 * The driver's end of one completion queue.
 *
 * <p>With credit taken at submission a slot is always free. A client that submits more than it has credit for, or that
 * writes an impossible read position, gets the overrun state on this queue and nothing else: the writer never waits.
 *
 * <p>Owner: progress agent.
 */
public final class CompletionWriter extends BatchWriter {
    /** Offset of {@code err} in an error cell. */
    private static final int CELL_ERR = 8;
    private static final int CELL_PROV_ERRNO = 12;
    private static final int CELL_DATA_SIZE = 16;
    private static final int CELL_DATA = 24;
    private static final int CELL_DATA_CAPACITY = ERROR_CELL_LENGTH - CELL_DATA;
    private static final int MAX_ENDPOINT_INDEX = 0xFFFF;

    private final long fileAddress;
    private final long records;
    private final long errorCells;
    private final int capacity;
    private final long mask;
    private final WaitPoint waitPoint;
    private final Runnable onOverrun;
    private final DriverShare driverShare;
    private long next;
    private long limit;
    private long readPosition;
    private long retired;
    private long published;
    private long publishedRetired;
    private boolean overrun;
    private boolean urgent;
    private boolean retiresAtOnce;
    private int endpoints;
    /** Null where another process runs the reader. */
    private LentMessages lent;

    /**
     * A writer of a fresh queue.
     *
     * @param fileAddress native address of the {@code .cq} file.
     * @param capacity    entries, a power of two.
     * @param waitPoint   woken when entries were written, or null if the queue was opened without a wait object.
     */
    public CompletionWriter(long fileAddress, int capacity, WaitPoint waitPoint) {
        this(fileAddress, capacity, 0, waitPoint, () -> {
        });
    }

    /**
     * A writer of a fresh queue that tells of its overrun.
     *
     * @param fileAddress native address of the {@code .cq} file.
     * @param capacity    entries, a power of two.
     * @param driverShare entries of these for which the driver takes slots; a writer without has none.
     * @param waitPoint   woken when entries were written, or null if the queue was opened without a wait object.
     * @param onOverrun   called once, by the progress thread, when an entry finds no slot; must only hand over.
     */
    public CompletionWriter(
        long fileAddress, int capacity, int driverShare, WaitPoint waitPoint, Runnable onOverrun) {
        this.fileAddress = fileAddress;
        this.records = fileAddress + RECORDS_OFFSET;
        this.errorCells = fileAddress + CompletionQueueDescriptor.errorCellsOffset(capacity);
        this.capacity = capacity;
        this.mask = capacity - 1L;
        this.limit = capacity;
        this.waitPoint = waitPoint;
        this.onOverrun = onOverrun;
        this.driverShare = new DriverShare(this, fileAddress, driverShare);
    }

    /**
     * The slots that the driver takes for entries of its own.
     *
     * @return the one keeper.
     */
    public DriverShare driverShare() {
        return driverShare;
    }

    /**
     * The client runs the duty cycle itself. To tell another thread of each ended operation alone would cost it the
     * transfer of a cache line; to this one it costs a store, which is less than to remember it until the cycle's end.
     */
    public void retireAtOnce() {
        retiresAtOnce = true;
        lent = new LentMessages();
    }

    /**
     * Messages that cycles leave for the queue's reader without entries.
     *
     * @return null if the client does not run the duty cycle.
     */
    public LentMessages lentMessages() {
        return lent;
    }

    /** Where a message may be lent to instead of writing an entry; null if it may not, now. */
    LentMessages lentNow() {
        LentMessages messages = lent;
        return messages != null && messages.isOpen(next) ? messages : null;
    }

    /**
     * Gives an endpoint its index in this queue. A record has 16 bits for it, so an endpoint shares it with the one
     * that was enabled 65,536 earlier, in case that is still open.
     *
     * @return index from 0 to 65,535.
     */
    public int addEndpoint() {
        return endpoints++ & MAX_ENDPOINT_INDEX;
    }

    /**
     * Writes an entry.
     *
     * @param endpoint the endpoint's index in this queue.
     * @param share    {@link CompletionQueueDescriptor#FLAG_DRIVER_SHARE} or 0.
     * @param context  operation context.
     * @param flags    completion flags.
     * @param length   bytes placed by a receive, else 0.
     * @param buf      address, where the page defines it, else 0.
     * @param data     remote CQ data, else 0.
     * @param tag      tag of a tagged message, else 0.
     * @param source   source address, -1 if unknown.
     */
    public void success(
        int endpoint, int share, long context, long flags, long length, long buf, long data, long tag, long source) {
        long number = next;
        if (number >= limit && !refreshLimit()) {
            return;
        }
        long record = records + ((number & mask) * RECORD_LENGTH);
        body(record, context, flags, length, buf, data, tag, source);
        next = number + 1;
        if (waitPoint != null) {
            // otherwise the record says everything
            changed();
        }
        UnsafeApi.putLongRelease(
            null, record, CompletionQueueDescriptor.word(number, endpoint, KIND_SUCCESS, share));
    }

    /**
     * Writes an error entry.
     *
     * @param endpoint  the endpoint's index in this queue.
     * @param share     {@link CompletionQueueDescriptor#FLAG_DRIVER_SHARE} or 0.
     * @param context   operation context.
     * @param flags     completion flags.
     * @param length    bytes placed by a receive, else 0.
     * @param buf       address, where the page defines it, else 0.
     * @param data      remote CQ data, else 0.
     * @param tag       tag of a tagged message, else 0.
     * @param source    source address, -1 if unknown.
     * @param olen      bytes that did not fit.
     * @param err       positive fabric errno.
     * @param provErrno code for {@code strerror}.
     * @param errData   further bytes, or null.
     */
    public void error(
        int endpoint,
        int share,
        long context,
        long flags,
        long length,
        long buf,
        long data,
        long tag,
        long source,
        long olen,
        int err,
        int provErrno,
        DirectBuffer errData) {
        long number = next;
        if (number >= limit && !refreshLimit()) {
            return;
        }
        long cell = errorCells + ((number & mask) * ERROR_CELL_LENGTH);
        UnsafeApi.putLong(cell, olen);
        UnsafeApi.putInt(cell + CELL_ERR, err);
        UnsafeApi.putInt(cell + CELL_PROV_ERRNO, provErrno);
        int size = errData == null ? 0 : Math.min(errData.capacity(), CELL_DATA_CAPACITY);
        UnsafeApi.putInt(cell + CELL_DATA_SIZE, size);
        for (int i = 0; i < size; i++) {
            UnsafeApi.putByte(cell + CELL_DATA + i, errData.getByte(i));
        }
        long record = records + ((number & mask) * RECORD_LENGTH);
        body(record, context, flags, length, buf, data, tag, source);
        next = number + 1;
        changed();
        urgent = true;
        UnsafeApi.putLongRelease(null, record, CompletionQueueDescriptor.word(number, endpoint, KIND_ERROR, share));
    }

    /** An operation that held a slot of the client's share has ended without an entry. */
    public void retire() {
        retire(1);
    }

    /**
     * Several operations that held slots of the client's share have ended without an entry.
     *
     * @param count how many.
     */
    public void retire(int count) {
        retired += count;
        if (retiresAtOnce) {
            publishRetired();
        } else {
            changed();
        }
    }

    @Override
    int publish() {
        int work = driverShare.retry();
        flush();
        return work;
    }

    @Override
    void leave() {
        super.leave();
        retiresAtOnce = false;
    }

    @Override
    boolean goesOn() {
        return driverShare.isWaitedFor();
    }

    /** Publishes what readers do not find in the records themselves; once for each batch. */
    public void flush() {
        if (retired != publishedRetired) {
            publishRetired();
        }
        if (waitPoint != null && (next != published || urgent)) {
            UnsafeApi.putLongRelease(null, fileAddress + WRITTEN_OFFSET, next);
            waitPoint.onWritten(next, urgent);
            // last: if a fault of another client's memory is raised late and in here, the next flush wakes
            published = next;
            urgent = false;
        }
    }

    /** Writes nothing any more, because the file's memory is gone. */
    public void abandon() {
        overrun = true;
        retiresAtOnce = false;
        limit = Long.MIN_VALUE;
        publishedRetired = retired;
        published = next;
        urgent = false;
    }

    /** Entries, and operations without one, since the start. */
    long ended() {
        return next + retired;
    }

    /**
     * Entries written since the start.
     *
     * @return a count.
     */
    public long written() {
        return next;
    }

    /**
     * Whether an entry found no slot.
     *
     * @return true for ever after.
     */
    boolean isOverrun() {
        return overrun;
    }

    /**
     * Address of the queue's file in this process.
     *
     * @return native address.
     */
    public long fileAddress() {
        return fileAddress;
    }

    private static void body(
        long record, long context, long flags, long length, long buf, long data, long tag, long source) {
        long body = record + BODY_OFFSET;
        UnsafeApi.putLong(body, context);
        UnsafeApi.putLong(body + 8, flags);
        UnsafeApi.putLong(body + 16, length);
        UnsafeApi.putLong(body + 24, buf);
        UnsafeApi.putLong(body + 32, data);
        UnsafeApi.putLong(body + 40, tag);
        UnsafeApi.putLong(body + 48, source);
    }

    private void publishRetired() {
        publishedRetired = retired;
        UnsafeApi.putLongRelease(null, fileAddress + RETIRED_OFFSET, retired);
    }

    /** Readers that wait for more entries than there are must look again. */
    void wakeReaders() {
        urgent = true;
        changed();
    }

    /** How far the client has read; the client writes that word, and what is impossible overruns the queue. */
    long readPosition() {
        if (!overrun && !learnReadPosition()) {
            overrun();
        }
        return readPosition;
    }

    private boolean refreshLimit() {
        if (overrun) {
            return false;
        }
        if (learnReadPosition() && next < limit) {
            return true;
        }
        overrun();
        return false;
    }

    private boolean learnReadPosition() {
        long seen = UnsafeApi.getLongAcquire(null, fileAddress + READ_POSITION_OFFSET);
        // the client writes this word: believe it only if it is possible
        if (seen < readPosition || seen > next) {
            return false;
        }
        readPosition = seen;
        limit = seen + capacity;
        return true;
    }

    private void overrun() {
        overrun = true;
        urgent = true;
        changed();
        UnsafeApi.putIntRelease(null, fileAddress + STATE_OFFSET, STATE_OVERRUN);
        onOverrun.run();
    }
}
