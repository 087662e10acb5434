package org.jfabric.tool;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jfabric.layout.CncDescriptor;

/**
 * The distinct errors of a driver, running or killed, and the logs that were kept of earlier drivers in its directory.
 *
 * @param errors    in the order of their first occurrence.
 */
public record ErrorLog(Path directory, boolean running, List<Distinct> errors, List<Kept> kept) {
    /**
     * An error that happened once or more often.
     *
     * @param firstMs first time, milliseconds since 1970.
     * @param lastMs  last time, milliseconds since 1970.
     */
    public record Distinct(int count, long firstMs, long lastMs, String text) {
    }

    /** The log of a driver that ran there before. */
    public record Kept(Path file, String text) {
    }

    /**
     * Reads both.
     *
     * @throws ToolException if the directory is a user's that was not named, or there is neither a driver's file nor a
     *     kept log.
     */
    public static ErrorLog read(Path directory) {
        CncView.requireDirectory(directory);
        // logs of earlier drivers are their user's alone
        List<Kept> kept = CncView.isOwn(directory) ? kept(directory) : List.of();
        List<Distinct> errors = new ArrayList<>();
        boolean present = Files.exists(directory.resolve(CncDescriptor.FILE_NAME));
        boolean running = false;
        // A driver that ended well has taken its file along, and left the logs that it had found.
        if (present || kept.isEmpty()) {
            try (CncView view = CncView.open(directory)) {
                running = view.isRunning();
                read(view, errors);
            }
        }
        return new ErrorLog(directory, running, errors, kept);
    }

    private static void read(CncView view, List<Distinct> errors) {
        try {
            view.readErrors((count, first, last, text) -> errors.add(new Distinct(count, first, last, text)));
        } catch (InternalError cut) {
            throw view.cut();
        }
    }

    private static List<Kept> kept(Path path) {
        List<Kept> kept = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, "errors-*.log")) {
            List<Path> sorted = new ArrayList<>();
            files.forEach(sorted::add);
            sorted.sort(null);
            for (Path file : sorted) {
                kept.add(new Kept(file, Files.readString(file)));
            }
        } catch (IOException ex) {
            throw new ToolException("The error logs kept in " + path + " cannot be read: " + ex + '.', ex);
        }
        return kept;
    }

    String toText() {
        StringBuilder text = new StringBuilder();
        text.append(errors.isEmpty() ? "No errors" : errors.size() + " distinct error(s)").append(" of the driver in ")
            .append(directory).append(running ? "" : ", which is not running").append('\n');
        for (Distinct error : errors) {
            text.append(String.format(Locale.ROOT, "%,d time(s), first %s, last %s%n%s%n", error.count,
                Instant.ofEpochMilli(error.firstMs), Instant.ofEpochMilli(error.lastMs), error.text.stripTrailing()));
        }
        for (Kept log : kept) {
            text.append("Kept of an earlier driver: ").append(log.file).append('\n')
                .append(log.text.stripTrailing()).append('\n');
        }
        return text.toString();
    }

    /**
     * Writes them as one JSON object.
     *
     * @param writer where a value may stand.
     */
    public void write(JsonWriter writer) {
        writer.beginObject()
            .member("directory", directory.toString())
            .member("running", running)
            .name("errors").beginArray();
        for (Distinct error : errors) {
            writer.beginObject()
                .member("count", error.count)
                .member("firstMs", error.firstMs)
                .member("lastMs", error.lastMs)
                .member("text", error.text)
                .endObject();
        }
        writer.endArray().name("kept").beginArray();
        for (Kept log : kept) {
            writer.beginObject().member("file", log.file.toString()).member("text", log.text).endObject();
        }
        writer.endArray().endObject();
    }
}
