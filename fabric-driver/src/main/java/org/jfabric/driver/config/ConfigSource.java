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
 * The values that were set and their sources, with precedence code &gt; system property &gt; environment &gt; file &gt;
 * default. The groups read their options from here while a configuration is built. Errors are collected, so that a user
 * sees all of them at once. Owner: the thread that builds.
 */
final class ConfigSource {

    /** Prefix of all property names. */
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
                // Properties keeps the last of two lines silently; a user who wrote both should be warned.
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
     * Adds the variables of the environment that set options of the driver. An empty one counts as not set: that is all
     * that some managers of services can do to remove one.
     */
    void addEnvironment(Map<String, String> environment) {
        for (String variable : new TreeSet<>(environment.keySet())) {
            String text = environment.get(variable);
            if (text.isBlank() || !OptionNames.isDriverVariable(variable, environment.keySet())) {
                continue;
            }
            String name = OptionNames.ofVariable(variable);
            if (name == null) {
                problems.add(variable + ": unknown environment variable; the nearest known name is "
                    + OptionNames.nearestVariable(variable));
            } else {
                add(name, new Setting(text, Origin.ENVIRONMENT, Origin.ENVIRONMENT.text() + ' ' + variable));
            }
        }
    }

    /**
     * Adds the driver's system properties; names without {@value #PREFIX} are ignored.
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
     * Returns the value of an option. For a wrong one it notes a problem and returns the default, so that the rest can
     * be checked.
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
     * Notes a problem between options, with their values and sources, unless one of them was already refused, because
     * then its value here is only a replacement.
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
     * Notes the effective value of a derived option, once everything that it depends on is read.
     *
     * @param option whose value may be the mark that stands for "derived".
     * @param value  its effective value.
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
