package org.jfabric.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code docs/requirements.md}: all rows with their titles and the capabilities they need, the capabilities, and the
 * groups whose due rows must be shown.
 */
public final class RequirementTable {
    private static final String ENFORCED = "Enforced groups:";
    private static final Pattern ID = Pattern.compile("[A-Z]+-[0-9]{3}");
    private static final Pattern CAPABILITY = Pattern.compile("[a-z][a-z-]*");

    private final Map<String, Row> rows = new LinkedHashMap<>();
    private final Map<String, Capability> capabilities = new LinkedHashMap<>();
    private final Set<String> enforcedGroups = new TreeSet<>();
    private final List<String> problems = new ArrayList<>();

    /** A row's title in our own words and the names of its capabilities. */
    record Row(String id, String title, List<String> capabilities) {
    }

    private RequirementTable() {
    }

    /**
     * Reads the document.
     *
     * @param file of the table.
     * @return what it says, mistakes included.
     * @throws IOException if it cannot be read.
     */
    public static RequirementTable read(Path file) throws IOException {
        return parse(Files.readAllLines(file));
    }

    static RequirementTable parse(List<String> lines) {
        RequirementTable table = new RequirementTable();
        for (String line : lines) {
            if (line.startsWith(ENFORCED)) {
                table.enforcedGroups.addAll(list(line.substring(ENFORCED.length())));
            } else if (line.startsWith("| ")) {
                table.onTableLine(line, columns(line));
            }
        }
        table.check();
        return table;
    }

    private void onTableLine(String line, List<String> columns) {
        String first = columns.get(0);
        if (ID.matcher(first).matches()) {
            if (columns.size() != 3) {
                problems.add("row with " + columns.size() + " columns instead of 3: " + line);
            } else if (rows.put(first, new Row(first, columns.get(1), list(columns.get(2)))) != null) {
                problems.add(first + " stands twice");
            }
        } else if (CAPABILITY.matcher(first).matches()) {
            if (columns.size() != 5 || !List.of("exists", "missing").contains(columns.get(1))) {
                problems.add("capability that is neither existing nor missing: " + line);
            } else if (capabilities.put(first, new Capability(first, columns.get(1).equals("exists"),
                list(columns.get(2)), list(columns.get(3)))) != null) {
                problems.add("capability " + first + " stands twice");
            }
        }
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

    /** Mistakes of the document itself. */
    List<String> problems() {
        return problems;
    }

    /**
     * The capabilities in the document's order.
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
        return Arrays.stream(inner.split("\\|", -1)).map(String::strip).toList();
    }

    private static List<String> list(String text) {
        return Arrays.stream(text.split(",")).map(String::strip)
            .filter(item -> !item.isEmpty() && !item.equals("-")).toList();
    }
}
