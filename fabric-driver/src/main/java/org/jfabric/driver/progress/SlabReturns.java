package org.jfabric.driver.progress;

import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.SlabReturnRequestDecoder;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.SlabDescriptor;

/**
 * Executes requests that give cells of a receive slab back. An impossible length is corrupt, and so is such a request
 * without a slab; the engine checks the contexts. Every context is read once.
 *
 * <p>Owner: progress agent.
 */
final class SlabReturns {
    static final int TYPE = SlabReturnRequestDecoder.TEMPLATE_ID;

    private final long[] contexts = new long[SlabDescriptor.MAX_RETURNED];

    /** Gives the cells back; false if the record is corrupt. */
    boolean execute(EndpointQueues queues, int offset, int length) {
        int bytes = length - RecordRingDescriptor.WORD_LENGTH;
        int count = bytes / Long.BYTES;
        if (queues.endpoint.settings().slab() == null || count < 1 || count > contexts.length
            || bytes != count * Long.BYTES) {
            return false;
        }
        long first = queues.receive.address(offset) + RecordRingDescriptor.WORD_LENGTH;
        for (int i = 0; i < count; i++) {
            contexts[i] = UnsafeApi.getLong(first + (long) i * Long.BYTES);
        }
        queues.endpoint.giveBack(contexts, count);
        return true;
    }
}
