package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.queue.ReceiveRequestEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.test.Deadline;

/** Receives of a client without a library, and what it reads from its completion queue. */
final class Entries {
    private Entries() {
    }

    /** Posts a receive or a look with any flags. */
    static void receive(
        ControlClient client, ControlClient.Queues queues, long flags, long buf, long length, long tag, long context) {
        int offset = Deadline.awaitValue("room", () -> {
            int claimed = queues.receive.claim(64);
            return claimed < 0 ? null : claimed;
        });
        new ReceiveRequestEncoder().wrap(new UnsafeBuffer(queues.receive.ringAddress() + offset + 8, 56), 0)
            .context(context).buf(buf).length(length).srcAddr(-1L).tag(tag).ignore(0).flags(flags);
        queues.receive.commit(offset, 64, ReceiveRequestEncoder.TEMPLATE_ID);
        client.signal(queues);
    }

    /** The next entry is an error of that context, because of what a field of its request was. */
    static void assertError(
        ControlClient client, ControlClient.Queues queues, long context, String field, long value) {
        long[] entry = client.awaitCompletion(queues);
        release(queues);
        String what = field + " = " + value;
        assertEquals(CompletionQueueDescriptor.KIND_ERROR, entry[0], what);
        assertEquals(context, entry[1], what);
        int err = lastErrno(queues);
        assertTrue(err == FabricErrno.EFAULT || err == FabricErrno.EINVAL, what + " gave " + FabricErrno.name(err));
    }

    /** Of the entry that was read last, which is an error. */
    static int lastErrno(ControlClient.Queues queues) {
        return UnsafeApi.getInt(queues.cq.address() + CompletionQueueDescriptor.errorCellsOffset(queues.cqCapacity)
            + (queues.read - 1 & queues.cqCapacity - 1) * CompletionQueueDescriptor.ERROR_CELL_LENGTH + 8);
    }

    /** Gives the slots of what was read back. */
    static void release(ControlClient.Queues queues) {
        UnsafeApi.putLongRelease(
            null, queues.cq.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET, queues.read);
    }
}
