package org.jfabric.test;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The folder {@code docs/requirements}: all rows with their titles and the capabilities they need, the capabilities,
 * the groups whose due rows must be shown, and the readings of ambiguous text.
 */
public final class RequirementTable {
    /** The page that has the capabilities and the enforced groups. */
    static final String README = "README.md";
    /** The page that tells how ambiguous text is read. */
    static final String READINGS = "readings.md";

    private static final String ENFORCED = "Enforced groups:";
    private static final Pattern CELL_END = Pattern.compile("(?<!\\\\)\\|");
    private static final Pattern ID = Pattern.compile("[A-Z]+-[0-9]{3}");
    private static final Pattern READING = Pattern.compile("\\bAMB-[0-9]+");
    private static final Pattern CAPABILITY = Pattern.compile("[a-z][a-z-]*");
    private static final Pattern CITED = Pattern.compile("\\b(?:AMB"
        + Arrays.stream(Requirements.values()).map(group -> "|" + group.name()).collect(Collectors.joining())
        + ")-[0-9]+");

    private final Map<String, Row> rows = new LinkedHashMap<>();
    private final Map<String, Capability> capabilities = new LinkedHashMap<>();
    private final Set<String> readings = new TreeSet<>();
    private final Set<String> enforcedGroups = new TreeSet<>();
    private final List<String> problems = new ArrayList<>();

    /** A row's title, the names of its capabilities, what it asks for, and where that is said. */
    record Row(String id, String title, List<String> capabilities, String text, String source) {
    }

    private RequirementTable() {
    }

    /**
     * Reads the folder.
     *
     * @param folder of the pages.
     * @return what they say, mistakes included.
     * @throws IOException if it cannot be read.
     */
    public static RequirementTable read(Path folder) throws IOException {
        Map<String, List<String>> pages = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.md")) {
            for (Path file : files) {
                pages.put(file.getFileName().toString(), Files.readAllLines(file));
            }
        }
        return parse(pages);
    }

    static RequirementTable parse(Map<String, List<String>> pages) {
        RequirementTable table = new RequirementTable();
        pages.forEach((page, lines) -> lines.forEach(line -> table.onLine(page, line)));
        table.check();
        pages.forEach((page, lines) -> {
            for (int i = 0; i < lines.size(); i++) {
                table.problems.addAll(table.unknown(CITED, lines.get(i), page + ":" + (i + 1)));
            }
        });
        return table;
    }

    private void onLine(String page, String line) {
        if (page.equals(README) && line.startsWith(ENFORCED)) {
            enforcedGroups.addAll(list(line.substring(ENFORCED.length())));
        } else if (line.startsWith("|")) {
            List<String> columns = columns(line);
            if (page.equals(README)) {
                onCapability(line, columns);
            } else if (page.equals(READINGS)) {
                onReading(line, columns);
            } else {
                onRow(line, columns);
            }
        }
    }

    private void onRow(String line, List<String> columns) {
        String id = columns.get(0);
        if (!ID.matcher(id).matches()) {
            return;
        }
        if (columns.size() != 5) {
            problems.add("row with " + columns.size() + " columns instead of 5: " + line);
        } else if (rows.put(id, new Row(id, columns.get(1), list(columns.get(2)), columns.get(3), columns.get(4)))
            != null) {
            problems.add(id + " stands twice");
        }
    }

    private void onReading(String line, List<String> columns) {
        String name = columns.get(0);
        if (!READING.matcher(name).matches()) {
            return;
        }
        if (columns.size() != 5) {
            problems.add("reading with " + columns.size() + " columns instead of 5: " + line);
        } else if (!readings.add(name)) {
            problems.add(name + " stands twice");
        }
    }

    private void onCapability(String line, List<String> columns) {
        String name = columns.get(0);
        if (!CAPABILITY.matcher(name).matches()) {
            return;
        }
        if (columns.size() != 5 || !List.of("exists", "missing").contains(columns.get(1))) {
            problems.add("capability that is neither existing nor missing: " + line);
        } else if (capabilities.put(name, new Capability(name, columns.get(1).equals("exists"),
            list(columns.get(2)), list(columns.get(3)))) != null) {
            problems.add("capability " + name + " stands twice");
        }
    }

    /** Readings that a line of a test cites and that do not exist: each with the place of the line. */
    List<String> unknownReadings(String line, String place) {
        return unknown(READING, line, place);
    }

    private List<String> unknown(Pattern cited, String line, String place) {
        return cited.matcher(line).results().map(MatchResult::group)
            .filter(id -> !readings.contains(id) && !rows.containsKey(id))
            .map(id -> place + " cites " + id + ", which does not exist").toList();
    }

    private void check() {
        for (Requirements group : Requirements.values()) {
            group.ids().stream().filter(id -> !rows.containsKey(id)).forEach(id -> problems.add(id + " is missing"));
        }
        for (Row row : rows.values()) {
            if (!Requirements.exists(row.id)) {
                problems.add(row.id + " does not exist");
            }
            if (row.title.isEmpty() || row.capabilities.isEmpty()) {
                problems.add(row.id + " has no title or no capability");
            }
            if (row.text.isEmpty() || row.source.isEmpty()) {
                problems.add(row.id + " has no text or no source");
            }
            row.capabilities.stream().filter(name -> !capabilities.containsKey(name))
                .forEach(name -> problems.add(row.id + " names the unknown capability " + name));
        }
        for (String group : enforcedGroups) {
            if (Arrays.stream(Requirements.values()).noneMatch(known -> known.name().equals(group))) {
                problems.add("enforced group " + group + " does not exist");
            }
        }
        if (enforcedGroups.isEmpty()) {
            problems.add("no line \"" + ENFORCED + " ...\"");
        }
    }

    /** Mistakes of the pages themselves. */
    List<String> problems() {
        return problems;
    }

    /**
     * The capabilities in the page's order.
     *
     * @return all of them.
     */
    public Collection<Capability> capabilities() {
        return capabilities.values();
    }

    boolean isEnforced(String id) {
        return enforcedGroups.contains(id.substring(0, id.indexOf('-')));
    }

    String title(String id) {
        Row row = rows.get(id);
        return row == null ? "" : row.title;
    }

    boolean isDue(String id) {
        return rows.containsKey(id) && missing(id).isEmpty();
    }

    /** Capabilities that the row still waits for. */
    List<String> missing(String id) {
        Row row = rows.get(id);
        return row == null ? List.of() : row.capabilities.stream().filter(name -> {
            Capability capability = capabilities.get(name);
            return capability == null || !capability.exists();
        }).toList();
    }

    private static List<String> columns(String line) {
        Matcher outer = Pattern.compile("^\\|(.*)\\|\\s*$").matcher(line);
        String inner = outer.matches() ? outer.group(1) : line.substring(1);
        return Arrays.stream(CELL_END.split(inner, -1)).map(cell -> cell.replace("\\|", "|").strip()).toList();
    }

    private static List<String> list(String text) {
        return Arrays.stream(text.split(",")).map(String::strip)
            .filter(item -> !item.isEmpty() && !item.equals("-")).toList();
    }
}
