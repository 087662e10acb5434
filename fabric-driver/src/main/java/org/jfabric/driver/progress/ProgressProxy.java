package org.jfabric.driver.progress;

import org.jfabric.driver.resource.Inbox;

/**
 * The conductor's way to the progress thread: through an inbox where the threads differ, directly where one thread runs
 * both. Owner: conductor.
 */
public final class ProgressProxy {
    private final Inbox progressInbox;
    private final Inbox conductorInbox;
    private final boolean direct;

    /**
     * A proxy.
     *
     * @param progressInbox  of the progress agent.
     * @param conductorInbox of the conductor, for results.
     * @param direct         whether one thread runs both.
     */
    public ProgressProxy(Inbox progressInbox, Inbox conductorInbox, boolean direct) {
        this.progressInbox = progressInbox;
        this.conductorInbox = conductorInbox;
        this.direct = direct;
    }

    /**
     * Has a change made on the progress thread.
     *
     * @param command whose result comes back to the conductor, before the return where one thread runs both.
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
