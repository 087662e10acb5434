package org.jfabric.test;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Writes {@code target/conformance.md}: which rows of the requirement list the tests that passed have shown, by which
 * link, and which rows nobody has shown yet.
 */
public final class ConformanceReport {

    private static final String NO_LINK = "-";

    /** Row id to the links it was shown on. */
    private final SortedMap<String, SortedSet<String>> linksById = new TreeMap<>();
    /** Row id to the tests that showed it. */
    private final SortedMap<String, SortedSet<String>> testsById = new TreeMap<>();
    private final SortedSet<String> links = new TreeSet<>();
    private final SortedMap<String, String> unknown = new TreeMap<>();

    /**
     * Reads what the modules' tests have left, and writes the report.
     *
     * @param args the report's path, then the modules' folders.
     * @throws IOException if a file cannot be read or written.
     */
    public static void main(String[] args) throws IOException {
        Path output = Path.of(args[0]);
        ConformanceReport report = new ConformanceReport();
        for (int i = 1; i < args.length; i++) {
            report.readModule(Path.of(args[i], RequirementListener.DIR_DEFAULT));
        }
        if (!report.unknown.isEmpty()) {
            System.err.println("Requirement ids that do not exist: " + report.unknown);
            System.exit(1);
        }
        Files.createDirectories(output.toAbsolutePath().getParent());
        Files.writeString(output, report.render());
        System.out.println("Conformance: " + report.linksById.size() + " of " + total() + " rows shown, see "
            + output.toAbsolutePath().normalize());
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

    void readLine(String line) {
        String[] columns = line.split("\t", -1);
        if (columns.length != 3) {
            return;
        }
        String id = columns[0];
        String link = columns[1].isEmpty() ? NO_LINK : columns[1];
        if (!Requirements.exists(id)) {
            unknown.put(id, columns[2]);
            return;
        }
        linksById.computeIfAbsent(id, key -> new TreeSet<>()).add(link);
        testsById.computeIfAbsent(id, key -> new TreeSet<>()).add(columns[2]);
        if (!link.equals(NO_LINK)) {
            links.add(link);
        }
    }

    Map<String, String> unknown() {
        return unknown;
    }

    String render() {
        StringBuilder text = new StringBuilder(64 * 1024);
        text.append("""
            # Conformance

            Made by the build from the tests that passed. A row counts as shown when a test that names it passed; by
            link where the test ran over links, and `-` where no link takes part.

            """);
        renderSummary(text);
        renderNotShown(text);
        renderShown(text);
        return text.toString();
    }

    private void renderSummary(StringBuilder text) {
        text.append("| Group | Rows | Shown | Not shown |");
        links.forEach(link -> text.append(' ').append(link).append(" |"));
        text.append("\n|---|---:|---:|---:|").append("---:|".repeat(links.size())).append('\n');
        for (Requirements group : Requirements.values()) {
            appendCounts(text, group.name() + " " + group.title, group.ids());
        }
        appendCounts(text, "**Total**", allIds());
        text.append('\n');
    }

    private void appendCounts(StringBuilder text, String label, List<String> ids) {
        long shown = ids.stream().filter(linksById::containsKey).count();
        text.append("| ").append(label).append(" | ").append(ids.size()).append(" | ").append(shown).append(" | ")
            .append(ids.size() - shown).append(" |");
        for (String link : links) {
            long byLink = ids.stream().filter(id -> linksOf(id).contains(link)).count();
            text.append(' ').append(byLink).append(" |");
        }
        text.append('\n');
    }

    private void renderNotShown(StringBuilder text) {
        text.append("## Not shown\n\n");
        for (Requirements group : Requirements.values()) {
            List<String> missing = group.ids().stream().filter(id -> !linksById.containsKey(id)).toList();
            if (!missing.isEmpty()) {
                text.append("- **").append(group.name()).append("** (").append(missing.size()).append("): ")
                    .append(ranges(missing)).append('\n');
            }
        }
        text.append('\n');
    }

    private void renderShown(StringBuilder text) {
        text.append("## Shown\n\n| Row | Links | Tests |\n|---|---|---|\n");
        for (String id : allIds()) {
            if (linksById.containsKey(id)) {
                text.append("| ").append(id).append(" | ").append(String.join(", ", linksOf(id))).append(" | ");
                List<String> tests = testsById.get(id).stream().map(ConformanceReport::shortName).toList();
                text.append(String.join(", ", tests)).append(" |\n");
            }
        }
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

    private static int total() {
        return allIds().size();
    }
}
