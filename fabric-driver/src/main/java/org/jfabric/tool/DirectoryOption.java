package org.jfabric.tool;

import java.nio.file.Path;

import org.jfabric.FabricConfig;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.driver.config.DirectoryConfig;
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
        if (directory != null) {
            return new FabricConfig().directory(directory).directory();
        }
        DirectoryConfig configured = DriverConfig.builder().host().build().directory();
        // the default is that of the driver's user, which may be another one for a client
        return configured.base().equals(DefaultDirectory.base())
            ? new FabricConfig().driverName(configured.name()).directory() : configured.path();
    }
}
