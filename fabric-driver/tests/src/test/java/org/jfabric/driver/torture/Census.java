package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process has, but for what the virtual machine takes and gives back by itself: jars and threads of compilers.
 *
 * @param descriptors that are open.
 * @param mappings    of memory that are of files.
 * @param threads     of all kinds.
 */
record Census(long descriptors, long mappings, long threads) {
    static Census of(long pid) {
        Path process = Path.of("/proc", Long.toString(pid));
        try (Stream<Path> descriptors = Files.list(process.resolve("fd"));
            Stream<Path> threads = Files.list(process.resolve("task"));
            Stream<String> maps = Files.lines(process.resolve("maps"))) {
            return new Census(
                descriptors.filter(each -> !target(each).endsWith(".jar")).count(),
                maps.filter(Census::isCounted).count(),
                threads.filter(each -> !name(each).matches("C[12] CompilerThre.*|G1.*|Sweeper.*|Attach Listener"))
                    .count());
        } catch (IOException e) {
            throw new AssertionError("process " + pid, e);
        }
    }

    /** Null, or what has grown beyond an earlier one. */
    String growthSince(Census earlier, int slack) {
        return descriptors > earlier.descriptors + slack || mappings > earlier.mappings + slack
            || threads > earlier.threads + slack ? earlier + " grew to " + this : null;
    }

    private static boolean isCounted(String mapping) {
        return mapping.contains(" /") && !mapping.contains(".so") && !mapping.contains(".jar");
    }

    /** What a process has, for messages: where each descriptor leads, and the file of each mapping that is counted. */
    static String details(long pid) {
        try (Stream<String> maps = Files.lines(Path.of("/proc", Long.toString(pid), "maps"))) {
            return "descriptors " + descriptors(pid) + ", mappings "
                + maps.filter(Census::isCounted).map(each -> each.substring(each.indexOf(" /") + 1)).sorted().toList();
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static String descriptors(long pid) {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            return descriptors.map(Census::target).sorted().toList().toString();
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "closed meanwhile";
        }
    }

    private static String name(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).strip();
        } catch (IOException e) {
            return "ended meanwhile";
        }
    }
}
