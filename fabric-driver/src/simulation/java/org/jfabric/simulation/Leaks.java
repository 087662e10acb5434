package org.jfabric.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What the process has of the kinds that simulations make.
 *
 * @param descriptors of sockets, events and files of simulations.
 * @param mappings    of files of simulations.
 */
record Leaks(long descriptors, long mappings) {
    private static final int COLLECTIONS = 20;
    private static final int COLLECTION_MS = 100;

    static Leaks count() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"));
            Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return new Leaks(descriptors.filter(Leaks::isOfSimulation).count(),
                lines.filter(line -> line.contains(Simulation.PREFIX)).count());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static boolean isOfSimulation(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith("socket:") || target.startsWith("anon_inode:")
                || target.contains(Simulation.PREFIX);
        } catch (IOException ex) {
            // closed meanwhile
            return false;
        }
    }

    /** Counts again until there are as many as here: the collector unmaps memory of applications. */
    Leaks await() throws InterruptedException {
        Leaks now = count();
        for (int i = 0; i < COLLECTIONS && !now.equals(this); i++) {
            System.gc();
            Thread.sleep(COLLECTION_MS);
            now = count();
        }
        return now;
    }
}
