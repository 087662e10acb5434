package org.jfabric.tool;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.jfabric.driver.DriverDirectory;
import org.jfabric.driver.DriverDirectory.Cleaned;
import org.jfabric.driver.config.DirectoryConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricException;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Removes what killed drivers left. */
@Command(
    name = "clean",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Removes the files of drivers of this user that were killed: in all folders beside the default one,"
        + " or in the one that --dir names. Drivers that run, folders that are no driver's, and files that no driver"
        + " makes stay. Error logs are kept as text. A driver runs if its lock is taken: the kernel gives the lock back"
        + " when the process ends.")
final class CleanCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    @Option(names = "--dry-run", description = "Say what would be removed, and change nothing.")
    private boolean dryRun;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    CleanCommand() {
    }

    @Override
    public Integer call() {
        NativeAccess.check();
        PrintWriter out = spec.commandLine().getOut();
        Path base = DriverConfig.builder().host().build().get(DirectoryConfig.BASE);
        List<Path> folders = directory.isGiven() ? List.of(directory.path()) : folders(base);
        JsonWriter writer = new JsonWriter().beginObject().member("dryRun", dryRun).name("folders").beginArray();
        if (folders.isEmpty() && !json) {
            out.println("there are no folders in " + base);
        }
        int failed = 0;
        for (Path folder : folders) {
            try {
                Cleaned cleaned = dryRun ? DriverDirectory.wouldClean(folder) : DriverDirectory.clean(folder);
                report(out, writer, folder, cleaned.name(), result(folder, cleaned));
            } catch (FabricException | NativeCallException ex) {
                if (directory.isGiven()) {
                    throw ex;
                }
                if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
                    // the other folders hold memory too
                    report(out, writer, folder, "FAILED", ex.getMessage());
                    failed = 1;
                }
                // else the driver there has ended meanwhile
            }
        }
        if (json) {
            out.println(writer.endArray().endObject());
        }
        out.flush();
        return failed;
    }

    private void report(PrintWriter out, JsonWriter writer, Path folder, String result, String text) {
        if (json) {
            writer.beginObject().member("directory", folder.toString()).member("result", result).member("text", text)
                .endObject();
        } else {
            out.println(folder + ": " + text);
        }
    }

    private String result(Path folder, Cleaned cleaned) {
        return switch (cleaned) {
            case REMOVED -> dryRun ? "would be removed" : "removed";
            case EMPTIED -> "the driver's files " + (dryRun ? "would be removed; its error log"
                : "were removed; error logs") + " or files of others stay";
            case RUNNING -> "a driver runs there, left as it is";
            case NOT_OURS -> notOurs(folder);
        };
    }

    private static String notOurs(Path folder) {
        try {
            FileStatus status = FileStatus.of(Libc.AT_FDCWD, folder.toString());
            long uid = Libc.geteuid();
            if (status != null && status.uid() != uid) {
                return "a folder of user " + status.uid() + ", this command runs as user " + uid
                    + ": left as it is; run it as that user";
            }
        } catch (NativeCallException closed) {
            return "its status cannot be read: " + closed.getMessage() + "; this command runs as user "
                + Libc.geteuid() + ", left as it is";
        }
        return "no driver's folder of this user, left as it is";
    }

    /** The folders in the one that holds drivers' directories. */
    static List<Path> folders(Path base) {
        List<Path> folders = new ArrayList<>();
        if (!Files.isDirectory(base)) {
            return folders;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(base, Files::isDirectory)) {
            entries.forEach(folders::add);
        } catch (IOException ex) {
            throw new ToolException(base + " cannot be listed: " + ex.getMessage() + '.', ex);
        }
        folders.sort(null);
        return folders;
    }
}
