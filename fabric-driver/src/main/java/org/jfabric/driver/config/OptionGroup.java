package org.jfabric.driver.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The options of one concern, as they are printed and documented. Each joins its group as it is declared, so the group
 * is the first constant of its class.
 */
public final class OptionGroup {
    private final String name;
    private final String title;
    private final BiConsumer<DriverConfig, ConfigSource> check;
    private final List<Option<?>> options = new ArrayList<>();

    OptionGroup(String name, String title) {
        this(name, title, (config, source) -> { });
    }

    /** A group whose values have to fit each other, or those of others. */
    OptionGroup(String name, String title, BiConsumer<DriverConfig, ConfigSource> check) {
        this.name = name;
        this.title = title;
        this.check = check;
    }

    /**
     * Second part of the property names.
     *
     * @return such as {@code queue}.
     */
    public String name() {
        return name;
    }

    /**
     * The subject of the group, in a few words.
     *
     * @return without a full stop.
     */
    public String title() {
        return title;
    }

    /**
     * The options.
     *
     * @return in the order shown.
     */
    public List<Option<?>> options() {
        return Collections.unmodifiableList(options);
    }

    void check(DriverConfig config, ConfigSource source) {
        check.accept(config, source);
    }

    void add(Option<?> option) {
        if (!option.name().startsWith(ConfigSource.PREFIX + name + '.')) {
            throw new IllegalArgumentException(option.name() + " is not in group " + name);
        }
        options.add(option);
    }

    Option.Builder<Integer> count(String option) {
        return new Option.Builder<>(this, option, OptionType.COUNT);
    }

    Option.Builder<Integer> cpu(String option) {
        return new Option.Builder<>(this, option, OptionType.CPU);
    }

    Option.Builder<Long> bytes(String option) {
        return new Option.Builder<>(this, option, OptionType.BYTES);
    }

    /** A size whose range ends below 2 GiB. */
    Option.Builder<Integer> intBytes(String option) {
        return new Option.Builder<>(this, option, OptionType.INT_BYTES);
    }

    Option.Builder<Long> durationNs(String option) {
        return new Option.Builder<>(this, option, OptionType.DURATION);
    }

    Option.Builder<String> name(String option) {
        return new Option.Builder<>(this, option, OptionType.NAME);
    }

    Option.Builder<List<String>> names(String option) {
        return new Option.Builder<>(this, option, OptionType.NAMES);
    }

    Option.Builder<Path> directory(String option) {
        return new Option.Builder<>(this, option, OptionType.DIRECTORY);
    }

    Option.Builder<Path> file(String option) {
        return new Option.Builder<>(this, option, OptionType.FILE);
    }

    <E extends Enum<E>> Option.Builder<E> oneOf(String option, Class<E> enumType) {
        return new Option.Builder<>(this, option, OptionType.oneOf(enumType));
    }
}
