package org.jfabric.info;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/** The members of one structure. Each joins as it is described, so the table is the first constant of its class. */
final class AttributeTable {
    private final List<Attribute<?>> rows = new ArrayList<>();
    private final String prefix;

    /** A table whose members have names that begin with a prefix. */
    AttributeTable(String prefix) {
        this.prefix = prefix;
    }

    List<Attribute<?>> rows() {
        return Collections.unmodifiableList(rows);
    }

    Object[] initial() {
        Object[] values = new Object[rows.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = rows.get(i).initial;
        }
        return values;
    }

    Attribute<Long> caps() {
        return add("caps", Rule.BITS, 0L, Format.CAPABILITIES);
    }

    Attribute<Long> mode() {
        return add("mode", Rule.FREE, 0L, Format.MODE);
    }

    Attribute<Long> order(String name) {
        return add(name, Rule.ORDER, 0L, Format.ORDER);
    }

    Attribute<Long> limit(String name) {
        return add(name, Rule.AT_MOST, 0L, Format.PLAIN);
    }

    Attribute<Integer> trafficClass() {
        return add("tclass", Rule.TRAFFIC_CLASS, 0, Format.HEX);
    }

    Attribute<String> text(String name, Rule rule) {
        return add(name, rule, null, Format.PLAIN);
    }

    Attribute<byte[]> key() {
        return add("auth_key", Rule.FREE, new byte[0], Format.KEY);
    }

    <V> Attribute<V> add(String name, V initial) {
        return add(name, Rule.FREE, initial);
    }

    <V> Attribute<V> add(String name, Rule rule, V initial) {
        return add(name, rule, initial, Format.PLAIN);
    }

    <V> Attribute<V> add(String name, Rule rule, V initial, Format format) {
        Attribute<V> row = new Attribute<>(rows.size(), prefix + name, rule, initial, format);
        rows.add(row);
        return row;
    }
}
