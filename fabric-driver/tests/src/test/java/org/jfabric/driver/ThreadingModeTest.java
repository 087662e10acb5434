package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.driver.config.ThreadingMode;
import org.junit.jupiter.api.Test;

class ThreadingModeTest {

    @Test
    void shouldParkOnlyWhenSharedAndBeDrivenByTheApplicationOnlyWhenInvoked() {
        for (ThreadingMode mode : ThreadingMode.values()) {
            assertEquals(mode == ThreadingMode.SHARED, mode.mayPark());
            assertEquals(mode == ThreadingMode.INVOKER, mode.isManualProgress());
        }
    }
}
