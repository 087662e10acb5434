package org.jfabric.tool;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.ServiceLoader;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The operators' commands, see {@code fabric --help}.
 *
 * <p>The exit status is 0 only if a command did what it was asked for, 2 for a command line that cannot be understood,
 * 1 for everything else; the reason is one sentence on the standard error. {@code doctor} adds 3 and 4 for what it
 * finds.
 */
@Command(
    name = "fabric",
    description = "Checks, runs and watches JFabric on this host.",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    synopsisSubcommandLabel = "COMMAND",
    footer = {
        "%n'./fabric help COMMAND' and './fabric COMMAND --help' show the options of a command. Eight more"
            + " commands are built when first used:",
        "  sample       Runs a sample program, or lists them, see './fabric sample --help'.",
        "  compare      Measures JFabric beside other libraries, see './fabric compare --help'.",
        "  test-verbs   Tries the links of RDMA devices in a virtual machine, see './fabric test-verbs --help'.",
        "  test-aarch64 Runs tests on an emulated aarch64 processor, see './fabric test-aarch64 --help'.",
        "  simulate     Runs drivers and clients in virtual time, with faults, see './fabric simulate --help'.",
        "  torture      Kills and harms processes that send to each other, see './fabric torture --help'.",
        "  qualify      Tries all links between two hosts and reports, see './fabric qualify --help'.",
        "  jcstress     Tries what threads share without locks under jcstress, see './fabric jcstress --help'.",
        "  jdk          Prints the folder of the JDK that ./fabric has found, for JAVA_HOME."
    })
public final class FabricTool implements Runnable {
    private static final int FAILED = 1;
    /** In the order in which they are listed; the last one lists them. */
    private static final List<Class<?>> COMMANDS = List.of(
        PingPongCommand.class,
        FiPingPongCommand.class,
        DriverCommand.class,
        InfoCommand.class,
        StatCommand.class,
        QueuesCommand.class,
        ErrorsCommand.class,
        RecordCommand.class,
        LogCommand.class,
        WhyCommand.class,
        OptionsCommand.class,
        DrainCommand.class,
        CleanCommand.class,
        DoctorCommand.class,
        PingPongPeer.class,
        TrainingCommand.class,
        HelpFilesCommand.class,
        CommandLine.HelpCommand.class);

    @Spec
    private CommandSpec spec;

    FabricTool() {
    }

    /** Runs a command and ends the process with its exit status. */
    public static void main(String[] args) {
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int status = run(new FileOutputStream(FileDescriptor.out), err, args);
        err.flush();
        System.exit(status);
    }

    /** The same as the other, with an output that may end: a pipe, or a disk without room. */
    static int run(OutputStream out, PrintWriter err, String... args) {
        PrintWriter writer = new PrintWriter(new CheckedOutput(out), true, StandardCharsets.UTF_8);
        try {
            int status = run(writer, err, args);
            writer.flush();
            return status;
        } catch (UncheckedIOException ended) {
            return onFailure(ended, err);
        }
    }

    static int run(PrintWriter out, PrintWriter err, String... args) {
        Class<?> only = args.length == 0 ? null : named(args[0]);
        CommandLine line = only == null ? commandLine() : new CommandLine(new FabricTool()).addSubcommand(only);
        line.setOut(out);
        line.setErr(err);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setParameterExceptionHandler(FabricTool::onWrongUse);
        line.setExecutionStrategy(parsed -> {
            try {
                return new CommandLine.RunLast().execute(parsed);
            } catch (UncheckedIOException ended) {
                // while help was printed
                return onFailure(ended, err);
            }
        });
        line.setExecutionExceptionHandler((failure, command, parsed) -> onFailure(failure, command.getErr()));
        return line.execute(args);
    }

    /** The tool with all commands that are on the class path. */
    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new FabricTool());
        COMMANDS.forEach(line::addSubcommand);
        for (ToolCommand command : ServiceLoader.load(ToolCommand.class)) {
            line.addSubcommand(command);
        }
        return line;
    }

    /**
     * The command of that name, or null. To make all of them takes longer than all that a driver does until it serves;
     * the list and the suggestions for wrong names need them, another command does not.
     */
    private static Class<?> named(String name) {
        for (Class<?> each : COMMANDS) {
            if (each != CommandLine.HelpCommand.class && each.getAnnotation(Command.class).name().equals(name)) {
                return each;
            }
        }
        return null;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "No command given");
    }

    private static int onWrongUse(ParameterException wrong, String[] args) {
        CommandLine command = wrong.getCommandLine();
        PrintWriter err = command.getErr();
        String text = wrong.getMessage();
        err.println("fabric: " + text + (text.endsWith(".") ? "" : "."));
        CommandLine.UnmatchedArgumentException.printSuggestions(wrong, err);
        err.println("See '" + command.getCommandSpec().qualifiedName() + " --help'.");
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    private static int onFailure(Exception failure, PrintWriter err) {
        if (failure instanceof CheckedOutput.EndedException) {
            err.println("fabric: the standard output cannot be written: " + failure.getCause().getMessage());
        } else if (failure instanceof ToolException || failure instanceof FabricException
            || failure instanceof NativeCallException || failure instanceof IllegalStateException) {
            err.println("fabric: " + failure.getMessage());
        } else {
            err.println("fabric: a defect of JFabric, please report it:");
            failure.printStackTrace(err);
        }
        return FAILED;
    }
}
