package org.jfabric.driver.link.support;

import java.util.ArrayDeque;
import org.jfabric.driver.link.LinkServices;

/**
 * The slow steps of a link's handshakes. Few are run at the same time, so that the commands of clients, which use the
 * same thread, wait for few of them, however many peers connect.
 *
 * <p>Owner: progress agent.
 */
public final class HandshakeTasks {
    private static final int MAX_RUNNING = 2;

    private final LinkServices services;
    private final ArrayDeque<HandshakeTask> waiting = new ArrayDeque<>();
    private int running;

    public HandshakeTasks(LinkServices services) {
        this.services = services;
    }

    /**
     * Has a step of a handshake run, now or when others have ended.
     *
     * @param task calls {@link #onTaskDone} when its result is applied, also if it has failed.
     */
    public void submit(HandshakeTask task) {
        if (running < MAX_RUNNING) {
            running++;
            services.submit(task);
        } else {
            waiting.addLast(task);
        }
    }

    /** A step has ended. */
    public void onTaskDone() {
        running--;
        // many peers that connect and leave must not keep the others waiting
        while (!waiting.isEmpty() && waiting.getFirst().isOver()) {
            waiting.removeFirst();
        }
        if (!waiting.isEmpty()) {
            submit(waiting.removeFirst());
        }
    }
}
