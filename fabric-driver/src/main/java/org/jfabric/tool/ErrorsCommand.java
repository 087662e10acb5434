package org.jfabric.tool;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import org.jfabric.layout.CncDescriptor;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows a driver's log of distinct errors, and those that were kept of killed ones. */
@Command(
    name = "errors",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Shows the error log of a driver, running or killed: each distinct error once, with its count. Logs"
        + " that were kept of earlier drivers in the directory follow; only the driver's own user sees these.")
final class ErrorsCommand implements Callable<Integer> {
    /** An error that happened once or more often. */
    private record Distinct(int count, long firstMs, long lastMs, String text) {
    }

    /** The log of a driver that ran here before. */
    private record Kept(Path file, String text) {
    }

    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    ErrorsCommand() {
    }

    @Override
    public Integer call() {
        Path path = directory.path();
        CncView.requireDirectory(path);
        // logs of earlier drivers are their user's alone
        List<Kept> kept = CncView.isOwn(path) ? kept(path) : List.of();
        List<Distinct> errors = new ArrayList<>();
        boolean present = Files.exists(path.resolve(CncDescriptor.FILE_NAME));
        boolean running = false;
        // A driver that ended well has taken its file along, and left the logs that it had found.
        if (present || kept.isEmpty()) {
            try (CncView view = CncView.open(path)) {
                running = view.isRunning();
                read(view, errors);
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(toJson(path, running, errors, kept));
        } else {
            out.print(toText(path, running, errors, kept));
        }
        out.flush();
        return 0;
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

    private static String toText(Path path, boolean running, List<Distinct> errors, List<Kept> kept) {
        StringBuilder text = new StringBuilder();
        text.append(errors.isEmpty() ? "No errors" : errors.size() + " distinct error(s)").append(" of the driver in ")
            .append(path).append(running ? "" : ", which is not running").append('\n');
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

    private static String toJson(Path path, boolean running, List<Distinct> errors, List<Kept> kept) {
        JsonWriter writer = new JsonWriter().beginObject()
            .member("directory", path.toString())
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
        return writer.endArray().endObject().toString();
    }
}
