package org.jfabric.perf.compare;

import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import org.agrona.concurrent.SleepingMillisIdleStrategy;

/**
 * Aeron's media driver beside two clients that talk over shared memory. It is not on a message's path, so it sleeps:
 * it has to wake up often enough to move the publication's limit, and for one message at a time that is hardly ever.
 */
final class AeronDriver implements Side {
    private static final long STREAM_SLEEP_MS = 1;
    private static final long OTHER_SLEEP_MS = 16;

    private final MediaDriver driver;

    AeronDriver(SideSettings settings) {
        driver = MediaDriver.launch(AeronPort.driverContext(settings.ownDirectory().toString())
            .threadingMode(ThreadingMode.SHARED)
            .sharedIdleStrategy(new SleepingMillisIdleStrategy(sleepMs(settings.pass()))));
    }

    /** Longest sleep of the driver's threads in milliseconds. Each wake-up takes a core from one of the two sides. */
    static long sleepMs(Pass pass) {
        return pass == Pass.STREAM ? STREAM_SLEEP_MS : OTHER_SLEEP_MS;
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
