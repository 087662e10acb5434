package org.jfabric.tool;

import java.nio.file.Path;
import java.util.List;

import org.jfabric.FabricConfig;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.driver.config.DirectoryConfig;
import org.jfabric.driver.config.DriverConfig;

import picocli.CommandLine.Option;

/** The option {@code --dir} that several commands have. */
public final class DirectoryOption {
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
     * The folders that hold the drivers of this user on this host, or of the user that was named, unless they have
     * places of their own. Returns the folders in the one that the default directory lies in, in the order of their
     * names.
     */
    public static List<Path> all() {
        return CleanCommand.folders(defaultDirectory().getParent());
    }

    /** The directory to use, absolute path. */
    Path path() {
        return directory != null ? of(directory) : defaultDirectory();
    }

    private static Path defaultDirectory() {
        DriverConfig configured = DriverConfig.builder().host().build();
        // the default is that of the driver's user, which may be another one for a client
        return configured.get(DirectoryConfig.BASE).equals(DefaultDirectory.base())
            ? new FabricConfig().driverName(configured.get(DirectoryConfig.NAME)).directory() : configured.directory();
    }

    /** Completes a directory that the user gave, absolute path. */
    public static Path of(Path given) {
        return new FabricConfig().directory(given).directory();
    }
}
