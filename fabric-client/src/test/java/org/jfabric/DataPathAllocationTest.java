package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.client.QueuePort;
import org.jfabric.client.QueueSignal;
import org.jfabric.client.ReceiveQueue;
import org.jfabric.client.TransmitQueue;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posting and reading leave nothing for the collector. */
@Timeout(120)
class DataPathAllocationTest {
    private static final int WARM_UP = 30_000;
    private static final int MEASURED = 10_000;
    private static final int RING_LENGTH = 8192;
    private static final byte[] EMPTY = new byte[0];
    private static final long ROUND_SUM = 0 + 0 + 0 + 1 + 1 + 1 + 1 - FabricErrno.EAGAIN + 4 * 5 + 2 + 11;

    private final CompletionQueueImage image = new CompletionQueueImage(16);
    private final CompletionQueue queue = new CompletionQueue(
        null, 1, 0, new CompletionQueueAttr().size(8).format(CompletionFormat.TAGGED), image.memory, 16,
        new DriverState(), null, 0, 0);
    private final MemorySegment transmitFile = ring();
    private final MemorySegment receiveFile = ring();
    private final MemorySegment activity = Arena.ofAuto().allocate(64, 64);
    private final QueueSignal signal = new QueueSignal(activity.address(), 0, null);
    private final TransmitQueue transmit =
        new TransmitQueue(transmitFile.address(), RING_LENGTH, 8, signal, transmitFile);
    private final ReceiveQueue receive = new ReceiveQueue(receiveFile.address(), RING_LENGTH, 8, signal, receiveFile);
    private final QueuePort port = new QueuePort(transmit, receive);
    private final MemorySegment payload = Arena.ofAuto().allocate(64);
    private final RecordConsumer transmitConsumer = consumer(transmitFile);
    private final RecordConsumer receiveConsumer = consumer(receiveFile);
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[256]);
    private final long[] sources = new long[4];
    private final CompletionBatch batch = new CompletionBatch();
    private final CompletionError error = new CompletionError();
    private final CompletionHandler handler = this::onCompletion;
    private long completed;
    private long seen;

    @Test
    void shouldAllocateNothingWhenPostingAndReading() {
        queue.onEndpointEnabled();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        run(WARM_UP);
        long id = Thread.currentThread().threadId();
        // the first measurement may allocate for itself
        threads.getThreadAllocatedBytes(id);
        long leastBytes = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && leastBytes != 0; attempt++) {
            long before = threads.getThreadAllocatedBytes(id);
            run(MEASURED);
            leastBytes = Math.min(leastBytes, threads.getThreadAllocatedBytes(id) - before);
        }
        assertEquals(0, leastBytes, "bytes in " + MEASURED + " rounds");
    }

    private void run(int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += round();
        }
        assertEquals(rounds * ROUND_SUM, sum);
    }

    private long round() {
        long sum = port.send(Flags.TAGGED, 1, 2, 3, 4, 5, 6);
        sum += port.inject(Flags.TAGGED | Flags.INJECT, payload.address(), 40, 3, 4, 5, 6);
        sum += port.receive(Flags.TAGGED, 1, 2, 3, 4, 5, 6);
        take(transmitConsumer);
        take(transmitConsumer);
        take(receiveConsumer);
        completed += 2;
        complete(transmitFile, completed);
        complete(receiveFile, completed / 2);
        for (int i = 0; i < 3; i++) {
            queue.credits().available();
            queue.credits().take();
        }
        image.success(5, CompletionQueueDescriptor.FLAG_DRIVER_SHARE);
        sum += queue.read(buffer, 0, 4);
        image.success(5);
        sum += queue.readFrom(buffer, 0, 4, sources);
        image.success(5);
        seen = 0;
        sum += queue.poll(handler, 4);
        image.error(5, FabricErrno.EIO, 1, EMPTY);
        sum += queue.readErr(error, 0);
        sum += queue.poll(handler, 4);
        image.success(5, CompletionQueueDescriptor.FLAG_DRIVER_SHARE);
        image.success(6, CompletionQueueDescriptor.FLAG_DRIVER_SHARE);
        sum += queue.readInPlace(batch, 4);
        sum += batch.entry(0).opContext() + batch.entry(1).opContext();
        batch.release();
        return sum + seen + sources[0] + error.opContext() + buffer.getLong(0);
    }

    private void onCompletion(Completion completion) {
        seen += completion.opContext();
    }

    private static void take(RecordConsumer consumer) {
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        consumer.advance();
        consumer.release();
    }

    private static void complete(MemorySegment file, long count) {
        UnsafeApi.putLongRelease(null, file.address() + RecordRingDescriptor.COMPLETED_OFFSET, count);
    }

    private static MemorySegment ring() {
        return Arena.ofAuto().allocate(RecordRingDescriptor.HEADER_LENGTH + RING_LENGTH, 4096);
    }

    private static RecordConsumer consumer(MemorySegment file) {
        return new RecordConsumer(file.address() + RecordRingDescriptor.HEADER_LENGTH, RING_LENGTH,
            file.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, 7);
    }
}
