package org.jfabric.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;

/**
 * Writes what a package has besides the jar, from the same descriptions as {@code --help}: a script with which bash and
 * zsh complete the commands, and the manual pages. Run when the package is made. Picocli makes the script; its manual
 * pages are AsciiDoc, which would need another program to become pages.
 */
@Command(name = "help-files", hidden = true, description = "Writes completion and manual pages; not for users.")
final class HelpFilesCommand implements Callable<Integer> {
    private static final String TOOL = "fabric";

    @Parameters(paramLabel = "FOLDER", description = "Where the folders completion and man1 are made.")
    private Path folder;

    HelpFilesCommand() {
    }

    @Override
    public Integer call() throws IOException {
        CommandLine tool = FabricTool.commandLine();
        Path completion = Files.createDirectories(folder.resolve("completion"));
        // without the time at which it was made, so that the same comes out each time
        Files.writeString(completion.resolve(TOOL),
            AutoComplete.bash(TOOL, tool).replaceAll("(?m)^# (Date|Version|Generated).*\n", ""));
        Path pages = Files.createDirectories(folder.resolve("man1"));
        Files.writeString(pages.resolve(TOOL + ".1"), page(tool));
        for (CommandLine command : tool.getSubcommands().values()) {
            if (!command.getCommandSpec().usageMessage().hidden()) {
                Files.writeString(pages.resolve(name(command) + ".1"), page(command));
            }
        }
        return 0;
    }

    private static String name(CommandLine command) {
        return command.getCommandSpec().qualifiedName("-");
    }

    private static String page(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        String description = text(spec.usageMessage().description());
        StringBuilder page = new StringBuilder(2048);
        String summary = description.replaceFirst("(?s)(\\.|:)(\\s.*)?$", "");
        page.append(".TH \"").append(name(command).toUpperCase(Locale.ROOT))
            .append("\" 1 \"\" \"JFabric\" \"JFabric\"\n")
            .append(".SH NAME\n").append(roff(name(command))).append(" \\- ").append(roff(summary)).append('\n')
            .append(".SH SYNOPSIS\n").append(roff(new Help(spec, Help.defaultColorScheme(Help.Ansi.OFF))
                .synopsis(0).strip().replaceAll("\\s+", " "))).append('\n')
            .append(".SH DESCRIPTION\n").append(roff(description)).append('\n');
        page.append(".SH OPTIONS\n");
        for (OptionSpec option : spec.options()) {
            if (!option.hidden()) {
                item(page, String.join(", ", option.names()) + (option.typeInfo().isBoolean() ? ""
                    : " " + option.paramLabel()), text(option.description()));
            }
        }
        spec.positionalParameters().stream().filter(each -> !each.hidden())
            .forEach(each -> item(page, each.paramLabel(), text(each.description())));
        List<CommandLine> commands = command.getSubcommands().values().stream()
            .filter(each -> !each.getCommandSpec().usageMessage().hidden()).toList();
        if (!commands.isEmpty()) {
            page.append(".SH COMMANDS\n");
            commands.forEach(each -> item(page, each.getCommandName(),
                text(each.getCommandSpec().usageMessage().description())));
        }
        String footer = text(spec.usageMessage().footer());
        if (!footer.isEmpty() && commands.isEmpty()) {
            page.append(".PP\n").append(roff(footer)).append('\n');
        }
        return page.append(commands.isEmpty() ? ".SH SEE ALSO\n.BR fabric (1)\n" : "").toString();
    }

    private static void item(StringBuilder page, String name, String text) {
        page.append(".TP\n.B ").append(roff(name)).append('\n').append(roff(text)).append('\n');
    }

    private static String text(String... lines) {
        return String.format(String.join(" ", lines)).strip();
    }

    /** A text of which troff takes nothing for a command or an escape. */
    private static String roff(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replaceAll("(?m)^([.])", "\\\\&$1");
    }
}
