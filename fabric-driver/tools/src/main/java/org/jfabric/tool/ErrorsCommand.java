package org.jfabric.tool;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
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
        ErrorLog log = ErrorLog.read(directory.path());
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            JsonWriter writer = new JsonWriter();
            log.write(writer);
            out.println(writer);
        } else {
            out.print(log.toText());
        }
        out.flush();
        return 0;
    }
}
