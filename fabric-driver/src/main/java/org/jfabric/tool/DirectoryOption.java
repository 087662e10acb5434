package org.jfabric.tool;

import java.nio.file.Path;

import org.jfabric.FabricConfig;

import picocli.CommandLine.Option;

/** The option {@code --dir} that several commands have. */
final class DirectoryOption {
    @Option(
        names = "--dir",
        paramLabel = "DIR",
        description = "The driver's directory, <base>/<name>. Default: the directory that clients use by default,"
            + " /dev/shm/jfabric-<uid>/default.")
    private Path directory;

    DirectoryOption() {
    }

    /**
     * Checks whether the user gave the option.
     */
    boolean isGiven() {
        return directory != null;
    }

    /**
     * The directory to use.
     *
     * @return absolute path.
     */
    Path path() {
        return new FabricConfig().directory(directory).directory();
    }
}
