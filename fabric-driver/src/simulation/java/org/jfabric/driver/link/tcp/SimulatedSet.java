package org.jfabric.driver.link.tcp;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.ffi.Epoll;

/** Simulated sockets that are watched; their events come in random order. */
final class SimulatedSet extends WatchedSet {
    private static final int ERRORS = Epoll.EPOLLERR | Epoll.EPOLLHUP;

    private final SimulatedNetwork network;
    private final List<Watched> watched = new ArrayList<>();
    /** Of the host that watches; null before the first socket. */
    private String host;

    SimulatedSet(SimulatedNetwork network) {
        this.network = network;
    }

    @Override
    boolean begin(Watched item, int events) {
        item.slot(0);
        host = host == null ? network.hostOf(item.fd()) : host;
        watched.add(item);
        return true;
    }

    @Override
    void change(Watched item, int events) {
        // the events that are wanted are read with each poll
    }

    @Override
    void end(Watched item) {
        watched.remove(item);
    }

    @Override
    int poll() {
        if (watched.isEmpty()) {
            return 0;
        }
        Watched[] all = watched.toArray(Watched[]::new);
        int first = network.random(all.length);
        long nowNs = network.nowNs();
        int count = 0;
        for (int i = 0; i < all.length; i++) {
            Watched item = all[(first + i) % all.length];
            // the handler of an earlier one may have removed this one
            int events = item.slot() < 0 ? 0 : wanted(item, nowNs);
            if (events != 0) {
                item.onEvents(events);
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
        for (int i = 0; i < watched.size(); i++) {
            if (wanted(watched.get(i), nowNs) != 0) {
                return true;
            }
        }
        return false;
    }

    private int wanted(Watched item, long nowNs) {
        return network.events(item.fd(), nowNs) & (item.interest() | ERRORS);
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
        watched.clear();
    }
}
