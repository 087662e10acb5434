package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.RecordComponent;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.jfabric.codec.control.ControlMessage;
import org.jfabric.codec.control.ControlMessage.Command;
import org.jfabric.codec.control.ControlMessage.DriverMessage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The generated records of the control channel stand in a ring as SBE's own codecs have them. */
class ControlMessageTest {
    private final FieldWriter fields = new FieldWriter(true);
    private long lastValue;

    @ParameterizedTest
    @MethodSource("messages")
    void shouldBeEncodedAndDecodedAsTheSchemaSays(Class<? extends ControlMessage> kind) throws Exception {
        Class<?> decoder = Class.forName(kind.getName() + "Decoder");
        int blockLength = decoder.getField("BLOCK_LENGTH").getInt(null);
        ControlMessage message = (ControlMessage) make(kind);
        boolean isCommand = message instanceof Command;
        if (isCommand) {
            fields.int64(++lastValue);
        }
        message.encode(fields);

        assertEquals(decoder.getField("TEMPLATE_ID").getInt(null), message.templateId());
        assertEquals(blockLength, isCommand ? Command.blockLength(message.templateId())
            : DriverMessage.blockLength(message.templateId()));
        int next = requireFields(message, decoder, 0, blockLength);
        assertEquals(fields.length(), next);
        FieldReader reader = new FieldReader(fields.buffer(), isCommand ? Long.BYTES : 0, fields.length());
        ControlMessage read = isCommand ? Command.decode(message.templateId(), reader)
            : DriverMessage.decode(message.templateId(), reader);
        assertEquals(values(message), values(read));
    }

    static Stream<Class<?>> messages() {
        List<Class<?>> all = Stream.of(Command.class, ControlMessage.Answer.class, ControlMessage.Event.class)
            .flatMap(each -> Arrays.stream(each.getPermittedSubclasses())).toList();
        assertTrue(all.size() > 50, all::toString);
        return all.stream();
    }

    /** Each field with a value of its own. */
    private Object make(Class<?> record) throws Exception {
        RecordComponent[] components = record.getRecordComponents();
        Object[] values = new Object[components.length];
        for (int i = 0; i < values.length; i++) {
            Class<?> type = components[i].getType();
            lastValue++;
            values[i] = type == long.class ? (Object) lastValue : type == int.class ? (Object) (int) lastValue
                : type == String.class ? "text " + lastValue
                : type == byte[].class ? new byte[] {(byte) lastValue, 0, -1} : make(type);
        }
        Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        return record.getConstructor(types).newInstance(values);
    }

    /** Each is where SBE reads it. Returns the index behind the last text. */
    private int requireFields(Object record, Class<?> decoder, int block, int texts) throws Exception {
        DirectBuffer buffer = fields.buffer();
        int next = texts;
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            Object value = component.getAccessor().invoke(record);
            if (value instanceof String || value instanceof byte[]) {
                byte[] wanted = value instanceof String text ? text.getBytes() : (byte[]) value;
                byte[] there = new byte[buffer.getInt(next, ByteOrder.LITTLE_ENDIAN)];
                buffer.getBytes(next + Integer.BYTES, there);
                assertArrayEquals(wanted, there, component.getName());
                next += Integer.BYTES + there.length;
                continue;
            }
            int at = block + (int) decoder.getMethod(component.getName() + "EncodingOffset").invoke(null);
            int length = (int) decoder.getMethod(component.getName() + "EncodingLength").invoke(null);
            if (value instanceof Record inner) {
                requireFields(inner, Class.forName(inner.getClass().getName() + "Decoder"), at, 0);
            } else {
                assertEquals(((Number) value).longValue(), switch (length) {
                    case Long.BYTES -> buffer.getLong(at, ByteOrder.LITTLE_ENDIAN);
                    case Integer.BYTES -> buffer.getInt(at, ByteOrder.LITTLE_ENDIAN);
                    default -> buffer.getByte(at) & 0xFF;
                }, component.getName());
            }
        }
        return next;
    }

    private static List<Object> values(Object record) throws Exception {
        List<Object> values = new ArrayList<>();
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            Object value = component.getAccessor().invoke(record);
            values.add(value instanceof byte[] bytes ? Arrays.toString(bytes) : value);
        }
        return values;
    }
}
