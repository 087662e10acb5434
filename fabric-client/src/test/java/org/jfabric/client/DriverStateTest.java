package org.jfabric.client;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DriverStateTest {
    private static final int RESTARTS = 1_000_000;
    private static final FabricException END = new FabricException(FabricErrno.ENODEV, "the driver has ended");

    private final DriverState state = new DriverState();

    @Test
    @Timeout(60)
    void shouldNotTakeADriverForLostThatComesBackMeanwhile() throws InterruptedException {
        Thread watcher = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < RESTARTS; i++) {
                state.leave(END);
                state.comeBack();
            }
        });
        boolean wasLost = false;
        while (watcher.isAlive()) {
            wasLost |= state.isLost();
        }
        watcher.join();
        assertFalse(wasLost, "lost while it was away or back");
        state.end(END);
        assertTrue(state.isLost());
    }
}
