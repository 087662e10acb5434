package org.jfabric.driver.link;

import org.jfabric.client.LentRing;
import org.jfabric.layout.Words;

/**
 * A channel over JFabric's own wire, whose frames carry announcements, acknowledgements of single levels and byte
 * credit.
 *
 * <p>A message takes one call, {@link #send}, if it is short enough and the receiver has granted credit for it.
 * Otherwise the sender calls {@link #announce}, and the receiving side calls {@link #pull} and then {@link #finish}. A
 * wire on which {@link #pull} cannot reach every payload has a {@link SegmentChannel}.
 *
 * <p>Owner: progress agent.
 */
public abstract class FrameChannel extends PayloadChannel {
    private final FrameHandler frameHandler;

    /**
     * A channel in the state connecting.
     *
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

    /** The engine's side for frames. */
    public final FrameHandler frameHandler() {
        return frameHandler;
    }

    /**
     * The ring in which messages arrive, if the engine may leave messages there after the event that delivers them.
     * Returns null if the engine must copy each message before the event returns.
     */
    public LentRing lentRing() {
        return null;
    }

    /**
     * The directory in which the regions of announced payloads have their files, so that a client can be shown a
     * payload that is lent to it, absolute path; null if the files cannot be reached.
     */
    public byte[] regionDirectory() {
        return null;
    }

    @Override
    public final boolean sendsShort() {
        return true;
    }

    @Override
    public abstract int sendShort(long kind, long tag, long address, int length, int grant);

    /**
     * Announces a message whose payload waits here until the peer has fetched it. Of the completion levels only
     * {@code FI_FENCE} is requested: the peer fetches a payload when the message is matched, and its {@link #finish}
     * therefore implies every other level.
     *
     * @param operation with kind, tag, data, length and {@link TransmitOperation#id()}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int announce(TransmitOperation operation, int grant);

    /**
     * Records how much has been sent so far, for {@link #isMarkTaken()}.
     */
    public abstract void markSent();

    /**
     * Whether the peer has consumed everything that had been sent when {@link #markSent()} was called, so that all
     * credit for it has arrived or is on its way. Messages that the peer has not consumed yet cost it nothing while
     * they wait.
     */
    public abstract boolean isMarkTaken();

    /**
     * Copies one mapped piece of an announced payload to its destination.
     *
     * @param source      native address of the bytes.
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
     * Reports to the peer the completion levels that one of its messages has reached.
     *
     * @param levels    requested levels that are reached; {@code FI_FENCE} stands for all messages before it.
     * @param errno     0, or the reason why the levels will never be reached, a positive fabric errno.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int acknowledge(long operation, long levels, int errno, int grant);

    /**
     * Sends byte credit without a message.
     *
     * @param grant low 32 bits of the byte credit granted to the peer so far.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int sendGrant(int grant);

    /**
     * Whether something of the peer waits to be taken, so that the peer may be ahead by more than is known here. Takes
     * nothing but padding.
     *
     * @return true also if it is of another channel to the same driver.
     */
    public abstract boolean hasMore();
}
