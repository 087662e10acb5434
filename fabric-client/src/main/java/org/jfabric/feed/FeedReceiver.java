package org.jfabric.feed;

import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * Receives a feed over all its paths and delivers the first copy of each message.
 *
 * <pre>{@code
 * FeedReceiver receiver = FeedReceiver.over(handler, 1024, FeedPath.of(a), FeedPath.of(b));
 * while (running) {
 *     receiver.poll(16);
 * }
 * }</pre>
 *
 * <p>Several senders may send to it, each with its own sequence. For each the receiver remembers which of the latest
 * messages have arrived, {@link #WINDOW} of them. Those that leave this window without having arrived are lost
 * ({@link FeedHandler#onGap}), and dropped if they arrive after that. The receiver knows the {@link #MAX_SENDERS}
 * senders that it has heard last.
 *
 * <p>A feed proves nothing: whoever can send to a path can send in the name of each sender. Owner: one thread.
 */
public final class FeedReceiver {
    /** Messages of one sender that are remembered: a path may be so many messages behind another one. */
    public static final int WINDOW = 4096;
    /** Senders that are remembered. */
    public static final int MAX_SENDERS = 64;

    private final FeedHandler handler;
    private final Way[] ways;
    private final Long2ObjectHashMap<FeedWindow> windows = new Long2ObjectHashMap<>();
    private final FeedWindow.Losses losses = this::onLost;
    private FeedWindow latest;
    private long arrivals;
    private long delivered;
    private long lost;

    /** A path with its slots, all of which are posted as receives. */
    private final class Way implements CompletionHandler {
        private final FeedSlots slots;

        Way(FeedPath path, int maxMessageBytes) {
            slots = new FeedSlots(path, maxMessageBytes, path.endpoint().info().rxAttr().size());
        }

        /** Posts what is free; what the driver does not take now is tried again with the next poll. */
        void post() {
            for (int slot = slots.next(); slot >= 0; slot = slots.next()) {
                int result = slots.path.receive(slots.offset(slot), slots.messageBytes, slot);
                if (result != 0) {
                    if (result != -FabricErrno.EAGAIN) {
                        slots.path.failed(-result);
                    }
                    return;
                }
                slots.use();
            }
        }

        int poll(int limit) {
            int read = slots.poll(this, limit);
            post();
            return read;
        }

        @Override
        public void onCompletion(Completion entry) {
            long slot = entry.opContext();
            if ((entry.flags() & Flags.RECV) != 0 && slots.isInUse(slot)) {
                try {
                    onArrival(this, slots.offset(slot), (int) entry.len());
                } finally {
                    slots.end(slot);
                }
            }
        }
    }

    private FeedReceiver(FeedHandler handler, int maxMessageBytes, FeedPath[] paths) {
        FeedPath.require(paths);
        this.handler = Codes.required(handler, "handler");
        ways = new Way[paths.length];
        for (int i = 0; i < paths.length; i++) {
            ways[i] = new Way(paths[i], maxMessageBytes);
        }
        for (Way way : ways) {
            way.post();
        }
    }

    /**
     * Makes a receiver, and posts receives on all paths.
     *
     * @param handler         takes the messages.
     * @param maxMessageBytes length of the longest message, 0 or more; a longer one ends with an error of its path.
     * @param paths           one or more.
     * @return a receiver.
     * @throws FabricException {@link FabricErrno#EINVAL} for no path, null, or messages that are too long for one;
     *     {@link FabricErrno#ENOBUFS} if the memory of a path is too short for one message.
     */
    public static FeedReceiver over(FeedHandler handler, int maxMessageBytes, FeedPath... paths) {
        return new FeedReceiver(handler, maxMessageBytes, paths);
    }

    /**
     * Takes what has arrived, path by path. An embedded driver in mode INVOKER works meanwhile. An exception of the
     * handler passes through; its message counts as delivered.
     *
     * @param limit entries of each path at most, 1 or more.
     * @return entries read, those of repeated messages included.
     */
    public int poll(int limit) {
        int read = 0;
        for (Way way : ways) {
            read += way.poll(limit);
        }
        return read;
    }

    private void onArrival(Way way, int offset, int length) {
        FeedPath path = way.slots.path;
        path.taken++;
        if (!FeedHeader.isThere(way.slots.buffer, offset, length)) {
            path.unrecognized++;
            return;
        }
        long sender = FeedHeader.sender(way.slots.buffer, offset);
        long sequence = FeedHeader.sequence(way.slots.buffer, offset);
        if (window(sender).arrive(sequence) == FeedWindow.Arrival.FIRST) {
            path.firsts++;
            delivered++;
            handler.onMessage(
                sender, sequence, way.slots.buffer, offset + FeedHeader.LENGTH, length - FeedHeader.LENGTH);
        } else {
            path.repeats++;
        }
    }

    private FeedWindow window(long sender) {
        FeedWindow window = latest;
        if (window == null || window.sender() != sender) {
            window = windows.get(sender);
            if (window == null) {
                window = open(sender);
            }
            latest = window;
        }
        window.lastUse(++arrivals);
        return window;
    }

    private FeedWindow open(long sender) {
        if (windows.size() == MAX_SENDERS) {
            FeedWindow oldest = null;
            for (FeedWindow each : windows.values()) {
                oldest = oldest == null || each.lastUse() < oldest.lastUse() ? each : oldest;
            }
            windows.remove(oldest.sender());
        }
        FeedWindow window = new FeedWindow(sender, WINDOW, losses);
        windows.put(sender, window);
        return window;
    }

    private void onLost(FeedWindow window, long first, long count) {
        lost += count;
        handler.onGap(window.sender(), first, count);
    }

    /**
     * Messages delivered.
     *
     * @return the count.
     */
    public long delivered() {
        return delivered;
    }

    /**
     * Messages that were reported as lost.
     *
     * @return the count.
     */
    public long lost() {
        return lost;
    }
}
