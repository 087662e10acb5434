package org.jfabric;

import org.jfabric.client.QueueSignal;
import org.jfabric.client.WaitLine;

/**
 * The waiting for something that another process changes in shared memory. A driver that looks for the change wakes the
 * thread; if the driver itself sleeps it is woken first, so that it looks.
 */
final class ChangeWait extends WaitLoop {
    private final WaitLine line;
    private final QueueSignal signal;

    /**
     * A wait that is not closed.
     *
     * @param line   where threads sleep; null with an embedded driver in mode INVOKER, where none sleeps.
     */
    ChangeWait(Waitable source, Fabric fabric, WaitLine line) {
        super(source, fabric.driver(), fabric.invoker(), false, fabric.waitSpinNs());
        this.line = line;
        this.signal = fabric.connection().changeSignal();
    }

    @Override
    void sleep(long needed, long seenErrors, int seenSignals, long leftNs) {
        int seen = line.signal();
        line.announce(0);
        signal.onSleep();
        if (!isDone(needed, seenErrors, seenSignals)) {
            line.sleep(seen, Math.min(LineWait.SLICE_NS, leftNs));
        }
    }

    @Override
    void wake() {
        if (line != null) {
            line.wakeAll();
        }
    }
}
