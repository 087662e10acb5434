package org.jfabric.driver.link.tcp;

/** A descriptor in the link's epoll. Owner: progress agent. */
abstract class Watched {
    private int slot = -1;
    private int interest;

    /** The descriptor, -1 once it is closed. */
    abstract int fd();

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
