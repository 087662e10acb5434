package org.jfabric.driver.link;

import org.jfabric.info.FabricErrno;

/**
 * A path from one local endpoint to one remote endpoint. Links implement it and the engine calls it.
 *
 * <p>This class has the operations that every wire supports. {@link PayloadChannel} adds payloads that wait at their
 * sender. {@link FrameChannel} adds to that the frames of JFabric's own wire: announcements, acknowledgements and byte
 * credit. {@link SegmentChannel} adds payloads in segments. A channel implements every method of the class that it
 * extends. When the channel is up the engine asks once which of these classes it is ({@link #payloads()},
 * {@link #frames()}, {@link #segments()}).
 *
 * <p>A call is accepted or returns {@code -FI_EAGAIN}; after {@code -FI_EAGAIN} the link calls
 * {@link ChannelHandler#onWritable()} as soon as the channel accepts more. The link owns an accepted operation until it
 * reports the completion level or the failure.
 *
 * <p>This is an abstract class and not an interface, because calls of abstract classes go through one table, however
 * many links are loaded.
 *
 * <p>Owner: progress agent.
 */
public abstract class Channel {
    /** A call's result: accepted, and the link's default completion level is reached. */
    public static final int DONE = 0;
    /** A call's result: accepted; the link reports the completion through the handler. */
    public static final int PENDING = 1;

    private final ChannelLimits limits;
    private final ChannelHandler handler;

    /** A channel in the state connecting. */
    protected Channel(ChannelLimits limits, ChannelHandler handler) {
        this.limits = limits;
        this.handler = handler;
    }

    /** The limits of this channel. Returns the limits that do not change during the channel's life. */
    public final ChannelLimits limits() {
        return limits;
    }

    /** The engine's side. */
    public final ChannelHandler handler() {
        return handler;
    }

    /**
     * This channel as a {@link PayloadChannel}, if payloads can wait at their sender on its wire. Returns null for
     * wires that carry each payload with its message.
     */
    public PayloadChannel payloads() {
        return null;
    }

    /**
     * This channel as a {@link FrameChannel}, if its wire carries JFabric's frames. Returns null for wires of other
     * protocols.
     */
    public FrameChannel frames() {
        return null;
    }

    /**
     * This channel as a {@link SegmentChannel}, if its wire carries JFabric's frames and payloads in segments. Returns
     * null for all other wires.
     */
    public SegmentChannel segments() {
        return null;
    }

    /** The part of this channel that carries remote memory access. Returns null for wires that have none. */
    public RemoteChannel remoteMemory() {
        return null;
    }

    /**
     * Sends a whole message with its payload.
     *
     * <p>The payload is contiguous, or consists of several pieces if {@link TransmitOperation#pieces} is set;
     * {@link TransmitOperation#copyTo} gathers it in both cases.
     *
     * <p>After {@link #PENDING} the payload of an operation without a region is at the address that the operation has
     * when the call returns, and stays there. If a single operation is reported as failed later, the channel stays
     * usable only if the peer has received the operation's header, so that both ends agree on the credit; otherwise the
     * channel goes down.
     *
     * <p>If {@link TransmitOperation#isAcknowledged()}, {@link FrameHandler#onAcknowledged} or
     * {@link StreamHandler#onAcknowledged} follows for the levels {@link TransmitOperation#awaitedOfPeer()}, in
     * addition to the result of this call.
     *
     * @param operation with kind, tag, data, address and length; at most {@link ChannelLimits#eagerLimitBytes()}.
     * @param grant     low 32 bits of the byte credit granted to the peer so far, which the frame carries; wires
     *                  without frames ignore it.
     * @return {@link #DONE}, {@link #PENDING} or a negative fabric errno ({@code -FI_EAGAIN}: not now).
     */
    public abstract int send(TransmitOperation operation, int grant);

    /** Whether {@link #offer} would take a message of that length now. */
    public boolean hasRoom(int length) {
        return false;
    }

    /**
     * Writes an untagged message to a group, of any length that it takes, without an operation. Only for groups that
     * are written by the engine's caller.
     *
     * @param array   in which the bytes are, or null.
     * @param address native address of the first byte, or its {@code Unsafe} offset in the array.
     * @return {@link #DONE} or a negative fabric errno ({@code -FI_EAGAIN}: not now).
     */
    public int offer(byte[] array, long address, int length) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /**
     * Whether {@link #sendShort} can be called. The engine asks once, when the channel is up.
     */
    public boolean sendsShort() {
        return false;
    }

    /**
     * Sends a whole message without an operation: one without remote CQ data or completion levels, whose payload is
     * contiguous, and which is complete when the call returns.
     *
     * @param kind    {@code Flags.TAGGED} or {@code Flags.MSG}.
     * @param tag     tag, 0 for untagged.
     * @param address native address of the payload.
     * @param length  bytes, at most {@link ChannelLimits#eagerLimitBytes()}.
     * @param grant   as of {@link #send}.
     * @return {@link #DONE}, or a negative fabric errno if nothing was sent; the caller tries {@link #send} then.
     */
    public int sendShort(long kind, long tag, long address, int length, int grant) {
        throw new IllegalStateException("no short messages");
    }

    /**
     * Whether a local operation completes only when bytes of the peer have arrived, so that the link must read from the
     * peer.
     */
    public boolean awaitsPeer() {
        return false;
    }

    /**
     * The provider-specific error that belongs to the errno of {@link ChannelHandler#onDown}. The engine reads it when
     * the channel goes down. Returns a code for {@code strerror}, see {@link org.jfabric.info.VerbsErrno}; 0 if there
     * is none.
     */
    public int provErrno() {
        return 0;
    }

    /**
     * Makes sure that no device uses the memory of the channel's operations after the return of this call, because the
     * engine is about to report all of them as ended. Only links with a device that works by itself implement it; the
     * others access memory only in their own {@link Link#poll}. Nothing is sent afterwards, and {@link #close} follows
     * unless the channel is down already.
     */
    public void quiesce() {
        // only the driver's thread accesses the memory
    }

    /**
     * Closes the channel. The handler is not called any more, and the peer's end of the channel goes down.
     *
     * @param errno reason that is sent to the peer, a positive fabric errno.
     */
    public abstract void close(int errno);
}
