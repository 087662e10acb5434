package org.jfabric.driver.engine;

import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.client.DirectEntry;
import org.jfabric.client.LentMessages;
import org.jfabric.codec.queue.CompletionEncoder;
import org.jfabric.codec.queue.ErrorCellEncoder;
import org.jfabric.codec.queue.TimeCellEncoder;
import org.jfabric.driver.resource.ReadPlace;
import org.jfabric.driver.resource.Stage;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;

import static org.jfabric.layout.CompletionQueueDescriptor.BODY_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.ERROR_CELL_LENGTH;
import static org.jfabric.layout.CompletionQueueDescriptor.FLAG_BUFFERED;
import static org.jfabric.layout.CompletionQueueDescriptor.FLAG_STAMPED;
import static org.jfabric.layout.CompletionQueueDescriptor.FLAG_WITHOUT_CELL;
import static org.jfabric.layout.CompletionQueueDescriptor.KIND_ERROR;
import static org.jfabric.layout.CompletionQueueDescriptor.KIND_SUCCESS;
import static org.jfabric.layout.CompletionQueueDescriptor.READ_POSITION_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.READ_TIMES;
import static org.jfabric.layout.CompletionQueueDescriptor.RECORDS_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.RECORD_LENGTH;
import static org.jfabric.layout.CompletionQueueDescriptor.RETIRED_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.STAMP_SHIFT;
import static org.jfabric.layout.CompletionQueueDescriptor.STATE_OFFSET;
import static org.jfabric.layout.CompletionQueueDescriptor.STATE_OVERRUN;
import static org.jfabric.layout.CompletionQueueDescriptor.WRITTEN_OFFSET;

/**
 * The driver's end of one completion queue.
 *
 * <p>With credit taken at submission a slot is always free. If a client submits more than it has credit for, or writes
 * an impossible read position, this queue goes into the overrun state. The writer never waits, and other queues are not
 * affected.
 *
 * <p>Owner: progress agent.
 */
public final class CompletionWriter extends BatchWriter implements StageTimes.Samples {
    private static final int CONTEXT = BODY_OFFSET + CompletionEncoder.opContextEncodingOffset();
    private static final int FLAGS = BODY_OFFSET + CompletionEncoder.flagsEncodingOffset();
    private static final int LENGTH = BODY_OFFSET + CompletionEncoder.lengthEncodingOffset();
    private static final int BUF = BODY_OFFSET + CompletionEncoder.bufEncodingOffset();
    private static final int DATA = BODY_OFFSET + CompletionEncoder.dataEncodingOffset();
    private static final int TAG = BODY_OFFSET + CompletionEncoder.tagEncodingOffset();
    private static final int SOURCE = BODY_OFFSET + CompletionEncoder.srcAddrEncodingOffset();
    private static final int CELL_OLEN = ErrorCellEncoder.olenEncodingOffset();
    private static final int CELL_ERR = ErrorCellEncoder.errEncodingOffset();
    private static final int CELL_PROV_ERRNO = ErrorCellEncoder.provErrnoEncodingOffset();
    private static final int CELL_DATA_SIZE = ErrorCellEncoder.errDataSizeEncodingOffset();
    private static final int CELL_DATA = ErrorCellEncoder.errDataEncodingOffset();
    private static final int CELL_DATA_CAPACITY = ErrorCellEncoder.errDataLength();
    private static final int CELL_TIME = TimeCellEncoder.timeNsEncodingOffset();
    private static final int MAX_ENDPOINT_INDEX = 0xFFFF;

    private final long fileAddress;
    private final long records;
    private final long errorCells;
    private final int capacity;
    private final long mask;
    private final WaitPoint waitPoint;
    private final ReadPlace readPlace;
    private final Runnable onOverrun;
    private final DriverQuota driverQuota;
    private long next;
    /** Up to where entries need no check: {@link #room}, or the next sample before it. */
    private long limit;
    /** Number of the first entry that has no slot. */
    private long room;
    /** The first successful entry from this number on is a sample. */
    private long sampleAt = Long.MAX_VALUE;
    private StageTimes stages = StageTimes.OFF;
    /** When the last samples were written, by their number modulo the length. */
    private final long[] stampedNs = new long[READ_TIMES];
    private long stamped;
    /** Samples of which the time of reading has been collected. */
    private long collected;
    private long readPosition;
    private long retired;
    private long published;
    private long publishedRetired;
    private boolean overrun;
    private boolean urgent;
    private boolean retiresAtOnce;
    private int endpoints;
    /** Null if the reader is in another process. */
    private LentMessages lent;
    /** Null if all entries have slots. */
    private DirectEntry direct;
    /** Entries that had no slot. */
    private long directs;

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
     * A writer of a fresh queue that reports its overrun.
     *
     * @param fileAddress native address of the {@code .cq} file.
     * @param capacity    entries, a power of two.
     * @param driverQuota number of the entries that form the driver's quota; 0 for none.
     * @param waitPoint   woken when entries were written, or null if the queue was opened without a wait object.
     * @param onOverrun   called once, by the progress thread, when an entry finds no slot; must only queue the event
     *                    for another thread.
     */
    public CompletionWriter(
        long fileAddress, int capacity, int driverQuota, WaitPoint waitPoint, Runnable onOverrun) {
        this.fileAddress = fileAddress;
        this.records = fileAddress + RECORDS_OFFSET;
        this.errorCells = fileAddress + CompletionQueueDescriptor.errorCellsOffset(capacity);
        this.capacity = capacity;
        this.mask = capacity - 1L;
        this.limit = capacity;
        this.room = capacity;
        this.waitPoint = waitPoint;
        this.readPlace = new ReadPlace(fileAddress, waitPoint);
        this.onOverrun = onOverrun;
        this.driverQuota = new DriverQuota(this, fileAddress, driverQuota);
    }

    /**
     * The driver's quota of slots, for entries that no submission has reserved a slot for. Returns the quota; the same
     * object for the life of this writer.
     */
    public DriverQuota driverQuota() {
        return driverQuota;
    }

    /**
     * Publishes each retired operation immediately, because the client runs the duty cycle itself. For a reader in
     * another thread this would cost the transfer of a cache line for each operation; in the same thread it is one
     * store.
     */
    public void retireAtOnce() {
        retiresAtOnce = true;
        lent = new LentMessages();
        if (waitPoint == null && !stages.isOn()) {
            direct = lent.direct();
            direct.writer(this::queueDirect);
        }
    }

    /**
     * Messages that duty cycles leave to the queue's reader without entries. Returns null if the client does not run
     * the duty cycle.
     */
    public LentMessages lentMessages() {
        return lent;
    }

    /** The list of lent messages, if a message may be lent now in place of an entry; else null. */
    LentMessages lentNow() {
        LentMessages messages = lent;
        return messages != null && messages.isOpen(next) ? messages : null;
    }

    /**
     * Gives an endpoint its index in this queue. A record has 16 bits for the index, so it is used again after 65,536
     * endpoints, even if the earlier endpoint is still open. Returns the index from 0 to 65,535.
     */
    public int addEndpoint() {
        return endpoints++ & MAX_ENDPOINT_INDEX;
    }

    /**
     * Writes an entry.
     *
     * @param share    {@link CompletionQueueDescriptor#FLAG_DRIVER_SHARE}, or 0, and perhaps
     *                 {@link CompletionQueueDescriptor#FLAG_BUFFERED}.
     * @param length   bytes placed by a receive, else 0.
     * @param buf      address, where the page defines it, else 0.
     * @param data     remote CQ data, else 0.
     * @param tag      tag of a tagged message, else 0.
     * @param source   source address, -1 if unknown.
     */
    public void success(
        int endpoint, int share, long context, long flags, long length, long buf, long data, long tag, long source) {
        DirectEntry only = direct;
        if (only != null) {
            if (only.isOpen(next) && share == 0 && next < limit) {
                long line = only.record();
                body(line, context, flags, length, buf, data, tag, source);
                UnsafeApi.putLong(line, CompletionQueueDescriptor.word(next, endpoint, KIND_SUCCESS, 0));
                directs++;
                only.put();
                return;
            }
            only.queue();
        }
        long number = next;
        int recordFlags = share;
        if (number >= limit) {
            if (!refreshLimit()) {
                return;
            }
            recordFlags |= stamp(number, share);
        }
        long record = records + ((number & mask) * RECORD_LENGTH);
        body(record, context, flags, length, buf, data, tag, source);
        next = number + 1;
        if (waitPoint != null) {
            // without a wait object readers need only the record
            changed();
        }
        UnsafeApi.putLongRelease(
            null, record, CompletionQueueDescriptor.word(number, endpoint, KIND_SUCCESS, recordFlags));
    }

    /**
     * Gives the next entry a time, which is to be a success with {@link Flags#TIMESTAMP} in its flags.
     *
     * @param timeNs nanoseconds of the endpoint's clock.
     * @return this.
     */
    public CompletionWriter at(long timeNs) {
        if (direct != null) {
            // without a slot it would have no cell
            direct.queue();
        }
        if (next < limit || refreshLimit()) {
            UnsafeApi.putLong(errorCells + (next & mask) * ERROR_CELL_LENGTH + CELL_TIME, timeNs);
        }
        return this;
    }

    private void dropDirect() {
        if (direct != null) {
            direct.drop();
            direct = null;
        }
    }

    /** Gives the entry that was written without a slot the next one, which was there when it was written. */
    private void queueDirect() {
        long line = direct.take();
        long record = records + ((next & mask) * RECORD_LENGTH);
        for (int i = BODY_OFFSET; i < RECORD_LENGTH; i += Long.BYTES) {
            UnsafeApi.putLong(record + i, UnsafeApi.getLong(line + i));
        }
        next++;
        directs--;
        UnsafeApi.putLongRelease(null, record, UnsafeApi.getLong(line));
    }

    /**
     * Writes an error entry.
     *
     * @param share     {@link CompletionQueueDescriptor#FLAG_DRIVER_SHARE} or 0.
     * @param length    bytes placed by a receive, else 0.
     * @param buf       address, where the page defines it, else 0.
     * @param data      remote CQ data, else 0.
     * @param tag       tag of a tagged message, else 0.
     * @param source    source address, -1 if unknown.
     * @param olen      bytes that did not fit.
     * @param err       positive fabric errno.
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
        if (direct != null) {
            direct.queue();
        }
        long number = next;
        if (number >= limit && !refreshLimit()) {
            return;
        }
        long cell = errorCells + ((number & mask) * ERROR_CELL_LENGTH);
        UnsafeApi.putLong(cell + CELL_OLEN, olen);
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

    /** Frees the slot of an operation that has ended without an entry. */
    public void retire() {
        retire(1);
    }

    /** Frees the slots of operations that have ended without an entry. */
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
        int work = driverQuota.retry();
        flush();
        return work;
    }

    @Override
    void leave() {
        super.leave();
        retiresAtOnce = false;
        dropDirect();
    }

    @Override
    boolean staysListed() {
        return driverQuota.isWaitedFor();
    }

    /** Publishes the counters that are not part of the records, and wakes readers; once for each batch. */
    public void flush() {
        if (retired != publishedRetired) {
            publishRetired();
        }
        if (waitPoint != null && (next != published || urgent)) {
            UnsafeApi.putLongRelease(null, fileAddress + WRITTEN_OFFSET, next);
            waitPoint.onWritten(next, urgent);
            // last: if a late fault of another client's memory is raised in here, the next flush wakes the readers
            published = next;
            urgent = false;
        }
    }

    /** Stops writing, because the file's memory is not accessible any more. */
    public void abandon() {
        overrun = true;
        dropDirect();
        collected = stamped;
        retiresAtOnce = false;
        limit = Long.MIN_VALUE;
        publishedRetired = retired;
        published = next;
        urgent = false;
    }

    /** The number of entries, and of operations that ended without one, since the start. */
    long ended() {
        return next + retired + directs;
    }

    /** Entries written since the start. */
    public long written() {
        if (direct != null) {
            direct.queue();
        }
        return next;
    }

    /** Returns whether an entry found no slot. */
    boolean isOverrun() {
        return overrun;
    }

    /** Address of the queue's file in this process. Returns the native address. */
    public long fileAddress() {
        return fileAddress;
    }

    /** Where a client that reads a group in place says how far it is. */
    ReadPlace readPlace() {
        return readPlace;
    }

    private static void body(
        long record, long context, long flags, long length, long buf, long data, long tag, long source) {
        UnsafeApi.putLong(record + CONTEXT, context);
        UnsafeApi.putLong(record + FLAGS, flags);
        UnsafeApi.putLong(record + LENGTH, length);
        UnsafeApi.putLong(record + BUF, buf);
        UnsafeApi.putLong(record + DATA, data);
        UnsafeApi.putLong(record + TAG, tag);
        UnsafeApi.putLong(record + SOURCE, source);
    }

    private void publishRetired() {
        publishedRetired = retired;
        UnsafeApi.putLongRelease(null, fileAddress + RETIRED_OFFSET, retired);
    }

    /** Wakes readers that wait for more entries than there are, so that they check again. */
    void wakeReaders() {
        urgent = true;
        changed();
    }

    /**
     * The client's read position. The client writes that word; an impossible value puts the queue into the overrun
     * state.
     */
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
        if (learnReadPosition() && next < room) {
            return true;
        }
        overrun();
        return false;
    }

    /** Samples how long entries wait until they are read. */
    void sample(StageTimes newStages) {
        stages = newStages;
        if (newStages.isOn()) {
            // which entries are read when is known of slots
            dropDirect();
            newStages.add(this);
            sampleAt = next + newStages.interval();
            limit = Math.min(room, sampleAt);
        }
    }

    /** Returns the flags by which the client reports when it reads this entry; 0 if it is no sample. */
    private int stamp(long number, int flags) {
        if (number < sampleAt) {
            return 0;
        }
        sampleAt = number + stages.interval();
        limit = Math.min(room, sampleAt);
        collect();
        if (stamped - collected == READ_TIMES) {
            return 0;
        }
        int index = (int) stamped & READ_TIMES - 1;
        stampedNs[index] = System.nanoTime();
        stamped++;
        return FLAG_BUFFERED | FLAG_STAMPED | index << STAMP_SHIFT
            | ((flags & FLAG_BUFFERED) == 0 ? FLAG_WITHOUT_CELL : 0);
    }

    @Override
    public void collect() {
        while (collected != stamped) {
            int index = (int) collected & READ_TIMES - 1;
            long readNs = UnsafeApi.getLongAcquire(
                null, fileAddress + CompletionQueueDescriptor.READ_TIMES_OFFSET + (long) index * Long.BYTES);
            // the time of the sample before in the same word is older than this one's
            if (readNs - stampedNs[index] < 0) {
                return;
            }
            collected++;
            // the client's word is not trusted: no time is in the future
            if (readNs - System.nanoTime() <= 0) {
                stages.record(Stage.ENTRY_TO_READ, readNs - stampedNs[index]);
            }
        }
    }

    private boolean learnReadPosition() {
        long seen = UnsafeApi.getLongAcquire(null, fileAddress + READ_POSITION_OFFSET);
        // the client writes this word, so it is validated
        if (seen < readPosition || seen > next) {
            return false;
        }
        readPosition = seen;
        room = seen + capacity;
        limit = Math.min(room, sampleAt);
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
