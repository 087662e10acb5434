package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jfabric.driver.config.DriverConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Options and commands that the pages of the root folder and docs name are there. */
class DocumentedNamesTest {
    /** Sources of the options of commands outside of this module, and the pattern of the options there. */
    private static final Map<String, String> ELSEWHERE = Map.of(
        "compare", "perf/src/main/java/org/jfabric/perf/compare/CompareCommand.java",
        "test-verbs", "config/verbs-vm/test-verbs",
        "test-aarch64", "config/aarch64/test-aarch64",
        "torture", "fabric-driver/tests/src/test/java/org/jfabric/driver/torture/TortureMain.java",
        "qualify", "fabric-driver/tests/src/test/java/org/jfabric/driver/qualify/QualifyMain.java");
    private static final Pattern DECLARED = Pattern.compile("(?:\\bnames = \"|^ +)(--[a-z-]+)[\")]", Pattern.MULTILINE);
    /** Of the JVM, not of a command. */
    private static final Set<String> OF_JAVA = Set.of("--add-opens");
    private static final Pattern OPTION = Pattern.compile("(?<!org[./])\\bjfabric\\.[a-z]+\\.[a-zA-Z]+\\b");
    private static final Pattern COMMAND = Pattern.compile("\\./fabric ([a-z0-9-]+)([^`\\n#)]*)");
    private static final Pattern COMMAND_OPTION = Pattern.compile("(?<=[ \\[])--?[a-zA-Z][a-z-]*");
    /** An option that stands in the text without its command. */
    private static final Pattern LONE_OPTION = Pattern.compile("`(--[a-z-]+)");

    private static Path root() {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("README.md"))) {
            root = root.getParent();
        }
        return root;
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        for (Path folder : List.of(root(), root().resolve("docs"), root().resolve("docs/internals"))) {
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

    /** The options of each command. */
    private static Map<String, Set<String>> commands() throws IOException {
        Map<String, Set<String>> commands = new TreeMap<>();
        FabricTool.commandLine().getSubcommands().forEach(
            (name, command) -> commands.put(name, command.getCommandSpec().optionsMap().keySet()));
        for (Map.Entry<String, String> each : ELSEWHERE.entrySet()) {
            Set<String> options = new TreeSet<>(Set.of("--help"));
            Matcher declared = DECLARED.matcher(Files.readString(root().resolve(each.getValue())));
            while (declared.find()) {
                options.add(declared.group(1));
            }
            assertTrue(options.size() > 5, () -> each + " has " + options);
            commands.put(each.getKey(), options);
        }
        // of jcstress, behind its own
        commands.get("test-aarch64").addAll(Set.of("-m", "-t"));
        commands.put("sample", Set.of("--help"));
        commands.put("jdk", Set.of());
        commands.put("jcstress", Set.of("-m", "-t", "-h"));
        commands.put("simulate", Set.of("--seed", "--seeds", "--seconds", "--minutes", "--real-minutes", "--jobs",
            "--kills", "--link", "--traffic", "--shrink", "--only", "--quiet", "--events", "--leaks"));
        return commands;
    }

    @Test
    void shouldNameOnlyCommandsAndTheirOptionsThatThereAre() throws IOException {
        Map<String, Set<String>> commands = commands();
        List<String> unknown = new ArrayList<>();
        Map<String, Integer> found = new TreeMap<>();
        for (Path page : pages()) {
            Matcher calls = COMMAND.matcher(Files.readString(page));
            while (calls.find()) {
                Set<String> known = commands.get(calls.group(1));
                if (known == null) {
                    unknown.add(page.getFileName() + ": " + calls.group());
                    continue;
                }
                Matcher options = COMMAND_OPTION.matcher(calls.group(2));
                while (options.find()) {
                    found.merge(calls.group(1), 1, Integer::sum);
                    if (!known.contains(options.group())) {
                        unknown.add(page.getFileName() + ": " + options.group() + " of " + calls.group());
                    }
                }
            }
        }
        assertEquals(List.of(), unknown);
        for (String command : List.of("compare", "test-verbs", "info", "fi-pingpong")) {
            assertTrue(found.getOrDefault(command, 0) >= 3, () -> command + " is called with options: " + found);
        }
    }

    @Test
    void shouldNameOnlyOptionsOfSomeCommandWhereItsNameIsLeftOut() throws IOException {
        Set<String> known = new TreeSet<>(OF_JAVA);
        commands().values().forEach(known::addAll);
        List<String> unknown = new ArrayList<>();
        for (Path page : pages()) {
            Matcher options = LONE_OPTION.matcher(Files.readString(page));
            while (options.find()) {
                if (!known.contains(options.group(1))) {
                    unknown.add(page.getFileName() + ": " + options.group(1));
                }
            }
        }
        assertEquals(List.of(), unknown);
    }

    @Test
    void shouldNameOnlyTestClassesThatThereAreInTheVirtualMachine() throws IOException {
        Matcher classes = Pattern.compile("\\b([a-z]+)\\.([A-Za-z]+Test)\\b")
            .matcher(Files.readString(root().resolve("config/verbs-vm/guest/parts/suite.sh")));
        int found = 0;
        for (; classes.find(); found++) {
            Path file = root().resolve("fabric-driver/tests/src/test/java/org/jfabric/driver/conformance")
                .resolve(classes.group(1)).resolve(classes.group(2) + ".java");
            assertTrue(Files.exists(file), () -> "there is no " + file);
        }
        assertTrue(found >= 4, found + " classes");
    }

    @Test
    void shouldNameOnlyTestsThatThereAreForAarch64() throws IOException, ClassNotFoundException {
        String script = Files.readString(root().resolve(ELSEWHERE.get("test-aarch64")));
        Matcher methods = Pattern.compile("\\b(should[A-Za-z0-9]+)").matcher(script);
        List<String> unknown = new ArrayList<>();
        int found = 0;
        for (; methods.find(); found++) {
            if (!namesOfTests().contains(methods.group(1))) {
                unknown.add(methods.group(1));
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(found >= 8, found + " methods");
    }

    private static Set<String> namesOfTests() throws IOException {
        Set<String> names = new TreeSet<>();
        for (String module : List.of("fabric-client", "fabric-driver/tests")) {
            try (Stream<Path> files = Files.walk(root().resolve(module).resolve("src/test/java"))) {
                for (Path file : files.filter(each -> each.toString().endsWith("Test.java")).toList()) {
                    Pattern.compile("void (should[A-Za-z0-9]+)\\(").matcher(Files.readString(file)).results()
                        .forEach(each -> names.add(each.group(1)));
                }
            }
        }
        return names;
    }

    /** Only the head of a script shows its options. Slow: it starts a process. */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"test-verbs", "test-aarch64"})
    void shouldTellEachOptionOfTheScriptInItsHead(String command) throws IOException {
        Path script = root().resolve(ELSEWHERE.get(command));
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        // any file will do for the jar
        Process help = new ProcessBuilder(script.toString(), java.toString(), script.toString(), "--help")
            .redirectErrorStream(true).start();
        String text = new String(help.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Matcher declared = DECLARED.matcher(Files.readString(script));
        while (declared.find()) {
            assertTrue(text.contains("  " + declared.group(1) + ' '), () -> declared.group(1) + " in\n" + text);
        }
        assertEquals(0, help.onExit().join().exitValue(), text);
    }

    @Test
    void shouldHelpByTheWordToo() {
        ToolRun all = ToolRun.of("help");
        assertEquals(0, all.status(), all::err);
        assertEquals(ToolRun.of("--help").out(), all.out());
        assertEquals(ToolRun.of("stat", "--help").out(), ToolRun.of("help", "stat").out());
        for (String command : List.of("compare", "sample", "test-verbs", "test-aarch64", "torture", "qualify",
            "jcstress", "jdk", "clean", "help")) {
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
