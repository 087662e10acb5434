package org.jfabric.driver.link.scripted;

import org.jfabric.driver.kit.SteppedServices;

/** The services of a driver for links that need only its clock, which is the script's, and its error log. */
public final class StepServices extends SteppedServices {
    /** How long a step is. */
    public static final long STEP_NS = 1_000_000;

    private final Script script;

    /**
     * Services of one driver.
     *
     * @param script whose steps are its time.
     */
    public StepServices(Script script) {
        this.script = script;
    }

    @Override
    public String driverName() {
        return "rig";
    }

    @Override
    public long nowNs() {
        return script.step() * STEP_NS;
    }
}
