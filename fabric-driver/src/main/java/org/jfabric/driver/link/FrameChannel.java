package org.jfabric.driver.link;

import org.jfabric.client.LentRing;
import org.jfabric.layout.Words;

/**
 * A channel over JFabric's own wire, whose frames carry announcements, acknowledgements of single levels and byte
 * credit.
 *
 * <p>A message takes one call, {@link #send}, if it is short enough and the receiver has granted credit for it. Else it
 * takes {@link #announce} and, by the receiving side, {@link #pull}, then {@link #finish}. Where {@link #pull} cannot
 * reach every payload the channel is a {@link SegmentChannel}.
 *
 * <p>Owner: progress agent.
 */
public abstract class FrameChannel extends PayloadChannel {
    private final FrameHandler frameHandler;

    /**
     * A channel in the state connecting.
     *
     * @param limits  what this channel can carry.
     * @param handler the engine's side, one that has {@link ChannelHandler#frameHandler()}.
     */
    protected FrameChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
        this.frameHandler = handler.frameHandler();
    }

    @Override
    public final FrameChannel frames() {
        return this;
    }

    /**
     * The engine's side for frames.
     *
     * @return that of the handler given at construction.
     */
    public final FrameHandler frameHandler() {
        return frameHandler;
    }

    /**
     * Where arriving messages lie, if they may be left there for a while.
     *
     * @return null if they are to be taken before the event returns.
     */
    public LentRing lentRing() {
        return null;
    }

    /**
     * Sends a whole message without remote data or levels whose payload is in one piece, and which is done when the
     * call returns: {@link #send} without an operation.
     *
     * @param kind    {@code Flags.TAGGED} or {@code Flags.MSG}.
     * @param tag     tag, 0 for untagged.
     * @param address native address of the payload.
     * @param length  bytes, at most {@link ChannelLimits#eagerLimitBytes()}.
     * @param grant   as for {@link #send}.
     * @return {@link #DONE}, or a negative fabric errno and nothing was sent.
     */
    public abstract int sendShort(long kind, long tag, long address, int length, int grant);

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
    public abstract void markSent();

    /**
     * Whether the peer has taken everything that had been sent when {@link #markSent()} was called, so that all the
     * credit which that brings is here or under way. What a peer has not taken yet costs it nothing to keep waiting.
     *
     * @return true if it has.
     */
    public abstract boolean isMarkTaken();

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
}
