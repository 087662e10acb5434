package org.jfabric.driver.link;

import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.LogPosition;

/**
 * A transport by which endpoints reach each other: loopback, shm, tcp, … A driver has one object of each link.
 *
 * <p>Owner: progress agent, for every method.
 */
public abstract class Link {
    /** The link's name in options, discovery and counters. */
    public abstract String name();

    /** Whether this link reaches an address. */
    public abstract boolean reaches(String remoteAddress);

    /** Whether this link reaches an address from an endpoint, if that depends on the endpoint's own address. */
    public boolean reaches(String ownAddress, String remoteAddress) {
        return reaches(remoteAddress);
    }

    /** Makes an endpoint reachable under its name. */
    public abstract void attach(LocalEndpoint endpoint);

    /**
     * Reverses {@link #attach}. The link does not close the endpoint's channels; the engine does.
     *
     * @param endpoint attached before.
     */
    public abstract void detach(LocalEndpoint endpoint);

    /**
     * Opens a channel, or returns the one that the peer has opened. The handler is not called before the next {@link
     * #poll}. The channel can be used after {@link ChannelHandler#onUp}; {@link ChannelHandler#onDown} reports that it
     * could not be opened. Returns the channel, connecting or up.
     */
    public abstract Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler);

    /**
     * An address was inserted into the endpoint's address vector, or the vector held it when the endpoint was opened. A
     * link without connections learns here which senders it has to recognise, and may bring the channel up inside this
     * call.
     */
    public void onInserted(LocalEndpoint endpoint, String address) {
        // most links learn of a peer when it connects
    }

    /**
     * Joins a multicast group: the endpoint receives the messages that are sent to it.
     *
     * @param group    from {@link BoundAddress#join}; the link closes it when the endpoint leaves or is detached.
     */
    public void join(LocalEndpoint endpoint, BoundAddress group) {
        throw new IllegalStateException("link " + name() + " has no multicast groups");
    }

    /** Whether endpoints of this link join groups by names, and not by addresses of a network. */
    public boolean namesGroups() {
        return false;
    }

    /**
     * Joins a group by its name. The handler is called inside this call, by a later {@link #poll}, or inside
     * {@link #detach}.
     *
     * @param flags    {@code Flags.SEND} to write, {@code Flags.RECV} to read, or both.
     * @param from     the first message that is read; null for what is written from now on.
     * @param inPlace  whether the client reads the ring itself; with {@code Flags.RECV} alone.
     */
    public void join(
        LocalEndpoint endpoint, GroupName group, long flags, LogPosition from, boolean inPlace,
        GroupHandler handler) {
        throw new IllegalStateException("link " + name() + " has no groups with names");
    }

    /**
     * Leaves a multicast group.
     *
     * @param group    address of the group; a group that was not joined is ignored.
     */
    public void leave(LocalEndpoint endpoint, String group) {
        // a link without groups has nothing to leave
    }

    /**
     * Makes one bounded step: processes arrived messages and continues sends that could not be completed before.
     *
     * @param limit largest number of messages to process from each peer.
     * @return number of messages processed and steps made; 0 if there was nothing to do.
     */
    public abstract int poll(int limit);

    /** Prepares the link for the thread to sleep. Returns false if work is pending and the thread must not sleep. */
    public abstract boolean arm();

    /**
     * Whether {@link #poll} has to be called again after a while although nothing arrives, because a deadline passes.
     *
     * @return true also if the link does not know.
     */
    public boolean hasTimers() {
        return !isIdle();
    }

    /**
     * The driver may sleep from now on, which its peers do not expect; called once, and not in modes in which peers
     * expect it from the start.
     */
    public void onMayPark() {
        // most peers wake a driver by its descriptors, whether it sleeps or not
    }

    /**
     * Whether {@link #poll} has nothing to do until the engine calls this link or one of its channels, or until a task
     * that the link has submitted to another thread has ended.
     *
     * @return false also if the link does not know.
     */
    public boolean isIdle() {
        return false;
    }

    /**
     * Where everything arrives that {@link #poll} would process, for a link that is not idle. Valid until the engine
     * calls any method of this link or its channels other than {@link Channel#sendShort}. Returns null if there is
     * more to poll, or the link has no plain messages.
     */
    public PlainMessages plainMessages() {
        return null;
    }

    /**
     * The acceptor of connections from other drivers, which arrive at the driver's socket. Returns the acceptor, or
     * null if this link does not use that socket.
     */
    public PeerAcceptor acceptor() {
        return null;
    }

    /**
     * Connection management for connection-oriented endpoints. Returns the manager, always the same object, or null if
     * the link does not support such endpoints.
     */
    public ConnectionManager connections() {
        return null;
    }

    /**
     * Registers a region with the link's card, so that peers of this link can access it until it is closed: the card
     * checks each access, and the driver sees none. A later {@link #poll} notifies the handler.
     *
     * @param access  {@code Flags.REMOTE_READ}, {@code Flags.REMOTE_WRITE} or both.
     * @param domain  as {@link LocalEndpoint#memoryDomain}: peers of its endpoints have access.
     * @param where   source or destination address, which decide on the card.
     * @param handler gets the key or the reason why there is none.
     */
    public void expose(
        RegisteredRegion region, long access, Object domain, Info where, ExposureHandler handler) {
        handler.onFailed(new FabricException(FabricErrno.EOPNOTSUPP, "link " + name() + " has no card",
            "Register the region in a domain that was opened with a match of this link."));
    }

    /** Closes all channels and releases the link's resources. Handlers are not called. */
    public abstract void close();
}
