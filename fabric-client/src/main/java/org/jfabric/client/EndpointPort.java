package org.jfabric.client;

/**
 * Where an endpoint's operations are posted: straight into the engine of an embedded driver in INVOKER mode, or into
 * the queues of an attached client ({@link QueuePort}). The driver's queue poller posts into the engine for those.
 *
 * <p>Operations posted here are well-formed. They may name an invalid address or memory, and then complete with an
 * error entry. No method blocks or allocates. Owner: of the engine the thread that runs the duty cycle, of the queues
 * for each direction the one submitting thread.
 */
public abstract class EndpointPort {
    /** For {@link QueuePort} and the one subclass in the driver. */
    protected EndpointPort() {
    }

    /**
     * Posts a send.
     *
     * @param flags    operation flags with {@code Flags.TAGGED} or {@code Flags.MSG}; {@code Flags.COMPLETION} asks for
     *                 an entry.
     * @param tag      the tag, 0 for untagged.
     * @return 0, or {@code -FI_EAGAIN} if as many sends as the endpoint can hold are outstanding, or the queue is full.
     */
    public abstract int send(long flags, long buf, long len, long destAddr, long tag, long data, long context);

    /**
     * The short way into a group that the endpoint writes; null if there is none.
     *
     * @param destAddr of the group.
     */
    public GroupPort groupPort(long destAddr) {
        return null;
    }

    /**
     * The next operation that is posted is a sample of the time until a link takes it; ignored by queues, whose driver
     * chooses its own samples.
     *
     * @param nowNs {@link System#nanoTime()}.
     */
    public void beginSample(long nowNs) {
    }

    /**
     * The operation behind {@link #beginSample} was posted.
     *
     * @param isPosted false if it was refused.
     */
    public void endSample(boolean isPosted) {
    }

    /**
     * Posts a send whose payload is taken before the call returns.
     *
     * @param nativeAddress where the payload is in this process.
     * @param len           bytes, at most the endpoint's inject size.
     * @return as for {@link #send}.
     */
    public abstract int inject(
        long flags, long nativeAddress, int len, long destAddr, long tag, long data, long context);

    /**
     * Posts any operation: what is no send, inject or receive of one piece, or starts when a counter has reached a
     * threshold.
     *
     * @param work all arguments; copied before the return.
     * @return as for {@link #send} or {@link #receive}; {@code -FI_EOPNOTSUPP} without the capability.
     */
    public abstract int post(WorkRequest work);

    /**
     * Where the payload of an inject is written by the caller, so that it is not copied from elsewhere. Until
     * {@link #commitInject} nothing else may be posted of this direction; a claim that is not committed is forgotten.
     *
     * @param len     bytes of the longest payload that may be committed, at most the endpoint's inject size.
     * @param scratch native address of room for that many bytes, for a port without room of its own.
     * @return native address, or {@code -FI_EAGAIN} as for {@link #send}.
     */
    public abstract long claimInject(int len, long scratch);

    /**
     * Posts a send whose payload was written where {@link #claimInject} said; it is taken before the call returns.
     *
     * @param payload  from {@link #claimInject}.
     * @param len      bytes, at most those claimed.
     * @return 0 or a negative errno.
     */
    public abstract int commitInject(
        long flags, long payload, int len, long destAddr, long tag, long data, long context);

    /**
     * Posts a receive, or with one of {@link PeekFlags#ANY} peeks at or takes an unexpected message.
     *
     * @param flags   operation flags with {@code Flags.TAGGED} or {@code Flags.MSG}.
     * @param srcAddr only messages of this source, or -1 for any.
     * @param tag     the tag, 0 for untagged.
     * @param ignore  bits of the tag that do not count.
     * @return 0, or {@code -FI_EAGAIN} if as many receives as the endpoint can hold are outstanding, or the queue is
     *     full.
     */
    public abstract int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context);

    /**
     * Gives cells of the receive slab back; contexts that mean none are ignored.
     *
     * @param count    of them, 1 to {@link org.jfabric.layout.SlabDescriptor#MAX_RETURNED}.
     * @return 0, or {@code -FI_EAGAIN} if the queue is full.
     */
    public abstract int giveBack(long[] contexts, int count);

    /**
     * Cancels one operation with that context, if it has not begun: it completes with {@code FI_ECANCELED}. Operations
     * that the same thread posted before are found, in both directions. Returns 0, or {@code -FI_EAGAIN} if the queue
     * is full.
     */
    public abstract int cancel(long context);

    /** Sends that have not reached their level. */
    public abstract int outstandingSends();

    /** Sends that have reached their level since the endpoint was enabled; any thread. */
    public abstract long completedSends();

    /** Sends that may be posted now, as far as the endpoint's size allows. */
    public abstract long sendsLeft();

    /** Receives that may be posted now, as far as the endpoint's size allows. */
    public abstract long receivesLeft();

    /**
     * Sends that were posted and that the driver, which has closed the endpoint, will never take: their completion
     * credit has no owner. The engine takes each at once.
     */
    public abstract long untakenSends();

    /** As {@link #untakenSends()}, of receives. */
    public abstract long untakenReceives();
}
