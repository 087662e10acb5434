package org.jfabric.driver.link.support;

import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.Epoll;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The descriptors of connection events, completion channels and devices, in an epoll of their own, which the driver's
 * sleeping thread watches. Level triggered: what is not read yet keeps it from sleeping.
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

    /**
     * None yet.
     *
     * @param services of the driver.
     */
    public WatchedDescriptors(LinkServices services) {
        this.services = services;
    }

    /**
     * Watches a descriptor.
     *
     * @param fd      until {@link #remove} or {@link #close()}.
     * @param handler told when it is readable.
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
     * Ends watching one. A broken descriptor is readable for ever, and would let no thread sleep.
     *
     * @param fd watched before.
     */
    public void remove(int fd) {
        if (epoll != null) {
            epoll.delete(fd);
            Integer place = places.remove(fd);
            if (place != null) {
                // what this poll has still in its hand for it is nobody's matter
                handlers.set(place, NOTHING);
            }
        }
    }

    /**
     * Has those told that are readable.
     *
     * @return how many there were.
     */
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

    /** Wakes the driver's thread when one becomes readable from now on. */
    public void arm() {
        if (epoll == null) {
            return;
        }
        if (sleptOn) {
            services.rearm(epoll.fd());
        } else {
            sleptOn = true;
            // nothing to do when it wakes: the cycle that follows looks
            services.watch(epoll.fd(), fd -> { });
        }
    }

    /** Ends watching; the descriptors stay open. */
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
