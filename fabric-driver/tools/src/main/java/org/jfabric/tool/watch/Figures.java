package org.jfabric.tool.watch;

import java.util.Locale;

/** Numbers and times for people, in at most six characters. */
final class Figures {
    private static final String[] PREFIXES = {"", "k", "M", "G", "T", "P", "E"};
    private static final String[] TIMES = {"ns", "us", "ms", "s"};

    private Figures() {
    }

    /** A number with three digits and a decimal prefix, such as 12.3k; a hyphen for what is not known. */
    static String number(double value) {
        if (Double.isNaN(value)) {
            return "-";
        }
        double scaled = value;
        int prefix = 0;
        while (scaled >= 999.5 && prefix < PREFIXES.length - 1) {
            scaled /= 1_000;
            prefix++;
        }
        return digits(scaled, prefix == 0 && value == Math.rint(value)) + PREFIXES[prefix];
    }

    /** A time in nanoseconds with three digits and its unit; a hyphen for a negative one. */
    static String time(long ns) {
        if (ns < 0) {
            return "-";
        }
        if (ns == Long.MAX_VALUE) {
            return ">17s";
        }
        double scaled = ns;
        int unit = 0;
        while (scaled >= 999.5 && unit < TIMES.length - 1) {
            scaled /= 1_000;
            unit++;
        }
        return digits(scaled, unit == 0) + TIMES[unit];
    }

    /** A duration in its two largest units, such as 3h12m. */
    static String duration(double seconds) {
        long whole = Math.max(0, (long) seconds);
        if (whole < 60) {
            return whole + "s";
        }
        if (whole < 3_600) {
            return String.format(Locale.ROOT, "%dm%02ds", whole / 60, whole % 60);
        }
        return whole < 86_400 ? String.format(Locale.ROOT, "%dh%02dm", whole / 3_600, whole / 60 % 60)
            : String.format(Locale.ROOT, "%dd%02dh", whole / 86_400, whole / 3_600 % 24);
    }

    private static String digits(double value, boolean isWhole) {
        return String.format(Locale.ROOT, isWhole || value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f", value);
    }
}
