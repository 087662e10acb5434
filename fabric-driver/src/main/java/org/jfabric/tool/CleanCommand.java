package org.jfabric.tool;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.jfabric.FabricConfig;
import org.jfabric.driver.DriverDirectory;
import org.jfabric.ffi.NativeAccess;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Removes what killed drivers left. */
@Command(
    name = "clean",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Removes the files of drivers of this user that were killed: in all folders beside the default one,"
        + " or in the one that --dir names. Drivers that run, folders that are no driver's, and files that no driver"
        + " makes stay. Error logs are kept as text.")
final class CleanCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    CleanCommand() {
    }

    @Override
    public Integer call() {
        NativeAccess.check();
        PrintWriter out = spec.commandLine().getOut();
        List<Path> folders = directory.isGiven() ? List.of(directory.path()) : folders(new FabricConfig().base());
        if (folders.isEmpty()) {
            out.println("there are no folders in " + new FabricConfig().base());
        }
        for (Path folder : folders) {
            out.println(switch (DriverDirectory.clean(folder)) {
                case REMOVED -> folder + ": removed";
                case EMPTIED -> folder + ": the driver's files were removed; error logs or files of others stay";
                case RUNNING -> folder + ": a driver runs there, left as it is";
                case NOT_OURS -> folder + ": no driver's folder of this user, left as it is";
            });
        }
        out.flush();
        return 0;
    }

    private static List<Path> folders(Path base) {
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
