package org.jfabric.client;

import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.SendRequestEncoder;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.Words;

/**
 * The client's end of a {@code .tq} file.
 *
 * <p>Owner: the one submitting thread.
 */
public final class TransmitQueue extends RequestQueue {
    private static final int SEND_TYPE = SendRequestEncoder.TEMPLATE_ID;
    private static final int HEAD_LENGTH = RecordRingDescriptor.WORD_LENGTH + SendRequestEncoder.BLOCK_LENGTH;
    private static final int CONTEXT = body(SendRequestEncoder.contextEncodingOffset());
    private static final int BUF = body(SendRequestEncoder.bufEncodingOffset());
    private static final int LENGTH = body(SendRequestEncoder.lengthEncodingOffset());
    private static final int DEST_ADDR = body(SendRequestEncoder.destAddrEncodingOffset());
    private static final int TAG = body(SendRequestEncoder.tagEncodingOffset());
    private static final int DATA = body(SendRequestEncoder.dataEncodingOffset());
    private static final int FLAGS = body(SendRequestEncoder.flagsEncodingOffset());

    /** The destination of the last message; of one to the same nothing else is known to be slow. */
    private long lastDestination = FabricAddress.ADDR_UNSPEC;
    private boolean hasSeveralDestinations;

    /**
     * A queue at its start.
     *
     * @param fileAddress native address of the file.
     * @param ringLength  bytes of the ring, a power of two.
     * @param size        operations outstanding at most.
     * @param signal      signalled after each commit.
     */
    public TransmitQueue(long fileAddress, int ringLength, int size, QueueSignal signal, Object memory) {
        super(fileAddress, ringLength, size, signal, memory);
        long stampDistance = UnsafeApi.getLong(fileAddress + RecordRingDescriptor.STAMP_DISTANCE_OFFSET);
        if (stampDistance > 0) {
            producer.stampEvery(stampDistance, STAMP_TYPE);
        }
    }

    /**
     * Submits a send of registered memory. Returns 0, or {@code -FI_EAGAIN} if the queue is full or as many operations
     * as allowed are outstanding, in all or to a destination that is slow.
     */
    public int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        if (isShareUsed(destAddr)) {
            return -FabricErrno.EAGAIN;
        }
        int offset = claim(HEAD_LENGTH);
        if (offset < 0) {
            return offset;
        }
        block(ring + offset, flags, buf, len, destAddr, tag, data, context);
        commit(offset, HEAD_LENGTH, SEND_TYPE);
        return 0;
    }

    /** {@inheritDoc} A destination that is slow may have its share of messages only. */
    @Override
    public int post(WorkRequest work) {
        return work.kind == WorkRequest.SEND && !work.isTriggered && isShareUsed(work.address) ? -FabricErrno.EAGAIN
            : super.post(work);
    }

    /**
     * Submits a send whose payload is copied into the record.
     *
     * @param source   native address of the payload.
     * @param len      bytes, at most the endpoint's inject size.
     * @return as {@link #send}.
     */
    public int inject(long flags, long source, int len, long destAddr, long tag, long data, long context) {
        if (isShareUsed(destAddr)) {
            return -FabricErrno.EAGAIN;
        }
        long payload = claimInject(len);
        if (payload < 0) {
            return (int) payload;
        }
        // later lines first: the driver polls the first one, and must not fetch the others before they are written
        Words.copy(source, payload, len);
        commitInject(flags, payload, len, destAddr, tag, data, context);
        return 0;
    }

    /**
     * Claims the record of a send whose payload is encoded in it.
     *
     * @param len bytes of the longest payload, at most the endpoint's inject size.
     * @return native address of the payload, on a cache line of its own, or as {@link #send}.
     */
    public long claimInject(int len) {
        int offset = claim(HEAD_LENGTH + len);
        return offset < 0 ? offset : ring + offset + HEAD_LENGTH;
    }

    /**
     * Submits a claimed record.
     *
     * @param payload  from {@link #claimInject}.
     * @param len      bytes of the payload, at most those claimed.
     */
    public void commitInject(
        long flags, long payload, int len, long destAddr, long tag, long data, long context) {
        long record = payload - HEAD_LENGTH;
        block(record, flags, 0, len, destAddr, tag, data, context);
        commit((int) (record - ring), HEAD_LENGTH + len, SEND_TYPE);
    }

    /**
     * Whether a destination has what one of several may have of the operations, see
     * {@link RecordRingDescriptor#REFUSED_OFFSET}. It never has before half of all are outstanding. From there on the
     * driver must have taken what was posted, because it says afterwards which destinations are slow.
     */
    private boolean isShareUsed(long destAddr) {
        if (destAddr != lastDestination) {
            hasSeveralDestinations |= lastDestination != FabricAddress.ADDR_UNSPEC;
            lastDestination = destAddr;
        }
        return hasSeveralDestinations && isHalfUsed()
            && (!hasDriverTaken() || isListed(RecordRingDescriptor.refusedWord(destAddr)));
    }

    private boolean isListed(long word) {
        for (int i = 0; i < RecordRingDescriptor.REFUSED_COUNT; i++) {
            if (refused(i) == word) {
                return true;
            }
        }
        return false;
    }

    private boolean isAnyListed() {
        long any = 0;
        for (int i = 0; i < RecordRingDescriptor.REFUSED_COUNT; i++) {
            any |= refused(i);
        }
        return any != 0;
    }

    private long refused(int index) {
        long first = completedAddress + RecordRingDescriptor.REFUSED_OFFSET - RecordRingDescriptor.COMPLETED_OFFSET;
        return UnsafeApi.getLongAcquire(null, first + (long) index * Long.BYTES);
    }

    /** {@inheritDoc} To any destination: 0 while there is one that has its share. */
    @Override
    public long sizeLeft() {
        boolean isSure = !isHalfUsed() || !isAnyListed() && (!hasSeveralDestinations || hasDriverTaken());
        return isSure ? super.sizeLeft() : 0;
    }

    private boolean hasDriverTaken() {
        return producer.isTaken(producer.position());
    }

    private static void block(
        long record, long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        UnsafeApi.putLong(record + CONTEXT, context);
        UnsafeApi.putLong(record + BUF, buf);
        UnsafeApi.putLong(record + LENGTH, len);
        UnsafeApi.putLong(record + DEST_ADDR, destAddr);
        UnsafeApi.putLong(record + TAG, tag);
        UnsafeApi.putLong(record + DATA, data);
        UnsafeApi.putLong(record + FLAGS, flags);
    }

    private static int body(int encodingOffset) {
        return RecordRingDescriptor.WORD_LENGTH + encodingOffset;
    }
}
