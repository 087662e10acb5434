package org.jfabric.driver.ffi;

import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The asynchronous events of the devices that a process has opened. A context's descriptor delivers each event once.
 * But the connection manager has one context of a device for the whole process, which the links of all its drivers
 * share. Therefore the thread that polls takes all events and queues them for every feed of that context.
 *
 * <p>Any thread. The lock is taken for calls that do not wait, and only where a descriptor is readable.
 */
public final class AsyncEvents {
    private final Ibverbs verbs;
    private final List<Feed> feeds = new ArrayList<>();

    /** Starts without feeds. */
    public AsyncEvents(Ibverbs verbs) {
        this.verbs = verbs;
    }

    /** Registers a link for the events of a context from now on. Returns the feed, which the caller has to close. */
    public Feed open(long context) {
        Feed feed = new Feed(context);
        synchronized (feeds) {
            feeds.add(feed);
        }
        return feed;
    }

    private Ibverbs.AsyncEvent next(Feed asking) {
        synchronized (feeds) {
            for (Ibverbs.AsyncEvent event = verbs.takeAsyncEvent(asking.context); event != null;
                event = verbs.takeAsyncEvent(asking.context)) {
                for (Feed feed : feeds) {
                    if (feed.context == asking.context) {
                        feed.waiting.add(event);
                        // its thread may be asleep, and the context's descriptor is no longer readable
                        EventFd.write(feed.bell, 1);
                    }
                }
            }
            Ibverbs.AsyncEvent first = asking.waiting.poll();
            if (first == null) {
                EventFd.drain(asking.bell);
            }
            return first;
        }
    }

    /** All events of one context, for one link. Owner: the link's thread. */
    public final class Feed {
        private final long context;
        private final int bell = EventFd.create();
        private final ArrayDeque<Ibverbs.AsyncEvent> waiting = new ArrayDeque<>();

        private Feed(long context) {
            this.context = context;
        }

        /**
         * Descriptor that is readable when another thread has taken an event; that of the context is readable for
         * events that have not been taken yet. Both are to be watched. Returns the descriptor, or negative if there is
         * none left.
         */
        public int fd() {
            return bell;
        }

        /** Takes the next event. Returns null if there is none. */
        public Ibverbs.AsyncEvent next() {
            return AsyncEvents.this.next(this);
        }

        /** Closes the feed. */
        public void close() {
            synchronized (feeds) {
                feeds.remove(this);
            }
            Libc.close(bell);
        }
    }
}
