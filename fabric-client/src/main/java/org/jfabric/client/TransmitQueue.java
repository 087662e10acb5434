package org.jfabric.client;

import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.SendRequestEncoder;
import org.jfabric.codec.queue.SendVectorRequestEncoder;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.VectorRequestDescriptor;
import org.jfabric.layout.Words;

/**
 * The client's end of a {@code .tq} file.
 *
 * <p>Owner: the one submitting thread. Source: design of the data path, hop 2; fi_endpoint(3), section fi_cancel.
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

    /**
     * A queue at its start.
     *
     * @param fileAddress native address of the file.
     * @param ringLength  bytes of the ring, a power of two.
     * @param size        operations outstanding at most.
     * @param signal      told of each commit.
     * @param memory      what keeps the mapping alive.
     */
    public TransmitQueue(long fileAddress, int ringLength, int size, QueueSignal signal, Object memory) {
        super(fileAddress, ringLength, size, signal, memory);
    }

    /**
     * Submits a send of registered memory.
     *
     * @param flags    kind and operation flags.
     * @param buf      address in registered memory.
     * @param len      bytes.
     * @param destAddr destination.
     * @param tag      tag.
     * @param data     remote CQ data.
     * @param context  returned in the entry.
     * @return 0, or {@code -FI_EAGAIN} if the queue is full or as many operations as allowed are outstanding.
     */
    public int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        int offset = claim(HEAD_LENGTH);
        if (offset < 0) {
            return offset;
        }
        block(ring + offset, flags, buf, len, destAddr, tag, data, context);
        commit(offset, HEAD_LENGTH, SEND_TYPE);
        return 0;
    }

    /**
     * Submits a send of several pieces.
     *
     * @param flags    kind and operation flags.
     * @param pieces   address and length of each, one after the other.
     * @param count    of pieces, at most {@link VectorRequestDescriptor#MAX_PIECES}.
     * @param destAddr destination.
     * @param tag      tag.
     * @param data     remote CQ data.
     * @param context  returned in the entry.
     * @return as {@link #send}.
     */
    public int sendVector(
        long flags, long[] pieces, int count, long destAddr, long tag, long data, long context) {
        int length = VectorRequestDescriptor.length(count);
        int offset = claim(length);
        if (offset < 0) {
            return offset;
        }
        long record = ring + offset;
        writePieces(record, pieces, count);
        long body = record + RecordRingDescriptor.WORD_LENGTH;
        UnsafeApi.putLong(body + SendVectorRequestEncoder.contextEncodingOffset(), context);
        UnsafeApi.putLong(body + SendVectorRequestEncoder.destAddrEncodingOffset(), destAddr);
        UnsafeApi.putLong(body + SendVectorRequestEncoder.tagEncodingOffset(), tag);
        UnsafeApi.putLong(body + SendVectorRequestEncoder.dataEncodingOffset(), data);
        UnsafeApi.putLong(body + SendVectorRequestEncoder.flagsEncodingOffset(), flags);
        UnsafeApi.putLong(body + SendVectorRequestEncoder.reservedEncodingOffset(), 0);
        commit(offset, length, SendVectorRequestEncoder.TEMPLATE_ID);
        return 0;
    }

    /**
     * Submits a send whose payload is copied into the record.
     *
     * @param flags    kind and operation flags, with {@code Flags.INJECT}.
     * @param source   native address of the payload.
     * @param len      bytes, at most the endpoint's inject size.
     * @param destAddr destination.
     * @param tag      tag.
     * @param data     remote CQ data.
     * @param context  returned in an error entry.
     * @return as {@link #send}.
     */
    public int inject(long flags, long source, int len, long destAddr, long tag, long data, long context) {
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
     * @param flags    kind and operation flags, with {@code Flags.INJECT}.
     * @param payload  from {@link #claimInject}.
     * @param len      bytes of the payload, at most those claimed.
     * @param destAddr destination.
     * @param tag      tag.
     * @param data     remote CQ data.
     * @param context  returned in the entry.
     */
    public void commitInject(
        long flags, long payload, int len, long destAddr, long tag, long data, long context) {
        long record = payload - HEAD_LENGTH;
        block(record, flags, 0, len, destAddr, tag, data, context);
        commit((int) (record - ring), HEAD_LENGTH + len, SEND_TYPE);
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
