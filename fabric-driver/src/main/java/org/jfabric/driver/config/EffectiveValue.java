package org.jfabric.driver.config;

/**
 * The value of one option that a configuration uses, and where it came from.
 *
 * @param option    the option.
 * @param text      the value as the option shows it.
 * @param origin    kind of source.
 * @param where     the source in words, such as {@code file /etc/jfabric.properties}.
 * @param isDefault whether it is the default value, even if somebody set it.
 */
public record EffectiveValue(Option<?> option, String text, Origin origin, String where, boolean isDefault) {
}
