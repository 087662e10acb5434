package org.jfabric.client;

import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.ReceiveRequestEncoder;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.SlabDescriptor;

/**
 * The client's end of a {@code .rq} file. It is apart from the transmit queue, so that a send that is held back never
 * blocks the receive that would release it.
 *
 * <p>Owner: the one submitting thread.
 */
public final class ReceiveQueue extends RequestQueue {
    private static final int RECEIVE_TYPE = ReceiveRequestEncoder.TEMPLATE_ID;
    private static final int RECORD_LENGTH = RecordRingDescriptor.WORD_LENGTH + ReceiveRequestEncoder.BLOCK_LENGTH;
    private static final int CONTEXT = body(ReceiveRequestEncoder.contextEncodingOffset());
    private static final int BUF = body(ReceiveRequestEncoder.bufEncodingOffset());
    private static final int LENGTH = body(ReceiveRequestEncoder.lengthEncodingOffset());
    private static final int SRC_ADDR = body(ReceiveRequestEncoder.srcAddrEncodingOffset());
    private static final int TAG = body(ReceiveRequestEncoder.tagEncodingOffset());
    private static final int IGNORE = body(ReceiveRequestEncoder.ignoreEncodingOffset());
    private static final int FLAGS = body(ReceiveRequestEncoder.flagsEncodingOffset());

    /**
     * A queue at its start.
     *
     * @param fileAddress native address of the file.
     * @param ringLength  bytes of the ring, a power of two.
     * @param size        operations outstanding at most.
     * @param signal      signalled after each commit.
     */
    public ReceiveQueue(long fileAddress, int ringLength, int size, QueueSignal signal, Object memory) {
        super(fileAddress, ringLength, size, signal, memory);
    }

    /**
     * Submits a receive.
     *
     * @param srcAddr source, or -1 for any.
     * @param ignore  bits of the tag that do not count.
     * @return 0, or {@code -FI_EAGAIN} if the queue is full or as many operations as allowed are outstanding.
     */
    public int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        int offset = claim(RECORD_LENGTH);
        if (offset < 0) {
            return offset;
        }
        long record = ring + offset;
        UnsafeApi.putLong(record + CONTEXT, context);
        UnsafeApi.putLong(record + BUF, buf);
        UnsafeApi.putLong(record + LENGTH, len);
        UnsafeApi.putLong(record + SRC_ADDR, srcAddr);
        UnsafeApi.putLong(record + TAG, tag);
        UnsafeApi.putLong(record + IGNORE, ignore);
        UnsafeApi.putLong(record + FLAGS, flags);
        commit(offset, RECORD_LENGTH, RECEIVE_TYPE);
        return 0;
    }

    /**
     * Gives cells of the receive slab back; takes no place among the outstanding operations.
     *
     * @param count    of them, 1 to {@link SlabDescriptor#MAX_RETURNED}.
     * @return 0, or {@code -FI_EAGAIN} if the queue is full.
     */
    public int giveBack(long[] contexts, int count) {
        int length = RecordRingDescriptor.WORD_LENGTH + count * Long.BYTES;
        int offset = producer.claim(length);
        if (offset < 0) {
            return offset;
        }
        long first = ring + offset + RecordRingDescriptor.WORD_LENGTH;
        // the later cache lines first, as everywhere
        for (int i = count - 1; i >= 0; i--) {
            UnsafeApi.putLong(first + (long) i * Long.BYTES, contexts[i]);
        }
        producer.commit(offset, length, RETURN_TYPE);
        signalled();
        return 0;
    }

    private static int body(int encodingOffset) {
        return RecordRingDescriptor.WORD_LENGTH + encodingOffset;
    }
}
