package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The daemon as a process of its own. */
@Tag("slow")
@Timeout(120)
class DriverProcessTest {
    @TempDir
    private Path temporary;

    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void kill() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldEndOrderlyWhenTerminated() throws Exception {
        Process daemon = start();
        ControlClient client = client();
        client.open("", "");
        FabricException busy = assertThrows(FabricException.class, () -> FabricDriver.launch(config()));
        assertEquals(FabricErrno.EBUSY, busy.errno());
        assertTrue(busy.getMessage().contains("process " + daemon.pid()), busy.getMessage());
        daemon.destroy();
        assertTrue(daemon.waitFor(Deadline.s(20), TimeUnit.SECONDS));
        assertEquals(0, daemon.exitValue());
        assertTrue(client.expectEnded().contains("closes"));
        assertFalse(Files.exists(path()));
        client.close();
    }

    @Test
    void shouldStartAgainAfterAKill() throws Exception {
        Process daemon = start();
        ControlClient client = client();
        client.open("mine", "service");
        client.register(1 << 20);
        daemon.destroyForcibly().waitFor();
        client.await("the end of file", client::isEnded);
        client.close();
        start();
        try (ControlClient again = client()) {
            again.open("mine", "service");
        }
    }

    @Test
    void shouldTakeAtMostOnePercentOfACoreWhenIdle() throws Exception {
        Process daemon = start();
        try (ControlClient client = client()) {
            client.open("", "");
            client.await("the driver to park", client::isParked);
            // what is compiled at start is not idleness
            TimeUnit.SECONDS.sleep(2);
            Duration used = usedInTenSeconds(daemon);
            // nor is what the compilers have left over
            for (int again = 0; again < 2 && used.toMillis() > 100; again++) {
                used = usedInTenSeconds(daemon);
            }
            assertTrue(used.toMillis() <= 100, "used " + used + " of 10 s");
        }
    }

    private static Duration usedInTenSeconds(Process process) throws InterruptedException {
        Duration before = process.info().totalCpuDuration().orElseThrow();
        TimeUnit.SECONDS.sleep(10);
        return process.info().totalCpuDuration().orElseThrow().minus(before);
    }

    private Path path() {
        return temporary.resolve("base").resolve("driver");
    }

    private DriverConfig config() {
        return DriverConfig.builder().directory(path()).build();
    }

    private ControlClient client() {
        return new ControlClient(path(), () -> {
        });
    }

    private Process start() {
        DriverProcess driver = DriverProcess.start(path());
        processes.add(driver.process());
        return driver.process();
    }
}
