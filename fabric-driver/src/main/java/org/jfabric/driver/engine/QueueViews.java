package org.jfabric.driver.engine;


import java.util.ArrayList;
import java.util.List;

/**
 * All open queue views. In each duty cycle one of them does a bounded step, however many there are. Without views a
 * cycle tests one empty array. Owner: progress agent.
 */
public final class QueueViews {
    /** Number of views that are checked in one cycle for a due snapshot. */
    private static final int TRIES = 8;

    private final List<QueueView> open = new ArrayList<>();
    private QueueView[] views = new QueueView[0];
    private int next;

    public QueueViews() {
    }

    public void add(QueueView view) {
        open.add(view);
        views = open.toArray(new QueueView[0]);
    }

    /**
     * Ends a view; its file is not touched any more.
     *
     * @param view may have been removed before.
     */
    public void remove(QueueView view) {
        if (open.remove(view)) {
            view.endScan();
            views = open.toArray(new QueueView[0]);
        }
    }

    /** Ends all views of a client. */
    public void removeAll(EngineSession watcher) {
        for (QueueView view : views) {
            if (view.watcher() == watcher) {
                remove(view);
            }
        }
    }

    /** Does one bounded step of a due snapshot. Returns the work done, 0 if no snapshot is due. */
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
