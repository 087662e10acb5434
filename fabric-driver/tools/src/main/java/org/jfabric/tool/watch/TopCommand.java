package org.jfabric.tool.watch;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jfabric.tool.ToolCommand;
import org.jfabric.tool.ToolException;
import org.jfabric.tool.ToolTerminal;
import org.jfabric.tool.ToolVersion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows drivers, endpoints and peers in a terminal, again and again. */
@Command(
    name = "top",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Shows the drivers of this user, running or killed, with their slowest cycles, who waits for whom,"
        + " and the endpoints with their peers, rates and queues. It reads the counters and disturbs no driver.",
    footer = "%nKeys: < and > or the arrows choose the column to sort by, r reverses, / filters, p shows or hides the"
        + " peers, the space bar pauses, q quits.")
public final class TopCommand implements ToolCommand {
    private static final int PLAIN_WIDTH = 120;

    @Spec
    private CommandSpec spec;

    @Mixin
    private DriversOption drivers;

    @Option(
        names = "--interval",
        paramLabel = "SECONDS",
        defaultValue = "1",
        description = "Time between two samples, 0.1 to 3600. Default: ${DEFAULT-VALUE}.")
    private double interval;

    @Option(
        names = "--once",
        description = "Print one frame as plain text, of two samples, and end. So it is where the output is no"
            + " terminal.")
    private boolean once;

    @Option(names = "--json", description = "With --once: print one JSON object instead of text, all that there is.")
    private boolean json;

    @Option(
        names = "--width",
        paramLabel = "N",
        description = "With --once: characters of a line at most, 40 to 400. Default: the variable COLUMNS, or 120.")
    private Integer width;

    @Option(
        names = "--sort",
        paramLabel = "COLUMN",
        defaultValue = "sent",
        description = "Column to sort by: endpoint, state, sent, recv, waits, unread, sends, posted, sentb, recvb,"
            + " errors, client, rma, retry, credit. Default: ${DEFAULT-VALUE}.")
    private String sort;

    @Option(names = "--reverse", description = "Least first, texts from Z.")
    private boolean reverse;

    @Option(
        names = "--filter",
        paramLabel = "TEXT",
        defaultValue = "",
        description = "Only endpoints with this text in their address, client, state, or in a peer's.")
    private String filter;

    @Option(names = "--no-peers", description = "Do not show the peers of the endpoints.")
    private boolean noPeers;

    /** Made by the command line. */
    public TopCommand() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        require(interval >= 0.1 && interval <= 3_600, "--interval", interval + " is not from 0.1 to 3600");
        require(width == null || width >= 40 && width <= 400, "--width", width + " is not from 40 to 400");
        TopColumn column = TopColumn.of(sort);
        require(column != null, "--sort", sort + " is none of " + Arrays.stream(TopColumn.values())
            .map(TopColumn::word).collect(Collectors.joining(", ")));
        require(once || !json, "--json", "it needs --once");
        drivers.requireDriver();
        Sampler sampler = new Sampler(drivers::paths);
        TopView view = new TopView(column, reverse, filter, !noPeers);
        long intervalMs = (long) (interval * 1_000);
        if (once || !ToolTerminal.canDraw()) {
            sampler.sample();
            Thread.sleep(Duration.ofMillis(intervalMs));
            print(sampler.sample(), view, intervalMs);
        } else {
            TopScreen.show(sampler::sample, view, intervalMs);
        }
        return 0;
    }

    private void print(Sample sample, TopView view, long intervalMs) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(WebJson.state(sample, intervalMs));
        } else {
            TopFrame.of(sample, view, width()).forEach(line -> out.println(line.text()));
        }
        out.flush();
        if (sample.drivers().isEmpty()) {
            throw new ToolException("The last driver has ended.");
        }
    }

    private int width() {
        String columns = System.getenv("COLUMNS");
        return width != null ? width
            : columns != null && columns.matches("[1-9]\\d{1,2}") ? Math.max(40, Integer.parseInt(columns))
            : PLAIN_WIDTH;
    }

    private void require(boolean met, String option, String seen) {
        if (!met) {
            throw new ParameterException(
                spec.commandLine(), "Invalid value for option '" + option + "': " + seen);
        }
    }
}
