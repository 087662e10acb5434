package org.jfabric.driver.config;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/**
 * What was set, by whom, with precedence code &gt; system property &gt; file &gt; default. The groups read their
 * options from here while a configuration is built; what is wrong is collected, so that a user sees all of it at once.
 * Owner: the thread that builds.
 */
final class ConfigSource {

    /** What all property names start with. */
    static final String PREFIX = "jfabric.";

    private record Setting(String text, Origin origin, String where) {
    }

    private final Map<String, Setting> settings = new LinkedHashMap<>();
    private final List<EffectiveValue> effective = new ArrayList<>();
    private final Set<Option<?>> refused = new HashSet<>();
    private final List<String> problems = new ArrayList<>();

    /**
     * Adds the properties of a file. Anything unknown in it is a problem, since the file is for the driver alone.
     */
    void addFile(Path file) {
        String where = "file " + file.toAbsolutePath().normalize();
        Map<String, String> lines = new LinkedHashMap<>();
        Properties collector = new Properties() {
            private static final long serialVersionUID = 1L;

            @Override
            public synchronized Object put(Object key, Object value) {
                // Properties keeps the last of two lines silently; a user who wrote both wants to know.
                String previous = lines.put((String) key, (String) value);
                if (previous != null) {
                    problems.add(key + " stands twice in " + where + ": \"" + previous + "\" and \"" + value + '"');
                }
                return previous;
            }
        };
        try (Reader reader = Files.newBufferedReader(file)) {
            collector.load(reader);
        } catch (NoSuchFileException ex) {
            problems.add(where + " does not exist");
        } catch (IllegalArgumentException | IOException ex) {
            problems.add(where + " cannot be read: " + ex);
        }
        lines.forEach((name, text) -> add(name, new Setting(text, Origin.FILE, where)));
    }

    /**
     * Adds those system properties that are the driver's; names outside {@value #PREFIX} are others' business.
     */
    void addSystemProperties(Properties properties) {
        for (String name : new TreeSet<>(properties.stringPropertyNames())) {
            if (name.startsWith(PREFIX) && !OptionNames.isForeign(name)) {
                add(name, new Setting(
                    properties.getProperty(name), Origin.SYSTEM_PROPERTY, Origin.SYSTEM_PROPERTY.text()));
            }
        }
    }

    /**
     * Adds what the application set by calls.
     */
    void addCode(Map<String, String> values) {
        values.forEach((name, text) -> add(name, new Setting(text, Origin.CODE, Origin.CODE.text())));
    }

    /**
     * The value of an option. A wrong one is noted, and its default returned so that the rest can be checked.
     */
    <T> T value(Option<T> option) {
        Setting setting = settings.get(option.name());
        T defaultValue = option.defaultValue();
        T value = defaultValue;
        if (setting != null) {
            try {
                value = option.parse(setting.text());
            } catch (IllegalArgumentException ex) {
                refused.add(option);
                problems.add(
                    option.name() + ": value \"" + setting.text() + "\" " + ex.getMessage() +
                    "; allowed: " + option.rangeText() + "; unit: " + option.unit() +
                    "; it came from: " + setting.where());
            }
        }
        effective.add(new EffectiveValue(
            option,
            option.format(value),
            value instanceof Number number ? number : null,
            setting == null ? Origin.DEFAULT : setting.origin(),
            setting == null ? Origin.DEFAULT.text() : setting.where(),
            value.equals(defaultValue)));
        return value;
    }

    /**
     * Notes a problem between options, with the values seen and where they came from; not if one of them was already
     * refused, because then its value here is only a stand-in.
     */
    void check(boolean holds, String problem, Option<?>... involved) {
        if (holds || List.of(involved).stream().anyMatch(refused::contains)) {
            return;
        }
        StringBuilder text = new StringBuilder(problem).append(" (");
        String separator = "";
        for (Option<?> option : involved) {
            for (EffectiveValue value : effective) {
                if (value.option() == option) {
                    text.append(separator).append(option.name()).append(" = ").append(value.text())
                        .append(" from ").append(value.where());
                    separator = ", ";
                }
            }
        }
        problems.add(text.append(')').toString());
    }

    /**
     * Shows what a derived value comes to, once everything that it depends on is read.
     *
     * @param option whose value may be the mark that stands for "derived".
     * @param value  what that gives now.
     */
    <T extends Number> void derive(Option<T> option, T value) {
        effective.replaceAll(each -> each.option() == option && option.isDerived(option.parse(each.text()))
            ? new EffectiveValue(option, option.format(value), value, each.origin(), each.where(), each.isDefault())
            : each);
    }

    List<EffectiveValue> effectiveValues() {
        return List.copyOf(effective);
    }

    List<String> problems() {
        return problems;
    }

    private void add(String name, Setting setting) {
        if (OptionNames.isKnown(name)) {
            settings.put(name, setting);
        } else {
            problems.add(
                name + ": unknown option, from " + setting.where() + "; the nearest known name is " +
                OptionNames.nearest(name));
        }
    }
}
