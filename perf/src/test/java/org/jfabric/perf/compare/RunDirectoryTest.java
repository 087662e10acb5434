package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jfabric.test.Deadline;
import org.jfabric.tool.FabricTool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run that is ended from outside leaves neither processes nor files. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RunDirectoryTest {
    private static final long DEADLINE_S = Deadline.s(60);

    private static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, what);
            Thread.sleep(10);
        }
    }

    /** An orphan that has ended counts as alive until somebody has asked for its status, which may take seconds. */
    private static boolean isRunning(ProcessHandle process) {
        try {
            String status = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
            return process.isAlive() && status.charAt(status.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException gone) {
            return false;
        }
    }

    /** Ended by SIGTERM, and by SIGKILL. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLeaveNothingBehind(boolean killed) throws Exception {
        Process rig = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
            FabricTool.class.getName(), "compare", "--systems", "jfabric-invoker", "--sizes", "64", "--rounds", "1000")
            .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        List<ProcessHandle> sides = new ArrayList<>();
        try {
            await("two sides", () -> rig.descendants().filter(side -> folder(side) != null).count() == 2);
            rig.descendants().forEach(sides::add);
            Path folder = folder(sides.getFirst());
            await("a driver in " + folder, () -> hasEntries(folder));
            if (killed) {
                rig.destroyForcibly();
            } else {
                rig.destroy();
            }
            assertTrue(rig.waitFor(DEADLINE_S, TimeUnit.SECONDS));
            await("the end of " + sides, () -> sides.stream().noneMatch(RunDirectoryTest::isRunning));
            assertTrue(Files.notExists(folder), folder::toString);
        } finally {
            rig.destroyForcibly();
            sides.forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** A program that no other process would end. */
    @Test
    void shouldTieAProgramToTheOneThatStartedIt() throws Exception {
        assumeTrue(Programs.find("setpriv") != null, "setpriv is not installed (Debian: util-linux)");
        String command = String.join(" ", NativePair.bound(List.of("sleep", "1000"), 0));
        Process parent = new ProcessBuilder("sh", "-c", command + " & echo $!; wait").start();
        try (BufferedReader out = new BufferedReader(
            new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8))) {
            ProcessHandle child = ProcessHandle.of(Long.parseLong(out.readLine())).orElseThrow();
            try {
                // before that it is not tied yet
                await("sleep", () -> child.info().command().orElse("").endsWith("sleep"));
                parent.destroyForcibly().waitFor();
                await("the end of sleep", () -> !isRunning(child));
            } finally {
                child.destroyForcibly();
            }
        } finally {
            parent.destroyForcibly();
        }
    }

    private static Path folder(ProcessHandle side) {
        List<String> arguments = arguments(side);
        int name = arguments.indexOf("--dir");
        return name < 0 ? null : Path.of(arguments.get(name + 1));
    }

    /** {@link ProcessHandle} has none of a process whose class path is longer than a page. */
    static List<String> arguments(ProcessHandle process) {
        try {
            return List.of(Files.readString(Path.of("/proc/" + process.pid() + "/cmdline")).split("\0"));
        } catch (IOException ended) {
            return List.of();
        }
    }

    private static boolean hasEntries(Path folder) {
        String[] names = folder.toFile().list();
        return names != null && names.length > 0;
    }
}
