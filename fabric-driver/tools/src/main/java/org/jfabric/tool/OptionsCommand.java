package org.jfabric.tool;

import java.io.PrintWriter;
import java.util.concurrent.Callable;

import org.jfabric.driver.config.ConfigPrinter;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EffectiveValue;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code fabric options}: prints the options that a driver would have if it were started now with the same
 * arguments.
 */
@Command(
    name = "options",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Prints every option of the driver: the value that it would have if it were started now, and where"
        + " that value comes from.")
final class OptionsCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private DriverCommand.ConfigOptions options;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    OptionsCommand() {
    }

    @Override
    public Integer call() {
        DriverConfig config = options.config();
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(toJson(config));
        } else {
            out.print(ConfigPrinter.print(config));
        }
        out.flush();
        return 0;
    }

    /** Writes a number in the option's unit, such as bytes or nanoseconds, or the text of a value that is no number. */
    private static void member(JsonWriter writer, String name, Object value, String text) {
        if (value instanceof Number number) {
            writer.member(name, number.longValue());
        } else {
            writer.member(name, text);
        }
    }

    private static String toJson(DriverConfig config) {
        JsonWriter writer = new JsonWriter().beginObject().name("options").beginArray();
        for (EffectiveValue value : config.effectiveValues()) {
            writer.beginObject().member("name", value.option().name());
            member(writer, "value", value.number(), value.text());
            writer.member("unit", value.option().unit());
            member(writer, "default", value.option().defaultValue(), value.option().defaultText());
            writer
                .member("isDefault", value.isDefault())
                .member("where", value.where())
                .member("origin", value.origin().text())
                .member("variable", value.option().variable())
                .endObject();
        }
        return writer.endArray().endObject().toString();
    }
}
