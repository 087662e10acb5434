package org.jfabric.driver.conductor;

import org.jfabric.codec.control.Done;

/** Begins the histogram of duty cycles anew, on every progress thread. Owner: conductor. */
final class ResetCycleTimesCommand extends Command {
    private boolean isReset;

    ResetCycleTimesCommand(CommandRequest request) {
        super(request);
        session().requireDriversUser("a reset of the driver's cycle times");
    }

    @Override
    protected Step step(long nowNs) {
        if (!isReset) {
            isReset = true;
            onThreads(thread -> context().threads().get(thread).agent().resetCycleTimes());
            return Step.AGAIN;
        }
        return answer(new Done(correlationId()));
    }
}
