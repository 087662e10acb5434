package org.jfabric.driver.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Reader and format of the values of one kind of option. {@code format} gives a text that {@code reader} accepts, so
 * that values from code are handled like values from a file.
 *
 * @param <T>    the Java type of a value.
 * @param unit   unit of a number without a suffix, or the kind of value.
 * @param reader text to value; throws {@link IllegalArgumentException} whose message completes "value ...".
 * @param format value to text.
 */
record OptionType<T>(String unit, Function<String, T> reader, Function<T, String> format) {

    static final OptionType<Integer> COUNT = new OptionType<>("count", OptionType::parseInt, String::valueOf);

    static final OptionType<Integer> CPU = new OptionType<>("CPU number", OptionType::parseInt, String::valueOf);

    static final OptionType<Long> BYTES = new OptionType<>("bytes", Quantity::parseBytes, Quantity::formatBytes);

    static final OptionType<Integer> INT_BYTES = new OptionType<>(
        "bytes", OptionType::parseIntBytes, bytes -> Quantity.formatBytes(bytes));

    static final OptionType<Long> DURATION = new OptionType<>(
        "ns", Quantity::parseDurationNs, Quantity::formatDurationNs);

    static final OptionType<String> NAME = new OptionType<>("name", Function.identity(), Function.identity());

    static final OptionType<Path> DIRECTORY = new OptionType<>("directory", OptionType::parsePath, Path::toString);

    static final OptionType<Path> FILE = new OptionType<>("file", OptionType::parsePath, Path::toString);

    static final OptionType<List<String>> NAMES = new OptionType<>(
        "names, separated by commas", OptionType::parseNames, names -> String.join(",", names));

    static <E extends Enum<E>> OptionType<E> oneOf(Class<E> enumType) {
        return new OptionType<>("name", text -> parseEnum(enumType, text), Enum::name);
    }

    private static int parseInt(String text) {
        long value = Quantity.parseCount(text);
        if (value != (int) value) {
            throw new IllegalArgumentException("is too large for 32 bits");
        }
        return (int) value;
    }

    private static int parseIntBytes(String text) {
        long value = Quantity.parseBytes(text);
        if (value != (int) value) {
            throw new IllegalArgumentException("is not allowed");
        }
        return (int) value;
    }

    private static Path parsePath(String text) {
        try {
            return Path.of(text).toAbsolutePath().normalize();
        } catch (InvalidPathException ex) {
            throw new IllegalArgumentException("is not a path: " + ex.getReason(), ex);
        }
    }

    private static List<String> parseNames(String text) {
        Set<String> names = new LinkedHashSet<>();
        for (String part : text.split(",", -1)) {
            String name = part.strip();
            if (name.isEmpty()) {
                throw new IllegalArgumentException("has an empty name between commas");
            }
            if (!names.add(name)) {
                throw new IllegalArgumentException("names " + name + " twice");
            }
        }
        return List.copyOf(names);
    }

    private static <E extends Enum<E>> E parseEnum(Class<E> enumType, String text) {
        for (E constant : enumType.getEnumConstants()) {
            if (constant.name().equalsIgnoreCase(text)) {
                return constant;
            }
        }
        throw new IllegalArgumentException("is not one of " + Arrays.toString(enumType.getEnumConstants()));
    }
}
