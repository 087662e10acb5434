package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The daemon as a process of its own. */
@Tag("slow")
@Timeout(120)
class DriverProcessTest {
    private static final long ONE_PERCENT_NS = TimeUnit.SECONDS.toNanos(1) / 100;
    private static final int MOST_SECONDS = 20;

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
            // what is compiled at start is not idleness, nor is what the compilers have left over
            List<Long> used = new ArrayList<>();
            do {
                used.add(usedInASecond(daemon));
            } while (used.getLast() > ONE_PERCENT_NS && used.size() < MOST_SECONDS);
            assertTrue(used.getLast() <= ONE_PERCENT_NS, "used nanoseconds, second by second: " + used);
        }
    }

    /** A second has ten turns of each thread that wakes up every 100 ms. */
    private static long usedInASecond(Process process) throws Exception {
        long before = usedNs(process);
        TimeUnit.SECONDS.sleep(1);
        return usedNs(process) - before;
    }

    /** The scheduler's own account, to the nanosecond; that of the process is in steps of a hundredth of a second. */
    private static long usedNs(Process process) throws IOException {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
            for (Path thread : threads) {
                sum += usedByThreadNs(thread);
            }
        }
        return sum;
    }

    private static long usedByThreadNs(Path thread) {
        try {
            return Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
        } catch (IOException e) {
            // it has ended
            return 0;
        }
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
