package org.jfabric.driver.link.tcp;

import java.util.Arrays;
import org.jfabric.ffi.Epoll;

/** Simulated sockets that are watched; their events come in random order. */
final class SimulatedSet extends WatchedSet {
    private static final int ERRORS = Epoll.EPOLLERR | Epoll.EPOLLHUP;

    /** A watched socket, which is a port or a listener. */
    private record Entry(Watched item, SimulatedPort port, SimulatedListener listener) {
        /** Events that have occurred and are wanted. */
        int wanted(long nowNs) {
            int events = port != null ? port.isClosed() ? 0 : port.events(nowNs)
                : listener.isOpen() && listener.hasWaiting(nowNs) ? Epoll.EPOLLIN : 0;
            return events & (item.interest() | ERRORS);
        }
    }

    private final SimulatedNetwork network;
    /** Replaced by each change, because handlers change it while it is polled. */
    private Entry[] watched = {};
    /** Of the host that watches; null before the first socket. */
    private String host;

    SimulatedSet(SimulatedNetwork network) {
        this.network = network;
    }

    @Override
    boolean begin(Watched item, int events) {
        item.slot(0);
        host = host == null ? network.hostOf(item.fd()) : host;
        watched = Arrays.copyOf(watched, watched.length + 1);
        watched[watched.length - 1] = new Entry(item, network.port(item.fd()), network.listener(item.fd()));
        return true;
    }

    @Override
    void change(Watched item, int events) {
        // the events that are wanted are read with each poll
    }

    @Override
    void end(Watched item) {
        watched = Arrays.stream(watched).filter(each -> each.item != item).toArray(Entry[]::new);
    }

    @Override
    int poll() {
        Entry[] all = watched;
        if (all.length == 0) {
            return 0;
        }
        int first = network.random(all.length);
        long nowNs = network.nowNs();
        int count = 0;
        for (int i = 0; i < all.length; i++) {
            Entry entry = all[(first + i) % all.length];
            // the handler of an earlier one may have removed this one
            int events = entry.item.slot() < 0 ? 0 : entry.wanted(nowNs);
            if (events != 0) {
                entry.item.onEvents(events);
                count++;
            }
        }
        return count;
    }

    String host() {
        return host;
    }

    /** Whether a poll would find something. */
    boolean isReady() {
        long nowNs = network.nowNs();
        for (Entry entry : watched) {
            if (entry.wanted(nowNs) != 0) {
                return true;
            }
        }
        return false;
    }

    @Override
    boolean arm() {
        return false;
    }

    @Override
    int eventsOfEnd() {
        return Epoll.EPOLLRDHUP;
    }

    @Override
    public void close() {
        network.forget(this);
        watched = new Entry[0];
    }
}
