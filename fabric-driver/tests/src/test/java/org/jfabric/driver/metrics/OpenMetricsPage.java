package org.jfabric.driver.metrics;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the text format of OpenMetrics 1.0 strictly, independently of the writer under test: families stand together
 * and begin with their type, sample names fit the type, units fit the name, no sample comes twice, buckets are
 * cumulative.
 */
public final class OpenMetricsPage {
    private static final String NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
    private static final Pattern DESCRIPTION = Pattern.compile("# (TYPE|UNIT|HELP) (" + NAME + ") (.+)");
    private static final Pattern LABEL =
        Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\"\\\\n])*)\"(,|\\})");
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
    private static final Map<String, Set<String>> SUFFIXES = Map.of(
        "counter", Set.of("_total"), "gauge", Set.of(""), "unknown", Set.of(""), "info", Set.of("_info"),
        "histogram", Set.of("_bucket", "_count", "_sum"));

    /** Samples by name and labels. */
    private final Map<String, Map<Map<String, String>, Double>> samples = new TreeMap<>();
    private final Map<String, String> types = new HashMap<>();
    private final Map<String, Double> lastBucket = new HashMap<>();
    private final Set<String> ended = new HashSet<>();
    private final Set<String> described = new HashSet<>();
    private String family = "";

    private OpenMetricsPage() {
    }

    public static OpenMetricsPage parse(String text) {
        require(text.endsWith("# EOF\n"), "the page does not end with # EOF");
        OpenMetricsPage page = new OpenMetricsPage();
        for (String line : text.substring(0, text.length() - "# EOF\n".length()).split("\n")) {
            if (line.startsWith("#")) {
                page.describe(line);
            } else {
                page.sample(line);
            }
        }
        page.types.keySet().forEach(name ->
            require(page.described.contains(name) || !name.matches("(jfabric|jvm|process)_.*"), "no HELP of " + name));
        return page;
    }

    /** The sum of the samples of a name with these labels, names and values in turn; others may have any value. */
    public double sum(String name, String... labels) {
        return samples.getOrDefault(name, Map.of()).entrySet().stream()
            .filter(sample -> {
                boolean fits = true;
                for (int i = 0; i < labels.length; i += 2) {
                    fits &= labels[i + 1].equals(sample.getKey().get(labels[i]));
                }
                return fits;
            })
            .mapToDouble(Map.Entry::getValue).sum();
    }

    public Map<Map<String, String>, Double> samples(String name) {
        return samples.getOrDefault(name, Map.of());
    }

    public Set<String> names() {
        return samples.keySet();
    }

    private void describe(String line) {
        Matcher parts = DESCRIPTION.matcher(line);
        require(parts.matches(), line);
        String name = parts.group(2);
        if (!name.equals(family)) {
            require(ended.add(name), "the family comes twice: " + line);
            require(parts.group(1).equals("TYPE"), "a family without a type: " + line);
            family = name;
        }
        switch (parts.group(1)) {
            case "TYPE" -> {
                require(SUFFIXES.containsKey(parts.group(3)), line);
                require(types.put(name, parts.group(3)) == null, "two types: " + line);
            }
            case "UNIT" -> require(name.endsWith('_' + parts.group(3)), line);
            default -> {
                require(parts.group(3).equals(parts.group(3).strip()), line);
                described.add(name);
            }
        }
    }

    private void sample(String line) {
        int end = 0;
        while (end < line.length() && line.charAt(end) != '{' && line.charAt(end) != ' ') {
            end++;
        }
        String name = line.substring(0, end);
        require(name.matches(NAME) && name.startsWith(family), "of another family than " + family + ": " + line);
        String suffix = name.substring(family.length());
        require(SUFFIXES.get(types.get(family)).contains(suffix), "suffix of a " + types.get(family) + ": " + line);
        Map<String, String> labels = new LinkedHashMap<>();
        if (line.charAt(end) == '{') {
            Matcher label = LABEL.matcher(line);
            end++;
            boolean last = false;
            while (!last) {
                require(label.find(end) && label.start() == end, "labels at " + end + " of " + line);
                String value = label.group(2).replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
                require(labels.put(label.group(1), value) == null, "label twice: " + line);
                last = label.group(3).equals("}");
                end = label.end();
            }
        }
        require(line.charAt(end) == ' ', line);
        String number = line.substring(end + 1);
        require(NUMBER.matcher(number).matches(), "no number: " + line);
        double value = Double.parseDouble(number);
        if (!types.get(family).equals("gauge")) {
            require(value >= 0 || types.get(family).equals("unknown"), "less than 0: " + line);
        }
        if (suffix.equals("_bucket")) {
            Map<String, String> histogram = new LinkedHashMap<>(labels);
            histogram.remove("le");
            require(value >= lastBucket.getOrDefault(family + histogram, 0.0), "not cumulative: " + line);
            lastBucket.put(family + histogram, value);
        } else if (suffix.equals("_count")) {
            Map<String, String> last = new LinkedHashMap<>(labels);
            last.put("le", "+Inf");
            require(value == samples.get(family + "_bucket").get(last), "count and +Inf: " + line);
        }
        require(samples.computeIfAbsent(name, key -> new LinkedHashMap<>()).put(labels, value) == null,
            "twice: " + line);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
