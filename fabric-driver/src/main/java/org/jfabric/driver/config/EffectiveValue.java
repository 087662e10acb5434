package org.jfabric.driver.config;

/**
 * The value of one option that a configuration uses, and its source.
 *
 * @param option    the option.
 * @param text      the value as the option shows it; for a value that is derived from others, the result.
 * @param number    the same as a number in the unit of the option; null where the option is not a number.
 * @param origin    kind of source.
 * @param where     the source in words, such as {@code file /etc/jfabric.properties}.
 * @param isDefault true if it is the default value, even if it was set explicitly.
 */
public record EffectiveValue(
    Option<?> option, String text, Number number, Origin origin, String where, boolean isDefault) {
}
