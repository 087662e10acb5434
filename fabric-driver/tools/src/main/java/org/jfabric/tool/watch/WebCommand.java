package org.jfabric.tool.watch;

import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import org.jfabric.tool.ToolCommand;
import org.jfabric.tool.ToolVersion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Serves a page that shows drivers. */
@Command(
    name = "web",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Serves a page for a browser on this host, until Ctrl-C: the drivers of this user, running or killed,"
        + " their clients, endpoints and peers as a graph, rates and cycle times, errors, and options with their"
        + " origin. It reads the counters and disturbs no driver. The printed URL has a key; without it nothing is"
        + " shown.")
public final class WebCommand implements ToolCommand {
    private static final int LARGEST_PORT = 65_535;

    @Spec
    private CommandSpec spec;

    @Mixin
    private DriversOption drivers;

    @Option(
        names = "--port",
        paramLabel = "N",
        defaultValue = "0",
        description = "Port of 127.0.0.1, 0 for a free one. Default: ${DEFAULT-VALUE}.")
    private int port;

    /** Made by the command line. */
    public WebCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        if (port < 0 || port > LARGEST_PORT) {
            throw new ParameterException(
                spec.commandLine(), "Invalid value for option '--port': " + port + " is not from 0 to " + LARGEST_PORT);
        }
        try (WebServer server = WebServer.open(port, new Sampler(drivers::paths), WebServer.PERIOD_MS)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println(server.url());
            out.flush();
            new CountDownLatch(1).await();
        }
        return 0;
    }
}
