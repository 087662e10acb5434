package org.jfabric.client;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionFormat;
import org.jfabric.CompletionQueueAttr;
import org.jfabric.Flags;
import org.jfabric.WaitCondition;
import org.jfabric.WaitObject;
import org.jfabric.codec.control.OpenCompletionQueueDecoder;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static org.junit.jupiter.api.Assertions.assertEquals;

class DriverProxyTest {
    private static final int RING_LENGTH = 4096;

    private final MemorySegment file = Arena.ofAuto().allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    private final long records = file.address() + RecordRingDescriptor.HEADER_LENGTH;
    private final long position = file.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET;
    private final UnsafeBuffer ring = new UnsafeBuffer(records, RING_LENGTH);
    private final DriverProxy proxy = new DriverProxy(new RecordProducer(records, RING_LENGTH, position), ring, null);
    private final RecordConsumer consumer = new RecordConsumer(records, RING_LENGTH, position, 255);

    @Test
    @Requirement("CQ-007")
    void shouldCarryEveryAttributeOfACompletionQueueToTheDriver() {
        assertEquals(0, proxy.openCompletionQueue(1, new CompletionQueueAttr().size(2).flags(Flags.AFFINITY)
            .format(CompletionFormat.DATA).waitObject(WaitObject.SET).signalingVector(5)
            .waitCondition(WaitCondition.THRESHOLD).waitSetId(7)));
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        assertEquals(OpenCompletionQueueDecoder.TEMPLATE_ID, consumer.type());
        OpenCompletionQueueDecoder command = new OpenCompletionQueueDecoder().wrap(
            ring, consumer.offset() + 8, OpenCompletionQueueDecoder.BLOCK_LENGTH, 0);
        assertEquals(1, command.correlationId());
        assertEquals(2, command.size());
        assertEquals(Flags.AFFINITY, command.flags());
        assertEquals(CompletionFormat.DATA.code(), command.formatRaw());
        assertEquals(WaitObject.SET.code(), command.waitObjRaw());
        assertEquals(5, command.signalingVector());
        assertEquals(WaitCondition.THRESHOLD.code(), command.waitCondRaw());
        assertEquals(7, command.waitSetId());
    }
}
