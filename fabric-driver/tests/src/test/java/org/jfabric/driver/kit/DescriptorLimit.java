package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jfabric.test.TestProcess;

/** Changes how many descriptors another process may have. */
public final class DescriptorLimit {
    private static final Path PRLIMIT = Path.of("/usr/bin/prlimit");

    private DescriptorLimit() {
    }

    /** Skips the test where the limit of another process cannot be changed. */
    public static void assumeChangeable() {
        assumeTrue(isChangeable(), PRLIMIT + " is not there: install the package util-linux");
    }

    public static boolean isChangeable() {
        return Files.isExecutable(PRLIMIT);
    }

    /** The number below which a process may open descriptors. */
    public static long of(long pid) {
        return Long.parseLong(TestProcess.run(PRLIMIT.toString(), "--pid", Long.toString(pid), "--nofile", "--raw",
            "--noheadings", "--output", "SOFT").succeeded().strip());
    }

    /** Lets a process open descriptors below that number only; those that it has stay. */
    public static void set(long pid, long below) {
        TestProcess.run(
            PRLIMIT.toString(), "--pid", Long.toString(pid), "--nofile=" + below + ":").succeeded();
    }

    /** The number that the next descriptor of a process gets. */
    public static int firstFree(long pid) {
        Set<String> open = Arrays.stream(new File("/proc/" + pid + "/fd").list()).collect(Collectors.toSet());
        return IntStream.range(0, 1 << 16).filter(fd -> !open.contains(Integer.toString(fd))).findFirst().orElseThrow();
    }
}
