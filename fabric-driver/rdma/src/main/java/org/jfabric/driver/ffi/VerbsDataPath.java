package org.jfabric.driver.ffi;

/**
 * The calls of the data path for all queues of one opened device: no allocation, no upcall.
 *
 * <p>An abstract class and not an interface: calls of abstract classes go through one table, whatever number of
 * implementations is loaded. Any thread, one at a time for each queue.
 */
public abstract class VerbsDataPath {
    protected VerbsDataPath() {
    }

    /**
     * {@code ibv_post_send}: posts a chain of work requests.
     *
     * @param request   address of the first one.
     * @return 0 or negative errno.
     */
    public abstract int postSend(long queuePair, long request);

    /**
     * {@code ibv_post_recv}: posts a chain of receives.
     *
     * @param request   address of the first one.
     * @return 0 or negative errno.
     */
    public abstract int postReceive(long queuePair, long request);

    /**
     * {@code ibv_post_srq_recv}: posts a chain of receives that several queue pairs share.
     *
     * @param request     address of the first one.
     * @return 0 or negative errno; {@code -EOPNOTSUPP} if the device has no shared receive queues.
     */
    public abstract int postSharedReceive(long sharedQueue, long request);

    /**
     * {@code ibv_poll_cq}.
     *
     * @param completions buffer, filled from its first entry.
     * @return entries taken, at most its capacity; negative if the queue is broken.
     */
    public abstract int poll(long queue, WorkCompletions completions);

    /**
     * {@code ibv_req_notify_cq}: the next completion makes the channel's descriptor readable. A completion from before
     * the call may not: poll once more. Returns 0 or negative errno.
     */
    public abstract int arm(long queue);
}
