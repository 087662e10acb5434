package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An idle daemon leaves the processor alone. */
@Tag("slow")
@Timeout(120)
class IdleDaemonTest {
    /** Until one is as quiet as it should be: in the first ones the compiler may still be busy. */
    private static final int WINDOWS = 12;
    /** Longer than the time between two of whatever a driver does now and then, which is a second at most. */
    private static final long WINDOW_MS = Effort.rounds(2_000, 10_000);
    /** USER_HZ, the unit of times in /proc, is 100 on every machine that Linux has now. */
    private static final long MS_PER_TICK = 10;
    private static final double MOST_PERCENT = 1.0;
    private static final int UTIME = 11;
    private static final int STIME = 12;

    @Test
    void shouldUseAtMostOnePercentOfACoreWithAnIdleClient() throws IOException, InterruptedException {
        Path base = TestDirectory.create();
        try (DriverProcess driver = DriverProcess.start(base.resolve("idle"), "jfabric.threading.mode=SHARED");
            FabricNode node = new FabricNode(
                Fabric.connect(new FabricConfig().directory(driver.directory())), "loopback",
                new Info().caps(Flags.TAGGED), 512, 0, () -> { })) {
            long self = node.av.insert(node.endpoint.name());
            node.endpoint.trecv(node.memory.address(), 64, -1, 7, 0, 1);
            node.endpoint.tsend(node.memory.address() + 64, 64, self, 7, 2);
            node.await();
            node.await();
            double least = Double.MAX_VALUE;
            for (int window = 0; window < WINDOWS && least > MOST_PERCENT; window++) {
                least = Math.min(least, percentOfACore(driver.process().pid()));
            }
            System.out.println("idle daemon: " + least + " % of a core");
            assertTrue(least <= MOST_PERCENT, "the idle daemon used " + least + " % of a core");
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static double percentOfACore(long pid) throws IOException, InterruptedException {
        long beginNs = System.nanoTime();
        long begin = ticks(pid);
        Thread.sleep(WINDOW_MS);
        long usedMs = (ticks(pid) - begin) * MS_PER_TICK;
        return usedMs * 100.0 * 1_000_000 / (System.nanoTime() - beginNs);
    }

    /** User and system time of all its threads; the fields are counted behind the name, which may hold spaces. */
    private static long ticks(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[UTIME]) + Long.parseLong(fields[STIME]);
    }
}
