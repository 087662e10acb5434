package org.jfabric.test;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Writes {@code target/conformance.md}: every row of {@link RequirementTable}, whether it is due, which tests that
 * passed showed it and on which links. Fails where the table, the code and the tests disagree.
 */
public final class ConformanceReport {

    private static final String NO_LINK = "-";
    /** A test of more rows than this says too little about each, unless it runs for several parameters. */
    private static final int MAX_ROWS_PER_TEST = 3;

    private final RequirementTable table;
    /** Row id to the links it was shown on. */
    private final SortedMap<String, SortedSet<String>> linksById = new TreeMap<>();
    /** Row id to the tests that showed it. */
    private final SortedMap<String, SortedSet<String>> testsById = new TreeMap<>();
    /** Rows that a test showed otherwise than by a refusal. */
    private final SortedSet<String> seenToWork = new TreeSet<>();
    /** Tests that ran once, to the rows they claim. */
    private final SortedMap<String, SortedSet<String>> rowsBySingleTest = new TreeMap<>();
    private final SortedSet<String> links = new TreeSet<>();
    private final SortedMap<String, String> unknown = new TreeMap<>();
    /** Readings that the source code of tests cites, and that do not exist. */
    private final List<String> citations = new ArrayList<>();

    ConformanceReport(RequirementTable table) {
        this.table = table;
    }

    /**
     * Reads what the modules' tests have left, writes the report, and fails if there is something wrong.
     *
     * @param args the report's path, the folder of the requirements, then the modules' folders.
     * @throws IOException if a file cannot be read or written.
     */
    public static void main(String[] args) throws IOException {
        Path output = Path.of(args[0]);
        ConformanceReport report =
            write(output, Path.of(args[1]), Arrays.stream(args).skip(2).map(Path::of).toList(), "");
        List<String> ids = allIds();
        System.out.println("Conformance: " + ids.stream().filter(report::isShown).count() + " of " + ids.size()
            + " rows shown, " + ids.stream().filter(report::isRefused).count() + " of them by refusal, "
            + ids.stream().filter(report.table::isDue).count() + " due, "
            + ids.stream().filter(report::isOpen).count() + " due and not shown, see "
            + output.toAbsolutePath().normalize());
        List<String> problems = report.problems();
        if (!problems.isEmpty()) {
            System.err.println("Conformance: " + problems.size()
                + " problems, see docs/requirements/README.md for the rules");
            problems.forEach(problem -> System.err.println("  " + problem));
            System.exit(1);
        }
    }

    /**
     * Writes the report of what has been shown so far, without a check, so that there is one of a build that fails.
     *
     * @param root of the checkout.
     * @throws IOException if a file cannot be read or written.
     */
    static void writeSoFar(Path root) throws IOException {
        List<Path> modules = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(root)) {
            folders.forEach(modules::add);
        }
        write(root.resolve("target/conformance.md"), root.resolve("docs/requirements"), modules,
            "**The build that wrote this has not come to its end:** it fails or still runs.\n\n");
    }

    private static ConformanceReport write(Path output, Path requirements, List<Path> modules, String state)
        throws IOException {
        ConformanceReport report = new ConformanceReport(RequirementTable.read(requirements));
        for (Path module : modules) {
            report.readModule(module.resolve(RequirementListener.DIR_DEFAULT));
            report.readTests(module.resolve("src/test/java"));
        }
        Files.createDirectories(output.toAbsolutePath().getParent());
        Files.writeString(output, report.render(state));
        return report;
    }

    /** Everything for which the build fails. */
    List<String> problems() {
        List<String> problems = new ArrayList<>(table.problems());
        unknown.forEach((id, test) -> problems.add(test + " claims the row " + id + ", which does not exist"));
        problems.addAll(citations);
        table.capabilities().forEach(capability -> problems.addAll(capability.problems()));
        rowsBySingleTest.forEach((test, ids) -> {
            if (ids.size() > MAX_ROWS_PER_TEST) {
                problems.add(test + " is not parameterised and claims " + ids.size() + " rows, at most "
                    + MAX_ROWS_PER_TEST + ": " + ids);
            }
        });
        for (String id : allIds()) {
            if (table.isEnforced(id) && isOpen(id)) {
                problems.add(id + " is due and no test showed it: " + table.title(id));
            }
        }
        return problems;
    }

    private boolean isShown(String id) {
        return testsById.containsKey(id);
    }

    /** Shown, but by nothing else than the refusal of what it describes. */
    private boolean isRefused(String id) {
        return isShown(id) && !seenToWork.contains(id);
    }

    /** Due, and nobody has shown it. */
    private boolean isOpen(String id) {
        return table.isDue(id) && !isShown(id);
    }

    void readModule(Path dir) throws IOException {
        if (!Files.isDirectory(dir)) {
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(dir, "*" + RequirementListener.FILE_SUFFIX)) {
            for (Path file : files) {
                for (String line : Files.readAllLines(file)) {
                    readLine(line);
                }
            }
        }
    }

    /** Looks for readings that a module's tests cite in comments and messages. */
    void readTests(Path dir) throws IOException {
        if (!Files.isDirectory(dir)) {
            return;
        }
        try (Stream<Path> files = Files.walk(dir)) {
            for (Path file : files.filter(file -> file.toString().endsWith(".java")).sorted().toList()) {
                List<String> lines = Files.readAllLines(file);
                for (int i = 0; i < lines.size(); i++) {
                    citations.addAll(table.unknownReadings(lines.get(i), file.getFileName() + ":" + (i + 1)));
                }
            }
        }
    }

    void readLine(String line) {
        String[] columns = line.split("\t", -1);
        if (columns.length != 5) {
            return;
        }
        String id = columns[0];
        String link = columns[1].isEmpty() ? NO_LINK : columns[1];
        if (!Requirements.exists(id)) {
            unknown.put(id, columns[2]);
            return;
        }
        if (columns[3].equals(RequirementListener.SINGLE)) {
            rowsBySingleTest.computeIfAbsent(columns[2], key -> new TreeSet<>()).add(id);
        }
        linksById.computeIfAbsent(id, key -> new TreeSet<>()).add(link);
        testsById.computeIfAbsent(id, key -> new TreeSet<>()).add(columns[2]);
        if (columns[4].equals(RequirementListener.WORKS)) {
            seenToWork.add(id);
        }
        if (!link.equals(NO_LINK)) {
            links.add(link);
        }
    }

    Map<String, String> unknown() {
        return unknown;
    }

    /** The report, with that paragraph behind the first one. */
    String render(String state) {
        StringBuilder text = new StringBuilder(128 * 1024);
        text.append("""
            # Conformance

            Made by the build from the tests that passed. A row counts as shown when a test that names it passed; by
            link where the test ran over links, and `-` where no link takes part. A row is due when all capabilities
            that `docs/requirements` names for it exist. A row that says "shown by refusal" describes something that is
            not there: the tests show that it is refused as documented, and nothing else.

            """).append(state);
        renderSummary(text);
        renderOpen(text);
        renderRows(text);
        return text.toString();
    }

    private void renderSummary(StringBuilder text) {
        text.append("| Group | Rows | Due | Due, shown | Due, not shown | Not due | Not due, shown | By refusal |");
        links.forEach(link -> text.append(' ').append(link).append(" |"));
        text.append("\n|---|").append("---:|".repeat(7 + links.size())).append('\n');
        for (Requirements group : Requirements.values()) {
            appendCounts(text, group.name() + " " + group.title, group.ids());
        }
        appendCounts(text, "**Total**", allIds());
        text.append('\n');
    }

    private void appendCounts(StringBuilder text, String label, List<String> ids) {
        long due = ids.stream().filter(table::isDue).count();
        long open = ids.stream().filter(this::isOpen).count();
        long early = ids.stream().filter(id -> isShown(id) && !table.isDue(id)).count();
        text.append("| ").append(label).append(" | ").append(ids.size()).append(" | ").append(due).append(" | ")
            .append(due - open).append(" | ").append(open).append(" | ").append(ids.size() - due).append(" | ")
            .append(early).append(" | ").append(ids.stream().filter(this::isRefused).count()).append(" |");
        for (String link : links) {
            long byLink = ids.stream().filter(id -> linksOf(id).contains(link)).count();
            text.append(' ').append(byLink).append(" |");
        }
        text.append('\n');
    }

    private void renderOpen(StringBuilder text) {
        text.append("## Due, not shown\n\n");
        for (Requirements group : Requirements.values()) {
            List<String> open = group.ids().stream().filter(this::isOpen).toList();
            if (!open.isEmpty()) {
                text.append("- **").append(group.name()).append("** (").append(open.size()).append("): ")
                    .append(ranges(open)).append('\n');
            }
        }
        text.append('\n');
    }

    private void renderRows(StringBuilder text) {
        text.append("## All rows\n\n| Row | Title | State | Links | Tests |\n|---|---|---|---|---|\n");
        for (String id : allIds()) {
            List<String> tests = testsById.getOrDefault(id, new TreeSet<>()).stream()
                .map(ConformanceReport::shortName).toList();
            text.append("| ").append(id).append(" | ").append(table.title(id).replace("|", "\\|"))
                .append(" | ").append(state(id))
                .append(" | ").append(String.join(", ", linksOf(id))).append(" | ")
                .append(String.join(", ", tests)).append(" |\n");
        }
    }

    private String state(String id) {
        String shown = !isShown(id) ? "not shown" : isRefused(id) ? "shown by refusal" : "shown";
        return table.isDue(id) ? "due, " + shown
            : "not due: " + String.join(", ", table.missing(id)) + (isShown(id) ? "; " + shown : "");
    }

    private SortedSet<String> linksOf(String id) {
        return linksById.getOrDefault(id, new TreeSet<>());
    }

    /** Class without package, and method. */
    private static String shortName(String test) {
        int methodStart = test.indexOf('#');
        return test.substring(test.lastIndexOf('.', methodStart) + 1).replace('#', '.');
    }

    /** Numbers of one group's ids in ascending order, neighbours joined: {@code 001-004, 007}. */
    static String ranges(List<String> ids) {
        List<String> parts = new ArrayList<>();
        int first = 0;
        for (int i = 1; i <= ids.size(); i++) {
            if (i == ids.size() || number(ids.get(i)) != number(ids.get(i - 1)) + 1) {
                String from = digits(ids.get(first));
                parts.add(i - 1 == first ? from : from + "-" + digits(ids.get(i - 1)));
                first = i;
            }
        }
        return String.join(", ", parts);
    }

    private static int number(String id) {
        return Integer.parseInt(digits(id));
    }

    private static String digits(String id) {
        return id.substring(id.indexOf('-') + 1);
    }

    private static List<String> allIds() {
        List<String> ids = new ArrayList<>();
        for (Requirements group : Requirements.values()) {
            ids.addAll(group.ids());
        }
        return ids;
    }
}
