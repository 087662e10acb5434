package org.jfabric.driver.link;

/**
 * A path from one local endpoint to one remote endpoint: what a link offers to the engine.
 *
 * <p>Here is what every wire can do. {@link PayloadChannel} adds payloads that wait at their sender, and
 * {@link FrameChannel} adds to that the frames of JFabric's own wire: announcements, acknowledgements and byte credit;
 * {@link SegmentChannel} adds payloads in segments. A channel implements all of the class that it extends; the engine
 * asks once, when the channel is up, which of them it is ({@link #payloads()}, {@link #frames()},
 * {@link #segments()}).
 *
 * <p>A call is accepted or answers {@code -FI_EAGAIN}; then the link calls {@link ChannelHandler#onWritable()} when it
 * can take more. From acceptance until it reports the level reached or the failure the link owns the operation.
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
     * This channel, if payloads can wait at their sender on its wire.
     *
     * @return null for wires that carry each payload with its message.
     */
    public PayloadChannel payloads() {
        return null;
    }

    /**
     * This channel, if its wire is one of frames.
     *
     * @return null for wires of other protocols.
     */
    public FrameChannel frames() {
        return null;
    }

    /**
     * This channel, if its wire is one of frames and carries payloads in segments.
     *
     * @return null for all others.
     */
    public SegmentChannel segments() {
        return null;
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
     * <p>If {@link TransmitOperation#isAcknowledged()}, {@link FrameHandler#onAcknowledged} or
     * {@link StreamHandler#onAcknowledged} follows for the levels {@link TransmitOperation#awaitedOfPeer()}, besides
     * what this call answers.
     *
     * @param operation with kind, tag, data, address and length; at most {@link ChannelLimits#eagerLimitBytes()}.
     * @param grant     low 32 bits of the byte credit granted to the peer so far, which travels along in a frame; wires
     *                  without frames ignore it.
     * @return {@link #DONE}, {@link #PENDING} or a negative fabric errno ({@code -FI_EAGAIN}: not now;
     *     {@code -FI_EOPNOTSUPP} of a wire of frames: this peer cannot acknowledge, announce the message instead).
     */
    public abstract int send(TransmitOperation operation, int grant);

    /**
     * Whether an operation of ours ends only when bytes of the peer have come, so that the peer must be read.
     *
     * @return false for wires that are always read.
     */
    public boolean awaitsPeer() {
        return false;
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
