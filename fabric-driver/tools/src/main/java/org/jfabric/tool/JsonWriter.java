package org.jfabric.tool;

import java.util.Locale;

import org.jfabric.driver.log.JsonString;

/**
 * Writes one JSON value (RFC 8259) on one line: objects and arrays, nested, with their commas.
 *
 * <p>Members are written in the order of the calls. Not a number and infinities, which JSON has no text for, become
 * {@code null}. Owner: one thread.
 */
public final class JsonWriter {
    private final StringBuilder text = new StringBuilder(256);
    private boolean first = true;
    private boolean afterName;

    public JsonWriter beginObject() {
        return begin('{');
    }

    public JsonWriter endObject() {
        return end('}');
    }

    public JsonWriter beginArray() {
        return begin('[');
    }

    public JsonWriter endArray() {
        return end(']');
    }

    /** Names the member whose value comes next. */
    public JsonWriter name(String name) {
        separate();
        quote(name);
        text.append(':');
        afterName = true;
        return this;
    }

    /**
     * Writes a text.
     *
     * @param value null becomes {@code null}.
     */
    public JsonWriter value(String value) {
        separate();
        if (value == null) {
            text.append("null");
        } else {
            quote(value);
        }
        return this;
    }

    /** Writes a number. */
    public JsonWriter value(long value) {
        separate();
        text.append(value);
        return this;
    }

    /** Writes a truth. */
    public JsonWriter value(boolean value) {
        separate();
        text.append(value);
        return this;
    }

    /**
     * Writes a number rounded to one decimal, which is all that the measured values are good for.
     *
     * @param value of any size.
     */
    public JsonWriter value(double value) {
        separate();
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            text.append("null");
        } else if (Math.abs(value) < 1e17) {
            long tenths = Math.round(value * 10);
            text.append(tenths < 0 ? "-" : "").append(Math.abs(tenths) / 10).append('.').append(Math.abs(tenths) % 10);
        } else {
            text.append(value);
        }
        return this;
    }

    /**
     * Writes a number with as many decimals as it is good for, such as a ratio.
     *
     * @param value    of any size.
     * @param decimals 0 to 9.
     */
    public JsonWriter value(double value, int decimals) {
        separate();
        text.append(Double.isNaN(value) || Double.isInfinite(value) ? "null"
            : String.format(Locale.ROOT, "%." + decimals + "f", value));
        return this;
    }

    /**
     * Writes a member.
     *
     * @param value null becomes {@code null}.
     */
    public JsonWriter member(String name, String value) {
        return name(name).value(value);
    }

    public JsonWriter member(String name, long value) {
        return name(name).value(value);
    }

    public JsonWriter member(String name, boolean value) {
        return name(name).value(value);
    }

    /**
     * Writes a member.
     *
     * @param value rounded to one decimal.
     */
    public JsonWriter member(String name, double value) {
        return name(name).value(value);
    }

    @Override
    public String toString() {
        return text.toString();
    }

    private JsonWriter begin(char bracket) {
        separate();
        text.append(bracket);
        first = true;
        return this;
    }

    private JsonWriter end(char bracket) {
        text.append(bracket);
        first = false;
        return this;
    }

    private void separate() {
        if (afterName) {
            afterName = false;
        } else if (!first) {
            text.append(',');
        }
        first = false;
    }

    private void quote(String value) {
        JsonString.quote(text, value);
    }
}
