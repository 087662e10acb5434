package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;

/** A socket in the link's {@link WatchedSet}. Owner: progress agent. */
abstract class Watched {
    private int slot = -1;
    private int interest;

    /** The descriptor, -1 once it is closed, or if it is not known. */
    abstract int fd();

    /** The channel, or null if it has none. */
    abstract SelectableChannel channel();

    /** Something has happened to it; events as in epoll. */
    abstract void onEvents(int events);

    /** Its place among the watched ones; -1 while it is not. */
    final int slot() {
        return slot;
    }

    final void slot(int newSlot) {
        slot = newSlot;
    }

    /** Events that are looked for. */
    final int interest() {
        return interest;
    }

    final void interest(int events) {
        interest = events;
    }
}
