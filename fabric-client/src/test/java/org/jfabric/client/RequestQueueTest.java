package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.queue.CancelRequestDecoder;
import org.jfabric.codec.queue.ReceiveRequestDecoder;
import org.jfabric.codec.queue.SendRequestDecoder;
import org.jfabric.codec.queue.WorkConditionDecoder;
import org.jfabric.codec.queue.WorkRequestDecoder;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestQueueTest {
    private static final int RING_LENGTH = 4096;
    private static final int SIZE = 4;

    private final MemorySegment file = Arena.ofAuto().allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    private final MemorySegment words = Arena.ofAuto().allocate(128, 64);
    private final QueueSignal signal = new QueueSignal(words.address(), 0, null);
    private final TransmitQueue transmit = new TransmitQueue(file.address(), RING_LENGTH, SIZE, signal, file);
    private final ReceiveQueue receive = new ReceiveQueue(file.address(), RING_LENGTH, SIZE, signal, file);
    private final RecordConsumer consumer = new RecordConsumer(
        file.address() + RecordRingDescriptor.HEADER_LENGTH, RING_LENGTH,
        file.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, WorkRequestDecoder.TEMPLATE_ID);
    private final UnsafeBuffer ring =
        new UnsafeBuffer(file.address() + RecordRingDescriptor.HEADER_LENGTH, RING_LENGTH);

    @Test
    void shouldWriteASendAsTheSchemaSays() {
        assertEquals(0, transmit.send(Flags.TAGGED, 11, 22, 33, 44, 55, 66));
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        assertEquals(SendRequestDecoder.TEMPLATE_ID, consumer.type());
        assertEquals(64, consumer.length());
        SendRequestDecoder send = new SendRequestDecoder().wrap(
            ring, consumer.offset() + 8, SendRequestDecoder.BLOCK_LENGTH, 0);
        assertEquals(11, send.buf());
        assertEquals(22, send.length());
        assertEquals(33, send.destAddr());
        assertEquals(44, send.tag());
        assertEquals(55, send.data());
        assertEquals(66, send.context());
        assertEquals(Flags.TAGGED, send.flags());
    }

    @Test
    void shouldWriteAReceiveAsTheSchemaSays() {
        assertEquals(0, receive.receive(Flags.MSG, 11, 22, 33, 44, 55, 66));
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        assertEquals(ReceiveRequestDecoder.TEMPLATE_ID, consumer.type());
        ReceiveRequestDecoder request = new ReceiveRequestDecoder().wrap(
            ring, consumer.offset() + 8, ReceiveRequestDecoder.BLOCK_LENGTH, 0);
        assertEquals(11, request.buf());
        assertEquals(22, request.length());
        assertEquals(33, request.srcAddr());
        assertEquals(44, request.tag());
        assertEquals(55, request.ignore());
        assertEquals(66, request.context());
        assertEquals(Flags.MSG, request.flags());
    }

    /** Both the block and the condition, and the pieces behind them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWriteAnyOtherOperationAsTheSchemaSays(boolean isTriggered) {
        WorkRequest work = new WorkRequest().begin(WorkRequest.ATOMIC);
        work.isTriggered = isTriggered;
        work.counterId = 1;
        work.threshold = 2;
        work.workId = 3;
        work.completionId = 4;
        work.flags = Flags.ATOMIC;
        work.context = 66;
        work.address = 33;
        work.remoteAddr = 44;
        work.key = 55;
        work.elements = 77;
        work.form = 2;
        work.datatype = 6;
        work.operation = 200;
        work.piece(11, 22);
        work.results[0] = 12;
        work.resultPieces = 1;
        work.compares[3] = 13;
        work.comparePieces = 2;
        assertEquals(0, transmit.post(work));
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        assertEquals(WorkRequestDecoder.TEMPLATE_ID, consumer.type());
        int head = isTriggered ? 96 : 64;
        assertEquals(head + 4 * 16, consumer.length());
        WorkRequestDecoder request = new WorkRequestDecoder().wrap(
            ring, consumer.offset() + 8, WorkRequestDecoder.BLOCK_LENGTH, 0);
        assertEquals("66 33 44 55 77", request.context() + " " + request.address() + " " + request.tagOrRemoteAddr()
            + " " + request.ignoreOrKey() + " " + request.dataOrElements());
        assertEquals(Flags.ATOMIC, request.flags());
        assertEquals("4 2 6 200", request.kind() + " " + request.form() + " " + request.datatype() + " "
            + request.operation());
        assertEquals("1 1 2", request.pieces() + " " + request.resultPiecesOrRanges() + " " + request.comparePieces());
        assertEquals(isTriggered ? 1 : 0, request.isTriggered());
        if (isTriggered) {
            WorkConditionDecoder condition = new WorkConditionDecoder().wrap(
                ring, consumer.offset() + 64, WorkConditionDecoder.BLOCK_LENGTH, 0);
            assertEquals("1 2 3 4", condition.counterId() + " " + condition.threshold() + " " + condition.workId()
                + " " + condition.completionId());
        }
        long[] pieces = {11, 22, 12, 0, 0, 0, 0, 13};
        for (int i = 0; i < pieces.length; i++) {
            assertEquals(pieces[i], ring.getLong(consumer.offset() + head + 8 * i));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 13, 64, 191, 192, 193, 500})
    void shouldCarryAnInjectedPayloadBehindTheBlock(int length) {
        byte[] payload = new byte[length + 3];
        for (int i = 0; i < payload.length; i++) {
            payload[i] = (byte) (i * 31);
        }
        MemorySegment source = Arena.ofAuto().allocate(payload.length);
        source.copyFrom(MemorySegment.ofArray(payload));
        assertEquals(0, transmit.inject(Flags.TAGGED | Flags.INJECT, source.address() + 3, length, 9, 8, 0, 7));
        assertInjected(payload, length);
        long place = transmit.claimInject(length + 5);
        new UnsafeBuffer(place, length).putBytes(0, payload, 3, length);
        transmit.commitInject(Flags.TAGGED | Flags.INJECT, place, length, 9, 8, 0, 7);
        assertInjected(payload, length);
    }

    private void assertInjected(byte[] payload, int length) {
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        assertEquals(64 + length, consumer.length());
        SendRequestDecoder send = new SendRequestDecoder().wrap(
            ring, consumer.offset() + 8, SendRequestDecoder.BLOCK_LENGTH, 0);
        assertEquals(length, send.length());
        assertEquals(9, send.destAddr());
        assertEquals(7, send.context());
        for (int i = 0; i < length; i++) {
            assertEquals(payload[3 + i], ring.getByte(consumer.offset() + 64 + i));
        }
        consumer.advance();
        consumer.release();
    }

    @Test
    void shouldRefuseMoreThanItsSizeUntilOperationsEnd() {
        for (int i = 0; i < SIZE; i++) {
            assertEquals(0, transmit.send(0, 0, 0, 0, 0, 0, i));
        }
        assertEquals(-FabricErrno.EAGAIN, transmit.send(0, 0, 0, 0, 0, 0, 9));
        assertEquals(SIZE, transmit.outstanding());
        assertEquals(SIZE, transmit.untaken());
        take(3);
        assertEquals(1, transmit.untaken());
        assertEquals(-FabricErrno.EAGAIN, transmit.send(0, 0, 0, 0, 0, 0, 9));
        completed(2);
        assertEquals(2, transmit.outstanding());
        assertEquals(2, transmit.sizeLeft());
        assertEquals(0, transmit.send(0, 0, 0, 0, 0, 0, 9));
        assertEquals(0, transmit.cancel(9, 0));
        assertEquals(2, transmit.untaken());
        assertEquals(3, transmit.outstanding());
    }

    @Test
    void shouldRefuseWhileTheRingIsFullAndWrapWithPadding() {
        MemorySegment payload = Arena.ofAuto().allocate(960);
        TransmitQueue large = new TransmitQueue(file.address(), RING_LENGTH, 1000, signal, file);
        long posted = 0;
        for (int i = 0; i < 50; i++) {
            while (large.inject(Flags.INJECT, payload.address(), 700 + i, 0, 0, 0, 0) == 0) {
                posted++;
            }
            assertEquals(posted - i, large.untaken());
            take(1);
        }
        assertTrue(posted > 50);
    }

    @Test
    void shouldWriteACancelWithoutCountingIt() {
        assertEquals(0, receive.cancel(77, 640));
        assertEquals(0, receive.outstanding());
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        assertEquals(CancelRequestDecoder.TEMPLATE_ID, consumer.type());
        assertEquals(24, consumer.length());
        assertEquals(77, ring.getLong(consumer.offset() + 8));
        assertEquals(640, ring.getLong(consumer.offset() + 16));
        assertEquals(0, receive.untaken());
    }

    @Test
    void shouldSetTheActivityByteAndRingOnlyForAParkedDriver(@TempDir Path folder) {
        int listener = UnixSocket.listen(folder.resolve("s"), 1);
        int client = UnixSocket.connect(folder.resolve("s"), 0);
        int server = UnixSocket.accept4(listener, 0);
        long parked = words.address() + 64;
        long received = words.address() + 96;
        Doorbell doorbell = new Doorbell(client);
        try {
            TransmitQueue queue = new TransmitQueue(
                file.address(), RING_LENGTH, SIZE, new QueueSignal(words.address(), parked, doorbell), file);
            assertEquals(0, queue.send(0, 0, 0, 0, 0, 0, 0));
            assertEquals(1, UnsafeApi.getByte(words.address()));
            assertEquals(-FabricErrno.EAGAIN, UnixSocket.recv(server, received, 8, UnixSocket.MSG_DONTWAIT));
            UnsafeApi.putInt(parked, 1);
            assertEquals(0, queue.send(0, 0, 0, 0, 0, 0, 0));
            assertEquals(1, UnixSocket.recv(server, received, 8, UnixSocket.MSG_DONTWAIT));
            doorbell.close();
            doorbell.close();
            assertEquals(0, queue.send(0, 0, 0, 0, 0, 0, 0));
            assertEquals(0, UnixSocket.recv(server, received, 8, UnixSocket.MSG_DONTWAIT));
        } finally {
            doorbell.close();
            Libc.close(server);
            Libc.close(listener);
        }
    }

    private void take(int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(RecordConsumer.RECORD, consumer.poll());
            consumer.advance();
        }
        consumer.release();
    }

    private void completed(long count) {
        UnsafeApi.putLongRelease(null, file.address() + RecordRingDescriptor.COMPLETED_OFFSET, count);
    }
}
