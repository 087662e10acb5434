package org.jfabric.driver;

import org.agrona.concurrent.Agent;
import org.jfabric.driver.conductor.DriverConductor;
import org.jfabric.driver.progress.ProgressAgent;

/** Progress and conductor on one thread, for SHARED. */
final class SharedAgent implements Agent {
    private final ProgressAgent progress;
    private final DriverConductor conductor;

    SharedAgent(DriverWiring wiring) {
        progress = wiring.progress();
        conductor = wiring.conductor();
    }

    @Override
    public void onStart() {
        progress.onStart();
        conductor.onStart();
    }

    @Override
    public int doWork() {
        return progress.doWork() + conductor.doWork();
    }

    @Override
    public String roleName() {
        return progress.roleName();
    }
}
