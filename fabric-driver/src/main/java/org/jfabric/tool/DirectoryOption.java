package org.jfabric.tool;

import java.nio.file.Path;

import org.jfabric.FabricConfig;
import org.jfabric.driver.config.DriverConfig;

import picocli.CommandLine.Option;

/** The option {@code --dir} that several commands have. */
final class DirectoryOption {
    @Option(
        names = "--dir",
        paramLabel = "DIR",
        description = "The driver's directory, <base>/<name>. Default: the one that 'fabric driver' uses here,"
            + " /dev/shm/jfabric-<uid>/default unless options or environment say something else.")
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
        return directory == null
            ? DriverConfig.builder().host().build().directory().path()
            : new FabricConfig().directory(directory).directory();
    }
}
