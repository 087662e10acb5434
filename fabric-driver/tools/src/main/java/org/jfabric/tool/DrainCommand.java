package org.jfabric.tool;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jfabric.client.DriverAdmin;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Ends a driver without cutting off sends. */
@Command(
    name = "drain",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Ends a driver without cutting off sends: it opens no more endpoints, notifies its clients, waits"
        + " until no send is outstanding, and ends with status 0. If the time is too short, or this command is stopped,"
        + " the driver continues to serve.")
final class DrainCommand implements Callable<Integer> {
    private static final long PAUSE_MS = 20;
    private static final long END_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    @Option(
        names = "--timeout",
        paramLabel = "SECONDS",
        defaultValue = "30",
        description = "How long to wait for the sends. Default: ${DEFAULT-VALUE}.")
    private double timeout;

    @Option(
        names = "--force",
        description = "End the driver also if sends are outstanding when the time is over; they fail, and the status of"
            + " this command is 1.")
    private boolean force;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    DrainCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        if (!(timeout >= 0 && timeout <= 86_400)) {
            throw new ParameterException(spec.commandLine(),
                "Invalid value for option '--timeout': " + timeout + " is not from 0 to 86400");
        }
        try (CncView view = CncView.open(directory.path())) {
            if (!view.isRunning()) {
                throw CncView.noDriver(view.directory(), "no process owns its lock");
            }
            DriverAdmin.drain(view.directory(), (long) (timeout * TimeUnit.SECONDS.toNanos(1)), force);
            long pid = view.pid();
            long deadlineNs = System.nanoTime() + END_TIMEOUT_NS;
            while (view.isRunning()) {
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new ToolException("The driver in " + view.directory() + " has no outstanding sends, but its"
                        + " process has not ended within " + TimeUnit.NANOSECONDS.toSeconds(END_TIMEOUT_NS) + " s.");
                }
                Thread.sleep(Duration.ofMillis(PAUSE_MS));
            }
            spec.commandLine().getOut().println(json
                ? new JsonWriter().beginObject().member("directory", view.directory().toString()).member("pid", pid)
                    .member("drained", true).endObject().toString()
                : "The driver in " + view.directory() + " was drained and has ended.");
            spec.commandLine().getOut().flush();
        }
        return 0;
    }
}
