package org.jfabric.driver.link.tcp;


/**
 * The sockets of the link that are watched for events; events as in epoll, level triggered.
 *
 * <p>Owner: progress agent.
 */
abstract class WatchedSet implements AutoCloseable {
    private int count;

    final int size() {
        return count;
    }

    /** Watches a socket; false if the system refuses that. */
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

    /** Stops watching a socket, before it is closed. */
    final void remove(Watched item) {
        if (item.slot() >= 0) {
            end(item);
            item.slot(-1);
            count--;
        }
    }

    /** Adds a socket to the set; false if the system refuses that. */
    abstract boolean begin(Watched item, int events);

    abstract void change(Watched item, int events);

    abstract void end(Watched item);

    /** Calls the sockets that have events; returns the number of events. */
    abstract int poll();

    /** Lets every event from now on wake the driver's thread; false if that is not possible. */
    abstract boolean arm();

    /** Events that report a connection's end while it is not read; 0 if there are none. */
    abstract int eventsOfEnd();

    @Override
    public abstract void close();
}
