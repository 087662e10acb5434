package org.jfabric.tool;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jfabric.layout.EventRecordDescriptor;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the last events of every agent of a driver, running or killed. */
@Command(
    name = "record",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Shows the last rare events of every agent of a driver, in the order of their times: clients,"
        + " endpoints, peers and connections that come and go, waits for credit, slow duty cycles, drains, errors. The"
        + " driver may run or may have been killed; the record of one killed there before is first.")
final class RecordCommand implements Callable<Integer> {
    private static final long NS_PER_S = 1_000_000_000L;

    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    RecordCommand() {
    }

    @Override
    public Integer call() {
        Path path = directory.path();
        List<RecordView> records = new ArrayList<>();
        add(records, RecordView.read(path, EventRecordDescriptor.PREVIOUS_FILE_NAME));
        add(records, RecordView.read(path, EventRecordDescriptor.FILE_NAME));
        boolean running = CncView.isRunning(path);
        if (records.isEmpty()) {
            throw running ? new ToolException("The driver in " + path + " keeps no record: its option"
                + " jfabric.log.recordEvents is 0.")
                : CncView.noDriver(path, "there is no file " + EventRecordDescriptor.FILE_NAME + " in it");
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(toJson(path, running, records));
        } else {
            records.forEach(record -> out.print(toText(record, running)));
        }
        out.flush();
        return 0;
    }

    private static void add(List<RecordView> records, RecordView record) {
        if (record != null) {
            records.add(record);
        }
    }

    private static boolean isPrevious(RecordView record) {
        return record.file().endsWith(EventRecordDescriptor.PREVIOUS_FILE_NAME);
    }

    private static String toText(RecordView record, boolean running) {
        StringBuilder text = new StringBuilder();
        text.append(record.file()).append(": process ").append(record.pid()).append(", started ")
            .append(Instant.ofEpochMilli(record.startTimeMs()))
            .append(isPrevious(record) || !running ? ", killed" : ", running").append(", ")
            .append(record.events().size()).append(" event(s)\n");
        for (RecordView.Event event : record.events()) {
            text.append(line(event)).append('\n');
        }
        return text.toString();
    }

    static String line(RecordView.Event event) {
        StringBuilder text = new StringBuilder();
        text.append(time(event.epochNs())).append(' ').append(event.agent()).append(' ').append(event.kindText());
        if (event.client() != 0) {
            text.append(" client=").append(event.client());
        }
        if (event.object() != 0) {
            text.append(" object=").append(event.object());
        }
        if (!event.firstName().isEmpty()) {
            text.append(' ').append(event.firstName()).append('=').append(event.first());
        }
        if (!event.secondName().isEmpty()) {
            text.append(' ').append(event.secondName()).append('=').append(event.second());
        }
        if (!event.text().isEmpty()) {
            text.append(": ").append(event.text().strip().replaceAll("\\s*\\R\\s*", " | "));
        }
        return text.toString();
    }

    private static Instant time(long epochNs) {
        return Instant.ofEpochSecond(Math.floorDiv(epochNs, NS_PER_S), Math.floorMod(epochNs, NS_PER_S));
    }

    private static String toJson(Path path, boolean running, List<RecordView> records) {
        JsonWriter writer = new JsonWriter().beginObject()
            .member("directory", path.toString())
            .member("running", running)
            .name("records").beginArray();
        for (RecordView record : records) {
            writer.beginObject()
                .member("file", record.file().getFileName().toString())
                .member("pid", record.pid())
                .member("startTimeMs", record.startTimeMs())
                .name("events").beginArray();
            record.events().forEach(event -> writeEvent(writer, event));
            writer.endArray().endObject();
        }
        return writer.endArray().endObject().toString();
    }

    private static void writeEvent(JsonWriter writer, RecordView.Event event) {
        writer.beginObject()
            .member("timeNs", event.epochNs())
            .member("monotonicNs", event.monotonicNs())
            .member("agent", event.agent())
            .member("thread", event.thread())
            .member("kind", event.kindText())
            .member("client", event.client())
            .member("object", event.object());
        if (!event.firstName().isEmpty()) {
            writer.member(event.firstName(), event.first());
        }
        if (!event.secondName().isEmpty()) {
            writer.member(event.secondName(), event.second());
        }
        writer.member("text", event.text()).endObject();
    }
}
