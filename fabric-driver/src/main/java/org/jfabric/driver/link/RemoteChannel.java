package org.jfabric.driver.link;

/**
 * The part of a channel that carries remote memory access: requests of this side, and the answers to those of the peer.
 *
 * <p>The peer answers each request: a write once, when all its bytes are placed; a read with the bytes, in order. An
 * errno ends either. Requests reach the peer in the order of the calls, and so do messages that are sent between them.
 *
 * <p>A call is accepted or answers {@code -FI_EAGAIN}; then {@link ChannelHandler#onWritable()} follows, or the engine
 * asks again. Owner: progress agent.
 */
public abstract class RemoteChannel {
    /** For links. */
    protected RemoteChannel() {
    }

    /**
     * The longest payload of one call; the engine divides longer ones.
     *
     * @return bytes, at least 1.
     */
    public abstract long pieceLimitBytes();

    /**
     * Whether the peer answers writes with {@code FI_COMMIT_COMPLETE} when they are on stable storage.
     *
     * @return false if such writes must not be sent.
     */
    public abstract boolean carriesCommits();

    /**
     * Sends the next piece of a write: the bytes from {@link TransmitOperation#sent} on. They are taken when the call
     * returns.
     *
     * @param operation with remote address, key, data and whole length.
     * @param length    bytes of this piece, at most {@link #pieceLimitBytes()}.
     * @param grant     as for {@link Channel#send}.
     * @return {@link Channel#DONE}, or a negative fabric errno: {@code -FI_EOPNOTSUPP} if the peer cannot do it.
     */
    public abstract int write(TransmitOperation operation, long length, int grant);

    /**
     * Requests bytes of the peer.
     *
     * @param operation with remote address, key and length.
     * @param grant     as for {@link Channel#send}.
     * @return as for {@link #write}.
     */
    public abstract int read(TransmitOperation operation, int grant);

    /**
     * Sends an atomic operation with its operands and compare values, which are taken when the call returns.
     *
     * @param operation with remote address, key and {@link TransmitOperation#atomic}.
     * @param grant     as for {@link Channel#send}.
     * @return as for {@link #write}.
     */
    public abstract int atomic(TransmitOperation operation, int grant);

    /**
     * Answers a request of the peer.
     *
     * @param operation the peer's id of the operation.
     * @param errno     0, or why it failed, a positive fabric errno; {@code FI_EAGAIN}: send the last piece again.
     * @param reports   whether this side reports each access ({@code FI_RMA_EVENT}), so that writes may have to wait.
     * @param offset    of the bytes in the range that is read.
     * @param address   native address of the bytes.
     * @param length    bytes, at most {@link #pieceLimitBytes()}; 0 if there are none.
     * @param grant     as for {@link Channel#send}.
     * @return {@link Channel#DONE} or a negative fabric errno.
     */
    public abstract int reply(
        long operation, int errno, boolean reports, long offset, long address, long length, int grant);
}
