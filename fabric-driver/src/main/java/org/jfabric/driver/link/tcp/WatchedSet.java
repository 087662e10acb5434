package org.jfabric.driver.link.tcp;

import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.link.LinkServices;

/**
 * The link's sockets, as far as something is to be learnt of them; events as in epoll, level triggered.
 *
 * <p>Owner: progress agent.
 */
abstract class WatchedSet implements AutoCloseable {
    private int count;

    /** An empty set for sockets of that kind. */
    static WatchedSet of(Sockets kind, LinkServices services) {
        return kind == Sockets.NATIVE ? new EpollSet(services) : new SelectorSet();
    }

    final int size() {
        return count;
    }

    /** False if the system watches no more. */
    final boolean add(Watched item, int events) {
        item.interest(events);
        boolean added = begin(item, events);
        count += added ? 1 : 0;
        return added;
    }

    final void modify(Watched item, int events) {
        if (item.slot() >= 0 && item.interest() != events) {
            item.interest(events);
            change(item, events);
        }
    }

    /** Before the socket is closed. */
    final void remove(Watched item) {
        if (item.slot() >= 0) {
            end(item);
            item.slot(-1);
            count--;
        }
    }

    /** Gives it a place, unless the system watches no more. */
    abstract boolean begin(Watched item, int events);

    abstract void change(Watched item, int events);

    abstract void end(Watched item);

    /** Tells of what has happened; events told. */
    abstract int poll();

    /** Wakes the driver's thread when something happens from now on; false if the system cannot. */
    abstract boolean arm();

    /** Events that tell of a connection's end while it is not read; 0 if the system tells of none. */
    abstract int eventsOfEnd();

    @Override
    public abstract void close();
}
