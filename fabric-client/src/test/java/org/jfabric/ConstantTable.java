package org.jfabric;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Compares the public constants of a class with a table of {@code NAME=number} written by hand. */
final class ConstantTable {
    private ConstantTable() {
    }

    static Map<String, Integer> parse(String table) {
        Map<String, Integer> numberByName = new TreeMap<>();
        for (String entry : table.strip().split("\\s+")) {
            int equals = entry.indexOf('=');
            String name = entry.substring(0, equals);
            Integer earlier = numberByName.put(name, Integer.decode(entry.substring(equals + 1)));
            assertEquals(null, earlier, name + " stands twice in the table");
        }
        return numberByName;
    }

    /** Every public long constant has exactly the bit of the table, and neither side has a name more. */
    static void assertBits(Class<?> type, String table, String... except) throws ReflectiveOperationException {
        Map<String, Integer> bitByName = parse(table);
        Set<String> names = new TreeSet<>();
        for (Field field : type.getDeclaredFields()) {
            if (Modifier.isPublic(field.getModifiers()) && !Arrays.asList(except).contains(field.getName())) {
                names.add(field.getName());
                long value = field.getLong(null);
                assertEquals(1, Long.bitCount(value), field.getName() + " is not a single bit");
                assertEquals(bitByName.get(field.getName()), Long.numberOfTrailingZeros(value), field.getName());
            }
        }
        assertEquals(bitByName.keySet(), names);
    }

    /** Every public int constant has exactly the number of the table, and neither side has a name more. */
    static void assertInts(Class<?> type, String table) throws ReflectiveOperationException {
        Map<String, Integer> numberByName = parse(table);
        Map<String, Integer> seen = new TreeMap<>();
        for (Field field : type.getDeclaredFields()) {
            if (Modifier.isPublic(field.getModifiers()) && field.getType() == int.class) {
                seen.put(field.getName(), field.getInt(null));
            }
        }
        assertEquals(numberByName, seen);
    }
}
