package org.jfabric.perf.jmh;

import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.info.FabricErrno;

/**
 * The data path of a device that does nothing but count: a send has ended as soon as it is posted, and messages arrive
 * when the benchmark says so, without any byte being moved. It reads the C structures as a card's library does, and
 * allocates nothing. One completion queue, one queue pair. Owner: one thread.
 */
final class BlankDataPath extends VerbsDataPath {
    private static final int ENTRIES = 8192;
    private static final int MASK = ENTRIES - 1;
    /** In the ring: the completion of a send. */
    private static final int SENT = -1;

    // offsets of struct ibv_send_wr, ibv_recv_wr and ibv_wc
    private static final int WR_ID = 0;
    private static final int WR_NEXT = 8;
    private static final int SEND_FLAGS = 32;
    private static final int WC_ID = 0;
    private static final int WC_STATUS = 8;
    private static final int WC_OPCODE = 12;
    private static final int WC_LENGTH = 20;
    private static final int WC_FLAGS = 36;
    private static final int WC_SIZE = 48;

    private final long[] receives = new long[ENTRIES];
    private final long[] ids = new long[ENTRIES];
    private final int[] lengths = new int[ENTRIES];
    private long receivesHead;
    private long receivesTail;
    private long head;
    private long tail;
    private long sendPosts;
    private long sends;
    private long inlineSends;
    private long receivePosts;

    /** Messages arrive in the oldest receives. */
    void arrive(int count, int length) {
        if (receivesTail - receivesHead < count) {
            throw new IllegalStateException("there are only " + (receivesTail - receivesHead) + " receives");
        }
        for (int i = 0; i < count; i++) {
            complete(receives[(int) receivesHead++ & MASK], length);
        }
    }

    /** Calls of {@code ibv_post_send}. */
    long sendPosts() {
        return sendPosts;
    }

    /** Work requests of these calls. */
    long sends() {
        return sends;
    }

    /** Those that carried their payload with them. */
    long inlineSends() {
        return inlineSends;
    }

    /** Calls of {@code ibv_post_recv}. */
    long receivePosts() {
        return receivePosts;
    }

    private void complete(long id, int length) {
        int at = (int) tail++ & MASK;
        ids[at] = id;
        lengths[at] = length;
    }

    @Override
    public int postSend(long queuePair, long request) {
        sendPosts++;
        for (long at = request; at != 0; at = UnsafeApi.getLong(at + WR_NEXT)) {
            sends++;
            int flags = UnsafeApi.getInt(at + SEND_FLAGS);
            inlineSends += flags / VerbsConstants.SEND_INLINE & 1;
            if ((flags & VerbsConstants.SEND_SIGNALED) != 0) {
                complete(UnsafeApi.getLong(at + WR_ID), SENT);
            }
        }
        return 0;
    }

    @Override
    public int postReceive(long queuePair, long request) {
        receivePosts++;
        for (long at = request; at != 0; at = UnsafeApi.getLong(at + WR_NEXT)) {
            receives[(int) receivesTail++ & MASK] = UnsafeApi.getLong(at + WR_ID);
        }
        return 0;
    }

    @Override
    public int postSharedReceive(long sharedQueue, long request) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public int poll(long queue, WorkCompletions completions) {
        int count = (int) Math.min(completions.capacity(), tail - head);
        long at = completions.address();
        for (int i = 0; i < count; i++) {
            int entry = (int) head++ & MASK;
            int length = lengths[entry];
            UnsafeApi.putLong(at + WC_ID, ids[entry]);
            UnsafeApi.putInt(at + WC_STATUS, VerbsConstants.WC_SUCCESS);
            UnsafeApi.putInt(at + WC_OPCODE, length == SENT ? 0 : VerbsConstants.WC_RECV);
            UnsafeApi.putInt(at + WC_LENGTH, length);
            UnsafeApi.putInt(at + WC_FLAGS, 0);
            at += WC_SIZE;
        }
        return count;
    }

    @Override
    public int arm(long queue) {
        return 0;
    }
}
