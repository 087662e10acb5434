package org.jfabric.driver.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * One option of the driver: name, type, default, range and documentation. The property name is {@code
 * jfabric.<group>.<name>}; names of numbers end in their unit.
 *
 * <p>Declared as a constant of its group's class, and read by {@link DriverConfig#get}; immutable. Owner: any thread.
 *
 * @param <T> type of the value.
 */
public final class Option<T> {

    private record Rule<T>(String text, Predicate<? super T> holds) {
    }

    private final String name;
    private final OptionType<T> type;
    private final Supplier<T> defaultValue;
    private final String defaultText;
    private final T derivedMark;
    private final T min;
    private final T max;
    private final List<Rule<T>> rules;
    private final String why;
    private final SetIn setIn;

    private Option(Builder<T> builder) {
        name = builder.name;
        type = builder.type;
        defaultValue = Objects.requireNonNull(builder.defaultValue, name);
        defaultText = builder.defaultText;
        derivedMark = builder.derivedMark;
        min = builder.min;
        max = builder.max;
        rules = List.copyOf(builder.rules);
        why = Objects.requireNonNull(builder.why, name);
        setIn = builder.setIn;
    }

    /**
     * The property's full name.
     *
     * @return {@code jfabric.<group>.<name>}.
     */
    public String name() {
        return name;
    }

    /**
     * The environment variable that sets the option for a daemon.
     *
     * @return {@code JFABRIC_<GROUP>_<NAME>}, such as {@code JFABRIC_QUEUE_TX_SIZE}.
     */
    public String variable() {
        return OptionNames.variable(name);
    }

    /**
     * The unit of a number without a suffix, or the kind of value.
     *
     * @return such as {@code bytes}, {@code ns}, {@code count}.
     */
    public String unit() {
        return type.unit();
    }

    /**
     * The value that is used unless one is set. Some depend on the machine (the directory).
     *
     * @return never null.
     */
    public T defaultValue() {
        return defaultValue.get();
    }

    /**
     * The default in words that are the same on every machine.
     *
     * @return such as {@code 8 KiB}.
     */
    public String defaultText() {
        return defaultText != null ? defaultText : format(defaultValue());
    }

    /**
     * The smallest value allowed.
     *
     * @return null where the option is not a number.
     */
    public T min() {
        return min;
    }

    /**
     * The largest value allowed.
     *
     * @return null where the option is not a number.
     */
    public T max() {
        return max;
    }

    /**
     * Describes the allowed values in words.
     *
     * @return such as {@code 64 KiB to 1 GiB, a power of two}; never empty.
     */
    public String rangeText() {
        StringBuilder text = new StringBuilder();
        for (Rule<T> rule : rules) {
            text.append(text.isEmpty() ? "" : ", ").append(rule.text());
        }
        if (derivedMark != null) {
            text.append("; or ").append(format(derivedMark)).append(" = derived");
        }
        return text.toString();
    }

    /**
     * The reason to change the value.
     *
     * @return one or two sentences.
     */
    public String why() {
        return why;
    }

    /**
     * The process in which the option has to be set.
     *
     * @return the process.
     */
    public SetIn setIn() {
        return setIn;
    }

    /**
     * Checks whether a value stands for "derive it from others".
     *
     * @param value a value of this option.
     * @return true if it is the mark and not a value.
     */
    public boolean isDerived(T value) {
        return value.equals(derivedMark);
    }

    /**
     * Checks whether the value is derived from others by default.
     *
     * @return true if the default is the mark that means "derived".
     */
    public boolean isDerivedByDefault() {
        return derivedMark != null;
    }

    /**
     * Reads and checks a value.
     *
     * @param text as written in a property; spaces around it do not count.
     * @return the value.
     * @throws IllegalArgumentException if it cannot be read or is not allowed; the message completes
     *     "value ...".
     */
    public T parse(String text) {
        String stripped = text.strip();
        if (stripped.isEmpty()) {
            throw new IllegalArgumentException("is empty");
        }
        T value = type.reader().apply(stripped);
        if (!isDerived(value)) {
            for (Rule<T> rule : rules) {
                if (!rule.holds().test(value)) {
                    throw new IllegalArgumentException("is not allowed");
                }
            }
        }
        return value;
    }

    /**
     * Shows a value so that {@link #parse} reads it back.
     *
     * @param value a value of this option.
     * @return text such as {@code 64 KiB}.
     */
    public String format(T value) {
        return type.format().apply(value);
    }

    @Override
    public String toString() {
        return name;
    }

    static boolean isPowerOfTwo(Number value) {
        return Long.bitCount(value.longValue()) == 1 && value.longValue() > 0;
    }

    /**
     * Collects the parts of an option while its constant is declared.
     *
     * @param <T> type of the value.
     */
    static final class Builder<T> {

        private final OptionGroup group;
        private final String name;
        private final OptionType<T> type;
        private final List<Rule<T>> rules = new ArrayList<>();
        private Supplier<T> defaultValue;
        private String defaultText;
        private T derivedMark;
        private T min;
        private T max;
        private SetIn setIn = SetIn.DRIVER;
        private String why;

        Builder(OptionGroup group, String name, OptionType<T> type) {
            this.group = group;
            this.name = name;
            this.type = type;
        }

        Builder<T> defaultsTo(T value) {
            defaultValue = () -> value;
            return this;
        }

        /** The default depends on the machine, in the way that the text describes. */
        Builder<T> defaultsTo(Supplier<T> value, String text) {
            defaultValue = value;
            defaultText = text;
            return this;
        }

        /** The default is a mark outside the range that means "derived"; the text describes the derivation. */
        Builder<T> derived(T mark, String text) {
            derivedMark = mark;
            defaultText = type.format().apply(mark) + " = " + text;
            return defaultsTo(mark);
        }

        /** Limits a number; both ends are allowed. */
        Builder<T> range(T min, T max) {
            this.min = min;
            this.max = max;
            long minValue = ((Number) min).longValue();
            long maxValue = ((Number) max).longValue();
            return rule(
                type.format().apply(min) + " to " + type.format().apply(max),
                value -> ((Number) value).longValue() >= minValue && ((Number) value).longValue() <= maxValue);
        }

        Builder<T> powerOfTwo() {
            return rule("a power of two", value -> isPowerOfTwo((Number) value));
        }

        Builder<T> multipleOf(long step) {
            return rule("a multiple of " + step, value -> ((Number) value).longValue() % step == 0);
        }

        Builder<T> rule(String text, Predicate<? super T> holds) {
            rules.add(new Rule<>(text, holds));
            return this;
        }

        Builder<T> setIn(SetIn setIn) {
            this.setIn = setIn;
            return this;
        }

        /** The last part: the option stands in its group from now on. */
        Option<T> why(String why) {
            this.why = why;
            Option<T> option = new Option<>(this);
            group.add(option);
            return option;
        }
    }
}
