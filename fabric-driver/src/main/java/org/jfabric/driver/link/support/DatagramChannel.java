package org.jfabric.driver.link.support;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.TransmitOperation;

/**
 * A remote address as one endpoint for datagrams sees it. There is no connection: the channel is up as soon as it is
 * made, and nothing tells when the other side goes.
 *
 * <p>Its key is what a received datagram says of its sender; how it is made of an address is the link's to say.
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
    private final boolean isGroup;
    private final long notCarried;
    private boolean closed;

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
