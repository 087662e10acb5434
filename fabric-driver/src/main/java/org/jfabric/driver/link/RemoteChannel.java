package org.jfabric.driver.link;

import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.AtomicForm;

/**
 * The part of a channel that carries remote memory access: requests of this side, and the answers to those of the peer.
 * Requests reach the peer in the order of the calls, and so do messages that are sent between them. There are two kinds
 * of wires:
 *
 * <pre>
 *                            JFabric's own wires                    libfabric's ({@link #keepsOrder()})
 *   end of this side's       {@link RemoteHandler#onReply}, with    {@link RemoteHandler#onEnded}; the link places the
 *   accesses                 bytes or an errno                      bytes of reads itself
 *   an access that the       its errno is the answer                the connection ends
 *   peer refuses
 *   requests of the peer     {@link RemoteHandler#onWrite},         the link finds the memory by
 *                            {@link RemoteHandler#onRead}; the      {@link RemoteHandler#find}, and copies between
 *                            engine calls {@link #reply}            {@link RemoteHandler#begin} and
 *                                                                   {@link RemoteHandler#end}
 * </pre>
 *
 * <p>Over RDMA cards this side is of the second kind, except that {@link RemoteHandler#onReply} brings the old values
 * of atomic operations; the peer's card serves the requests, and its driver sees none.
 *
 * <p>A call is accepted or answers {@code -FI_EAGAIN}; then {@link ChannelHandler#onWritable()} follows, or the engine
 * asks again. Owner: progress agent.
 */
public abstract class RemoteChannel {
    /** Result of {@link #write}: accepted and ended. */
    public static final int ENDED = 2;

    protected RemoteChannel() {
    }

    /**
     * Whether the wire itself gives every order that the link offers, so that no operation of this side has to wait for
     * an earlier one: a peer takes its requests in their order, and takes none behind a write that waits.
     */
    public boolean keepsOrder() {
        return false;
    }

    /** The longest payload of one call; the engine divides longer ones. Returns the bytes, at least 1. */
    public abstract long pieceLimitBytes();

    /** Whether one read or write may name several ranges of the peer's memory. */
    public boolean takesRanges() {
        return false;
    }

    /** Whether the peer answers writes with {@code FI_COMMIT_COMPLETE} when they are on stable storage. */
    public boolean carriesCommits() {
        return false;
    }

    /**
     * The longest list of elements of an atomic operation that the peer may request: as many bytes of old values fit
     * into one {@link #reply}. Returns the bytes; JFabric's own requests do not exceed {@link AtomicForm#MAX_BYTES}.
     */
    public int atomicLimitBytes() {
        return AtomicForm.MAX_BYTES;
    }

    /**
     * Sends the next piece of a write: the bytes from {@link TransmitOperation#sent} on. The link may read them until
     * the write ends, but only the last piece's after the call.
     *
     * @param operation with remote address, key, data and whole length.
     * @param length    bytes of this piece, at most {@link #pieceLimitBytes()}.
     * @return {@link Channel#DONE}: accepted, and the end of the write follows, perhaps inside the call;
     *     {@link #ENDED}: with this piece the write has ended, because nothing of it is left here and it asks for no
     *     level that the peer acknowledges; or a negative fabric errno: {@code -FI_EOPNOTSUPP} if the peer cannot do
     *     it.
     */
    public abstract int write(TransmitOperation operation, long length, int grant);

    /** Whether {@link #writeShort} can succeed: without it no grant is made up for a call in vain. */
    public boolean hasShortWrites() {
        return false;
    }

    /**
     * Sends a whole write without data, which the peer answers by a count of such writes, or by an errno. Called with
     * {@link #hasShortWrites()} only.
     *
     * @param operation with remote address, key and length, at most {@link #pieceLimitBytes()}; the bytes are taken
     *                  when the call returns.
     * @return {@link Channel#DONE}; {@code -FI_EAGAIN}; {@code -FI_EOPNOTSUPP}: {@link #write} must be called instead.
     */
    public int writeShort(TransmitOperation operation, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /**
     * Answers the oldest short writes of the peer: they are placed.
     *
     * @param count of these writes, 1 or more.
     * @return {@link Channel#DONE} or a negative fabric errno.
     */
    public int placed(long count, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /** Whether the peer can copy the bytes of a write from its own mapping of the regions that hold them. */
    public boolean canAnnounce(TransmitOperation operation) {
        return false;
    }

    /**
     * Announces a write, whose bytes stay where they are until the peer has answered. {@code FI_ENODATA} as the answer
     * requests the bytes by {@link #write}. Its results are those of {@link #write}.
     */
    public int announce(TransmitOperation operation, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /**
     * Reads bytes of the peer now, from this side's own mapping of the peer's region, if the peer has granted that and
     * has executed everything that was sent to it before.
     *
     * @param operation with remote address, key and length; its memory is written.
     * @return {@link Channel#DONE}; {@code -FI_EAGAIN} if {@link #read} must be called instead;
     *     {@code -FI_EKEYREJECTED} if the region was closed meanwhile, and the bytes may be any.
     */
    public int readMapped(TransmitOperation operation) {
        return -FabricErrno.EAGAIN;
    }

    /**
     * Allows the peer to read a region by {@link #readMapped}, until the region is closed or the channel ends.
     *
     * @param region of this side, in a file that the peer can map.
     * @return {@link Channel#DONE} or a negative fabric errno; it need not be repeated.
     */
    public int grantRead(long key, RegisteredRegion region, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /** Requests bytes of the peer. The results are those of {@link #write}, but for {@link #ENDED}. */
    public abstract int read(TransmitOperation operation, int grant);

    /**
     * Sends an atomic operation with its operands and compare values, which are taken when the call returns.
     *
     * @param operation with remote address, key and {@link TransmitOperation#atomic}.
     * @return as for {@link #write}.
     */
    public int atomic(TransmitOperation operation, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /**
     * Answers a request of the peer.
     *
     * @param errno     0, or why it failed, a positive fabric errno; {@code FI_EAGAIN}: send the last piece again.
     * @param reports   whether this side reports each access ({@code FI_RMA_EVENT}), so that writes may have to wait.
     * @param address   native address of the bytes.
     * @param length    bytes, at most {@link #pieceLimitBytes()}; 0 if there are none.
     * @return {@link Channel#DONE} or a negative fabric errno.
     */
    public int reply(
        long operation, int errno, boolean reports, long offset, long address, long length, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }
}
