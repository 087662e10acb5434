package org.jfabric.driver.config;

import java.util.Locale;

/**
 * Reads and shows sizes and durations: whole numbers with an optional unit.
 *
 * <p>Sizes: bytes without a unit, else {@code KiB}, {@code MiB}, {@code GiB} or {@code k}, {@code m}, {@code g} (all
 * powers of 1,024, in any case). Durations: nanoseconds without a unit, else {@code ns}, {@code us}, {@code ms},
 * {@code s}. A space may stand before the unit. Owner: any thread; pure functions.
 */
public final class Quantity {

    private static final String[] SIZE_UNITS = {"GiB", "MiB", "KiB"};
    private static final long[] SIZE_FACTORS = {1L << 30, 1L << 20, 1L << 10};
    private static final String[] DURATION_UNITS = {"s", "ms", "us"};
    private static final long[] DURATION_FACTORS = {1_000_000_000L, 1_000_000L, 1_000L};

    private Quantity() {
    }

    /**
     * Reads a whole number without a unit.
     *
     * @param text such as {@code 16} or {@code -1}.
     * @return the number.
     * @throws IllegalArgumentException if it is no whole number or does not fit 64 bits.
     */
    public static long parseCount(String text) {
        int unitIndex = unitIndex(text);
        if (unitIndex < text.length()) {
            throw new IllegalArgumentException("is not a whole number without a unit");
        }
        return number(text);
    }

    /**
     * Reads a size.
     *
     * @param text such as {@code 65536}, {@code 64k}, {@code 64KiB} or {@code 64 KiB}.
     * @return bytes.
     * @throws IllegalArgumentException if it is no whole number with a unit of size, or does not fit 64 bits.
     */
    public static long parseBytes(String text) {
        int unitIndex = unitIndex(text);
        long factor = switch (text.substring(unitIndex).strip().toLowerCase(Locale.ROOT)) {
            case "" -> 1L;
            case "k", "kib" -> 1L << 10;
            case "m", "mib" -> 1L << 20;
            case "g", "gib" -> 1L << 30;
            default -> throw new IllegalArgumentException(
                "is not a size: a whole number of bytes, or with KiB, MiB, GiB, k, m or g");
        };
        return scaled(text.substring(0, unitIndex), factor);
    }

    /**
     * Reads a duration.
     *
     * @param text such as {@code 1000000}, {@code 1000us} or {@code 1 ms}.
     * @return nanoseconds.
     * @throws IllegalArgumentException if it is no whole number with a unit of time, or does not fit 64 bits.
     */
    public static long parseDurationNs(String text) {
        int unitIndex = unitIndex(text);
        long factor = switch (text.substring(unitIndex).strip().toLowerCase(Locale.ROOT)) {
            case "", "ns" -> 1L;
            case "us" -> 1_000L;
            case "ms" -> 1_000_000L;
            case "s" -> 1_000_000_000L;
            default -> throw new IllegalArgumentException(
                "is not a duration: a whole number of nanoseconds, or with ns, us, ms or s");
        };
        return scaled(text.substring(0, unitIndex), factor);
    }

    /**
     * Shows a size exactly, in the largest unit that divides it; {@link #parseBytes} reads it back.
     *
     * @param bytes the size.
     * @return such as {@code 64 KiB} or {@code 100}.
     */
    public static String formatBytes(long bytes) {
        return exact(bytes, SIZE_FACTORS, SIZE_UNITS, "");
    }

    /**
     * Shows a duration exactly, in the largest unit that divides it; {@link #parseDurationNs} reads it back.
     *
     * @param durationNs the duration in nanoseconds.
     * @return such as {@code 100 ms} or {@code 15 ns}.
     */
    public static String formatDurationNs(long durationNs) {
        return exact(durationNs, DURATION_FACTORS, DURATION_UNITS, " ns");
    }

    /**
     * Shows a size for people who compare sizes: rounded to a tenth of the unit, with the exact bytes behind.
     *
     * @param bytes the size, not negative.
     * @return such as {@code 9.3 MiB (9,699,328 bytes)}.
     */
    public static String describeBytes(long bytes) {
        for (int i = 0; i < SIZE_UNITS.length; i++) {
            if (bytes >= SIZE_FACTORS[i]) {
                return String.format(
                    Locale.ROOT, "%.1f %s (%,d bytes)", (double) bytes / SIZE_FACTORS[i], SIZE_UNITS[i], bytes);
            }
        }
        return String.format(Locale.ROOT, "%,d bytes", bytes);
    }

    private static String exact(long value, long[] factors, String[] units, String baseUnit) {
        if (value > 0) {
            for (int i = 0; i < factors.length; i++) {
                if (value % factors[i] == 0) {
                    return value / factors[i] + " " + units[i];
                }
            }
        }
        return value + (value > 0 ? baseUnit : "");
    }

    private static int unitIndex(String text) {
        int index = text.startsWith("-") ? 1 : 0;
        int firstDigit = index;
        while (index < text.length() && text.charAt(index) >= '0' && text.charAt(index) <= '9') {
            index++;
        }
        if (index == firstDigit) {
            throw new IllegalArgumentException("does not start with a whole number");
        }
        return index;
    }

    private static long scaled(String digits, long factor) {
        try {
            return Math.multiplyExact(number(digits), factor);
        } catch (ArithmeticException ex) {
            throw new IllegalArgumentException("is too large for 64 bits", ex);
        }
    }

    private static long number(String digits) {
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException ex) {
            throw new IllegalArgumentException("is too large for 64 bits", ex);
        }
    }
}
