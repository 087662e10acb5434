import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the commands of README.md, docs/features.md, CONTRIBUTING.md and the tutorials as they are written there, in a
 * checkout that is built: {@code $(./fabric jdk)/bin/java .ci/Commands.java [--list] [PATTERN]}.
 *
 * <p>Commands are the lines of blocks without a language, and what stands between backquotes and begins with a program;
 * what is optional there, in square brackets, is left out. What a page marks as (long), or what runs until it is
 * stopped, is interrupted after some seconds, and has to run until then. The blocks of a section of a tutorial belong
 * together: its programs run at the same time and have to succeed. Ends with 1 if a command failed.
 */
final class Commands {
    private static final int LIMIT_S = 5;
    private static final int LONGEST_S = 400;
    private static final int TUTORIAL_S = 60;
    private static final int STREAM_S = 15;

    /** Other steps of {@code .ci/run}. */
    private static final Pattern ELSEWHERE = Pattern.compile(
        "mvn verify|\\.ci/run|mvn -Ppackage package|config/(package|journeys|pictures)/.*"
            + "|\\./fabric (pingpong|test-verbs.*|test-aarch64.*)");
    /** Needs a peer, a repository to deploy to, a second driver beside that of this run, or another process's end. */
    private static final Pattern NOT_ALONE = Pattern.compile("\\./fabric (fi-pingpong|compare( --publish.*)?|qualify.*|driver.*)|mvn .* deploy");
    private static final Pattern ENDLESS = Pattern.compile("\\./fabric (top|web)");
    private static final Pattern PROGRAM = Pattern.compile(
        "(\\./fabric|\\./mvnw|(JAVA_HOME=\\S+( jdk\\))? )?mvn|\\$\\(\\./fabric jdk\\)/bin/java|config/[a-z]+/[a-z-]+|\\.ci/run)"
            + "( .*)?");
    private static final Pattern INLINE = Pattern.compile("`([^`]+)`");

    private final List<String> failures = new ArrayList<>();
    private final List<Process> processes = new ArrayList<>();
    private final Path logs = Path.of("target", "commands");

    private record Command(String text, boolean isLong) {
    }

    public static void main(String[] args) throws Exception {
        boolean isList = args.length > 0 && args[0].equals("--list");
        Pattern wanted = Pattern.compile(args.length > (isList ? 1 : 0) ? args[args.length - 1] : "");
        // by their text, in the order of the pages; long if one of the pages says so
        Map<String, Command> all = new LinkedHashMap<>();
        for (String page : List.of("README.md", "docs/features.md", "CONTRIBUTING.md")) {
            commands(Files.readAllLines(Path.of(page))).forEach(each -> all.merge(each.text, each,
                (first, second) -> first.isLong ? first : second));
        }
        List<Command> commands = new ArrayList<>(all.values());
        commands.removeIf(each -> ELSEWHERE.matcher(each.text).matches() || NOT_ALONE.matcher(each.text).matches()
            || !wanted.matcher(each.text).find());
        if (isList) {
            commands.forEach(System.out::println);
            return;
        }
        Commands run = new Commands();
        try {
            run.all(commands, wanted.pattern().isEmpty());
        } finally {
            run.processes.forEach(Process::destroy);
        }
        run.failures.forEach(each -> System.out.println("FAILED: " + each));
        System.exit(run.failures.isEmpty() ? 0 : 1);
    }

    private static List<Command> commands(List<String> lines) {
        List<Command> result = new ArrayList<>();
        String block = null;
        StringBuilder command = new StringBuilder();
        for (String line : lines) {
            if (line.startsWith("```")) {
                block = block == null ? line.substring(3) : null;
            } else if (block == null) {
                INLINE.matcher(line).results().map(each -> each.group(1).replaceAll(" *\\[[^]]*]", ""))
                    .forEach(each -> add(result, each, false));
            } else if (block.isEmpty()) {
                command.append(line.startsWith("#") ? line + '\n' : line.replaceFirst("\\\\$", ""));
                if (!line.endsWith("\\") && !line.startsWith("#")) {
                    add(result, command.toString().replaceAll("( +|\n?)#.*", ""), command.toString().contains("(long)"));
                    command.setLength(0);
                }
            }
        }
        return result;
    }

    private static void add(List<Command> commands, String text, boolean isLong) {
        String command = text.replaceAll(" +", " ").strip();
        if (PROGRAM.matcher(command).matches() && !Files.isRegularFile(Path.of(command + "/pom.xml"))
            && !command.matches("config/.*\\.\\w+|java|mvn|\\./fabric|\\./mvnw")) {
            commands.add(new Command(command, isLong || ENDLESS.matcher(command).lookingAt()));
        }
    }

    private void all(List<Command> commands, boolean withTutorial) throws Exception {
        Files.createDirectories(logs);
        // before the driver: some write the jar anew that it runs from
        List<Command> builds = commands.stream()
            .filter(each -> !each.text.startsWith("./fabric ") || each.text.startsWith("./fabric jcstress")).toList();
        // what ends the driver, or is about one that has ended
        List<Command> last = commands.stream().filter(each -> each.text.matches("\\./fabric (drain|clean)")).toList();
        for (Command command : builds) {
            run(command);
        }
        Process driver = start("./fabric driver", "driver");
        await(driver, "driver", "ready");
        for (Command command : commands) {
            if (!builds.contains(command) && !last.contains(command)) {
                run(command);
            }
        }
        if (!driver.isAlive()) {
            fail("./fabric driver: it ended beside the others", "driver");
        }
        for (Command command : last) {
            run(command);
        }
        stop(driver);
        if (withTutorial) {
            tutorial();
        }
    }

    private void run(Command command) throws Exception {
        long begin = System.nanoTime();
        Process process = start(command.text, "command");
        boolean hasEnded = process.waitFor(command.isLong ? LIMIT_S : LONGEST_S, TimeUnit.SECONDS);
        System.out.printf("--- %s: %s, %d s%n", command.text, hasEnded ? process.exitValue() : "stopped",
            TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
        if (!hasEnded) {
            stop(process);
        }
        if (hasEnded ? process.exitValue() != 0 : !command.isLong) {
            fail(command.text, "command");
        }
    }

    private void fail(String what, String log) throws IOException {
        failures.add(what);
        List<String> lines = Files.readAllLines(logs.resolve(log + ".log"));
        lines.subList(Math.max(0, lines.size() - 20), lines.size()).forEach(System.out::println);
    }

    private Process start(String command, String log) throws IOException {
        Process process = new ProcessBuilder("bash", "-c", command).redirectErrorStream(true)
            .redirectInput(new File("/dev/null")).redirectOutput(logs.resolve(log + ".log").toFile()).start();
        processes.add(process);
        return process;
    }

    private void await(Process process, String log, String word) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TUTORIAL_S);
        while (!Files.readString(logs.resolve(log + ".log")).contains(word)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                fail("no \"" + word + "\" of " + log, log);
                return;
            }
            Thread.sleep(50);
        }
    }

    /** With all that it has started. */
    private static void stop(Process process) throws InterruptedException {
        List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
        all.add(process.toHandle());
        all.forEach(ProcessHandle::destroy);
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            all.forEach(ProcessHandle::destroyForcibly);
        }
    }

    private void tutorial() throws Exception {
        List<Path> made = List.of(Path.of("keys"), Path.of("stream-log"), Path.of("stream-average"));
        for (Path each : made) {
            if (Files.exists(each)) {
                throw new IOException("the tutorials make " + each + ", and there is one");
            }
        }
        try {
            for (String page : List.of("tutorial.md", "tutorial-streams.md")) {
                for (String section : Files.readString(Path.of("docs", page)).split("\n## ")) {
                    section(section);
                }
            }
        } finally {
            for (Path each : made) {
                if (Files.exists(each)) {
                    try (var files = Files.walk(each)) {
                        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
                    }
                }
            }
        }
    }

    private void section(String text) throws Exception {
        Matcher blocks = Pattern.compile("\n```\n(.*?)\n```", Pattern.DOTALL).matcher(text);
        List<Process> programs = new ArrayList<>();
        Process driver = null;
        while (blocks.find()) {
            String block = blocks.group(1);
            if (block.contains("./mvnw") || block.contains("keytool")) {
                run(new Command(block, false));
                continue;
            }
            String variables = "";
            for (String line : block.lines().toList()) {
                if (line.startsWith("options=")) {
                    variables = line + "; ";
                } else if (line.equals("./fabric driver")) {
                    driver = start(line, "driver");
                    await(driver, "driver", "ready");
                } else if (line.contains("./fabric ")) {
                    String log = "program-" + programs.size();
                    // it publishes until Enter
                    String input = line.contains("sample stream publish") ? "(sleep " + STREAM_S + "; echo) | " : "";
                    Process program = start(variables + input + line, log);
                    programs.add(program);
                    if (line.contains(" publish ")) {
                        await(program, log, "publisher: ");
                    }
                    System.out.println("--- " + line);
                }
            }
        }
        for (int i = 0; i < programs.size(); i++) {
            Process program = programs.get(i);
            if (!program.waitFor(TUTORIAL_S, TimeUnit.SECONDS) || program.exitValue() != 0) {
                fail("program " + i + " of the tutorial's section " + text.lines().findFirst().orElse(""), "program-" + i);
            }
        }
        if (driver != null) {
            stop(driver);
        }
    }
}
