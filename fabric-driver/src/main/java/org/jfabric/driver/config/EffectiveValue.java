package org.jfabric.driver.config;

/**
 * The value of one option that a configuration uses, and where it came from.
 *
 * @param option    the option.
 * @param text      the value as the option shows it; where it is derived from others, what that gives.
 * @param number    the same as a number in the unit of the option; null where the option is not a number.
 * @param origin    kind of source.
 * @param where     the source in words, such as {@code file /etc/jfabric.properties}.
 * @param isDefault whether it is the default value, even if somebody set it.
 */
public record EffectiveValue(
    Option<?> option, String text, Number number, Origin origin, String where, boolean isDefault) {
}
