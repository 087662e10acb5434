package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.CancelRequestDecoder;
import org.jfabric.codec.queue.SendRequestDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.Test;

class QueuePortTest {
    private static final int RING_LENGTH = 4096;
    private static final int SIZE = 4;

    private final MemorySegment transmitFile = file();
    private final MemorySegment receiveFile = file();
    private final QueueSignal signal = new QueueSignal(Arena.ofAuto().allocate(64, 64).address(), 0, null);
    private final TransmitQueue transmit =
        new TransmitQueue(transmitFile.address(), RING_LENGTH, SIZE, signal, transmitFile);
    private final ReceiveQueue receive =
        new ReceiveQueue(receiveFile.address(), RING_LENGTH, SIZE, signal, receiveFile);
    private final RecordConsumer sends = consumer(transmitFile);
    private final RecordConsumer receives = consumer(receiveFile);

    @Test
    void shouldCancelBehindWhatBothDirectionsHavePosted() {
        QueuePort port = new QueuePort(transmit, receive);
        assertEquals(0, port.receive(Flags.TAGGED, 1, 2, 3, 4, 5, 6));
        assertEquals(0, port.cancel(6));
        assertEquals(RecordConsumer.RECORD, sends.poll());
        assertEquals(CancelRequestDecoder.TEMPLATE_ID, sends.type());
        long record = transmitFile.address() + RecordRingDescriptor.HEADER_LENGTH + sends.offset();
        assertEquals(6, UnsafeApi.getLong(record + 8));
        assertEquals(receive.position(), UnsafeApi.getLong(record + 16));
        assertNotEquals(0, receive.position());
    }

    @Test
    void shouldCancelInTheOneQueueThatThereIs() {
        assertEquals(0, new QueuePort(null, receive).cancel(6));
        assertEquals(RecordConsumer.RECORD, receives.poll());
        assertEquals(CancelRequestDecoder.TEMPLATE_ID, receives.type());
        assertEquals(0, new QueuePort(transmit, null).cancel(6));
        assertEquals(RecordConsumer.RECORD, sends.poll());
        assertEquals(CancelRequestDecoder.TEMPLATE_ID, sends.type());
    }

    @Test
    void shouldCountEachDirection() {
        QueuePort port = new QueuePort(transmit, receive);
        for (int i = 0; i < SIZE; i++) {
            assertEquals(0, port.send(Flags.TAGGED, 1, 2, 3, 4, 5, 6));
        }
        assertEquals(-FabricErrno.EAGAIN, port.send(Flags.TAGGED, 1, 2, 3, 4, 5, 6));
        assertEquals(-FabricErrno.EAGAIN, port.claimInject(8, 0));
        assertEquals(0, port.receive(Flags.TAGGED, 1, 2, 3, 4, 5, 6));
        assertEquals(SIZE, port.outstandingSends());
        assertEquals(SIZE, port.untakenSends());
        assertEquals(0, port.sendsLeft());
        assertEquals(1, port.untakenReceives());
        assertEquals(SIZE - 1, port.receivesLeft());
    }

    @Test
    void shouldForgetAClaimThatIsNotCommitted() {
        QueuePort port = new QueuePort(transmit, null);
        long claimed = port.claimInject(40, 0);
        assertEquals(RecordConsumer.EMPTY, sends.poll());
        assertEquals(claimed, port.claimInject(8, 0));
        UnsafeApi.putLong(claimed, 77);
        assertEquals(0, port.commitInject(Flags.TAGGED | Flags.INJECT, claimed, 8, 3, 4, 5, 6));
        assertEquals(RecordConsumer.RECORD, sends.poll());
        assertEquals(SendRequestDecoder.TEMPLATE_ID, sends.type());
        assertEquals(64 + 8, sends.length());
        assertEquals(1, port.outstandingSends());
    }

    private static MemorySegment file() {
        return Arena.ofAuto().allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    }

    private static RecordConsumer consumer(MemorySegment file) {
        return new RecordConsumer(file.address() + RecordRingDescriptor.HEADER_LENGTH, RING_LENGTH,
            file.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, 7);
    }
}
