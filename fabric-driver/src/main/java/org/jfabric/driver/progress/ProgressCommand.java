package org.jfabric.driver.progress;

import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.Inbox;

/**
 * A change that the conductor requests on the progress thread, and the handling of its result.
 */
public abstract class ProgressCommand implements Runnable {
    /** Allocated before the change, so that its result can be sent back even without free memory. */
    private final Runnable result = this::complete;
    private Inbox conductorInbox;
    private Throwable failure;
    private InternalError fault;

    protected ProgressCommand() {
    }

    /** Makes the change; progress thread. */
    protected abstract void onProgress();

    /** The change is made; conductor. */
    protected abstract void onDone();

    /**
     * The change was refused; conductor.
     *
     * @param cause thrown by {@link #onProgress()}.
     */
    protected abstract void onFailed(Throwable cause);

    /**
     * Makes the change and sends the result back; progress thread.
     *
     * @throws InternalError of the change: the cycle catches it and finds the truncated file.
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
        // that of an access before must not interrupt the change
        takeFault();
        try {
            onProgress();
        } catch (RuntimeException | Error ex) {
            // the caller must be notified even after an out-of-memory error
            failure = ex;
            if (ex instanceof InternalError cut) {
                fault = cut;
            }
        }
        // the change is made and in use: its caller must not unmap what it has made, as after a failure
        takeFault();
    }

    private void takeFault() {
        try {
            FaultPoint.pass();
        } catch (InternalError cut) {
            fault = cut;
        }
    }

    /** Returns the error of an access to a truncated file, before or in the change, or null. */
    final InternalError fault() {
        return fault;
    }

    final void complete() {
        if (failure == null) {
            onDone();
        } else {
            onFailed(failure);
        }
    }
}
