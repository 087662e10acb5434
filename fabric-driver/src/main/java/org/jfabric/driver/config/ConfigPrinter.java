package org.jfabric.driver.config;

import java.util.List;

/**
 * Shows the values that a configuration uses, each with its source; those that are not the default are marked with a
 * star. No option is a secret, so all are shown. Owner: any thread; pure functions.
 */
public final class ConfigPrinter {

    private ConfigPrinter() {
    }

    /**
     * One line per option, grouped.
     *
     * @param config the options to print.
     * @return text that ends with a line break.
     */
    public static String print(DriverConfig config) {
        List<EffectiveValue> values = config.effectiveValues();
        int nameWidth = 0;
        int textWidth = 0;
        for (EffectiveValue value : values) {
            nameWidth = Math.max(nameWidth, value.option().name().length());
            textWidth = Math.max(textWidth, value.text().length());
        }
        StringBuilder out = new StringBuilder("Options of the driver (* = not the default):\n");
        for (OptionGroup group : DriverConfig.optionGroups()) {
            out.append(group.title()).append('\n');
            for (EffectiveValue value : values) {
                if (group.options().contains(value.option())) {
                    line(out, value, nameWidth, textWidth);
                }
            }
        }
        return out.toString();
    }

    private static void line(StringBuilder out, EffectiveValue value, int nameWidth, int textWidth) {
        out.append(value.isDefault() ? "    " : "  * ");
        pad(out, value.option().name(), nameWidth).append(" = ");
        pad(out, value.text(), textWidth).append("  ").append(value.where());
        if (!value.isDefault()) {
            out.append("; default ").append(value.option().defaultText());
        } else if (value.option().isDerivedByDefault()) {
            out.append("; ").append(value.option().defaultText());
        }
        out.append('\n');
    }

    private static StringBuilder pad(StringBuilder out, String text, int width) {
        return out.append(text).repeat(' ', width - text.length());
    }
}
