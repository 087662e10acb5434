package org.jfabric.feed;

import org.agrona.BitUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionHandler;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The memory of a path, in slots of one message each. A slot is in use from the post of a send or receive until its
 * entry is read; the slot's number is the context of the operation. Owner: the thread that uses the feed.
 */
final class FeedSlots {
    private static final int ALIGNMENT = 64;
    private static final long MOST_BYTES = 1 << 30;

    final FeedPath path;
    /** All slots. */
    final UnsafeBuffer buffer;
    private final int strideBytes;
    /** Of the longest message, with the header. */
    final int messageBytes;
    private final int[] free;
    private final boolean[] inUse;
    private int freeCount;

    /**
     * Slots that are free.
     *
     * @param path            whose memory is divided.
     * @param maxMessageBytes of the longest message, without the header.
     * @param most            slots.
     */
    FeedSlots(FeedPath path, int maxMessageBytes, long most) {
        this.path = path;
        messageBytes = FeedHeader.LENGTH + maxMessageBytes;
        if (maxMessageBytes < 0 || messageBytes < 0 || messageBytes > path.endpoint().maxMsgSize()) {
            throw new FabricException(FabricErrno.EINVAL, "messages of " + maxMessageBytes + " bytes and "
                + FeedHeader.LENGTH + " of the feed, " + path.endpoint() + " takes "
                + path.endpoint().maxMsgSize() + " at most", "Send shorter messages, or raise the limit of the link.");
        }
        strideBytes = BitUtil.align(messageBytes, ALIGNMENT);
        long room = Math.min(MOST_BYTES, path.memory().lengthBytes());
        int count = (int) Math.min(room / strideBytes, most);
        if (count == 0) {
            throw new FabricException(FabricErrno.ENOBUFS, "a region of " + path.memory().lengthBytes()
                + " bytes, a message takes " + strideBytes, "Register more memory for the path.");
        }
        buffer = path.memory().buffer(0, count * strideBytes);
        free = new int[count];
        inUse = new boolean[count];
        while (freeCount < count) {
            free[freeCount] = freeCount++;
        }
    }

    /** The slot that {@link #use} takes; negative if all are in use. */
    int next() {
        return freeCount == 0 ? -1 : free[freeCount - 1];
    }

    /** The operation with that slot was posted. */
    void use() {
        inUse[free[--freeCount]] = true;
    }

    /** An operation has ended. A context that is no slot in use is of an operation that the feed did not post. */
    void end(long context) {
        if (isInUse(context)) {
            int slot = (int) context;
            inUse[slot] = false;
            free[freeCount++] = slot;
        }
    }

    boolean isInUse(long context) {
        return context >= 0 && context < inUse.length && inUse[(int) context];
    }

    /** Where a slot begins, in the region and in {@link #buffer}. */
    int offset(long slot) {
        return (int) slot * strideBytes;
    }

    /**
     * Reads the path's entries.
     *
     * @param handler of successful ones.
     * @param limit   of entries.
     * @return entries read, those of failures included.
     */
    int poll(CompletionHandler handler, int limit) {
        int result = path.queue().poll(handler, limit);
        if (result == -FabricErrno.EAVAIL && path.readFailure()) {
            end(path.error().opContext());
            return 1;
        }
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            // the driver has ended, or the queue is closed
            path.unusable(-result);
        }
        return Math.max(0, result);
    }
}
