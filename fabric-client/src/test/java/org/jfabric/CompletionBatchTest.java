package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.junit.jupiter.api.Test;

class CompletionBatchTest {
    private static final int CAPACITY = 8;
    private static final int SHARE = 4;

    private final CompletionQueueImage image = new CompletionQueueImage(CAPACITY);
    private final DriverState driver = new DriverState();
    private final CompletionQueue queue = open(image);
    private final CompletionBatch batch = new CompletionBatch();
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[64 * CAPACITY]);

    @Test
    void shouldShowEntriesInOrderAndAgainUntilTheyAreGivenBack() {
        image.success(1);
        image.success(2);
        image.success(3);
        assertEquals(2, queue.readInPlace(batch, 2));
        assertEquals(2, batch.size());
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 2; i++) {
                Completion entry = batch.entry(i);
                assertEquals(i + 1, entry.opContext());
                assertEquals((i + 1) * 10, entry.flags());
                assertEquals((i + 1) * 100, entry.len());
                assertEquals((i + 1) * 1000, entry.buf());
                assertEquals((i + 1) * 10_000, entry.data());
                assertEquals((i + 1) * 100_000, entry.tag());
                assertEquals(i == 0 ? 1 : FabricAddress.ADDR_NOTAVAIL, entry.srcAddr());
                assertSame(batch.entry(0), entry);
            }
        }
        assertEquals(0, image.readPosition());
        batch.release();
        assertEquals(2, image.readPosition());
        assertEquals(1, queue.readInPlace(batch, 9));
        assertEquals(3, batch.entry(0).opContext());
    }

    @Test
    void shouldReadZeroBeyondTheBatchAndAfterTheRelease() {
        image.success(1);
        image.success(2);
        assertEquals(0, batch.entry(0).opContext());
        assertEquals(1, queue.readInPlace(batch, 1));
        assertEquals(0, batch.entry(1).opContext());
        assertEquals(0, batch.entry(-1).len());
        Completion entry = batch.entry(0);
        assertEquals(1, entry.opContext());
        batch.release();
        assertEquals(0, entry.opContext());
        assertEquals(0, entry.srcAddr());
        assertEquals(0, batch.entry(0).tag());
        assertEquals(0, batch.size());
        batch.release();
        assertEquals(1, image.readPosition());
    }

    @Test
    void shouldGiveBackWithTheNextReadingCallOfTheQueue() {
        List<Runnable> calls = List.of(
            () -> queue.read(buffer, 0, 1),
            () -> queue.read(null, 0, 0),
            () -> queue.readFrom(buffer, 0, 1, new long[1]),
            () -> queue.poll(entry -> { }, 1),
            () -> queue.readErr(new CompletionError(), 0),
            () -> queue.readInPlace(new CompletionBatch(), 1),
            () -> queue.readInPlace(batch, 1));
        long before = 0;
        for (Runnable call : calls) {
            image.success(1);
            image.success(2);
            assertEquals(2, queue.readInPlace(batch, 2), "position " + before);
            call.run();
            assertEquals(0, batch.size());
            assertEquals(before + 2, image.readPosition());
            before += 2;
        }
    }

    @Test
    void shouldKeepCreditUntilTheReleaseAndGiveBackOnlyThatOfTheClient() {
        for (int i = 0; i < SHARE; i++) {
            queue.credits().take();
        }
        image.success(1);
        image.success(2, CompletionQueueDescriptor.FLAG_DRIVER_SHARE);
        image.success(3);
        assertEquals(3, queue.readInPlace(batch, 5));
        assertEquals(0, queue.credits().left());
        batch.release();
        assertEquals(2, queue.credits().left());
    }

    @Test
    void shouldStopInFrontOfAnErrorAndLeaveTheBatchEmpty() {
        image.success(1);
        image.error(2, FabricErrno.EIO, 1, new byte[0]);
        assertEquals(1, queue.readInPlace(batch, 5));
        assertEquals(-FabricErrno.EAVAIL, queue.readInPlace(batch, 5));
        assertEquals(0, batch.size());
        assertEquals(1, image.readPosition());
        assertEquals(1, queue.readErr(new CompletionError(), 0));
        assertEquals(-FabricErrno.EAGAIN, queue.readInPlace(batch, 5));
        image.success(3);
        assertEquals(0, queue.readInPlace(batch, 0));
        assertEquals(-FabricErrno.EINVAL, queue.readInPlace(batch, -1));
        assertEquals(1, queue.readInPlace(batch, 5));
    }

    @Test
    void shouldHoldOverTheEndOfTheRingAndAWholeRing() {
        for (int lap = 0; lap < 5; lap++) {
            for (int i = 0; i < 3; i++) {
                image.success(i);
            }
            assertEquals(3, queue.readInPlace(batch, 100));
        }
        batch.release();
        for (int i = 0; i < CAPACITY; i++) {
            image.success(i);
        }
        assertEquals(CAPACITY, queue.readInPlace(batch, Integer.MAX_VALUE));
        List<Long> contexts = new ArrayList<>();
        for (int i = 0; i < batch.size(); i++) {
            contexts.add(batch.entry(i).opContext());
        }
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L), contexts);
        image.overrun();
        assertEquals(-FabricErrno.EOVERRUN, queue.readInPlace(batch, 1));
        assertEquals(5 * 3 + CAPACITY, image.readPosition());
    }

    @Test
    void shouldRefuseABatchThatHoldsEntriesOfAnotherQueue() {
        CompletionQueueImage otherImage = new CompletionQueueImage(CAPACITY);
        CompletionQueue other = open(otherImage);
        image.success(1);
        otherImage.success(2);
        assertEquals(1, queue.readInPlace(batch, 1));
        assertEquals(-FabricErrno.EINVAL, other.readInPlace(batch, 1));
        assertEquals(1, batch.entry(0).opContext());
        batch.release();
        assertEquals(1, other.readInPlace(batch, 1));
        assertEquals(2, batch.entry(0).opContext());
        assertEquals(0, otherImage.readPosition());
    }

    @Test
    void shouldBeRefusedFromInsideAHandlerAndAfterClose() {
        image.success(1);
        assertEquals(1, queue.poll(
            entry -> assertEquals(-FabricErrno.EOPBADSTATE, queue.readInPlace(batch, 1)), 1));
        image.success(2);
        assertEquals(1, queue.readInPlace(batch, 1));
        queue.markClosed();
        assertEquals(-FabricErrno.EOPBADSTATE, queue.readInPlace(new CompletionBatch(), 1));
        assertEquals(2, batch.entry(0).opContext());
        batch.release();
        assertEquals(0, batch.entry(0).opContext());
    }

    private CompletionQueue open(CompletionQueueImage file) {
        CompletionQueue opened = new CompletionQueue(
            null, 1, 0, new CompletionQueueAttr().size(SHARE).format(CompletionFormat.TAGGED), file.memory, CAPACITY,
            driver, null, 0, 0);
        opened.onEndpointEnabled();
        return opened;
    }
}
