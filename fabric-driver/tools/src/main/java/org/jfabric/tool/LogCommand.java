package org.jfabric.tool;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.jfabric.client.log.LogFolder;
import org.jfabric.client.log.LogState;
import org.jfabric.layout.LogDescriptor;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows and checks logs: recorded groups. Needs no driver and changes no log. */
@Command(
    name = "log",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Shows and checks logs, which hold the messages of recorded groups. Needs no driver and changes"
        + " nothing; a log that is being written can be looked at, too."
        + "%n%n  list    the logs in a folder%n  info    what a log is, and how far%n  verify  reads all of it, and"
        + " says what was changed, is missing or does not belong there%n  print   its messages%n  export  its messages"
        + " as packets of a pcapng file, for Wireshark%n")
final class LogCommand implements Callable<Integer> {
    private static final int SHOWN_BYTES = 64;
    private static final int BATCH = 64;
    private static final long NS_PER_S = 1_000_000_000L;

    enum Action {
        LIST, INFO, VERIFY, PRINT, EXPORT
    }

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "ACTION", description = "list, info, verify, print or export.")
    private Action action;

    @Parameters(index = "1", paramLabel = "FOLDER", description = "Of the log, or for list the one that holds logs.")
    private Path folder;

    @Option(names = "--from", paramLabel = "POSITION", description = "Of the first message to print or export.")
    private Long from;

    @Option(names = "--since", paramLabel = "TIME",
        description = "Print or export the messages since then, for example 2026-11-29T08:00:00Z.")
    private String since;

    @Option(names = "--count", paramLabel = "N", description = "Messages at most. Default: all.")
    private long count = Long.MAX_VALUE;

    @Option(names = "--to", paramLabel = "FILE", description = "The file that export makes.")
    private Path to;

    LogCommand() {
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        int status = switch (action) {
            case LIST -> list(out);
            case INFO -> info(out);
            case VERIFY -> verify(out);
            case PRINT -> print(out);
            case EXPORT -> export(out);
        };
        out.flush();
        return status;
    }

    private int list(PrintWriter out) {
        try (Stream<Path> children = Files.list(folder)) {
            List<Path> logs = Stream.concat(Stream.of(folder), children.sorted())
                .filter(each -> Files.exists(each.resolve(LogDescriptor.FILE_NAME))).toList();
            for (Path each : logs) {
                try (LogFolder log = LogFolder.open(each)) {
                    LogState state = log.state();
                    long mebibytes = (long) log.segments().length * log.segmentLength() >> 20;
                    out.println(each + "  group '" + log.group() + "', positions " + state.oldest() + " to "
                        + end(state) + ", " + mebibytes + " MiB" + (log.hasWriter() ? ", written now" : ""));
                }
            }
            if (logs.isEmpty()) {
                out.println("no log in " + folder);
            }
            return 0;
        } catch (IOException e) {
            throw new ToolException(folder + " cannot be listed: " + e, e);
        }
    }

    private static String end(LogState state) {
        return state.isExact() ? Long.toString(state.written()) : "at least " + state.trusted();
    }

    private int info(PrintWriter out) {
        try (LogFolder log = LogFolder.open(folder)) {
            LogState state = log.state();
            boolean hasWriter = log.hasWriter();
            out.println("log id       " + log.logId());
            out.println("group        " + log.group());
            out.println("made         " + time(log.createdNs()));
            out.println("segments     " + log.segments().length + " of " + log.segmentLength() + " bytes");
            out.println("term         " + state.term());
            out.println("oldest       " + state.oldest());
            out.println("end          " + end(state));
            out.println("synced to    " + state.synced());
            out.println("writer       " + (hasWriter ? "process " + state.pid()
                : state.isOpen() ? "none; process " + state.pid() + " has not closed it" : "none; closed"));
        }
        return 0;
    }

    private int verify(PrintWriter out) {
        try (LogFolder log = LogFolder.open(folder)) {
            LogCheck check = LogCheck.of(log);
            out.println(check.messages() + " messages, " + check.missing() + " in gaps, end at position "
                + check.end());
            check.terms().forEach(term -> out.println("term " + term));
            check.problems().forEach(out::println);
            out.println(check.problems().isEmpty() ? "nothing is wrong"
                : check.problems().size() + " things are wrong");
            return check.problems().isEmpty() ? 0 : 1;
        }
    }

    private int print(PrintWriter out) {
        try (LogReader reader = LogReader.open(folder)) {
            begin(reader);
            poll(reader, new StreamListener() {
                @Override
                public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
                    out.println(text(buffer, offset, length, header));
                }

                @Override
                public void onGap(long firstPosition, long lastPosition) {
                    out.println(gap(firstPosition, lastPosition));
                }
            });
        }
        return 0;
    }

    private int export(PrintWriter out) {
        if (to == null) {
            throw new ToolException("Name the file to make with --to.");
        }
        try (LogReader reader = LogReader.open(folder)) {
            begin(reader);
            try (PacketFile file = new PacketFile(to, reader)) {
                out.println(poll(reader, file) + " messages of group '" + reader.group() + "' are in " + to);
            }
        }
        return 0;
    }

    private void begin(LogReader reader) {
        if (since != null) {
            reader.fromTime(nanoseconds(since));
        } else if (from != null) {
            reader.from(from);
        }
    }

    /** Returns the number of messages. */
    private long poll(LogReader reader, StreamListener listener) {
        long all = 0;
        int read;
        do {
            read = reader.poll(listener, (int) Math.min(BATCH, count - all));
            all += read;
        } while (read > 0 && all < count);
        return all;
    }

    static String gap(long firstPosition, long lastPosition) {
        return "gap from " + firstPosition + " to " + lastPosition;
    }

    /** What came with a message beside position and time. */
    static String origin(StreamHeader header) {
        return "term " + header.term() + ", tag " + Long.toUnsignedString(header.tag()) + ", data "
            + Long.toUnsignedString(header.data());
    }

    private static String text(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        byte[] bytes = new byte[Math.min(length, SHOWN_BYTES)];
        buffer.getBytes(offset, bytes);
        boolean isText = bytes.length > 0;
        for (byte each : bytes) {
            isText &= each >= ' ' && each < 127;
        }
        return header.position() + "  " + time(header.timeNs()) + "  " + origin(header) + ", " + length + " bytes  "
            + (isText ? new String(bytes, StandardCharsets.US_ASCII) : HexFormat.of().formatHex(bytes))
            + (length > bytes.length ? "..." : "");
    }

    private static Instant time(long ns) {
        return Instant.ofEpochSecond(ns / NS_PER_S, ns % NS_PER_S);
    }

    private static long nanoseconds(String text) {
        try {
            Instant instant = Instant.parse(text);
            return instant.getEpochSecond() * NS_PER_S + instant.getNano();
        } catch (DateTimeParseException e) {
            throw new ToolException("\"" + text + "\" is no time; write it like 2026-11-29T08:00:00Z.", e);
        }
    }
}
