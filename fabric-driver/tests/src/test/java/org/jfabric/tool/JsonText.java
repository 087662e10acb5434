package org.jfabric.tool;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON strictly, independently of the writer under test: objects become maps, numbers doubles. */
public final class JsonText {
    private final String text;
    private int position;

    private JsonText(String text) {
        this.text = text;
    }

    public static Object parse(String text) {
        JsonText reader = new JsonText(text.strip());
        Object value = reader.value();
        if (reader.position != reader.text.length()) {
            throw reader.wrong("nothing more");
        }
        return value;
    }

    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(String text) {
        return (Map<String, Object>) parse(text);
    }

    private Object value() {
        char c = text.charAt(position);
        if (c == '{') {
            return members();
        }
        if (c == '[') {
            return elements();
        }
        if (c == '"') {
            return string();
        }
        for (String word : List.of("true", "false", "null")) {
            if (text.startsWith(word, position)) {
                position += word.length();
                return word.equals("null") ? null : (Object) Boolean.valueOf(word);
            }
        }
        int begin = position;
        while (position < text.length() && "+-.eE0123456789".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
        String number = text.substring(begin, position);
        if (!number.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
            throw wrong("a number");
        }
        return Double.valueOf(number);
    }

    private Map<String, Object> members() {
        Map<String, Object> map = new LinkedHashMap<>();
        position++;
        if (skip('}')) {
            return map;
        }
        do {
            String name = string();
            expect(':');
            if (map.put(name, value()) != null) {
                throw wrong("each name once");
            }
        } while (skip(','));
        expect('}');
        return map;
    }

    private List<Object> elements() {
        List<Object> list = new ArrayList<>();
        position++;
        if (skip(']')) {
            return list;
        }
        do {
            list.add(value());
        } while (skip(','));
        expect(']');
        return list;
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        char c;
        while ((c = text.charAt(position++)) != '"') {
            if (c < 0x20) {
                throw wrong("no control character");
            }
            if (c == '\\') {
                char escaped = text.charAt(position++);
                int known = "\"\\/nrtbf".indexOf(escaped);
                if (known >= 0) {
                    c = "\"\\/\n\r\t\b\f".charAt(known);
                } else if (escaped == 'u') {
                    c = (char) Integer.parseInt(text, position, position + 4, 16);
                    position += 4;
                } else {
                    throw wrong("an escape");
                }
            }
            string.append(c);
        }
        return string.toString();
    }

    private boolean skip(char c) {
        if (position < text.length() && text.charAt(position) == c) {
            position++;
            return true;
        }
        return false;
    }

    private void expect(char c) {
        if (!skip(c)) {
            throw wrong("'" + c + "'");
        }
    }

    private AssertionError wrong(String expected) {
        return new AssertionError("expected " + expected + " at " + position + " of " + text);
    }
}
