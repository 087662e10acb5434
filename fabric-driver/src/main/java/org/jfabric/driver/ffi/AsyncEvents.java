package org.jfabric.driver.ffi;

import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The asynchronous events of the devices that a process has opened. A context's descriptor tells each event once, but
 * the connection manager has one context of a device for the whole process, which the links of all its drivers share:
 * so whoever looks takes what is there and leaves it for every feed of that context.
 *
 * <p>Any thread. The lock is held for calls that do not wait, and only where a descriptor says that there is something.
 */
public final class AsyncEvents {
    private final Ibverbs verbs;
    private final List<Feed> feeds = new ArrayList<>();

    /**
     * No feeds.
     *
     * @param verbs of this process.
     */
    public AsyncEvents(Ibverbs verbs) {
        this.verbs = verbs;
    }

    /**
     * Lets a link hear of what happens to a context from now on.
     *
     * @param context of a device.
     * @return to be closed.
     */
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
                        // its thread may be asleep, and the context's descriptor has nothing any more
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
         * Descriptor that is readable when somebody else has taken an event; that of the context says the same of those
         * that nobody has taken yet. Both are to be watched.
         *
         * @return descriptor, or negative if there is none left.
         */
        public int fd() {
            return bell;
        }

        /**
         * Takes the next event.
         *
         * @return null if there is none.
         */
        public Ibverbs.AsyncEvent next() {
            return AsyncEvents.this.next(this);
        }

        /** Ends it. */
        public void close() {
            synchronized (feeds) {
                feeds.remove(this);
            }
            Libc.close(bell);
        }
    }
}
