package org.jfabric.tool.watch;

import java.util.Locale;

/** The state of the queues between an endpoint and a peer, the worst one last. */
enum QueueState {
    /** Nothing waits and nothing moves. */
    IDLE,
    /** Messages move and nothing waits for long. */
    FLOWING,
    /** Something has waited since the sample before, and messages move. */
    WAITING,
    /** Something has waited since the sample before, and nothing moves. */
    STUCK,
    /** The channel is not up, or the driver does not run. */
    DOWN;

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    QueueState worse(QueueState other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
