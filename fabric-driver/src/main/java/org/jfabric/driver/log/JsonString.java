package org.jfabric.driver.log;

/** Strings of JSON (RFC 8259). Any thread; pure functions. */
public final class JsonString {
    private JsonString() {
    }

    /**
     * Appends a text with its quotation marks; halves of surrogate pairs and control characters are escaped.
     *
     * @param text any text.
     */
    public static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < 0x20 || Character.isSurrogate(c)) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
