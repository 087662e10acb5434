package org.jfabric.driver.conductor.command;

import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.progress.ProgressCommand;

/** A change on the progress thread that nobody waits for; its failure is logged. */
final class QuietChange extends ProgressCommand {
    private final ConductorContext context;
    private final Runnable change;

    QuietChange(ConductorContext context, Runnable change) {
        this.context = context;
        this.change = change;
    }

    @Override
    protected void onProgress() {
        change.run();
    }

    @Override
    protected void onDone() {
        // nobody waits
    }

    @Override
    protected void onFailed(Throwable cause) {
        context.errorHandler().onError(cause);
    }
}
