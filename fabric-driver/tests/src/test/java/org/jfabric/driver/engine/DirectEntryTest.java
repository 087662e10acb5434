package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.agrona.UnsafeApi;
import org.jfabric.client.DirectEntry;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The one entry that a cycle leaves to its caller, and all that gives it a slot of the queue. */
class DirectEntryTest {
    private static final int CAPACITY = 8;

    private final CompletionReader queue = new CompletionReader(CAPACITY, 2, true);
    private final CompletionWriter writer = queue.writer;
    private final DirectEntry direct = writer.lentMessages().direct();
    private long read;

    @AfterEach
    void free() {
        queue.free();
    }

    private void success(long context) {
        writer.success(5, 0, context, 1, 2, 3, 4, 6, 7);
    }

    private static long context(long record) {
        return UnsafeApi.getLong(record + CompletionQueueDescriptor.BODY_OFFSET);
    }

    private CompletionReader.Entry next() {
        CompletionReader.Entry entry = queue.take();
        read += entry == null ? 0 : 1;
        return entry;
    }

    @Test
    void shouldLeaveOneEntryToTheCallThatIsOpen() {
        direct.open(0);
        success(10);
        direct.close();
        assertTrue(direct.isPending());
        assertNull(next());
        assertEquals(1, writer.ended());
        long record = direct.take();
        assertEquals(10, context(record));
        assertTrue(UnsafeApi.getLong(record) > 0, "no flag of the entry is set");
        assertFalse(direct.isPending());
        success(11);
        assertEquals(11, next().context());
        assertEquals(2, writer.ended());
    }

    @Test
    void shouldGiveItASlotBeforeASecondOneIsWritten() {
        direct.open(0);
        success(10);
        success(11);
        writer.error(5, 0, 12, 1, 2, 3, 4, 6, 7, 8, 9, 0, null);
        direct.close();
        assertFalse(direct.isPending());
        assertEquals(new CompletionReader.Entry(5, 10, 1, 2, 3, 4, 6, 7, 0, 0), next());
        assertEquals(11, next().context());
        assertEquals(9, next().errno());
        assertEquals(3, writer.ended());
    }

    @Test
    void shouldGiveItASlotBeforeAnError() {
        direct.open(0);
        success(10);
        writer.error(5, 0, 12, 1, 2, 3, 4, 6, 7, 8, 9, 0, null);
        assertEquals(10, next().context());
        assertEquals(9, next().errno());
    }

    @Test
    void shouldGiveItASlotBeforeAnEntryOfTheDriversShare() {
        direct.open(0);
        success(10);
        writer.driverQuota().open(() -> 0);
        assertTrue(writer.driverQuota().take());
        writer.driverQuota().use();
        writer.success(5, CompletionQueueDescriptor.FLAG_DRIVER_SHARE, 11, 1, 2, 3, 4, 6, 7);
        assertEquals(10, next().context());
        assertEquals(11, next().context());
    }

    /** A listener of the application has thrown in the cycle: the next call finds it where it reads. */
    @Test
    void shouldGiveItASlotWhenSomethingElseReads() {
        success(9);
        assertEquals(9, next().context());
        direct.open(1);
        success(10);
        direct.close();
        direct.queue();
        direct.queue();
        assertEquals(10, next().context());
        assertNull(next());
        assertEquals(2, writer.ended());
    }

    @Test
    void shouldUseASlotWhileEntriesWereNotRead() {
        success(9);
        direct.open(0);
        success(10);
        assertFalse(direct.isPending());
        assertEquals(9, next().context());
        assertEquals(10, next().context());
    }

    @Test
    void shouldOverrunAsWithoutIt() {
        for (int i = 0; i < CAPACITY; i++) {
            success(i);
        }
        direct.open(CAPACITY);
        success(99);
        assertFalse(direct.isPending());
        assertTrue(writer.isOverrun());
    }

    /** Whatever calls come in between: each entry is seen once, in its order. */
    @Test
    void shouldKeepTheOrderWithAnyMixOfCalls() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        long written = 0;
        List<Long> seen = new ArrayList<>();
        for (int step = 0; step < 100_000; step++) {
            boolean isOpen = random.nextInt(3) != 0;
            if (isOpen) {
                direct.queue();
                direct.open(read);
            }
            for (int count = random.nextInt(4); count > 0 && written - seen.size() < CAPACITY - 1; count--) {
                if (random.nextInt(8) == 0) {
                    writer.error(5, 0, written++, 1, 2, 3, 4, 6, 7, 8, 9, 0, null);
                } else {
                    success(written++);
                }
            }
            direct.close();
            if (direct.isPending() && random.nextInt(4) != 0) {
                seen.add(context(direct.take()));
            } else {
                direct.queue();
            }
            for (int count = random.nextInt(4); count > 0; count--) {
                CompletionReader.Entry entry = next();
                if (entry != null) {
                    seen.add(entry.context());
                }
            }
            assertEquals(written, writer.ended());
        }
        for (int i = 0; i < seen.size(); i++) {
            assertEquals(i, seen.get(i), "seed " + seed);
        }
    }
}
