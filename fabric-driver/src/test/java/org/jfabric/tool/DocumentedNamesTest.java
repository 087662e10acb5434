package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jfabric.driver.config.DriverConfig;
import org.junit.jupiter.api.Test;

import picocli.CommandLine;

/** Options and commands that the pages of the root folder and docs name are there. */
class DocumentedNamesTest {
    /** Commands with a parser of their own, outside of this module. */
    private static final Set<String> ELSEWHERE = Set.of("compare", "test-verbs");
    private static final Pattern OPTION = Pattern.compile("(?<!org[./])\\bjfabric\\.[a-z]+\\.[a-zA-Z]+\\b");
    private static final Pattern COMMAND = Pattern.compile("\\./fabric ([a-z-]+)((?: +(?:--?[a-zA-Z][a-z-]*))*)");

    private static List<Path> pages() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("README.md"))) {
            root = root.getParent();
        }
        List<Path> pages = new ArrayList<>();
        for (Path folder : List.of(root, root.resolve("docs"))) {
            try (Stream<Path> files = Files.list(folder)) {
                files.filter(page -> page.toString().endsWith(".md")).sorted().forEach(pages::add);
            }
        }
        return pages;
    }

    /** Properties that are read by other classes than the driver's configuration. */
    private static boolean isProperty(String name) {
        return name.startsWith("jfabric.client.") || name.startsWith("jfabric.test.");
    }

    @Test
    void shouldNameOnlyOptionsThatThereAre() throws IOException {
        Set<String> known = new TreeSet<>();
        DriverConfig.optionGroups().forEach(group -> group.options().forEach(option -> known.add(option.name())));
        List<String> unknown = new ArrayList<>();
        for (Path page : pages()) {
            Matcher names = OPTION.matcher(Files.readString(page));
            while (names.find()) {
                if (!known.contains(names.group()) && !isProperty(names.group())) {
                    unknown.add(page.getFileName() + ": " + names.group());
                }
            }
        }
        assertEquals(List.of(), unknown);
    }

    @Test
    void shouldNameOnlyCommandsAndTheirOptionsThatThereAre() throws IOException {
        CommandLine tool = FabricTool.commandLine();
        List<String> unknown = new ArrayList<>();
        int found = 0;
        for (Path page : pages()) {
            Matcher calls = COMMAND.matcher(Files.readString(page));
            while (calls.find()) {
                String name = calls.group(1);
                CommandLine command = tool.getSubcommands().get(name);
                if (command == null) {
                    if (!ELSEWHERE.contains(name)) {
                        unknown.add(page.getFileName() + ": " + calls.group());
                    }
                    continue;
                }
                found++;
                for (String option : calls.group(2).trim().split(" +")) {
                    if (!option.isEmpty() && command.getCommandSpec().findOption(option) == null) {
                        unknown.add(page.getFileName() + ": " + calls.group());
                    }
                }
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(found >= 10, "calls found: " + found);
    }

    @Test
    void shouldHelpByTheWordToo() {
        ToolRun all = ToolRun.of("help");
        assertEquals(0, all.status(), all::err);
        assertEquals(ToolRun.of("--help").out(), all.out());
        assertEquals(ToolRun.of("stat", "--help").out(), ToolRun.of("help", "stat").out());
        for (String command : List.of("compare", "test-verbs", "clean", "help")) {
            assertTrue(all.out().lines().anyMatch(line -> line.startsWith("  " + command + " ")), all.out());
        }
    }

    @Test
    void shouldSetOptionsOnTheCommandLineAndShowNumbersAsNumbers() {
        ToolRun json = ToolRun.of("options", "--json", "--set", "jfabric.queue.txSize=64", "--set",
            "jfabric.engine.eagerLimitBytes=4KiB");
        assertEquals(0, json.status(), json::err);
        String options = json.out();
        assertTrue(options.contains("\"name\":\"jfabric.queue.txSize\",\"value\":64,"), options);
        assertTrue(options.contains("\"name\":\"jfabric.engine.eagerLimitBytes\",\"value\":4096,"), options);
        assertTrue(options.contains("\"value\":\"loopback,shm,tcp\""), options);
        ToolRun wrong = ToolRun.of("options", "--set", "jfabric.queue.txSizee=64");
        assertEquals(1, wrong.status());
        assertTrue(wrong.err().contains("jfabric.queue.txSizee"), wrong.err());
    }
}
