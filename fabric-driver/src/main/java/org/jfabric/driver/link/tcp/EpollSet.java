package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.Epoll;

import java.util.Arrays;

/**
 * Descriptors in an epoll of their own, level triggered. The driver's thread sleeps in another epoll, which watches
 * this one: unread data keeps the thread from sleeping.
 *
 * <p>Owner: progress agent.
 */
final class EpollSet extends WatchedSet {
    private static final int MAX_EVENTS = 128;

    private final LinkServices services;
    private final Epoll epoll = new Epoll(MAX_EVENTS);
    private Watched[] watched = new Watched[16];
    /** How often each slot was used, so that an event of a former user of the slot is ignored. */
    private int[] uses = new int[16];
    private int firstFree;
    private boolean sleptOn;

    EpollSet(LinkServices services) {
        this.services = services;
    }

    @Override
    boolean begin(Watched item, int events) {
        int slot = firstFree;
        while (slot < watched.length && watched[slot] != null) {
            slot++;
        }
        if (slot == watched.length) {
            watched = Arrays.copyOf(watched, 2 * slot);
            uses = Arrays.copyOf(uses, 2 * slot);
        }
        firstFree = slot;
        uses[slot]++;
        if (epoll.add(item.fd(), events, token(slot)) < 0) {
            return false;
        }
        firstFree = slot + 1;
        watched[slot] = item;
        item.slot(slot);
        return true;
    }

    @Override
    void change(Watched item, int events) {
        epoll.modify(item.fd(), events, token(item.slot()));
    }

    @Override
    void end(Watched item) {
        epoll.delete(item.fd());
        watched[item.slot()] = null;
        firstFree = Math.min(firstFree, item.slot());
    }

    @Override
    int poll() {
        int events = epoll.poll(0);
        for (int i = 0; i < events; i++) {
            long token = epoll.data(i);
            int slot = (int) token;
            Watched item = watched[slot];
            if (item != null && uses[slot] == (int) (token >>> 32)) {
                item.onEvents(epoll.events(i));
            }
        }
        return Math.max(0, events);
    }

    @Override
    boolean arm() {
        if (sleptOn) {
            services.rearm(epoll.fd());
        } else {
            sleptOn = true;
            // the handler does nothing: the cycle after the wake-up polls this epoll
            services.watch(epoll.fd(), fd -> { });
        }
        return true;
    }

    @Override
    int eventsOfEnd() {
        return Epoll.EPOLLRDHUP;
    }

    @Override
    public void close() {
        if (sleptOn) {
            services.unwatch(epoll.fd());
        }
        epoll.close();
    }

    private long token(int slot) {
        return (long) uses[slot] << 32 | slot;
    }
}
