package org.jfabric.driver.link;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;

/**
 * A remote address as one endpoint for datagrams sees it. There is no connection: the channel is up as soon as it is
 * made, and nothing tells when the other side goes.
 *
 * <p>Its key is what a received datagram says of its sender; how it is made of an address is the link's to say.
 *
 * <p>Owner: progress agent.
 */
public abstract class DatagramChannel extends ForeignChannel {
    /** Credit is a matter of our own wire: as much as one grant can say, renewed when half of it is spent. */
    private static final int GRANT = Integer.MAX_VALUE;
    private static final long RENEW_BYTES = 1L << 29;
    /** Upper bound of what the engine counts for a message beyond its length. */
    private static final int COST_BYTES = 128;

    /** First part of the key. */
    public final long keyHigh;
    /** Second part of the key. */
    public final long keyLow;
    /** Third part of the key. */
    public final long keyRest;
    private final boolean isGroup;
    private final long notCarried;
    private boolean closed;
    /** Credit that is left. */
    private long creditBytes;
    /** Renewed so far; grants are counted in 32 bits, which run over. */
    private int renewedBytes;

    /**
     * A channel that is not up yet.
     *
     * @param limits     what a datagram can carry.
     * @param handler    the engine's side.
     * @param keyHigh    first part of the key.
     * @param keyLow     second part of the key.
     * @param keyRest    third part of the key.
     * @param isGroup    whether the address is that of a multicast group.
     * @param notCarried flags of operations that a datagram has no room for, or that nobody can tell.
     */
    protected DatagramChannel(
        ChannelLimits limits, ChannelHandler handler, long keyHigh, long keyLow, long keyRest, boolean isGroup,
        long notCarried) {
        super(limits, handler);
        this.keyHigh = keyHigh;
        this.keyLow = keyLow;
        this.keyRest = keyRest;
        this.isGroup = isGroup;
        this.notCarried = notCarried;
    }

    /** The engine may use it now. */
    public final void up() {
        handler().onOpening();
        handler().onGrant(GRANT);
        creditBytes = GRANT;
        handler().onUp(this);
    }

    /**
     * Whether the address is that of a multicast group.
     *
     * @return true for groups.
     */
    public final boolean isGroup() {
        return isGroup;
    }

    /**
     * Whether the engine has closed it.
     *
     * @return true if nothing may be told to its handler any more.
     */
    public final boolean isClosed() {
        return closed;
    }

    /**
     * A message has left, or not; told from the link's poll.
     *
     * @param operation   its id.
     * @param lengthBytes of its payload.
     * @param errno       0 or a positive fabric errno.
     */
    public final void onSent(long operation, long lengthBytes, int errno) {
        creditBytes -= lengthBytes + COST_BYTES;
        if (creditBytes < RENEW_BYTES) {
            creditBytes += RENEW_BYTES;
            renewedBytes += (int) RENEW_BYTES;
            handler().onGrant(GRANT + renewedBytes);
        }
        handler().onSent(operation, errno);
    }

    /**
     * The same for a message that ends inside of the engine's own call, after {@link #mayEndNow}.
     *
     * @param operation accepted.
     */
    protected final void endedNow(TransmitOperation operation) {
        creditBytes -= operation.length + COST_BYTES;
    }

    /**
     * Whether a message may end inside of the engine's own call: the engine must not hear of new credit there, so the
     * message that brings it waits for a poll.
     *
     * @param operation to be sent.
     * @return true if it asks for no more than acceptance, and needs no renewal.
     */
    protected final boolean mayEndNow(TransmitOperation operation) {
        return (operation.flags & Flags.TRANSMIT_COMPLETE) == 0 && creditBytes - operation.length >= RENEW_BYTES;
    }

    /**
     * Why a message cannot be sent here.
     *
     * @param operation to be sent.
     * @return 0 or a negative errno.
     */
    protected final int refusal(TransmitOperation operation) {
        if ((operation.flags & notCarried) != 0) {
            return -FabricErrno.EOPNOTSUPP;
        }
        return (operation.flags & Flags.MULTICAST) != 0 && !isGroup ? -FabricErrno.EINVAL : 0;
    }

    @Override
    public final void close(int errno) {
        closed = true;
        onClosed();
    }

    /** The engine has closed it. */
    protected abstract void onClosed();
}
