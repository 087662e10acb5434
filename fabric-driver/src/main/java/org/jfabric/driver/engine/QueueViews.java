package org.jfabric.driver.engine;


import java.util.ArrayList;
import java.util.List;

/**
 * All views that somebody wants: one of them goes a little further in each cycle, however many there are. Without any
 * it costs one look at an empty array. Owner: progress agent.
 */
public final class QueueViews {
    /** Views that are asked in one cycle whether their next look is due. */
    private static final int TRIES = 8;

    private final List<QueueView> open = new ArrayList<>();
    private QueueView[] views = new QueueView[0];
    private int next;

    /** No views. */
    public QueueViews() {
    }

    /**
     * Begins to look.
     *
     * @param view new.
     */
    public void add(QueueView view) {
        open.add(view);
        views = open.toArray(new QueueView[0]);
    }

    /**
     * Ends a view; its file is not touched any more.
     *
     * @param view perhaps ended before.
     */
    public void remove(QueueView view) {
        if (open.remove(view)) {
            views = open.toArray(new QueueView[0]);
        }
    }

    /**
     * Ends all views of a client.
     *
     * @param watcher that is gone.
     */
    public void removeAll(EngineSession watcher) {
        if (open.removeIf(view -> view.watcher() == watcher)) {
            views = open.toArray(new QueueView[0]);
        }
    }

    /**
     * Looks a little further.
     *
     * @param nowNs time of the cycle.
     * @return work done, 0 if no look is due.
     */
    public int poll(long nowNs) {
        QueueView[] polled = views;
        int work = 0;
        for (int i = Math.min(TRIES, polled.length); i > 0 && work == 0; i--) {
            next = next + 1 < polled.length ? next + 1 : 0;
            work = polled[next].poll(nowNs);
        }
        return work;
    }
}
