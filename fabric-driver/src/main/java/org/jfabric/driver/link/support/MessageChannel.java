package org.jfabric.driver.link.support;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;

/**
 * A channel of connected endpoints over a wire of messages and remote reads, which the engine can use as it is, or a
 * protocol of packets that makes its own announcements ({@link #usedBy}).
 *
 * <p>Owner: progress agent.
 */
public abstract class MessageChannel extends Channel {
    /** Answer of {@link #probe()}: not known yet. */
    public static final int ASKING = 0;
    /** Answer of {@link #probe()}: the peer's host still has its end of the connection. */
    public static final int LIVES = 1;
    /** Answer of {@link #probe()}: the connection is over, or this link cannot tell. */
    public static final int OVER = 2;

    private MessageHandler protocol;

    /**
     * A channel in the state connecting.
     *
     * @param limits  what this channel can carry.
     * @param handler of the engine, or of the protocol above.
     */
    protected MessageChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    /**
     * A protocol above begins to use the channel; called before the link's next poll.
     *
     * @param user what is reported to it.
     */
    public final void usedBy(MessageHandler user) {
        protocol = user;
    }

    /**
     * What is reported to the protocol above.
     *
     * @return null if the engine uses the channel.
     */
    public final MessageHandler protocol() {
        return protocol;
    }

    /**
     * Reads a payload that the peer has exposed straight into its destination.
     *
     * @param source      where the payload is, as {@link #expose} has described it there, or a C program.
     * @param destRegion  region of a destination in one piece, held until the read has ended or the channel is down;
     *                    null if it lies in none that an application has registered.
     * @param destAddress native address of the destination, if that is in one piece.
     * @param destPieces  pieces of the destination, or null; good until the read has ended or the channel is down.
     * @param length      bytes to read, at most those of the payload.
     * @return {@link #DONE}; or {@link #PENDING}: {@link MessageHandler#onPulled} follows; or {@code -FI_EAGAIN}: not
     *     now, {@code -FI_EOPNOTSUPP}: never.
     */
    public abstract int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length);

    /**
     * Lets the peer's network layer read a payload, until {@link #conceal}.
     *
     * @param operation whose payload, in one piece or several, stays where it is; at most
     *                  {@link PieceList#MAX_PIECES}.
     * @param target    filled with one piece for each: its key as region number, its place under that key as offset.
     * @return {@link #DONE}, or a negative fabric errno ({@code -FI_EOPNOTSUPP}: not this payload).
     */
    public abstract int expose(TransmitOperation operation, RemotePayload target);

    /**
     * Ends what {@link #expose} began; a read that comes later is refused.
     *
     * @param target as filled.
     */
    public abstract void conceal(RemotePayload target);

    /**
     * Receives that are posted for messages of the peer now, of links that count them
     * ({@link MessageConnections#postedReceives()}).
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
}
