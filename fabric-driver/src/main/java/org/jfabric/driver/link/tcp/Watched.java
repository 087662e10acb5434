package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;

/** A socket in the link's {@link WatchedSet}. Owner: progress agent. */
abstract class Watched {
    private int slot = -1;
    private int interest;

    /** The descriptor, -1 if the socket is closed or its descriptor is not accessible. */
    abstract int fd();

    /** The socket's channel, or null if it has none. */
    abstract SelectableChannel channel();

    /** Events of the socket have occurred, as in epoll. */
    abstract void onEvents(int events);

    /** The slot in the set; -1 while the socket is not watched. */
    final int slot() {
        return slot;
    }

    final void slot(int newSlot) {
        slot = newSlot;
    }

    final int interest() {
        return interest;
    }

    final void interest(int events) {
        interest = events;
    }
}
