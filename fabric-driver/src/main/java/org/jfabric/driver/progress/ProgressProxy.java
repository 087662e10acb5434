package org.jfabric.driver.progress;

import org.jfabric.driver.resource.Inbox;

/**
 * Passes commands of the conductor to the progress thread: through an inbox, or directly if one thread runs both.
 * Owner: conductor.
 */
public final class ProgressProxy {
    private final Inbox progressInbox;
    private final Inbox conductorInbox;
    private final boolean direct;

    /**
     * A proxy.
     *
     * @param direct         true if one thread runs both.
     */
    public ProgressProxy(Inbox progressInbox, Inbox conductorInbox, boolean direct) {
        this.progressInbox = progressInbox;
        this.conductorInbox = conductorInbox;
        this.direct = direct;
    }

    /** Inbox for the results of slow work that the progress thread has requested itself. */
    public Inbox inbox() {
        return progressInbox;
    }

    /**
     * Has a change made on the progress thread.
     *
     * @param command its result comes back to the conductor; if one thread runs both, before this method returns.
     */
    public void execute(ProgressCommand command) {
        if (direct) {
            command.execute();
            command.complete();
            InternalError fault = command.fault();
            if (fault != null) {
                // not here, in the middle of the conductor's command: the next cycle catches it
                progressInbox.post(() -> {
                    throw fault;
                });
            }
        } else {
            command.replyTo(conductorInbox);
            progressInbox.post(command);
        }
    }
}
