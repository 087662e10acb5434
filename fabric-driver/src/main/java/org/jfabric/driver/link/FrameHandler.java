package org.jfabric.driver.link;

/**
 * The engine's side of a {@link FrameChannel}, besides its {@link ChannelHandler}. Owner: progress agent.
 */
public abstract class FrameHandler extends PayloadHandler {
    /**
     * The peer has granted byte credit.
     *
     * @param grant low 32 bits of the byte credit granted by the peer so far.
     */
    public abstract void onGrant(int grant);

    /** The peer has granted byte credit. */
    public abstract void onGrantLines(int grantLines);

    /**
     * A whole message without remote CQ data or completion levels has arrived.
     *
     * @param kind       {@code Flags.TAGGED} or {@code Flags.MSG}.
     * @param address    native address of the payload, valid during the call.
     * @param grantLines byte credit that the message carried, in units of 64 bytes, low 16 bits; less than 2 MiB more
     *                   than the last credit.
     */
    public abstract void onShort(long kind, long tag, long address, int length, int grantLines);

    /**
     * Receives that have ended, for the endpoint of this channel and others that share its completion queue. A message
     * that is passed in has been matched and is placed when the call returns if the number has grown. Returns a count;
     * always 0 unless it is overridden.
     */
    public long endedReceives() {
        return 0;
    }

    /** A whole message has arrived whose sender waits for {@link FrameChannel#acknowledge}. */
    public abstract void onMessageToAcknowledge(
        long operation, long flags, long tag, long data, long address, int length);

    /**
     * The peer has acknowledged a message of this side.
     *
     * @param errno     0, or the reason why the levels will never be reached, a positive fabric errno.
     */
    public abstract void onAcknowledged(long operation, long levels, int errno);

    /** The peer requests an announced payload in segments. */
    public abstract void onSegmentsRequested(long operation, long sink, long length);

    /**
     * A segment of a payload that this side has requested.
     *
     * @param address native address of the bytes, valid during the call.
     */
    public abstract void onSegment(long sink, long offset, long address, int length);

    /**
     * The peer has fetched an announced payload, or refused it.
     *
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onFinished(long operation, int errno);
}
