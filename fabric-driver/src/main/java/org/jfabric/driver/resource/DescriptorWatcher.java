package org.jfabric.driver.resource;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeCallException;

import java.util.function.IntConsumer;

/**
 * One native epoll on which a driver's thread sleeps, and the descriptors that it watches.
 *
 * <p>Each watched descriptor reports once and is then silent until it is rearmed, so that a handler on another thread
 * has time. An event is handled at once if the polling thread owns the inbox, else it goes through the inbox. Any
 * thread may watch, rearm, unwatch and wake; one thread polls.
 */
public final class DescriptorWatcher implements AutoCloseable {
    private static final int MASK = Epoll.EPOLLIN | Epoll.EPOLLRDHUP | Epoll.EPOLLONESHOT;
    private static final int MAX_EVENTS = 64;
    private static final long WAKE_TOKEN = 0;

    private final Epoll epoll = new Epoll(MAX_EVENTS);
    private final int wakeFd;
    /** Primitive keys: a driver that sleeps reads the map for each doorbell, and must not box. Guarded by the lock. */
    private final Long2ObjectHashMap<Watch> watchByToken = new Long2ObjectHashMap<>();
    private final Int2ObjectHashMap<Watch> watchByFd = new Int2ObjectHashMap<>();
    private final Object lock = new Object();
    private long nextToken = WAKE_TOKEN + 1;

    public DescriptorWatcher() {
        wakeFd = EventFd.create();
        if (wakeFd < 0) {
            epoll.close();
            throw new NativeCallException("eventfd", -wakeFd, "raise the limit of open files (ulimit -n)");
        }
        epoll.add(wakeFd, Epoll.EPOLLIN, WAKE_TOKEN);
    }

    /**
     * Watches a descriptor for one event: readable, at its end or broken.
     *
     * @param fd      non-blocking, not watched yet.
     * @param handler notified once; after {@link #rearm} again.
     */
    public void watch(int fd, IntConsumer handler, Inbox inbox) {
        synchronized (lock) {
            Watch watch = new Watch(fd, nextToken++, handler, inbox);
            int result = epoll.add(fd, MASK, watch.token);
            if (result < 0) {
                throw new NativeCallException("epoll_ctl", -result, "descriptor " + fd);
            }
            // an immediate event finds its watch under the same lock
            watchByToken.put(watch.token, watch);
            watchByFd.put(fd, watch);
        }
    }

    /**
     * Watches for the next event.
     *
     * @param fd watched before.
     */
    public void rearm(int fd) {
        synchronized (lock) {
            Watch watch = watchByFd.get(fd);
            if (watch != null) {
                epoll.modify(fd, MASK, watch.token);
            }
        }
    }

    /**
     * Ends watching; an event on its way is dropped. The descriptor stays open.
     *
     * @param fd watched before, or not.
     */
    public void unwatch(int fd) {
        synchronized (lock) {
            Watch watch = watchByFd.remove(fd);
            if (watch != null) {
                watchByToken.remove(watch.token);
                epoll.delete(fd);
            }
        }
    }

    /**
     * Waits for events and hands them on.
     *
     * @param timeoutMs longest sleep in milliseconds; 0 polls without sleeping.
     * @param own       inbox of the polling thread: its events are handled before the return.
     */
    public int poll(int timeoutMs, Inbox own) {
        int count = epoll.poll(timeoutMs);
        int work = 0;
        for (int i = 0; i < count; i++) {
            long token = epoll.data(i);
            if (token == WAKE_TOKEN) {
                EventFd.drain(wakeFd);
                continue;
            }
            // a token is never reused, so an event of a descriptor closed meanwhile finds nothing
            Watch watch = watch(token);
            if (watch == null) {
                continue;
            }
            work++;
            if (watch.inbox == own) {
                watch.run();
            } else {
                watch.inbox.post(watch);
            }
        }
        return work;
    }

    /** Ends the sleep of the polling thread, now or when it is about to begin; any thread. */
    public void wake() {
        // a task that ends late wakes also after the close, when the number may be another file's
        synchronized (lock) {
            if (epoll.fd() >= 0) {
                EventFd.write(wakeFd, 1);
            }
        }
    }

    /** Closes the epoll; again does nothing. No thread may poll any more; the other calls have no effect then. */
    @Override
    public void close() {
        synchronized (lock) {
            if (epoll.fd() >= 0) {
                epoll.close();
                Libc.close(wakeFd);
            }
        }
    }

    private Watch watch(long token) {
        synchronized (lock) {
            return watchByToken.get(token);
        }
    }

    private final class Watch implements Runnable {
        private final int fd;
        private final long token;
        private final IntConsumer handler;
        private final Inbox inbox;

        Watch(int fd, long token, IntConsumer handler, Inbox inbox) {
            this.fd = fd;
            this.token = token;
            this.handler = handler;
            this.inbox = inbox;
        }

        @Override
        public void run() {
            if (watch(token) == this) {
                handler.accept(fd);
            }
        }
    }
}
