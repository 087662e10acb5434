package org.jfabric.tool;

/**
 * Writes one JSON value (RFC 8259) on one line: objects and arrays, nested, with their commas.
 *
 * <p>Members are written in the order of the calls. Not a number and infinities, which JSON has no text for, become
 * {@code null}. Owner: one thread.
 */
final class JsonWriter {
    private final StringBuilder text = new StringBuilder(256);
    private boolean first = true;
    private boolean afterName;

    JsonWriter beginObject() {
        return begin('{');
    }

    JsonWriter endObject() {
        return end('}');
    }

    JsonWriter beginArray() {
        return begin('[');
    }

    JsonWriter endArray() {
        return end(']');
    }

    JsonWriter name(String name) {
        separate();
        quote(name);
        text.append(':');
        afterName = true;
        return this;
    }

    JsonWriter value(String value) {
        separate();
        if (value == null) {
            text.append("null");
        } else {
            quote(value);
        }
        return this;
    }

    JsonWriter value(long value) {
        separate();
        text.append(value);
        return this;
    }

    JsonWriter value(boolean value) {
        separate();
        text.append(value);
        return this;
    }

    /**
     * Writes a number rounded to one decimal, which is all that the measured values are good for.
     */
    JsonWriter value(double value) {
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

    JsonWriter member(String name, String value) {
        return name(name).value(value);
    }

    JsonWriter member(String name, long value) {
        return name(name).value(value);
    }

    JsonWriter member(String name, boolean value) {
        return name(name).value(value);
    }

    JsonWriter member(String name, double value) {
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
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    if (c < 0x20 || Character.isSurrogate(c)) {
                        text.append(String.format("\\u%04x", (int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }
}
