package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The folders of single cells. */
final class Folders {
    private Folders() {
    }

    /** Deletes a folder with everything in it; one that is not there is fine. */
    static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(folder)) {
            List<Path> deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
            for (Path each : deepestFirst) {
                Files.deleteIfExists(each);
            }
        } catch (IOException ex) {
            throw new UncheckedIOException("the folder " + folder + " cannot be deleted", ex);
        }
    }
}
