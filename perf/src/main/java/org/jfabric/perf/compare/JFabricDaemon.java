package org.jfabric.perf.compare;

import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;

/** A driver for another process. */
final class JFabricDaemon implements Side {
    private final FabricDriver driver;

    /**
     * Starts it.
     *
     * @param bound    true if the progress thread is bound to this side's core.
     */
    JFabricDaemon(SideSettings settings, ThreadingMode mode, boolean bound) {
        DriverConfig.Builder config = DriverConfig.builder()
            .directory(settings.ownDirectory())
            .threadingMode(mode);
        if (bound) {
            config.set(ThreadingConfig.PROGRESS_CPU, settings.cpu());
        }
        driver = FabricDriver.launch(config.build());
    }

    @Override
    public long run(Pass pass, long count) {
        throw new IllegalStateException("A driver takes part in no pass.");
    }

    @Override
    public void close() {
        driver.close();
    }
}
