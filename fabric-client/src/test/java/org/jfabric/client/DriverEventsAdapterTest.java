package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.CommandFailed;
import org.jfabric.codec.control.CompletionQueueReady;
import org.jfabric.codec.control.ControlMessage;
import org.jfabric.codec.control.InfoMatch;
import org.jfabric.codec.control.OpenView;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.Test;

/** A driver that writes what is no message ends its client's connection, and nothing else. */
class DriverEventsAdapterTest {
    private static final int RING_LENGTH = 4096;

    private final MemorySegment file = Arena.ofAuto().allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    private final long records = file.address() + RecordRingDescriptor.HEADER_LENGTH;
    private final long position = file.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET;
    private final UnsafeBuffer ring = new UnsafeBuffer(records, RING_LENGTH);
    private final RecordProducer producer = new RecordProducer(records, RING_LENGTH, position);
    private final DriverEventsAdapter events = new DriverEventsAdapter(
        new RecordConsumer(records, RING_LENGTH, position, ControlMessage.DriverMessage.MAX_TEMPLATE_ID), ring);
    private final FieldWriter fields = new FieldWriter(false);

    @Test
    void shouldTakeMessagesAndNothingElse() {
        CommandFailed failed = new CommandFailed(7, FabricErrno.EBUSY, "in use");
        write(failed, Integer.MAX_VALUE);
        assertEquals(failed, events.next());
        assertNull(events.next());
        requireBroken(new OpenView(1), Integer.MAX_VALUE, "type 30 is not known");
        requireBroken(failed, 11, "the record has 11 bytes, its block needs 12");
        requireBroken(failed, 14, "needed is a length");
        requireBroken(failed, 18, "a field has 6 bytes, 2 are left");
    }

    @Test
    void shouldRefuseCodesThatNoConstantHas() {
        requireBroken(new CompletionQueueReady(1, 2, 3, 4, 5, 6, 99, 0), Integer.MAX_VALUE, "99");
        Info info = new Info();
        write(new InfoMatch(1, InfoCodec.fields(info), "", "", "", "", "", "", new byte[0]), Integer.MAX_VALUE);
        assertEquals(info.toString(), InfoCodec.info((InfoMatch) events.next()).toString());
        InfoMatch match = new InfoMatch(1, InfoCodec.fields(info), "", "", "", "", "", "", new byte[0]);
        fields.clear();
        match.encode(fields);
        UnsafeBuffer copy = new UnsafeBuffer(new byte[fields.length()]);
        copy.putBytes(0, fields.buffer(), 0, fields.length());
        // the format of addresses, behind the correlation id, the capabilities and the mode
        copy.putInt(24, 77);
        write(match.templateId(), copy, copy.capacity());
        assertTrue(assertThrows(FabricException.class, events::next).getMessage().contains("77"));
    }

    private void requireBroken(ControlMessage message, int length, String why) {
        write(message, length);
        FabricException broken = assertThrows(FabricException.class, events::next);
        assertEquals(FabricErrno.EIO, broken.errno());
        assertTrue(broken.getMessage().contains(why), broken::getMessage);
    }

    private void write(ControlMessage message, int length) {
        fields.clear();
        message.encode(fields);
        write(message.templateId(), new UnsafeBuffer(fields.buffer(), 0, fields.length()),
            Math.min(length, fields.length()));
    }

    private void write(int type, UnsafeBuffer body, int length) {
        int offset = producer.claim(RecordRingDescriptor.WORD_LENGTH + length);
        ring.putBytes(offset + RecordRingDescriptor.WORD_LENGTH, body, 0, length);
        producer.commit(offset, RecordRingDescriptor.WORD_LENGTH + length, type);
    }
}
