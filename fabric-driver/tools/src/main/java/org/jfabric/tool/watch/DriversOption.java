package org.jfabric.tool.watch;

import java.nio.file.Path;
import java.util.List;
import org.jfabric.tool.CncView;
import org.jfabric.tool.DirectoryOption;
import org.jfabric.tool.ToolException;
import picocli.CommandLine.Option;

/** The option {@code --dir} of commands that watch several drivers. */
final class DriversOption {
    @Option(
        names = "--dir",
        paramLabel = "DIR",
        description = "Directory of a driver, <base>/<name>; may be given several times. Default: every driver of this"
            + " user, or of the one that JFABRIC_CLIENT_DRIVER_USER names, also one that comes later, in"
            + " /dev/shm/jfabric-<uid> unless options or environment say something else.")
    private List<Path> directories = List.of();

    DriversOption() {
    }

    /** The directories that were given, or those in which drivers have files now. */
    List<Path> paths() {
        return directories.isEmpty() ? DirectoryOption.all().stream().filter(Reading::isDriver).toList()
            : directories.stream().map(DirectoryOption::of).distinct().toList();
    }

    /**
     * Checks that there is something to watch.
     *
     * @throws ToolException with the reason why there is not.
     */
    void requireDriver() {
        List<Path> paths = paths();
        if (paths.isEmpty()) {
            throw new ToolException("No driver of this user runs where drivers are by default, and none was killed"
                + " there. Start one with 'fabric driver', or name its directory with --dir."
                + CncView.ofOtherUsers());
        }
        if (!directories.isEmpty()) {
            paths.forEach(path -> CncView.open(path).close());
        }
    }
}
