package org.jfabric.driver.config;

import java.util.List;

/**
 * The options of one concern, as they are printed and documented.
 *
 * @param name    second part of the property names.
 * @param title   the subject of the group, in a few words.
 * @param options in the order shown.
 */
public record OptionGroup(String name, String title, List<Option<?>> options) {

    /**
     * Checks that the property names belong to the group.
     */
    public OptionGroup {
        options = List.copyOf(options);
        for (Option<?> option : options) {
            if (!option.name().startsWith(ConfigSource.PREFIX + name + '.')) {
                throw new IllegalArgumentException(option.name() + " is not in group " + name);
            }
        }
    }
}
