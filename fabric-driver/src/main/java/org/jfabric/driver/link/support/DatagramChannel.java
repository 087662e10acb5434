package org.jfabric.driver.link.support;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * A remote address, as one datagram endpoint sees it. There is no connection: the channel is up as soon as it is made,
 * and the end of the remote endpoint is not detected.
 *
 * <p>The key of a channel identifies the sender of a received datagram. The link defines how an address is converted to
 * a key.
 *
 * <p>Owner: progress agent.
 */
public abstract class DatagramChannel extends Channel {
    /** First part of the key. */
    public final long keyHigh;
    /** Second part of the key. */
    public final long keyLow;
    /** Third part of the key. */
    public final long keyRest;
    private final String address;
    private final boolean isGroup;
    private final long notCarried;
    private boolean closed;

    /**
     * A channel that is not up yet.
     *
     * @param keyHigh    first part of the key.
     * @param notCarried flags of operations that a datagram cannot carry, or whose completion the wire cannot report.
     */
    protected DatagramChannel(
        ChannelLimits limits, ChannelHandler handler, String address, long keyHigh, long keyLow, long keyRest,
        boolean isGroup, long notCarried) {
        super(limits, handler);
        this.address = address;
        this.keyHigh = keyHigh;
        this.keyLow = keyLow;
        this.keyRest = keyRest;
        this.isGroup = isGroup;
        this.notCarried = notCarried;
    }

    /** Reports to the engine that the channel can be used. */
    public final void up() {
        handler().onOpening();
        handler().onUp(this);
    }

    /** The remote end. Returns its address as text, or {@link DatagramEndpoint#UNKNOWN_SENDERS}. */
    public final String address() {
        return address;
    }

    /** Whether the address is that of a multicast group. */
    public final boolean isGroup() {
        return isGroup;
    }

    /** Whether the engine has closed the channel. */
    public final boolean isClosed() {
        return closed;
    }

    /** Checks whether this channel can send a message. Returns 0, or a negative fabric errno if it cannot. */
    protected final int refusal(TransmitOperation operation) {
        if ((operation.flags & notCarried) != 0) {
            return -FabricErrno.EOPNOTSUPP;
        }
        return (operation.flags & Flags.MULTICAST) != 0 && !isGroup ? -FabricErrno.EINVAL : 0;
    }

    /**
     * The remote end cannot be reached: the engine ends the operations for it. The next one opens a channel again.
     *
     * @param errno positive fabric errno.
     */
    public final void down(int errno) {
        close(errno);
        handler().onDown(errno);
    }

    @Override
    public final void close(int errno) {
        closed = true;
        onClosed();
    }

    protected abstract void onClosed();
}
