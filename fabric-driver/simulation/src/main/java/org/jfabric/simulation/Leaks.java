package org.jfabric.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the process has of the kinds that simulations make.
 *
 * @param descriptors of sockets, events and files of simulations, with what they refer to.
 */
record Leaks(List<String> descriptors, List<String> mappings) {
    private static final int COLLECTIONS = 20;
    private static final int COLLECTION_MS = 100;

    static Leaks count() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"));
            Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return new Leaks(descriptors.map(Leaks::describe).filter(Leaks::isOfSimulation).sorted().toList(),
                lines.filter(line -> line.contains(Simulation.PREFIX)).toList());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String describe(Path descriptor) {
        try {
            return descriptor.getFileName() + " " + Files.readSymbolicLink(descriptor);
        } catch (IOException ex) {
            // closed meanwhile
            return "";
        }
    }

    private static boolean isOfSimulation(String descriptor) {
        return descriptor.contains(" socket:") || descriptor.contains(" anon_inode:")
            || descriptor.contains(Simulation.PREFIX);
    }

    /** Whether there are as many of both. */
    boolean isLike(Leaks other) {
        return descriptors.size() == other.descriptors.size() && mappings.size() == other.mappings.size();
    }

    /** Counts again until there are as many as here: the collector unmaps memory of applications. */
    Leaks await() throws InterruptedException {
        Leaks now = count();
        for (int i = 0; i < COLLECTIONS && !now.isLike(this); i++) {
            System.gc();
            Thread.sleep(COLLECTION_MS);
            now = count();
        }
        return now;
    }
}
