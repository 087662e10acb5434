package org.jfabric.layout;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The label of a counter in the {@code cnc} file that a monitoring system can read: a name, and pairs of names and
 * values that say what is counted, as in the text format of OpenMetrics.
 *
 * <pre>
 *   jfabric_peer_sent_bytes{client="3",id="7",endpoint="jfabric://desk/a",peer="jfabric://quotes/b",link="shm"}
 * </pre>
 *
 * <p>A backslash, a quote and a line break in a value are escaped by a backslash, the line break as {@code \\n}.
 * The type id of a counter says how its value changes; a counter with type {@link #OTHER} has a label of another form,
 * for people.
 *
 * @param name   of the metric, without a suffix.
 */
public record MetricLabel(String name, Map<String, String> labels) {
    /** Type id of a counter whose label has not this form. */
    public static final int OTHER = 0;
    /** Type id of a value that only grows, until its object ends or is reset. */
    public static final int COUNTER = 1;
    /** Type id of a value that is true now. */
    public static final int GAUGE = 2;
    /** Type id of a constant 1, whose labels are the information. */
    public static final int INFO = 3;
    /** Type id of the entries of one bucket of a histogram, whose label {@code le} is the upper bound. */
    public static final int BUCKET = 4;
    /** Type id of the sum of the entries of a histogram, nanoseconds where its unit is seconds. */
    public static final int SUM = 5;

    /** Longest value that is not cut, so that a label with two addresses has room in the file. */
    private static final int MAX_VALUE = 110;

    /**
     * Writes a label.
     *
     * @param labels names and values in turn; values that are too long for the file lose their middle.
     */
    public static String text(String name, String... labels) {
        StringBuilder text = new StringBuilder(128).append(name).append('{');
        for (int i = 0; i < labels.length; i += 2) {
            text.append(i == 0 ? "" : ",").append(labels[i]).append("=\"");
            escape(cut(labels[i + 1]), text);
            text.append('"');
        }
        return text.append('}').toString();
    }

    /**
     * Reads a label.
     *
     * @param text as {@link #text} writes it.
     * @return null if it has another form.
     */
    public static MetricLabel parse(String text) {
        int at = text.indexOf('{');
        if (at <= 0 || !text.endsWith("}")) {
            return null;
        }
        String name = text.substring(0, at++);
        Map<String, String> labels = new LinkedHashMap<>();
        while (at < text.length() - 1) {
            int equal = text.indexOf("=\"", at);
            if (equal < 0) {
                return null;
            }
            String key = text.substring(at, equal);
            StringBuilder value = new StringBuilder();
            at = unescape(text, equal + 2, value);
            if (at < 0 || labels.put(key, value.toString()) != null) {
                return null;
            }
            if (text.charAt(at) == ',') {
                at++;
            } else if (at != text.length() - 1) {
                return null;
            }
        }
        return new MetricLabel(name, labels);
    }

    /**
     * Appends a value with the characters escaped that OpenMetrics reserves.
     *
     * @param value any text.
     */
    public static void escape(String value, StringBuilder text) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                default -> text.append(c);
            }
        }
    }

    /** Returns the index behind the closing quote, or -1. */
    private static int unescape(String text, int from, StringBuilder value) {
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"') {
                return i + 1;
            }
            if (c == '\\' && ++i < text.length()) {
                c = text.charAt(i) == 'n' ? '\n' : text.charAt(i);
            }
            value.append(c);
        }
        return -1;
    }

    private static String cut(String value) {
        return value.length() <= MAX_VALUE ? value
            : value.substring(0, MAX_VALUE / 2) + ".." + value.substring(value.length() - MAX_VALUE / 2);
    }
}
