package org.jfabric.driver.link.support;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;

/**
 * A channel of connected endpoints over a wire of messages and remote reads. Its user is the engine, or a protocol of
 * packets that makes its own announcements ({@link #usedBy}).
 *
 * <p>Owner: progress agent.
 */
public abstract class MessageChannel extends Channel {
    /** Result of {@link #probe()}: not known yet. */
    public static final int ASKING = 0;
    /** Result of {@link #probe()}: the peer's host still has its end of the connection. */
    public static final int LIVES = 1;
    /** Result of {@link #probe()}: the connection has ended, or this link cannot find out. */
    public static final int OVER = 2;

    private MessageChannelHandler protocol;

    /**
     * A channel in the state connecting.
     *
     * @param handler handler of the engine, or of the protocol above.
     */
    protected MessageChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    /** Sets the protocol above, which uses the channel from now on. Called before the link's next poll. */
    public final void usedBy(MessageChannelHandler user) {
        protocol = user;
    }

    /** The handler of the protocol above. Returns null if the engine uses the channel. */
    public final MessageChannelHandler protocol() {
        return protocol;
    }

    /**
     * The reads and writes of remote memory of this wire. A protocol above may offer them as its own: its handler of
     * this channel then has the engine's {@link org.jfabric.driver.link.ChannelHandler#remoteHandler()}. Returns null
     * for wires that have none; else the same object always.
     */
    @Override
    public RemoteChannel remoteMemory() {
        return null;
    }

    /**
     * Reads a payload that the peer has exposed directly into its destination.
     *
     * @param source      location of the payload, as the peer's {@link #expose}, or a C program, has described it.
     * @param destRegion  region of a contiguous destination, retained until the read has ended or the channel is down;
     *                    null if the destination lies in no region that an application has registered.
     * @param destAddress native address of a contiguous destination.
     * @param destPieces  pieces of the destination, or null; valid until the read has ended or the channel is down.
     * @param length      bytes to read, at most those of the payload.
     * @return {@link #DONE}; or {@link #PENDING}: {@link MessageChannelHandler#onPulled} follows; or
     *     {@code -FI_EAGAIN}: not now, {@code -FI_EOPNOTSUPP}: never.
     */
    public abstract int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length);

    /**
     * Allows the peer's network layer to read a payload, until {@link #conceal}.
     *
     * @param operation operation whose payload stays where it is; at most {@link PieceList#MAX_PIECES} pieces.
     * @param target    filled with one entry for each piece: its key as region number, its position under that key as
     *                  offset.
     * @return {@link #DONE}, or a negative fabric errno ({@code -FI_EOPNOTSUPP}: not this payload).
     */
    public abstract int expose(TransmitOperation operation, RemotePayload target);

    /**
     * Reverses {@link #expose}; a read that arrives later is refused.
     *
     * @param target as filled by {@link #expose}.
     */
    public abstract void conceal(RemotePayload target);

    /**
     * Number of receives that are currently posted for messages of the peer, for links that count them ({@link
     * MessageConnector#postedReceives()}). Returns the number of receives; 0 for links that do not count them.
     */
    public int postedReceives() {
        return 0;
    }

    /**
     * Whether the link has stopped reading from the peer because there is no room for the messages that it has sent.
     */
    public boolean isPaused() {
        return false;
    }

    /**
     * Whether the peer has closed its end, and data that it had sent before is still unread.
     *
     * @return false also if the link cannot detect it.
     */
    public boolean hasLeft() {
        return false;
    }

    /**
     * Whether a message of the peer has begun to arrive and makes no progress; see {@link StallWatch}.
     *
     * @param nowNs     current time in nanoseconds.
     * @param timeoutNs nanoseconds allowed without progress.
     * @return false also if the link cannot detect it.
     */
    public boolean isStalled(long nowNs, long timeoutNs) {
        return false;
    }

    /**
     * Whether a message of the peer has begun to arrive and is not complete.
     *
     * @return false also if the link cannot detect it.
     */
    public boolean isMidMessage() {
        return false;
    }

    /**
     * Finds out whether the peer's host still has its end of the connection, without an answer of the peer's program.
     * To be called repeatedly until the result differs from {@link #ASKING}, or until {@link #endProbe()}. Returns
     * {@link #ASKING}, {@link #LIVES} or {@link #OVER}.
     */
    public int probe() {
        return OVER;
    }

    /** Ends {@link #probe()} before its result is known. */
    public void endProbe() {
        // no probe was sent
    }
}
