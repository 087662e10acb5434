package org.jfabric.info;

import java.util.List;

/**
 * A structure of attributes: the values of the members that its class describes. Applications know its subclasses.
 *
 * @param <S> the subclass.
 */
public abstract class AttributeStructure<S extends AttributeStructure<S>> implements Cloneable {
    private final AttributeTable table;
    private Object[] values;

    AttributeStructure(AttributeTable table) {
        this.table = table;
        values = table.initial();
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    @SuppressWarnings("unchecked")
    public S copy() {
        try {
            AttributeStructure<S> copy = (AttributeStructure<S>) clone();
            copy.values = values.clone();
            return (S) copy;
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** The members, those with numbers in the order that they have in messages; not meant for applications. */
    public final List<Attribute<?>> attributes() {
        return table.rows();
    }

    @Override
    public String toString() {
        return toString(Flags.Kind.CAPABILITY);
    }

    /** The text, with the names that capabilities have in the version of an info. */
    String toString(Flags.Kind capabilities) {
        StringBuilder text = new StringBuilder(getClass().getSimpleName()).append('{');
        for (Attribute<?> each : attributes()) {
            text.append(each.index == 0 ? "" : ", ").append(each.member()).append('=')
                .append(each.text(this, capabilities));
        }
        return text.append('}').toString();
    }

    @SuppressWarnings("unchecked")
    final <V> V get(Attribute<V> attribute) {
        return (V) values[attribute.index];
    }

    /** Only a text may be null. */
    @SuppressWarnings("unchecked")
    final <V> S set(Attribute<V> attribute, V value) {
        values[attribute.index] = attribute.initial == null ? value : Codes.required(value, attribute.member());
        return (S) this;
    }
}
