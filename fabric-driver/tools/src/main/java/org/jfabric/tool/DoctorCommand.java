package org.jfabric.tool;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jfabric.driver.DriverDirectory;
import org.jfabric.driver.DriverDirectory.Cleaned;
import org.jfabric.driver.config.DirectoryConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Verdict;
import org.jfabric.tool.doctor.Doctor;
import org.jfabric.tool.doctor.Finding;
import org.jfabric.tool.doctor.Grade;
import org.jfabric.tool.doctor.Host;
import org.jfabric.tool.doctor.RecordingFolder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Examines a host. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Examines this host for a driver: shared memory, limits, cores and quotas, frequency, clock, huge"
        + " pages, the virtual machine, leftovers of dead drivers, links, library and buffers of sockets, multicast, a"
        + " folder for logs. It changes nothing.",
    footer = "%nExit status: 0 if all is well (notes included), 3 if there are warnings, 4 if there are errors; 1 and 2"
        + " as for every command: it failed, or its command line is wrong.")
final class DoctorCommand implements ToolCommand {
    private static final int WARNINGS = 3;
    private static final int ERRORS = 4;

    @Spec
    private CommandSpec spec;

    @Mixin
    private DriverCommand.ConfigOptions options;

    @Option(names = "--log-folder", paramLabel = "FOLDER",
        description = "Examine this folder for logs, too: a file of 128 MiB is made there and deleted.")
    private Path logFolder;

    @Option(names = "--fix", description = "Print the commands that would correct what was found, and run none.")
    private boolean fix;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    DoctorCommand() {
    }

    @Override
    public Integer call() {
        NativeAccess.check();
        List<Finding> findings = Doctor.examine(host());
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? toJson(findings) : fix ? toCommands(findings) : toText(findings));
        out.flush();
        return status(worst(findings));
    }

    /** The exit status for scripts. */
    static int status(Grade worst) {
        return switch (worst) {
            case WARNING -> WARNINGS;
            case ERROR -> ERRORS;
            default -> 0;
        };
    }

    private static Grade worst(List<Finding> findings) {
        return findings.stream().map(Finding::grade).max(Comparator.naturalOrder()).orElse(Grade.OK);
    }

    private Host host() {
        DriverConfig config;
        String problem = null;
        try {
            config = options.config();
        } catch (FabricException ex) {
            problem = ex.getMessage();
            config = DriverConfig.defaults();
        }
        Path directory = config.directory();
        List<Verdict> verdicts = List.of();
        String linksProblem = null;
        try {
            DriverConfig.Builder fresh = DriverConfig.builder()
                .set(LinkConfig.ENABLED, config.get(LinkConfig.ENABLED))
                .set(LinkConfig.SOCKET_LIBRARY, config.get(LinkConfig.SOCKET_LIBRARY));
            verdicts = LinkQuery.ask(directory, false, new Info(), fresh, spec.commandLine().getErr()).verdicts();
        } catch (FabricException | NativeCallException | ToolException ex) {
            linksProblem = ex.getMessage();
        }
        return new Host(Path.of("/"), config, problem, Libc.geteuid(), driverPid(directory), freeBytes(directory),
            leftovers(config.get(DirectoryConfig.BASE)), Runtime.version().feature(), verdicts, linksProblem,
            logFolder == null ? null : RecordingFolder.probe(logFolder));
    }

    private static long driverPid(Path directory) {
        if (!CncView.isRunning(directory)) {
            return 0;
        }
        try (CncView view = CncView.open(directory)) {
            return view.pid();
        } catch (ToolException | FabricException ex) {
            return 0;
        }
    }

    /** Free in the file system of a path, or of the nearest folder above it that exists. */
    private static long freeBytes(Path path) {
        for (Path each = path; each != null; each = each.getParent()) {
            int fd = Libc.openDirectory(each);
            if (fd >= 0) {
                long free = Libc.freeBytes(fd);
                Libc.close(fd);
                return free;
            }
        }
        return -1;
    }

    private static List<Path> leftovers(Path base) {
        List<Path> dead = new ArrayList<>();
        for (Path folder : CleanCommand.folders(base)) {
            Cleaned would = DriverDirectory.wouldClean(folder);
            if (would == Cleaned.REMOVED || would == Cleaned.EMPTIED) {
                dead.add(folder);
            }
        }
        return dead;
    }

    private static String toText(List<Finding> findings) {
        StringBuilder text = new StringBuilder();
        for (Finding finding : findings) {
            text.append(String.format(Locale.ROOT, "%-7s  %s: %s%n", finding.grade(), finding.check(),
                indented(finding.seen())));
            if (!finding.remedy().isEmpty()) {
                text.append("         ").append(indented(finding.remedy())).append(System.lineSeparator());
            }
        }
        return text.toString();
    }

    private static String indented(String text) {
        return text.replace("\n", "\n         ");
    }

    /** A script for a shell, to be read before it is run. */
    private static String toCommands(List<Finding> findings) {
        StringBuilder text = new StringBuilder();
        for (Finding finding : findings) {
            if (finding.grade() == Grade.OK) {
                continue;
            }
            text.append("# ").append(finding.grade()).append(' ').append(finding.check()).append(": ")
                .append(comment(finding.seen())).append("\n# ").append(comment(finding.remedy())).append('\n');
            finding.commands().forEach(command -> text.append(command).append('\n'));
        }
        return text.toString();
    }

    private static String comment(String text) {
        return text.replace("\n", "\n# ");
    }

    private static String toJson(List<Finding> findings) {
        JsonWriter writer = new JsonWriter().beginObject()
            .member("grade", worst(findings).name())
            .name("checks").beginArray();
        for (Finding finding : findings) {
            writer.beginObject()
                .member("check", finding.check())
                .member("grade", finding.grade().name())
                .member("seen", finding.seen())
                .member("remedy", finding.remedy())
                .name("commands").beginArray();
            finding.commands().forEach(writer::value);
            writer.endArray().endObject();
        }
        return writer.endArray().endObject().toString() + System.lineSeparator();
    }
}
