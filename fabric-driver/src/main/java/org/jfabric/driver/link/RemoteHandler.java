package org.jfabric.driver.link;

/**
 * The engine's side of a {@link RemoteChannel}. Links call it under the rules of {@link ChannelHandler}.
 *
 * <p>Owner: progress agent.
 */
public abstract class RemoteHandler {
    protected RemoteHandler() {
    }

    /**
     * The peer writes bytes into memory of this side.
     *
     * @param access the whole write; not kept.
     * @param offset of these bytes in it; any value.
     * @param source native address of the bytes, good during the call.
     * @param length bytes, 0 or more.
     */
    public abstract void onWrite(RemoteAccess access, long offset, long source, long length);

    /**
     * The peer makes a whole write without data, which is answered by {@link RemoteChannel#placed}, or by an errno.
     *
     * @param access the write; not kept.
     * @param source native address of the bytes, good during the call.
     */
    public abstract void onShortWrite(RemoteAccess access, long source);

    /**
     * The peer has placed the oldest short writes of this side.
     *
     * @param count of these writes; any value.
     */
    public abstract void onPlaced(long count);

    /**
     * The peer announces a write whose bytes are in its own regions.
     *
     * @param access  the whole write; not kept.
     * @param payload where the bytes are; not kept.
     */
    public abstract void onAnnouncedWrite(RemoteAccess access, RemotePayload payload);

    /**
     * The peer asks for bytes of this side's memory.
     *
     * @param access the range; not kept.
     */
    public abstract void onRead(RemoteAccess access);

    /**
     * The peer requests an atomic operation on this side's memory.
     *
     * @param access   what to do; not kept.
     * @param operands native address of the operands and, behind them, the compare values; good during the call.
     * @param length   bytes of both; any value.
     */
    public abstract void onAtomic(RemoteAccess access, long operands, long length);

    /**
     * The peer answers a request of this side.
     *
     * @param operation our id; any value.
     * @param errno     0 or a positive fabric errno.
     * @param offset    of the bytes in the range that is read; any value.
     * @param source    native address of the bytes, good during the call.
     * @param length    bytes, 0 or more.
     */
    public abstract void onReply(long operation, int errno, boolean reports, long offset, long source, long length);

    /**
     * An access of this side has ended, on a wire that has no answers of the engine: a write that was pending is sent,
     * or acknowledged if that was asked for; the bytes of a read are placed.
     *
     * @param operation our id; any value.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onEnded(long operation, int errno);

    /**
     * Finds the memory of a peer's access, if key, rights and ranges allow it. A link that moves the bytes in several
     * steps asks in each poll anew, because the owner may have closed the region.
     *
     * @param right  {@code Flags.REMOTE_READ} or {@code Flags.REMOTE_WRITE}.
     * @param pieces filled with the native addresses; empty ranges are left out.
     * @return 0, or why not, a positive fabric errno: no byte may be touched then.
     */
    public abstract int find(RemoteRanges ranges, long right, PieceList pieces);

    /**
     * An access of the peer is about to move its first byte: reserves the completion slot that its report needs.
     * Returns false if there is no slot: no byte may be touched, nothing behind the access may be taken from the peer,
     * and the link asks again in each poll.
     */
    public abstract boolean begin(long right, boolean hasData);

    /** All bytes of an access that had begun are in place, or were sent. */
    public abstract void end(RemoteRanges ranges, long right, boolean hasData, long data);

    /**
     * Whether a peer's write may ask to be on stable storage: each range is in a persistent region without a failed
     * sync. Returns 0, or why not, a positive fabric errno.
     */
    public abstract int commitRefusal(RemoteRanges ranges);

    /**
     * As {@link #end} of a write, once its bytes are on stable storage; then {@link RemoteChannel#reply} follows, with
     * 0 or {@code FI_EIO}.
     *
     * @param ranges    not kept.
     * @param operation names the write in the reply.
     */
    public abstract void commit(RemoteRanges ranges, boolean hasData, long data, long operation);
}
