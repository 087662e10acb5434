package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The command, with a daemon that runs, is stopped, and is killed. */
@Tag("slow") // runs daemons
@Timeout(120)
class WhyCommandTest {
    private static final long STOP_NS = TimeUnit.MILLISECONDS.toNanos(60);

    private final ToolDirectory directory = new ToolDirectory();
    private final Path path = directory.driver("watched");

    @AfterEach
    void close() {
        directory.close();
    }

    private List<?> longest(ToolRun run) {
        assertEquals(0, run.status(), run::err);
        return (List<?>) ((Map<?, ?>) JsonText.object(run.out()).get("outliers")).get("longest");
    }

    private static List<String> kinds(Object outlier) {
        return ((List<?>) ((Map<?, ?>) outlier).get("causes")).stream()
            .map(cause -> (String) ((Map<?, ?>) cause).get("kind")).toList();
    }

    private ToolRun why(String... more) {
        String[] all = new String[more.length + 4];
        System.arraycopy(new String[] {"why", "--dir", path.toString(), "--json"}, 0, all, 0, 4);
        System.arraycopy(more, 0, all, 4, more.length);
        return ToolRun.of(all);
    }

    @Test
    void shouldSeeThatADriverWasStoppedWhileItWasWatched() {
        String flag = SafepointLog.flag(directory.base.resolve("vm.log"));
        try (DriverProcess driver = DriverProcess.start(
            path, "jfabric.threading.mode=DEDICATED", "-XX:+UseSerialGC", flag)) {
            CompletableFuture<ToolRun> watching = CompletableFuture.supplyAsync(() -> why("--seconds=1.5"));
            // the watch has begun at some of these times
            while (!watching.isDone()) {
                TestProcess.signal(driver.process(), "STOP");
                LockSupport.parkNanos(STOP_NS);
                TestProcess.signal(driver.process(), "CONT");
                LockSupport.parkNanos(STOP_NS);
            }
            List<?> watched = longest(watching.join());
            List<?> stops = watched.stream()
                .filter(each -> (Double) ((Map<?, ?>) each).get("ns") >= STOP_NS / 2.0).toList();
            assertTrue(stops.stream().filter(each -> kinds(each).contains("stopped")).count() >= 3, watched::toString);
            // what happened before is not known afterwards
            List<?> before = longest(why("--seconds=0", "--past", "--above=" + STOP_NS / 2));
            assertTrue(!before.isEmpty() && before.stream().noneMatch(each -> kinds(each).contains("stopped")),
                before::toString);
            ToolRun text = ToolRun.of("why", "--dir", path.toString(), "--seconds=0", "--past",
                "--above=" + STOP_NS / 2);
            assertTrue(text.out().lines().anyMatch(line -> line.endsWith(": not known")
                && line.contains("slow cycle of progress-0 of ")), text.out());
            driver.kill();
            assertTrue(longest(why()).size() >= before.size(), "of a killed driver all that it has recorded");
        }
    }

    /** It takes its files and its directory along. */
    @Test
    void shouldShowWhatADriverRecordedThatEndedWhileItWasWatched() throws Exception {
        try (DriverProcess driver = DriverProcess.start(
            path, "jfabric.threading.mode=DEDICATED", "jfabric.metrics.slowCycleNs=1000")) {
            Deadline.awaitParked("slow cycles",
                () -> ToolRun.of("record", "--dir", path.toString()).out().contains("slow-cycle"));
            FutureTask<ToolRun> watching = new FutureTask<>(() -> why("--seconds=600", "--past"));
            Thread thread = Thread.ofPlatform().daemon().start(watching);
            Deadline.awaitParked("it watches", () -> watching.isDone() || Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(DriverWatch.class.getName())));
            driver.process().destroy();
            Deadline.awaitParked("the watch ends with the driver", watching::isDone);
            assertTrue(!longest(watching.get()).isEmpty());
        }
    }

    @Test
    void shouldReadSafepointsAndCollectionsOfTheLogOfAVirtualMachine() {
        Path log = directory.base.resolve("vm.log");
        try (DriverProcess driver = DriverProcess.start(path, "-XX:+UseSerialGC", SafepointLog.flag(log))) {
            Fabric.connect(new FabricConfig().directory(path)).close();
            long begin = System.nanoTime();
            TestProcess.run(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(driver.process().pid()), "GC.run").succeeded();
            Deadline.await("the collection is logged", () -> SafepointLog.read("driver", log).stream()
                .filter(cause -> cause.beginNs() > begin && cause.endNs() <= System.nanoTime())
                .map(Cause::kind).toList().containsAll(List.of(Cause.Kind.SAFEPOINT, Cause.Kind.COLLECTION)),
                () -> SafepointLog.read("driver", log));
            ToolRun run = why("--seconds=0", "--vm-log", log.toString());
            assertEquals(0, run.status(), run::err);
        }
    }
}
