package org.jfabric.driver.link.support;

import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.Epoll;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The descriptors of connection events, completion channels and devices, in an epoll of their own, which the driver's
 * sleeping thread watches. It is level triggered: unread events keep the thread from sleeping.
 *
 * <p>Owner: progress agent.
 */
public final class WatchedDescriptors {
    private static final int MAX_EVENTS = 16;
    private static final Runnable NOTHING = () -> { };

    private final LinkServices services;
    private final List<Runnable> handlers = new ArrayList<>();
    private final Map<Integer, Integer> places = new HashMap<>();
    private Epoll epoll;
    private boolean sleptOn;

    /** Makes an object without descriptors. */
    public WatchedDescriptors(LinkServices services) {
        this.services = services;
    }

    /**
     * Watches a descriptor.
     *
     * @param fd      descriptor, watched until {@link #remove} or {@link #close()}.
     */
    public void add(int fd, Runnable handler) {
        if (epoll == null) {
            epoll = new Epoll(MAX_EVENTS);
        }
        epoll.add(fd, Epoll.EPOLLIN, handlers.size());
        places.put(fd, handlers.size());
        handlers.add(handler);
    }

    /**
     * Stops watching a descriptor. A broken descriptor is always readable and would keep the thread from sleeping.
     *
     * @param fd watched before.
     */
    public void remove(int fd) {
        if (epoll != null) {
            epoll.delete(fd);
            Integer place = places.remove(fd);
            if (place != null) {
                // an event that the current poll has already fetched for it is ignored
                handlers.set(place, NOTHING);
            }
        }
    }

    /** Calls the handlers of the readable descriptors. */
    public int poll() {
        if (epoll == null) {
            return 0;
        }
        int events = epoll.poll(0);
        for (int i = 0; i < events; i++) {
            handlers.get((int) epoll.data(i)).run();
        }
        return Math.max(0, events);
    }

    /** Lets every descriptor that becomes readable from now on wake the driver's thread. */
    public void arm() {
        if (epoll == null) {
            return;
        }
        if (sleptOn) {
            services.rearm(epoll.fd());
        } else {
            sleptOn = true;
            // the handler does nothing: the cycle after the wake-up polls this epoll
            services.watch(epoll.fd(), fd -> { });
        }
    }

    /** Stops watching all descriptors; they stay open. */
    public void close() {
        if (epoll == null) {
            return;
        }
        if (sleptOn) {
            services.unwatch(epoll.fd());
        }
        epoll.close();
        epoll = null;
    }
}
