package org.jfabric.driver.link;

import org.jfabric.FabricErrno;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.layout.Words;

/**
 * A path from one local endpoint to one remote endpoint: what a link offers to the engine.
 *
 * <p>At most two calls are made for a message: {@link #send} for an eager one, or {@link #announce} and, by the
 * receiving side, {@link #pull}. A call is accepted or answers {@code -FI_EAGAIN}; then the link calls
 * {@link ChannelHandler#onWritable()} when it can take more. From acceptance until it reports the level reached or the
 * failure the link owns the operation.
 *
 * <p>An abstract class and not an interface: calls of abstract classes go through one table, whatever number of links
 * is loaded.
 *
 * <p>Owner: progress agent.
 */
public abstract class Channel {
    /** A call's result: accepted, and the link's default completion level is reached. */
    public static final int DONE = 0;
    /** A call's result: accepted; the link reports the end through the handler. */
    public static final int PENDING = 1;

    /** Answer of {@link #probe()}: not known yet. */
    public static final int ASKING = 0;
    /** Answer of {@link #probe()}: the peer's host still has its end of the connection. */
    public static final int LIVES = 1;
    /** Answer of {@link #probe()}: the connection is over, or this link cannot tell. */
    public static final int OVER = 2;

    private final ChannelLimits limits;
    private final ChannelHandler handler;

    /**
     * A channel in the state connecting.
     *
     * @param limits  what this channel can carry.
     * @param handler the engine's side.
     */
    protected Channel(ChannelLimits limits, ChannelHandler handler) {
        this.limits = limits;
        this.handler = handler;
    }

    /**
     * What this channel can carry.
     *
     * @return limits that do not change during its life.
     */
    public final ChannelLimits limits() {
        return limits;
    }

    /**
     * The engine's side.
     *
     * @return the handler given at construction.
     */
    public final ChannelHandler handler() {
        return handler;
    }

    /**
     * Sends a whole message with its payload.
     *
     * <p>The payload is in one piece or, where the operation says so, in several:
     * {@link TransmitOperation#copyTo} gathers it.
     *
     * <p>After {@link #PENDING} the payload of an operation without region is at the address that the operation has
     * when the call has returned, and stays there. A single operation that is reported as failed later leaves the
     * channel usable only if the peer has seen its header, so that both ends agree on the credit; else the channel goes
     * down.
     *
     * <p>If {@link TransmitOperation#isAcknowledged()}, {@link ChannelHandler#onAcknowledged} follows for the levels
     * {@link TransmitOperation#awaitedOfPeer()}, besides what this call answers.
     *
     * @param operation with kind, tag, data, address and length; at most {@link ChannelLimits#eagerLimitBytes()}.
     * @param grant     low 32 bits of the byte credit granted to the peer so far, which travels along.
     * @return {@link #DONE}, {@link #PENDING} or a negative fabric errno ({@code -FI_EAGAIN}: not now;
     *     {@code -FI_EOPNOTSUPP}: this peer cannot acknowledge, announce the message instead).
     */
    public abstract int send(TransmitOperation operation, int grant);

    /**
     * Whether {@link #sendShort} may be called.
     *
     * @return the same for as long as the channel is up.
     */
    public boolean sendsShort() {
        return false;
    }

    /**
     * Sends a whole message without remote data or levels whose payload is in one piece, and which is done when the
     * call returns. As {@link #send} without an operation.
     *
     * @param kind    {@code Flags.TAGGED} or {@code Flags.MSG}.
     * @param tag     tag, 0 for untagged.
     * @param address native address of the payload.
     * @param length  bytes, at most {@link ChannelLimits#eagerLimitBytes()}.
     * @param grant   as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno, and nothing was sent.
     */
    public int sendShort(long kind, long tag, long address, int length, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /**
     * Tells the peer of a message whose payload waits here until the peer has taken it. Of the levels only
     * {@code FI_FENCE} is asked for: the peer takes a payload when it is matched, which is more than any other tells.
     *
     * @param operation with kind, tag, data, length and {@link TransmitOperation#id()}.
     * @param grant     as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int announce(TransmitOperation operation, int grant);

    /**
     * Remembers how much was sent, for {@link #isMarkTaken()}.
     */
    public void markSent() {
    }

    /**
     * Whether the peer has taken everything that had been sent when {@link #markSent()} was called, so that all the
     * credit which that brings is here or under way. What a peer has not taken yet costs it nothing to keep waiting.
     *
     * @return true also where the link cannot tell.
     */
    public boolean isMarkTaken() {
        return true;
    }

    /**
     * Fetches an announced payload straight into its destination.
     *
     * @param source      where the payload is, as the announcement said.
     * @param destRegion  region of a destination in one piece, held until the fetch has ended or the channel is down;
     *                    null if it lies in none that an application has registered.
     * @param destAddress native address of the destination, if that is in one piece.
     * @param destPieces  pieces of the destination, or null; good until the fetch has ended or the channel is down.
     * @param length      bytes to fetch, at most those of the message.
     * @return {@link #DONE}; or {@link #PENDING}: {@link ChannelHandler#onPulled} follows; or
     *     {@code -FI_EOPNOTSUPP}, {@code -FI_EAGAIN}: not possible for this source (yet), ask for segments instead.
     */
    public abstract int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length);

    /**
     * Copies one mapped piece of an announced payload to where it goes.
     *
     * @param source      native address of the bytes.
     * @param offset      of them in the message.
     * @param length      how many.
     * @param destAddress as for {@link #pull}.
     * @param destPieces  as for {@link #pull}.
     */
    protected static void copyPulled(
        long source, long offset, long length, long destAddress, PieceList destPieces) {
        if (destPieces == null) {
            Words.copy(source, destAddress + offset, length);
        } else {
            destPieces.copyFrom(offset, source, length);
        }
    }

    /**
     * Asks the peer to send an announced payload in segments.
     *
     * @param operation the peer's id of the operation.
     * @param sink      our id, which comes back with each segment.
     * @param length    bytes wanted, from the start of the payload.
     * @param grant     as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int requestSegments(long operation, long sink, long length, int grant);

    /**
     * Sends the next piece of an announced payload.
     *
     * @param operation with {@link TransmitOperation#sink()} and the bytes sent so far.
     * @param length    bytes of this piece, at most {@link ChannelLimits#segmentLimitBytes()}.
     * @param grant     as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int sendSegment(TransmitOperation operation, int length, int grant);

    /**
     * Tells the peer that an announced payload was taken, or why not.
     *
     * @param operation the peer's id of the operation.
     * @param errno     0 or a positive fabric errno.
     * @param grant     as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int finish(long operation, int errno, int grant);

    /**
     * Tells the peer what one of its messages has reached.
     *
     * @param operation the peer's id of the operation.
     * @param levels    levels asked for that are reached, {@code FI_FENCE} for all messages before it.
     * @param errno     0, or why they never will be, a positive fabric errno.
     * @param grant     as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int acknowledge(long operation, long levels, int errno, int grant);

    /**
     * Sends only a grant.
     *
     * @param grant low 32 bits of the byte credit granted to the peer so far.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int sendGrant(int grant);

    /**
     * Whether an operation of ours ends only when bytes of the peer have come, so that the peer must be read.
     *
     * @return false for links that are always read.
     */
    public boolean awaitsPeer() {
        return false;
    }

    /**
     * Receives that are posted for messages of the peer now, of links that count them
     * ({@link ConnectionManager#postedReceives()}).
     *
     * @return a count; 0 for links that do not.
     */
    public int postedReceives() {
        return 0;
    }

    /**
     * Whether nothing is read of the peer because there is no place for what it has sent.
     *
     * @return false for links that are always read.
     */
    public boolean isPaused() {
        return false;
    }

    /**
     * Whether the peer has closed its end, and what it had sent before was not read yet.
     *
     * @return false also where the link does not see it.
     */
    public boolean hasLeft() {
        return false;
    }

    /**
     * Whether a message of the peer has begun to come and makes no progress; see {@link StallWatch}.
     *
     * @param nowNs     time.
     * @param timeoutNs allowed without progress.
     * @return false also where the link does not see it.
     */
    public boolean isStalled(long nowNs, long timeoutNs) {
        return false;
    }

    /**
     * Finds out whether the peer still has its end of the connection, without its program: to be called again and again
     * until the answer is another one than {@link #ASKING}, or {@link #endProbe()}.
     *
     * @return {@link #ASKING}, {@link #LIVES} or {@link #OVER}.
     */
    public int probe() {
        return OVER;
    }

    /** Ends {@link #probe()} before its answer is known. */
    public void endProbe() {
        // nothing was asked
    }

    /**
     * Lets the peer's network layer read a payload that an announcement of a protocol above this channel describes,
     * until {@link #conceal}. Offered by channels whose wire carries remote reads; such a channel's {@link #pull} takes
     * descriptors of this kind, also those that came from C programs.
     *
     * @param operation whose payload, in one piece or several, stays where it is; at most
     *                  {@link PieceList#MAX_PIECES}.
     * @param target    filled with one piece for each: its key as region number, its place under that key as offset.
     * @return {@link #DONE}, or a negative fabric errno ({@code -FI_EOPNOTSUPP}: no such wire).
     */
    public int expose(TransmitOperation operation, RemotePayload target) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /**
     * Ends what {@link #expose} began; a read that comes later is refused.
     *
     * @param target as filled.
     */
    public void conceal(RemotePayload target) {
    }

    /**
     * What the link knows besides the errno of {@link ChannelHandler#onDown}; looked at when the channel goes down.
     *
     * @return a code for {@code strerror}, see {@link org.jfabric.VerbsErrno}; 0 if there is none.
     */
    public int provErrno() {
        return 0;
    }

    /**
     * The end of all operations is about to be told: when this returns, no device uses their memory any more. For links
     * with a device that works by itself; the others use memory only in their own steps. Nothing is sent after it, and
     * {@link #close} follows, unless the channel is down already.
     */
    public void quiesce() {
        // nobody but the driver's thread uses the memory
    }

    /**
     * Ends the channel; the handler is not called any more and the peer sees its end of it go down.
     *
     * @param errno reason told to the peer, a positive fabric errno.
     */
    public abstract void close(int errno);
}
