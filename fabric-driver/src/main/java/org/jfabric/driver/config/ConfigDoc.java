package org.jfabric.driver.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes {@code docs/options.md} from the options' declarations. A test fails when the file is not what this class
 * generates.
 */
public final class ConfigDoc {

    private static final String INTRODUCTION = """
        # Options of the driver

        For operators who tune a driver. The page is generated from the declarations in `org.jfabric.driver.config` by
        `ConfigDoc`; do not edit it. The values in use are printed by the driver at start, each with its source.

        ## How to set one

        Of several settings the first in this list counts:

        1. code: `DriverConfig.builder().set("jfabric.queue.txSize", "512")`, and the arguments of a command
           (`--dir`, `--set jfabric.queue.txSize=512`);
        2. a system property of the driver's process: `-Djfabric.queue.txSize=512`;
        3. an environment variable of a daemon: `JFABRIC_QUEUE_TX_SIZE=512`. The words of the option's name stand in
           capitals, with `_` for each dot and before each word. An empty variable counts as not set;
        4. a properties file in UTF-8: `--config FILE`, or `DriverConfig.builder().load(FILE)`; of several the last one.
           If none is named, a daemon reads the file that the environment variable `JFABRIC_CONFIG` names, or else
           `/etc/jfabric.properties` if it is there;
        5. the default.

        A daemon is what `./fabric driver` and the class `FabricDriver` start. An embedded driver reads 3 and
        `/etc/jfabric.properties` only if its application says `DriverConfig.builder().host()`; the variable
        `JFABRIC_DIR_BASE` alone counts for it without that. Clients find a driver by
        the system properties `jfabric.dir.base` and `jfabric.dir.name` or the variables `JFABRIC_DIR_BASE` and
        `JFABRIC_DIR_NAME`, but not by the file; commands of `./fabric` also by the file. They take a driver of another
        user, which serves a group (`jfabric.dir.group`), only if `jfabric.client.driverUser` or the variable
        `JFABRIC_CLIENT_DRIVER_USER` names that user.

        `./fabric options` with the arguments of `./fabric driver` prints each option with its value and its origin;
        `--json` adds the variable's name. A running driver has printed the same at its start.

        Sizes are bytes, or whole numbers with `KiB`, `MiB`, `GiB` (short: `k`, `m`, `g`). Durations are nanoseconds, or
        whole numbers with `ns`, `us`, `ms`, `s`. An unknown `jfabric.` property or `JFABRIC_` variable, a value out of
        range and values that do not fit together are refused at start, all in one message, with the nearest known name.
        (`jfabric.client.` and `jfabric.test.` are not the driver's, nor are `JFABRIC_JAVA`, `JFABRIC_JAVA_OPTS` and
        `JFABRIC_AOT`, which the script `./fabric` reads.) "-1 = ..." means that the value is derived as described,
        unless it is set.

        Clients have options of their own, time limits for example. They are calls of `FabricConfig`, or system
        properties that begin with `jfabric.client.`; the Javadoc of `FabricConfig` has them all.
        """;

    private ConfigDoc() {
    }

    /**
     * Writes the page.
     *
     * @param args the file to write; without it {@code docs/options.md} in the working directory.
     * @throws IOException if it cannot be written.
     */
    public static void main(String[] args) throws IOException {
        Path file = Path.of(args.length == 0 ? "docs/options.md" : args[0]).toAbsolutePath();
        Files.createDirectories(file.getParent());
        Files.writeString(file, generate());
        System.out.println("wrote " + file);
    }

    /**
     * The page's text, the same on every machine.
     *
     * @return Markdown that ends with a line break.
     */
    public static String generate() {
        StringBuilder out = new StringBuilder(INTRODUCTION);
        for (OptionGroup group : DriverConfig.optionGroups()) {
            out.append("\n## ").append(ConfigSource.PREFIX).append(group.name()).append(": ")
                .append(group.title()).append("\n\n")
                .append("| Option | Unit | Default | Range | Why you would change it | Set in |\n")
                .append("|---|---|---|---|---|---|\n");
            for (Option<?> option : group.options()) {
                out.append("| `").append(option.name()).append("` | ").append(cell(option.unit()))
                    .append(" | ").append(cell(option.defaultText()))
                    .append(" | ").append(cell(option.rangeText()))
                    .append(" | ").append(cell(option.why()))
                    .append(" | ").append(cell(option.setIn().text())).append(" |\n");
            }
        }
        sizing(out);
        return out.toString();
    }

    private static void sizing(StringBuilder out) {
        // Without the system properties of this process, or the page would differ from machine to machine.
        DriverConfig defaults = DriverConfig.defaults();
        out.append("\n## Shared memory with the defaults\n\n")
            .append("Blocks are reserved when a file is made, so the directory's file system has to have as much. ")
            .append("A default client has ").append(Sizing.DEFAULT_CLIENT.describe()).append(".\n\n")
            .append("| File | Bytes |\n|---|---|\n");
        for (Sizing.Part part : Sizing.forDriver(defaults).plus(Sizing.forDefaultClients(defaults, 1)).parts()) {
            out.append("| ").append(cell(part.name())).append(" | ")
                .append(Quantity.describeBytes(part.bytes())).append(" |\n");
        }
        out.append("| driver and one default client | ")
            .append(Quantity.describeBytes(
                Sizing.forDriver(defaults).plus(Sizing.forDefaultClients(defaults, 1)).totalBytes()))
            .append(" |\n");
    }

    /** Markdown takes angle brackets for tags and a bar for the next cell. */
    private static String cell(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|");
    }
}
