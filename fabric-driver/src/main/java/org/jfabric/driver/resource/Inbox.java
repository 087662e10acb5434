package org.jfabric.driver.resource;

import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

/**
 * Tasks of other threads for one thread: results of slow work, readable descriptors, commands.
 *
 * <p>Never full, so that no poster has to wait; the limits for a client's pending operations bound its length.
 * Any thread posts; the owner drains.
 */
public final class Inbox {
    private final ManyToOneConcurrentLinkedQueue<Runnable> queue = new ManyToOneConcurrentLinkedQueue<>();
    private volatile Runnable waker = () -> {
    };

    /** An inbox whose owner never sleeps. */
    public Inbox() {
    }

    /**
     * Says how to wake the owner.
     *
     * @param newWaker run after each post, by the thread that posts.
     */
    public void waker(Runnable newWaker) {
        waker = newWaker;
    }

    /**
     * Hands something over; any thread.
     *
     * @param item run by the owner in a later cycle.
     */
    public void post(Runnable item) {
        queue.offer(item);
        waker.run();
    }

    /**
     * Runs posted items: those that were there at the start and a few more at most; owner only.
     *
     * @param limit items to run at most.
     */
    public int drain(int limit) {
        int work = 0;
        while (work < limit) {
            Runnable item = queue.poll();
            if (item == null) {
                break;
            }
            work++;
            item.run();
        }
        return work;
    }

    /** Checks whether there is nothing to drain. Returns true if empty at this moment. */
    public boolean isEmpty() {
        return queue.isEmpty();
    }
}
