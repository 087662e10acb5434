package org.jfabric.driver.stream;

import org.jfabric.layout.OwnerId;

/**
 * How the groups of this driver reach those of one other driver. What that driver sends comes back by the methods of
 * {@link Groups} that take a wire.
 *
 * <p>This is an abstract class and not an interface, because calls of abstract classes go through one table. Owner:
 * progress agent.
 */
public abstract class GroupWire {
    protected GroupWire() {
    }

    /** Name of the other driver. */
    public abstract String peerName();

    /** Whether anything can be sent. {@link Groups#onUp} says when it can. */
    public abstract boolean isUp();

    /** Descriptor of the other driver's directory, where the rings of its groups are. */
    public abstract int directoryFd();

    /** The random id of the other driver. */
    public abstract OwnerId owner();

    /** Asks for a membership in a group of the other driver. */
    public abstract void join(GroupRequest request);

    /**
     * Reports how far a member of this driver has read.
     *
     * @param offset   in the ring, of the next record.
     * @param position of the next message.
     * @return false if there is no room for that now.
     */
    public abstract boolean report(int member, long offset, long position);

    /**
     * Tells the other driver the end of a membership.
     *
     * @param id    the other driver's number of it.
     * @param errno of a member of this driver 0; else the reason.
     * @param end   what is written before that offset of the ring may still be read.
     */
    public abstract void end(int id, int errno, long end);

    /** Wakes the other driver in a later step, if it sleeps: there are messages. */
    public abstract void written();
}
