package org.jfabric.tool.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.info.Verdict;

/**
 * What the checks know: the files below a root, and facts that are found by other means than files.
 *
 * @param root           {@code /}, or a tree of files in its place.
 * @param config         options that a driver would have here; the defaults if they are wrong.
 * @param configProblem  why they are wrong, or null.
 * @param driverPid      process of the driver that runs in the directory, 0 if none does.
 * @param freeBytes      free in the file system of the directory, -1 if unknown.
 * @param javaFeature    version of the virtual machine, such as 25.
 * @param verdicts       of all links; empty if no driver could be asked.
 * @param linksProblem   why no driver could be asked, or null.
 * @param recording      the folder for logs, or null if none was given.
 */
public record Host(
    Path root,
    DriverConfig config,
    String configProblem,
    long uid,
    long driverPid,
    long freeBytes,
    List<Path> leftovers,
    int javaFeature,
    List<Verdict> verdicts,
    String linksProblem,
    RecordingFolder recording) {

    private static final int POINT_FIELD = 4;

    /** The lines of a file; none if it is not there or cannot be read, as files differ from host to host. */
    List<String> lines(String path) {
        try {
            return Files.readAllLines(root.resolve(path.substring(1)));
        } catch (IOException | RuntimeException ex) {
            return List.of();
        }
    }

    /** The first line of a file without spaces around it; empty if there is none. */
    String line(String path) {
        List<String> lines = lines(path);
        return lines.isEmpty() ? "" : lines.getFirst().strip();
    }

    /** The names in a folder, sorted; none if it is not there. */
    List<String> files(String path) {
        try (Stream<Path> files = Files.list(root.resolve(path.substring(1)))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException | RuntimeException ex) {
            return List.of();
        }
    }

    /** The file that a link leads to; the path itself if it leads nowhere. */
    String target(String path) {
        try {
            return '/' + root.relativize(root.resolve(path.replaceFirst("^/", "")).toRealPath()).toString();
        } catch (IOException ex) {
            return path;
        }
    }

    /** Mount point, type and options of the file system that holds a path. */
    String[] mount(Path path) {
        String[] found = {"/dev/shm", "", ""};
        int longest = -1;
        for (String line : lines("/proc/self/mountinfo")) {
            int separator = line.indexOf(" - ");
            String[] fields = line.split(" ");
            if (separator < 0 || fields.length <= POINT_FIELD) {
                continue;
            }
            Path point = Path.of(fields[POINT_FIELD].replace("\\040", " "));
            // of several at one place the last one is in use
            if (path.startsWith(point) && point.getNameCount() >= longest) {
                longest = point.getNameCount();
                String[] system = line.substring(separator + 3).split(" ");
                found = new String[] {point.toString(), system[0], system[system.length - 1]};
            }
        }
        return found;
    }

    /** The folder below {@code /proc} of the driver that runs, or of this process, which has the limits of the next. */
    String process() {
        return "/proc/" + (driverPid > 0 ? Long.toString(driverPid) : "self");
    }
}
