package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.Domain;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DescriptorLimit;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.LinuxErrno;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that has as many open files as it may connects to a driver. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConnectDescriptorsTest {
    /** Enough for the JVM and its class path. */
    private static final int LIMIT = 512;

    /** The process. */
    static final class Starved {
        private static final int ATTEMPTS = 16;

        public static void main(String[] arguments) {
            FabricConfig config = new FabricConfig().directory(Path.of(arguments[0]));
            // loads the classes
            attempt(() -> Fabric.connect(config).close());
            LinuxErrno.describe(FabricErrno.EMFILE);
            Fabric connected = Fabric.connect(config);
            Domain domain = connected.domain(connected.info(new Info().linkName("loopback")).best());
            domain.openCompletionQueue(new CompletionQueueAttr().waitObject(WaitObject.FD)).close();
            List<Integer> taken = new ArrayList<>();
            int fd = take();
            while (fd >= 0) {
                taken.add(fd);
                fd = take();
            }
            String[] results = new String[ATTEMPTS];
            for (int free = 0; free < ATTEMPTS; free++) {
                results[free] = attempt(() -> Fabric.connect(config).close()) + ", "
                    + attempt(() -> domain.openCompletionQueue(
                        new CompletionQueueAttr().waitObject(WaitObject.FD)).close());
                Libc.close(taken.removeLast());
            }
            taken.forEach(Libc::close);
            for (int free = 0; free < ATTEMPTS; free++) {
                System.out.println("with " + free + ": " + results[free]);
            }
            System.out.println("end");
        }

        private static int take() {
            return Libc.openat(Libc.AT_FDCWD, "/dev/null", 0, 0);
        }

        private static String attempt(Runnable opening) {
            try {
                opening.run();
                return "opened";
            } catch (FabricException refused) {
                return refused.errno() == FabricErrno.EMFILE && refused.getMessage().contains("ulimit -n")
                    ? "refused" : refused.toString();
            } catch (RuntimeException wrong) {
                return wrong.toString();
            }
        }
    }

    @Test
    void shouldSayThatDescriptorsAreMissing() throws Exception {
        DescriptorLimit.assumeChangeable();
        Path directory = TestDirectory.create().resolve("driver");
        DriverConfig config = DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.SHARED).build();
        List<String> command = new ArrayList<>(List.of("/usr/bin/prlimit", "--nofile=" + LIMIT));
        command.addAll(TestJvm.command(List.of(), Starved.class, directory.toString()));
        try (FabricDriver driver = FabricDriver.launch(config);
             TestProcess process = TestProcess.start(command)) {
            assertTrue(driver.directory() != null);
            process.awaitLine("end");
            List<String> lines = process.lines().stream().filter(line -> line.startsWith("with ")).toList();
            assertEquals("with 0: refused, refused", lines.getFirst());
            assertEquals("with 15: opened, opened", lines.getLast());
            assertTrue(lines.stream().allMatch(line -> line.matches(".*: (refused|opened), (refused|opened)")),
                lines::toString);
        }
    }
}
