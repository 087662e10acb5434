package org.jfabric.tool;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs a driver in the foreground. */
@Command(
    name = "driver",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Runs a driver in the foreground until it is stopped (Ctrl-C, SIGTERM). Any number of processes"
        + " of this user can attach to it.")
final class DriverCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options;

    DriverCommand() {
    }

    @Override
    public Integer call() {
        return FabricDriver.run(options.config(), System.out, System.err);
    }

    /** The options that make a driver's configuration. */
    static final class ConfigOptions {
        @Mixin
        private DirectoryOption directory;

        @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A properties file with the driver's options, see 'fabric options'; of several a later one"
                + " wins. Without it: the file in JFABRIC_CONFIG, else /etc/jfabric.properties if it is there.")
        private List<Path> files = new ArrayList<>();

        @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "One of the driver's options, such as jfabric.link.enabled=loopback,shm,udp; may be given"
                + " several times, and goes ahead of files, environment variables and system properties.")
        private Map<String, String> values = new LinkedHashMap<>();

        ConfigOptions() {
        }

        /**
         * Reads and checks.
         */
        DriverConfig config() {
            DriverConfig.Builder builder = DriverConfig.builder().host();
            files.forEach(builder::load);
            if (directory.isGiven()) {
                builder.directory(directory.path());
            }
            values.forEach(builder::set);
            return builder.build();
        }
    }
}
