package org.jfabric.driver.progress;

import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.Inbox;

/**
 * A change that the conductor wants made on the progress thread, and what becomes of it.
 */
public abstract class ProgressCommand implements Runnable {
    /** Made before the change, so that its result can be sent back also where memory is lacking. */
    private final Runnable result = this::complete;
    private Inbox conductorInbox;
    private Throwable failure;

    /** For subclasses. */
    protected ProgressCommand() {
    }

    /** The change; progress thread. */
    protected abstract void onProgress();

    /** The change is made; conductor. */
    protected abstract void onDone();

    /**
     * The change was refused; conductor.
     *
     * @param cause what {@link #onProgress()} threw.
     */
    protected abstract void onFailed(Throwable cause);

    /**
     * Makes the change and sends the result back; progress thread.
     *
     * @throws InternalError of the change: whose file was cut is found out where the cycle catches it.
     */
    @Override
    public final void run() {
        execute();
        conductorInbox.post(result);
        InternalError fault = fault();
        if (fault != null) {
            throw fault;
        }
    }

    final void replyTo(Inbox inbox) {
        conductorInbox = inbox;
    }

    final void execute() {
        try {
            onProgress();
            FaultPoint.pass();
        } catch (RuntimeException | Error ex) {
            // whoever waits must be told, also if it was memory that was lacking
            failure = ex;
        }
    }

    /** What an access to a file that was cut threw, or null. */
    final InternalError fault() {
        return failure instanceof InternalError fault ? fault : null;
    }

    final void complete() {
        if (failure == null) {
            onDone();
        } else {
            onFailed(failure);
        }
    }
}
