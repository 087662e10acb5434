package org.jfabric.driver.ffi;

import org.jfabric.ffi.Downcall;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The functions whose addresses are stored in a device's context. The handles are constants and take the function's
 * address as their first argument, so that the compiler makes a plain indirect call of each.
 *
 * <p>Linked as critical: none of these waits for anything, and the change of the thread's state costs more than a poll
 * without an entry.
 */
final class NativeDataPath extends VerbsDataPath {
    private static final MethodHandle THREE_ARGUMENTS = Downcall.unbound(3);
    private static final MethodHandle TWO_ARGUMENTS = Downcall.unbound(2);

    /** Memory in which a failed post stores the failed request; it is never read, so all posts share it. */
    private static final long BAD = NativeMemory.allocate(Long.BYTES);

    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    private final MemorySegment postSharedReceive;
    private final MemorySegment pollQueue;
    private final MemorySegment requestNotify;

    NativeDataPath(long context) {
        postSend = function(context, VerbsLayout.CONTEXT_POST_SEND, "post_send");
        postReceive = function(context, VerbsLayout.CONTEXT_POST_RECV, "post_recv");
        postSharedReceive = function(context, VerbsLayout.CONTEXT_POST_SRQ_RECV, "post_srq_recv");
        pollQueue = function(context, VerbsLayout.CONTEXT_POLL_CQ, "poll_cq");
        requestNotify = function(context, VerbsLayout.CONTEXT_REQ_NOTIFY_CQ, "req_notify_cq");
    }

    private static MemorySegment function(long context, int offset, String name) {
        return MemorySegment.ofAddress(VerbsSelfCheck.function(context, offset, name));
    }

    @Override
    public int postSend(long queuePair, long request) {
        try {
            return negated((int) (long) THREE_ARGUMENTS.invokeExact(postSend, queuePair, request, BAD));
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    @Override
    public int postReceive(long queuePair, long request) {
        try {
            return negated((int) (long) THREE_ARGUMENTS.invokeExact(postReceive, queuePair, request, BAD));
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    @Override
    public int postSharedReceive(long sharedQueue, long request) {
        try {
            return negated((int) (long) THREE_ARGUMENTS.invokeExact(postSharedReceive, sharedQueue, request, BAD));
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    @Override
    public int poll(long queue, WorkCompletions completions) {
        try {
            return (int) (long) THREE_ARGUMENTS.invokeExact(
                pollQueue, queue, (long) completions.capacity(), completions.address());
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    @Override
    public int arm(long queue) {
        try {
            return negated((int) (long) TWO_ARGUMENTS.invokeExact(requestNotify, queue, 0L));
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    private static int negated(int errno) {
        return errno > 0 ? -errno : errno;
    }
}
