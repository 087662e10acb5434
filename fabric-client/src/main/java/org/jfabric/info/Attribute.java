package org.jfabric.info;

import java.util.Map;

/**
 * One member of an {@link AttributeStructure}; not meant for applications. How it is set, copied, shown, carried in
 * messages, compared and narrowed follows from this description. Immutable; any thread.
 *
 * @param <V> its values.
 */
public final class Attribute<V> {

    /** What discovery does with a hint that is not 0. */
    public enum Rule {
        /** Nothing of its own: it is not compared, or together with other members only. */
        FREE,
        /** A match has it, whatever the link: the application's choice. */
        CHOSEN,
        /** The same, if it is the code of a traffic class. */
        TRAFFIC_CLASS,
        /** No more than is offered; unsigned. */
        AT_MOST,
        /** Bits of which all are offered. */
        BITS,
        /** The same for bits of {@link Order}. */
        ORDER,
        /** What is offered. */
        SAME,
        /** Progress without calls, if it is asked for. */
        PROGRESS,
        /** A text, which has to be that of the offer. */
        NAME
    }

    /** Members that are called otherwise than in libfabric. */
    private static final Map<String, String> MEMBERS = Map.of("max_err_data", "maxErrDataSize",
        "resource_mgmt", "resourceManagement", "wait_cond", "waitCondition", "wait_obj", "waitObject");

    /** What the text of a value is. */
    enum Format {
        PLAIN, HEX, CAPABILITIES, MODE, OPERATION, ORDER, MR_MODE, VERSION, KEY, AV_OPEN, CQ_OPEN, EQ_OPEN
    }

    /** Place among the members of the structure. */
    final int index;
    /** Null of a text. */
    final V initial;
    private final String name;
    private final Rule rule;
    private final Format format;

    Attribute(int index, String name, Rule rule, V initial, Format format) {
        this.index = index;
        this.name = name;
        this.rule = rule;
        this.initial = initial;
        this.format = format;
    }

    /** The name in libfabric, such as {@code domain_attr.max_ep_srx_ctx}. */
    public String name() {
        return name;
    }

    /** What discovery does with a hint. */
    public Rule rule() {
        return rule;
    }

    /** Whether a structure may not have more of it than another one, in number or in bits. */
    public boolean isBounded() {
        return rule == Rule.AT_MOST || rule == Rule.BITS || rule == Rule.ORDER;
    }

    /** Its length in a message: 8, 4, or 0 if it is no number. */
    public int bytes() {
        return initial instanceof Long ? Long.BYTES
            : initial instanceof Integer || initial instanceof Coded ? Integer.BYTES : 0;
    }

    /** The value in a structure: number, bits or code; 0 if it is unspecified or no number. */
    public long number(AttributeStructure<?> structure) {
        Object value = structure.get(this);
        return value instanceof Long number ? number : value instanceof Integer number ? Integer.toUnsignedLong(number)
            : value instanceof Coded constant ? constant.code() : 0;
    }

    /** Sets the value; {@link FabricErrno#EINVAL} for a code that no constant has. */
    public void number(AttributeStructure<?> structure, long number) {
        structure.set(this, value(number));
    }

    /** The text of a number, of bits or of a code. */
    public String text(long number, Flags.Kind capabilities) {
        return format(value(number), capabilities);
    }

    /** The value in a structure as a text; null if it is a text that is not set. */
    public String text(AttributeStructure<?> structure, Flags.Kind capabilities) {
        V current = structure.get(this);
        return current == null ? null : format(current, capabilities);
    }

    @SuppressWarnings("unchecked")
    private V value(long number) {
        return (V) (initial instanceof Enum<?> constant ? constant(constant.getDeclaringClass(), (int) number)
            : initial instanceof Integer ? (Object) (int) number : (Object) number);
    }

    private static Enum<?> constant(Class<? extends Enum<?>> type, int code) {
        for (Enum<?> each : type.getEnumConstants()) {
            if (((Coded) each).code() == code) {
                return each;
            }
        }
        throw Codes.unknown(type.getSimpleName(), code, type.getEnumConstants());
    }

    private static long bits(Object value) {
        return value instanceof Integer number ? Integer.toUnsignedLong(number) : (Long) value;
    }

    private String format(Object value, Flags.Kind capabilities) {
        return switch (format) {
            case PLAIN -> value.toString();
            case HEX -> Codes.hex(bits(value));
            case CAPABILITIES -> Flags.toString(bits(value), capabilities);
            case MODE -> Mode.toString(bits(value));
            case OPERATION -> Flags.toString(bits(value), Flags.Kind.OPERATION);
            case ORDER -> Order.toString(bits(value));
            case MR_MODE -> MrMode.toString(bits(value));
            case VERSION -> FabricAttr.versionText((Integer) value);
            case KEY -> Codes.describeKey((byte[]) value);
            case AV_OPEN -> Flags.toString(bits(value), Flags.Kind.AV_OPEN);
            case CQ_OPEN -> Flags.toString(bits(value), Flags.Kind.CQ_OPEN);
            case EQ_OPEN -> Flags.toString(bits(value), Flags.Kind.EQ_OPEN);
        };
    }

    /** The name of the member in Java. */
    String member() {
        String last = name.substring(name.indexOf('.') + 1);
        if (MEMBERS.containsKey(last)) {
            return MEMBERS.get(last);
        }
        StringBuilder member = new StringBuilder();
        for (String word : last.split("_")) {
            member.append(member.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return member.toString();
    }
}
