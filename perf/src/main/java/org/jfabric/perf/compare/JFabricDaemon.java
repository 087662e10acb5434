package org.jfabric.perf.compare;

import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.ThreadingMode;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingConfig;

/** A driver for another process; its progress thread has this side's core. */
final class JFabricDaemon implements Side {
    private final FabricDriver driver;

    JFabricDaemon(SideSettings settings, ThreadingMode mode) {
        driver = FabricDriver.launch(DriverConfig.builder()
            .directory(settings.ownDirectory())
            .threadingMode(mode)
            .set(ThreadingConfig.PROGRESS_CPU, settings.cpu())
            .build());
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
